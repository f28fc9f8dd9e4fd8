// reprise: convolutions and their gradients by cuDNN
#include "Cudnn.h"
#include "LibraryCalls.h"
#include "reprise/Support/LibraryCall.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <array>

namespace reprise::runtime::cuda {
namespace {

using namespace cudnn;

/// Algorithm in the file beside the bundle.
struct PinnedAlgorithm {
  int32_t number, math;
};

/// Convolution or one of its gradients: the library's functions, their operand order, and the
/// algorithms whose sums of products are rounded once, in one order.
struct Direction {
  decltype(Library::findForward) find;
  decltype(Library::sizeForward) size;
  decltype(Library::runForward) run;
  size_t image, filter, output;    ///< indices among the operands; the last operand is the result
  std::array<size_t, 3> addresses; ///< indices of the operands among those of the call
  std::vector<int> taken;
};

Direction findDirection(const Library &library, const std::string &function) {
  if (function == LibraryConvolution::forward)
    return {library.findForward,
            library.sizeForward,
            library.runForward,
            0,
            1,
            2,
            {0, 1, 2},
            {forwardImplicit, forwardPrecomputed, forwardProduct}};
  if (function == LibraryConvolution::data)
    return {library.findData, library.sizeData, library.runData, 2, 0, 1, {1, 0, 2}, {dataOrdered}};
  return {library.findFilter, library.sizeFilter, library.runFilter, 0, 2, 1,
          {0, 1, 2},          {filterOrdered}};
}

/// Description of a convolution for the library, without its algorithm.
class Problem {
public:
  using Library = cudnn::Library;
  using Handle = cudnn::Handle;
  using Algorithm = PinnedAlgorithm;
  using Numbers = LibraryConvolution;
  static constexpr const char *name = "cuDNN", *task = "convolve";

  Problem(const Library &library, Handle handle, const std::string &function)
      : library(library), handle(handle), direction(findDirection(library, function)) {}

  Error describe(const LibraryConvolution &convolution);
  /// Returns the library's first recommendation with repeatable results and enough workspace.
  Expected<Algorithm> recommend(uint64_t workspace) const;
  Error check(const Algorithm &algorithm, uint64_t workspace) const;
  int run(const Algorithm &algorithm, const Address *addresses, Address workspaceAt,
          uint64_t workspace, Stream stream) const;

  const Library &library;

private:
  Error addTensor(Owned<Tensor> &into, int type, const std::vector<int> &sizes) const;
  Error addFilter(int type, const std::vector<int> &sizes);
  Error addConvolution(const LibraryConvolution &convolution);
  Expected<std::vector<Performance>> findAlgorithms() const;
  bool takes(const Algorithm &algorithm) const;

