// reprise: folders from which runs of the C API continue, and to which they are saved
#include "RunHandle.h"

using namespace reprise::capi;
using namespace reprise::runtime;

/// Returns an error for a run in memory of the caller, which keeps neither values nor the state.
static reprise_error *refuseBorrowed(const reprise_run *run, const std::string &what) {
  if (!run->place.isBorrowed)
    return nullptr;
  return run->session->fail(what + ": the run is in memory of the caller: bind a tensor");
}

reprise_error *reprise_run_set_names(reprise_run *run, const char *path) {
  if (reprise_error *error = refuseNull({{"run", run}, {"path", path}}))
    return error;
  run->session->begin();
  Expected<TensorNames> names = TensorNames::read(path);
  if (!names)
    return run->session->fail(names.message());
  run->steps->names = std::move(*names);
  return nullptr;
}

reprise_error *reprise_run_give_folder(reprise_run *run, const char *path) {
  if (reprise_error *error = refuseNull({{"run", run}, {"path", path}}))
    return error;
  run->session->begin();
  std::string what = "cannot set the value of the arrays of '" + std::string(path) + "'";
  if (reprise_error *error = refuseBorrowed(run, what))
    return error;
  if (Error error = run->steps->giveFolder(path))
    return run->session->fail(error);
  return nullptr;
}

/// Returns an error if the results are not there.
static reprise_error *checkResults(const reprise_run *run, const std::string &what) {
  if (!run->hasStepped)
    return run->session->fail("no step has run", REPRISE_BAD_USAGE);
  if (run->steps->isPaused())
    return run->session->fail(what + ": the step waits at its pause");
  if (!run->taken.empty())
    return run->session->fail("result '" + *run->taken.begin() +
                              "' was taken: run the next step first");
  return refuseBorrowed(run, what);
}

reprise_error *reprise_run_save_folder(reprise_run *run, const char *path, uint64_t shard_bytes,
                                       int is_behind) {
  if (reprise_error *error = refuseNull({{"run", run}, {"path", path}}))
    return error;
  run->session->begin();
  if (reprise_error *error = checkResults(run, "cannot write '" + std::string(path) + "'"))
    return error;
  OutputFolder folder = run->steps->outputFolder(path);
  folder.shardBytes = shard_bytes;
  FolderSaver &saver = run->saver;
  Error error = is_behind ? saver.begin(folder, run->steps->results(), run->steps->state())
                          : saver.save(folder, run->steps->results(), run->steps->state());
  return error ? run->session->fail(error) : nullptr;
}

reprise_error *reprise_run_finish_save(reprise_run *run) {
  if (reprise_error *error = refuseNull({{"run", run}}))
    return error;
  run->session->begin();
  if (Error error = run->saver.finish())
    return run->session->fail(error);
  return nullptr;
}
