// reprise: results of runs of the C API
#include "RunHandle.h"

using namespace reprise::capi;
using namespace reprise::runtime;

/// Returns an error before the first step, which leaves no results.
static reprise_error *checkStepped(const reprise_run *run) {
  return run->hasStepped ? nullptr : run->session->fail("no step has run", REPRISE_BAD_USAGE);
}

reprise_error *reprise_run_loss(const reprise_run *run, double *loss) {
  if (reprise_error *error = refuseNull({{"run", run}, {"loss", loss}}))
    return error;
  run->session->begin();
  if (reprise_error *error = checkStepped(run))
    return error;
  std::optional<double> own = run->steps->loss();
  if (!own)
    return run->session->fail("the step has no result 'loss' that is one floating-point number");
  *loss = *own;
  return nullptr;
}

reprise_error *reprise_run_hash(reprise_run *run, const char **hash) {
  if (reprise_error *error = refuseNull({{"run", run}, {"hash", hash}}))
    return error;
  run->session->begin();
  if (reprise_error *error = checkStepped(run))
    return error;
  Expected<uint64_t> own = run->steps->hash();
  if (!own)
    return run->session->fail(own.message());
  run->hash = hashText(*own);
  *hash = run->hash.c_str();
  return nullptr;
}

reprise_error *reprise_run_result(reprise_run *run, const char *name, DLTensor *tensor) {
  if (reprise_error *error = refuseNull({{"run", run}, {"name", name}, {"tensor", tensor}}))
    return error;
  run->session->begin();
  for (size_t i = 0; i < run->group->size(); ++i) {
    Executable &executable = run->group->executable(i);
    const std::vector<Result> &results = executable.bundle().results;
    for (size_t number = 0; number < results.size(); ++number) {
      const Result &result = results[number];
      if (arrayName(result) != name)
        continue;
      if (run->steps->isPaused() && !run->earlyResults.count(result.name))
        return run->session->fail("result '" + std::string(name) +
                                  "' is not computed yet: the step waits at its pause");
      if (result.rows.of)
        return run->session->fail("the rows of '" + std::string(name) + "' lie on several devices");
      DLDevice device = {kDLCPU, 0};
      if (run->place.kind == DeviceKind::Cuda)
        device = {kDLCUDA, static_cast<int32_t>(run->place.number + i)};
      *tensor = {const_cast<void *>(executable.result(number)),
                 device,
                 static_cast<int32_t>(result.shape.size()),
                 fromDType(result.dtype),
                 const_cast<int64_t *>(result.shape.data()),
                 nullptr,
                 0};
      return nullptr;
    }
  }
  return run->session->fail("the step has no result '" + std::string(name) + "'");
}
