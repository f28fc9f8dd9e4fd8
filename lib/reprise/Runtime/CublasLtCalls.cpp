// reprise: products of matrices by cuBLASLt
//
// A row-major result is a column-major transposed one: what the library calls A is our right
// operand, its rows are our columns.
#include "CublasLt.h"
#include "CudaCalls.h"
#include "CudaLibrary.h"
#include "reprise/Support/LibraryCall.h"

namespace reprise::runtime::cuda {
namespace {

using namespace cublaslt;

int typeOf(int64_t type) {
  return type == callF32 ? typeF32 : type == callBF16 ? typeBF16 : typeF16;
}

/// What a product is to the library, without its algorithm.
class Problem {
public:
  explicit Problem(const Library &library) : library(library) {}

  Error describe(const MatrixProduct &product);

  const Library &library;
  Owned<Description> description;
  Owned<Layout> a, b, d;

private:
  Error addLayout(Owned<Layout> &into, int64_t type, int64_t rows, int64_t columns, int64_t pitch,
                  int64_t batch, int64_t stride);
};

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
  // In columns: what is stored by rows of terms is terms × side, what is transposed side × terms.
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

class ProductCall : public CudaCall {
public:
  ProductCall(Handle handle, Problem problem, Algorithm algorithm, uint64_t workspace)
      : handle(handle), problem(std::move(problem)), algorithm(algorithm), workspace(workspace) {}

  Error enqueue(const Address *addresses, Stream stream) const override {
    const float one = 1, zero = 0;
    auto at = [&](size_t operand) { return reinterpret_cast<void *>(addresses[operand]); };
    int status =
        problem.library.multiply(handle, problem.description.get(), &one, at(1), problem.a.get(),
                                 at(0), problem.b.get(), &zero, at(2), problem.d.get(), at(2),
                                 problem.d.get(), &algorithm, at(3), workspace, stream);
    return status == 0 ? Error::success() : problem.library.check(status, "multiply matrices");
  }

private:
  Handle handle; ///< of the maker, which outlives it
  Problem problem;
  Algorithm algorithm;
  uint64_t workspace;
};

class ProductMaker : public CallMaker {
public:
  ProductMaker(const Library &library, Handle handle)
      : library(library), handle(handle), version(std::to_string(library.getVersion())) {}
  ~ProductMaker() override { library.destroy(handle); }

  Expected<std::unique_ptr<CudaCall>> make(const std::vector<int64_t> &numbers,
                                           const std::string &key, const std::string &gpu,
                                           Tuning &tuning) override;

private:
  Expected<Algorithm> recommend(const Problem &problem, uint64_t workspace) const;
  Error check(const Problem &problem, const Algorithm &algorithm, uint64_t workspace) const;

  const Library &library;
  Handle handle;
  std::string version;
};

/// The first algorithm that the library recommends within the workspace.
Expected<Algorithm> ProductMaker::recommend(const Problem &problem, uint64_t workspace) const {
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
                  : library.findAlgorithms(handle, problem.description.get(), problem.a.get(),
                                           problem.b.get(), problem.d.get(), problem.d.get(), made,
                                           1, &found, &count);
  if (Error error = library.check(status, "find an algorithm"))
    return error;
  if (count < 1 || found.state != 0)
    return Error::make("cuBLASLt has no algorithm");
  return found.algorithm;
}

/// Also one that was recommended is looked at: what repeats its bits is a promise.
Error ProductMaker::check(const Problem &problem, const Algorithm &algorithm,
                          uint64_t workspace) const {
  Heuristic facts{};
  int status =
      library.checkAlgorithm(handle, problem.description.get(), problem.a.get(), problem.b.get(),
                             problem.d.get(), problem.d.get(), &algorithm, &facts);
  if (Error error = library.check(status ? status : facts.state, "run its algorithm"))
    return error;
  if (facts.workspaceBytes > workspace)
    return Error::make("its algorithm needs " + std::to_string(facts.workspaceBytes) +
                       " bytes of workspace, and has " + std::to_string(workspace));
  uint32_t reduction = ~0u;
  size_t written = 0;
  status = library.getConfig(&algorithm, configReduction, &reduction, sizeof reduction, &written);
  if (Error error = library.check(status, "look at its algorithm"))
    return error;
  if (reduction != reductionNone && reduction != reductionComputeType)
    return Error::make("its algorithm adds parts of a sum in no fixed order");
  return Error::success();
}

Expected<std::unique_ptr<CudaCall>> ProductMaker::make(const std::vector<int64_t> &numbers,
                                                       const std::string &key,
                                                       const std::string &gpu, Tuning &tuning) {
  MatrixProduct product = *MatrixProduct::from(numbers);
  auto workspace = uint64_t(product.workspace);
  Problem problem(library);
  if (Error error = problem.describe(product))
    return Error::make("'" + key + "': " + error.message());
  Expected<Algorithm> algorithm = chooseAlgorithm<Algorithm>(
      tuning, {gpu, "cuBLASLt", version}, key, [&] { return recommend(problem, workspace); },
      [&](const Algorithm &chosen) { return check(problem, chosen, workspace); });
  if (!algorithm)
    return algorithm.error();
  return std::unique_ptr<CudaCall>(
      new ProductCall(handle, std::move(problem), *algorithm, workspace));
}

} // namespace

Expected<std::unique_ptr<CallMaker>> openCublasLt() {
  Expected<const Library *> library = Library::get();
  if (!library)
    return library.error();
  Handle handle = nullptr;
  if (Error error = (*library)->check((*library)->create(&handle), "open cuBLASLt"))
    return error;
  return std::unique_ptr<CallMaker>(new ProductMaker(**library, handle));
}

} // namespace reprise::runtime::cuda
