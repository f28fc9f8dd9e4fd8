// reprise: convolutions and their gradients by cuDNN
#include "CudaCalls.h"
#include "CudaLibrary.h"
#include "Cudnn.h"
#include "reprise/Support/LibraryCall.h"

#include <algorithm>
#include <cstring>

namespace reprise::runtime::cuda {
namespace {

using namespace cudnn;

enum class Direction { Forward, Data, Filter };

Direction directionOf(const std::string &function) {
  return function == LibraryConvolution::forward ? Direction::Forward
         : function == LibraryConvolution::data  ? Direction::Data
                                                 : Direction::Filter;
}

/// What the file beside the bundle holds.
struct Algorithm {
  int32_t number, math;
};

/// What a convolution is to the library, without its algorithm.
class Problem {
public:
  Problem(const Library &library, Handle handle, Direction direction)
      : library(library), handle(handle), direction(direction) {}

  Error describe(const LibraryConvolution &convolution);
  /// All that the library knows, the one that it recommends first.
  Expected<std::vector<Performance>> findAlgorithms() const;
  Expected<uint64_t> countWorkspace(const Algorithm &algorithm) const;
  int run(const Algorithm &algorithm, const Address *addresses, uint64_t workspace,
          Stream stream) const;
  /// Whether its results repeat, and are sums of products that are rounded once.
  bool takes(const Algorithm &algorithm) const;

  const Library &library;

private:
  Error addTensor(Owned<Tensor> &into, int type, const std::vector<int> &sizes) const;