  Handle handle; ///< handle of the maker, which outlives it
  Direction direction;
  std::array<Owned<Tensor>, 3> operands;
  Owned<Convolution> convolution;
};

Error Problem::addTensor(Owned<Tensor> &into, int type, const std::vector<int> &sizes) const {
  Tensor made = nullptr;
  if (Error error = library.check(library.makeTensor(&made), "describe a tensor"))
    return error;
  into = Owned<Tensor>(made, {library.freeTensor});
  std::vector<int> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * sizes[i + 1];
  return library.check(
      library.setTensor(made, type, int(sizes.size()), sizes.data(), strides.data()),
      "describe a tensor");
}

Error Problem::addFilter(int type, const std::vector<int> &sizes) {
  Tensor made = nullptr;
  if (Error error = library.check(library.makeFilter(&made), "describe a filter"))
    return error;
  operands[direction.filter] = Owned<Tensor>(made, {library.freeFilter});
  return library.check(library.setFilter(made, type, formatRows, int(sizes.size()), sizes.data()),
                       "describe a filter");
}

Error Problem::addConvolution(const LibraryConvolution &c) {
  Convolution made = nullptr;
  if (Error error = library.check(library.makeConvolution(&made), "describe a convolution"))
    return error;
  convolution = Owned<Convolution>(made, {library.freeConvolution});
  int pad[] = {int(c.pad[0]), int(c.pad[1])}, stride[] = {int(c.stride[0]), int(c.stride[1])},
      dilation[] = {int(c.dilation[0]), int(c.dilation[1])};
  int status = library.setConvolution(made, 2, pad, stride, dilation, crossCorrelation, typeF32);
  status = status ? status : library.setGroups(made, int(c.groups));
  status = status ? status : library.setMath(made, mathTensor);
  return library.check(status, "describe a convolution");
}

Error Problem::describe(const LibraryConvolution &c) {
  int type = c.type == callBF16 ? typeBF16 : typeF16;
  auto sizesOf = [](int64_t first, int64_t second, const LibraryConvolution::Pair &plane) {
    return std::vector<int>{int(first), int(second), int(plane[0]), int(plane[1])};
  };
  if (Error error =
          addTensor(operands[direction.image], type, sizesOf(c.samples, c.channels, c.image)))
    return error;
  if (Error error =
          addTensor(operands[direction.output], type, sizesOf(c.samples, c.outputs, c.output)))
    return error;
  if (Error error = addFilter(type, sizesOf(c.outputs, c.channels / c.groups, c.window)))
    return error;
  return addConvolution(c);
}

/// Returns all algorithms of the library, its first recommendation first.
Expected<std::vector<Performance>> Problem::findAlgorithms() const {
  std::vector<Performance> all(8);
  int count = 0, most = int(all.size());
  int status = direction.find(handle, operands[0].get(), operands[1].get(), convolution.get(),
                              operands[2].get(), most, &count, all.data());
  if (Error error = library.check(status, "find an algorithm"))
    return error;
  all.resize(size_t(std::clamp(count, 0, most)));
  return all;
}

bool Problem::takes(const Algorithm &algorithm) const {
  const std::vector<int> &taken = direction.taken;
  return std::find(taken.begin(), taken.end(), algorithm.number) != taken.end() &&
         (algorithm.math == mathDefault || algorithm.math == mathTensor);
}

Expected<PinnedAlgorithm> Problem::recommend(uint64_t workspace) const {
  Expected<std::vector<Performance>> all = findAlgorithms();
  if (!all)
    return all.error();
  for (const Performance &each : *all) {
    Algorithm algorithm{each.algorithm, each.math};
    if (each.status == 0 && each.determinism == isDeterministic &&
        each.workspaceBytes <= workspace && takes(algorithm))
      return algorithm;
  }
  return Error::make("cuDNN has no algorithm whose sums have a fixed order, within " +
                     groupDigits(int64_t(workspace)) + " bytes of workspace");
}

Error Problem::check(const Algorithm &algorithm, uint64_t workspace) const {
  if (!takes(algorithm))
    return Error::make("the order of additions of the algorithm is not fixed, or the algorithm "
                       "rounds more than once");
  size_t needed = 0;
  int status = library.setMath(convolution.get(), algorithm.math);
  status = status ? status
                  : direction.size(handle, operands[0].get(), operands[1].get(), convolution.get(),
                                   operands[2].get(), algorithm.number, &needed);
  if (Error error = library.check(status, "run its algorithm"))
    return error;
  return checkWorkspace(needed, workspace);
}

int Problem::run(const Algorithm &algorithm, const Address *addresses, Address workspaceAt,
                 uint64_t workspace, Stream stream) const {
  const float one = 1, zero = 0;
  auto at = [&](size_t address) { return reinterpret_cast<void *>(addresses[address]); };
  const auto &order = direction.addresses;
  if (int status = library.setStream(handle, stream))
    return status;
  return direction.run(handle, &one, operands[0].get(), at(order[0]), operands[1].get(),
                       at(order[1]), convolution.get(), algorithm.number,
                       reinterpret_cast<void *>(workspaceAt), workspace, &zero, operands[2].get(),
                       at(order[2]));
}

} // namespace

Expected<std::unique_ptr<CallMaker>> openCudnn(const std::string &function) {
  return ProblemMaker<Problem>::open(function);
}

} // namespace reprise::runtime::cuda
