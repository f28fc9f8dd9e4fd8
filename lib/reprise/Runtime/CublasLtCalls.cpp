// reprise: products of matrices by cuBLASLt
//
// A row-major result is the transpose of a column-major one: the library's A is our right operand,
// its rows are our columns.
#include "CublasLt.h"
#include "LibraryCalls.h"
#include "reprise/Support/LibraryCall.h"

namespace reprise::runtime::cuda {
namespace {

using namespace cublaslt;

int typeOf(int64_t type) {
  return type == callF32 ? typeF32 : type == callBF16 ? typeBF16 : typeF16;
}

/// Description of a product for the library, without its algorithm.
class Problem {
public:
  using Library = cublaslt::Library;
  using Handle = cublaslt::Handle;
  using Algorithm = cublaslt::Algorithm;
  using Numbers = MatrixProduct;
  static constexpr const char *name = "cuBLASLt", *task = "multiply matrices";

  Problem(const Library &library, Handle handle, const std::string & /*function*/)
      : library(library), handle(handle) {}

  Error describe(const MatrixProduct &product);
  Expected<Algorithm> recommend(uint64_t workspace) const;
  Error check(const Algorithm &algorithm, uint64_t workspace) const;
  int run(const Algorithm &algorithm, const Address *addresses, Address workspaceAt,
          uint64_t workspace, Stream stream) const;

  const Library &library;

private:
  Error addBias();
  Error addLayout(Owned<Layout> &into, int64_t type, int64_t rows, int64_t columns, int64_t pitch,
                  int64_t batch, int64_t stride);

  Handle handle; ///< handle of the maker, which outlives it
  Owned<Description> description;
  Owned<Layout> a, b, d;
  bool hasBias = false;
};

/// Sets a placeholder for the bias, because the search for algorithms reads its alignment, and null
/// means no bias.
Error Problem::addBias() {
  static_assert(epilogueBias == MatrixProduct::epilogueBias);
  const auto anywhere = uint64_t(callAlignment);
  int status =
      library.setDescription(description.get(), epilogue, &epilogueBias, sizeof epilogueBias);
  status = status
               ? status
               : library.setDescription(description.get(), biasPointer, &anywhere, sizeof anywhere);
  return library.check(status, "describe the bias of a product");
}

Error Problem::addLayout(Owned<Layout> &into, int64_t type, int64_t rows, int64_t columns,
                         int64_t pitch, int64_t batch, int64_t stride) {
  Layout made = nullptr;
  int status = library.makeLayout(&made, typeOf(type), uint64_t(rows), uint64_t(columns), pitch);
  if (Error error = library.check(status, "describe a matrix"))
    return error;
  into = Owned<Layout>(made, {library.freeLayout});
  int32_t count = int32_t(batch);
  status = library.setLayout(made, layoutBatch, &count, sizeof count);
  status = status ? status : library.setLayout(made, layoutStride, &stride, sizeof stride);
  return library.check(status, "describe a batch of matrices");
}

Error Problem::describe(const MatrixProduct &p) {
  Description made = nullptr;
  if (Error error =
          library.check(library.makeDescription(&made, compute32F, typeF32), "describe a product"))
    return error;
  description = Owned<Description>(made, {library.freeDescription});
  int32_t ofA = p.rightTransposed ? operationN : operationT;
  int32_t ofB = p.leftTransposed ? operationT : operationN;
  int status = library.setDescription(made, transA, &ofA, sizeof ofA);
  status = status ? status : library.setDescription(made, transB, &ofB, sizeof ofB);
  if (Error error = library.check(status, "describe a product"))
    return error;
  hasBias = p.hasBias;
  if (Error error = hasBias ? addBias() : Error::success())
    return error;
  // In columns, an operand stored by rows of terms is terms × side; a transposed operand is side ×
  // terms.
  auto addOperand = [&](Owned<Layout> &into, bool transposed, int64_t side, int64_t pitch,
                        int64_t stride) {
    return addLayout(into, p.type, transposed ? side : p.terms, transposed ? p.terms : side, pitch,
                     p.batch, stride);
  };
  if (Error error = addOperand(a, p.rightTransposed, p.columns, p.rightPitch, p.rightStride))
    return error;
  if (Error error = addOperand(b, p.leftTransposed, p.rows, p.leftPitch, p.leftStride))
    return error;
  return addLayout(d, p.resultType, p.columns, p.rows, p.columns, p.batch, p.rows * p.columns);
}

int Problem::run(const Algorithm &algorithm, const Address *addresses, Address workspaceAt,
                 uint64_t workspace, Stream stream) const {
  const float one = 1, zero = 0;
  auto at = [&](size_t operand) { return reinterpret_cast<void *>(addresses[operand]); };
  if (void *bias = hasBias ? at(4) : nullptr)
    if (int status = library.setDescription(description.get(), biasPointer, &bias, sizeof bias))
      return status;
  return library.multiply(handle, description.get(), &one, at(1), a.get(), at(0), b.get(), &zero,
                          at(2), d.get(), at(2), d.get(), &algorithm,
                          reinterpret_cast<void *>(workspaceAt), workspace, stream);
}

/// The first algorithm that the library recommends within the workspace.
Expected<Algorithm> Problem::recommend(uint64_t workspace) const {
  Preference made = nullptr;
  if (Error error = library.check(library.makePreference(&made), "ask for an algorithm"))
    return error;
  Owned<Preference> preference(made, {library.freePreference});
  uint32_t reductions = reductionComputeType, alignment = callAlignment;
  int status = library.setPreference(made, preferWorkspace, &workspace, sizeof workspace);
  status = status ? status
                  : library.setPreference(made, preferReductions, &reductions, sizeof reductions);
  for (int operand = 0; operand < 4 && status == 0; ++operand)
    status = library.setPreference(made, preferAlignmentA + operand, &alignment, sizeof alignment);
  Heuristic found{};
  int count = 0;
  status = status ? status
                  : library.findAlgorithms(handle, description.get(), a.get(), b.get(), d.get(),
                                           d.get(), made, 1, &found, &count);
  if (Error error = library.check(status, "find an algorithm"))
    return error;
  if (count < 1 || found.state != 0)
    return Error::make("cuBLASLt has no algorithm");
  return found.algorithm;
}

Error Problem::check(const Algorithm &algorithm, uint64_t workspace) const {
  Heuristic facts{};
  int status = library.checkAlgorithm(handle, description.get(), a.get(), b.get(), d.get(), d.get(),
                                      &algorithm, &facts);
  if (Error error = library.check(status ? status : facts.state, "run its algorithm"))
    return error;
  if (Error error = checkWorkspace(facts.workspaceBytes, workspace))
    return error;
  uint32_t reduction = ~0u;
  size_t written = 0;
  status = library.getConfig(&algorithm, configReduction, &reduction, sizeof reduction, &written);
  if (Error error = library.check(status, "look at its algorithm"))
    return error;
  if (reduction != reductionNone && reduction != reductionComputeType)
    return Error::make("the algorithm adds parts of a sum in an order that is not fixed");
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<CallMaker>> openCublasLt(const std::string &function) {
  return ProblemMaker<Problem>::open(function);
}

} // namespace reprise::runtime::cuda