  Handle handle; ///< of the maker, which outlives it
  Direction direction;
  Owned<Tensor> image, output;
  Owned<Filter> filter;
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

Error Problem::describe(const LibraryConvolution &c) {
  int type = c.type == callBF16 ? typeBF16 : typeF16;
  auto sizesOf = [](int64_t first, int64_t second, const LibraryConvolution::Pair &plane) {
    return std::vector<int>{int(first), int(second), int(plane[0]), int(plane[1])};
  };
  if (Error error = addTensor(image, type, sizesOf(c.samples, c.channels, c.image)))
    return error;
  if (Error error = addTensor(output, type, sizesOf(c.samples, c.outputs, c.output)))
    return error;
  Filter madeFilter = nullptr;
  if (Error error = library.check(library.makeFilter(&madeFilter), "describe a filter"))
    return error;
  filter = Owned<Filter>(madeFilter, {library.freeFilter});
  std::vector<int> sizes = sizesOf(c.outputs, c.channels / c.groups, c.window);
  if (Error error = library.check(library.setFilter(madeFilter, type, formatRows, 4, sizes.data()),
                                  "describe a filter"))
    return error;
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

Expected<std::vector<Performance>> Problem::findAlgorithms() const {
  std::vector<Performance> all(8);
  int count = 0, most = int(all.size());
  int status = direction == Direction::Forward
                   ? library.findForward(handle, image.get(), filter.get(), convolution.get(),
                                         output.get(), most, &count, all.data())
               : direction == Direction::Data
                   ? library.findData(handle, filter.get(), output.get(), convolution.get(),
                                      image.get(), most, &count, all.data())
                   : library.findFilter(handle, image.get(), output.get(), convolution.get(),
                                        filter.get(), most, &count, all.data());
  if (Error error = library.check(status, "find an algorithm"))
    return error;
  all.resize(size_t(std::clamp(count, 0, most)));
  return all;
}

Expected<uint64_t> Problem::countWorkspace(const Algorithm &algorithm) const {
  size_t bytes = 0;
  int status = library.setMath(convolution.get(), algorithm.math);
  if (status == 0)
    status = direction == Direction::Forward
                 ? library.sizeForward(handle, image.get(), filter.get(), convolution.get(),
                                       output.get(), algorithm.number, &bytes)
             : direction == Direction::Data
                 ? library.sizeData(handle, filter.get(), output.get(), convolution.get(),
                                    image.get(), algorithm.number, &bytes)
                 : library.sizeFilter(handle, image.get(), output.get(), convolution.get(),
                                      filter.get(), algorithm.number, &bytes);
  if (Error error = library.check(status, "run its algorithm"))
    return error;
  return uint64_t(bytes);
}

bool Problem::takes(const Algorithm &algorithm) const {
  bool isKnown = direction == Direction::Forward ? algorithm.number == forwardImplicit ||
                                                       algorithm.number == forwardPrecomputed ||
                                                       algorithm.number == forwardProduct
                 : direction == Direction::Data  ? algorithm.number == dataOrdered
                                                 : algorithm.number == filterOrdered;
  return isKnown && (algorithm.math == mathDefault || algorithm.math == mathTensor);
}

int Problem::run(const Algorithm &algorithm, const Address *addresses, uint64_t workspace,
                 Stream stream) const {
  const float one = 1, zero = 0;
  auto at = [&](size_t operand) { return reinterpret_cast<void *>(addresses[operand]); };
  if (int status = library.setStream(handle, stream))
    return status;
  if (direction == Direction::Forward)
    return library.runForward(handle, &one, image.get(), at(0), filter.get(), at(1),
                              convolution.get(), algorithm.number, at(3), workspace, &zero,
                              output.get(), at(2));
  if (direction == Direction::Data)
    return library.runData(handle, &one, filter.get(), at(1), output.get(), at(0),
                           convolution.get(), algorithm.number, at(3), workspace, &zero,
                           image.get(), at(2));
  return library.runFilter(handle, &one, image.get(), at(0), output.get(), at(1), convolution.get(),
                           algorithm.number, at(3), workspace, &zero, filter.get(), at(2));
}

class ConvolutionCall : public CudaCall {
public:
  ConvolutionCall(Problem problem, Algorithm algorithm, uint64_t workspace)
      : problem(std::move(problem)), algorithm(algorithm), workspace(workspace) {}

  Error enqueue(const Address *addresses, Stream stream) const override {
    int status = problem.run(algorithm, addresses, workspace, stream);
    return status == 0 ? Error::success() : problem.library.check(status, "convolve");
  }

private:
  Problem problem;
  Algorithm algorithm;
  uint64_t workspace;
};

class ConvolutionMaker : public CallMaker {
public:
  ConvolutionMaker(const Library &library, Handle handle, Direction direction)
      : library(library), handle(handle), direction(direction),
        version(std::to_string(library.getVersion())) {}
  ~ConvolutionMaker() override { library.destroy(handle); }

  Expected<std::unique_ptr<CudaCall>> make(const std::vector<int64_t> &numbers,
                                           const std::string &key, const std::string &gpu,
                                           Tuning &tuning) override;

private:
  Expected<Algorithm> recommend(const Problem &problem, uint64_t workspace) const;
  Error check(const Problem &problem, const Algorithm &algorithm, uint64_t workspace) const;

  const Library &library;
  Handle handle;
  Direction direction;
  std::string version;
};

/// The first one whose results repeat and that has enough workspace.
Expected<Algorithm> ConvolutionMaker::recommend(const Problem &problem, uint64_t workspace) const {
  Expected<std::vector<Performance>> all = problem.findAlgorithms();
  if (!all)
    return all.error();
  for (const Performance &each : *all) {
    Algorithm algorithm{each.algorithm, each.math};
    if (each.status == 0 && each.determinism == isDeterministic &&
        each.workspaceBytes <= workspace && problem.takes(algorithm))
      return algorithm;
  }
  return Error::make("cuDNN has no algorithm whose sums have a fixed order, within " +
                     std::to_string(workspace) + " bytes of workspace");
}

Error ConvolutionMaker::check(const Problem &problem, const Algorithm &algorithm,
                              uint64_t workspace) const {
  if (!problem.takes(algorithm))
    return Error::make("its algorithm adds in no fixed order, or rounds more than once");
  Expected<uint64_t> needed = problem.countWorkspace(algorithm);
  if (!needed)
    return needed.error();
  if (*needed > workspace)
    return Error::make("its algorithm needs " + std::to_string(*needed) +
                       " bytes of workspace, and has " + std::to_string(workspace));
  return Error::success();
}

Expected<std::unique_ptr<CudaCall>> ConvolutionMaker::make(const std::vector<int64_t> &numbers,
                                                           const std::string &key,
                                                           const std::string &gpu, Tuning &tuning) {
  LibraryConvolution convolution = *LibraryConvolution::from(numbers);
  auto workspace = uint64_t(convolution.workspace);
  Problem problem(library, handle, direction);
  if (Error error = problem.describe(convolution))
    return Error::make("'" + key + "': " + error.message());
  Expected<Algorithm> algorithm = chooseAlgorithm<Algorithm>(
      tuning, {gpu, "cuDNN", version}, key, [&] { return recommend(problem, workspace); },
      [&](const Algorithm &chosen) { return check(problem, chosen, workspace); });
  if (!algorithm)
    return algorithm.error();
  return std::unique_ptr<CudaCall>(new ConvolutionCall(std::move(problem), *algorithm, workspace));
}

} // namespace

Expected<std::unique_ptr<CallMaker>> openCudnn(const std::string &function) {
  Expected<const Library *> library = Library::get();
  if (!library)
    return library.error();
  Handle handle = nullptr;
  if (Error error = (*library)->check((*library)->create(&handle), "open cuDNN"))
    return error;
  return std::unique_ptr<CallMaker>(new ConvolutionMaker(**library, handle, directionOf(function)));
}

} // namespace reprise::runtime::cuda
