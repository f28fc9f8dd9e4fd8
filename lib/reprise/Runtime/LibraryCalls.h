// reprise: calls of a GPU's library, each with an algorithm that is chosen once and recorded
#ifndef REPRISE_LIB_RUNTIME_LIBRARYCALLS_H
#define REPRISE_LIB_RUNTIME_LIBRARYCALLS_H

#include "CudaCalls.h"
#include "CudaLibrary.h"
#include "reprise/Support/LibraryCall.h"

namespace reprise::runtime::cuda {

/// Returns an error if an algorithm needs more workspace than a call has.
Error checkWorkspace(uint64_t needed, uint64_t given);

/// Problem of a library with the algorithm that solves it.
template <typename ProblemT> class SolvedCall : public CudaCall {
public:
  SolvedCall(ProblemT problem, const typename ProblemT::Algorithm &algorithm, uint64_t workspace)
      : problem(std::move(problem)), algorithm(algorithm), workspace(workspace) {}

  Error enqueue(const Address *addresses, Stream stream) const override {
    auto workspaceAt = Address(alignWorkspace(int64_t(addresses[3])));
    int status = problem.run(algorithm, addresses, workspaceAt, workspace, stream);
    return status == 0 ? Error::success() : problem.library.check(status, ProblemT::task);
  }

private:
  ProblemT problem;
  typename ProblemT::Algorithm algorithm;
  uint64_t workspace;
};

/// Maker of the calls of one function. ProblemT describes a call for its library, without an
/// algorithm:
/// - Library, Handle, Algorithm, Numbers: types; `name` of the library, `task`: the task for error
///   messages;
/// - `describe(numbers)`, called once;
/// - `recommend(workspace)`: the algorithm if there is no recorded choice;
/// - `check(algorithm, workspace)`: an error unless its results repeat and its workspace is enough,
///   also for a recommended one, because repeatable bits are a promise;
/// - `run(algorithm, addresses, workspaceAt, workspace, stream)`: the status; the aligned workspace
///   operand is given separately.
template <typename ProblemT> class ProblemMaker : public CallMaker {
public:
  using Library = typename ProblemT::Library;
  using Algorithm = typename ProblemT::Algorithm;

  static Expected<std::unique_ptr<CallMaker>> open(const std::string &function) {
    Expected<const Library *> library = Library::get();
    if (!library)
      return library.error();
    typename ProblemT::Handle handle = nullptr;
    std::string task = std::string("open ") + ProblemT::name;
    if (Error error = (*library)->check((*library)->create(&handle), task))
      return error;
    return std::unique_ptr<CallMaker>(new ProblemMaker(**library, handle, function));
  }
  ~ProblemMaker() override { library.destroy(handle); }

  Expected<std::unique_ptr<CudaCall>> make(const std::vector<int64_t> &numbers,
                                           const std::string &key, const std::string &gpu,
                                           Tuning &tuning) override {
    auto given = *ProblemT::Numbers::from(numbers);
    auto workspace = uint64_t(usableWorkspace(given.workspace));
    ProblemT problem(library, handle, function);
    if (Error error = problem.describe(given))
      return Error::make("'" + key + "': " + error.message());
    Expected<Algorithm> algorithm = chooseAlgorithm<Algorithm>(
        tuning, {gpu, ProblemT::name, version}, key, [&] { return problem.recommend(workspace); },
        [&](const Algorithm &chosen) { return problem.check(chosen, workspace); });
    if (!algorithm)
      return algorithm.error();
    return std::unique_ptr<CudaCall>(
        new SolvedCall<ProblemT>(std::move(problem), *algorithm, workspace));
  }

private:
  ProblemMaker(const Library &library, typename ProblemT::Handle handle, std::string function)
      : library(library), handle(handle), function(std::move(function)),
        version(std::to_string(library.getVersion())) {}

  const Library &library;
  typename ProblemT::Handle handle;
  std::string function, version;
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_LIBRARYCALLS_H
