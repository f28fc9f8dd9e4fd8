// reprise: results of runs, which the caller reads or takes
#include "RunHandle.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace reprise::capi;
using namespace reprise::runtime;

/// Memory of a result: moved out of an arena, or a copy.
struct reprise_memory {
  std::unique_ptr<DeviceMemory> moved;
  HostMemory copied;
  std::vector<int64_t> shape;
};

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
  if (!run->taken.empty())
    return run->session->fail("result '" + *run->taken.begin() +
                              "' was taken: run the next step first");
  Expected<uint64_t> own = run->steps->hash();
  if (!own)
    return run->session->fail(own.message());
  run->hash = hashText(*own);
  *hash = run->hash.c_str();
  return nullptr;
}

Expected<std::pair<size_t, size_t>> reprise_run::findResult(const std::string &name) const {
  for (size_t i = 0; i < group->size(); ++i) {
    const std::vector<Result> &results = group->executable(i).bundle().results;
    for (size_t number = 0; number < results.size(); ++number) {
      if (arrayName(results[number]) != name)
        continue;
      if (steps->isPaused() && !earlyResults.count(results[number].name))
        return Error::make("result '" + name +
                           "' is not computed yet: the step waits at its pause");
      if (taken.count(name))
        return Error::make("result '" + name + "' was taken: run the next step first");
      return std::make_pair(i, number);
    }
  }
  return Error::make("the step has no result '" + name + "'");
}

bool reprise_run::isInRows(const std::string &name) const {
  return llvm::any_of(steps->results(),
                      [&](const ArrayRef &part) { return part.wholeRows && part.name == name; });
}

Expected<JoinedRows> reprise_run::joinRows(const std::string &name) const {
  if (place.kind != DeviceKind::Cpu)
    return Error::make("the rows of '" + name + "' lie on several GPUs");
  JoinedRows whole;
  for (const ArrayRef &part : steps->results()) {
    if (!part.wholeRows || part.name != name)
      continue;
    if (!whole.memory) {
      whole.shape = part.wholeShape();
      whole.dtype = part.dtype;
      whole.memory = allocateHost(part.wholeBytes());
    }
    if (!whole.memory)
      return Error::make("no memory for the rows of '" + name + "'");
    Runs runs = part.runsInWhole();
    for (uint64_t run = 0; run < runs.count; ++run)
      std::memcpy(whole.memory.get() + runs.begin + run * runs.stride,
                  static_cast<const char *>(part.data) + run * runs.bytes, runs.bytes);
  }
  return whole;
}

/// Describes a joined result whose memory stays where it is.
static DLTensor describe(JoinedRows &whole) {
  return {whole.memory.get(),
          {kDLCPU, 0},
          static_cast<int32_t>(whole.shape.size()),
          fromDType(whole.dtype),
          whole.shape.data(),
          nullptr,
          0};
}

reprise_error *reprise_run_result(reprise_run *run, const char *name, DLTensor *tensor) {
  if (reprise_error *error = refuseNull({{"run", run}, {"name", name}, {"tensor", tensor}}))
    return error;
  run->session->begin();
  if (run->isInRows(name)) {
    auto known = run->joined.find(name);
    if (known == run->joined.end()) { // earlier views stay valid until the next step
      Expected<JoinedRows> whole = run->joinRows(name);
      if (!whole)
        return run->session->fail(whole.message());
      known = run->joined.emplace(name, std::move(*whole)).first;
    }
    *tensor = describe(known->second);
    return nullptr;
  }
  auto found = run->findResult(name);
  if (!found)
    return run->session->fail(found.message());
  Executable &executable = run->group->executable(found->first);
  const Result &result = executable.bundle().results[found->second];
  DLDevice device = {kDLCPU, 0};
  if (run->place.kind == DeviceKind::Cuda)
    device = {kDLCUDA, static_cast<int32_t>(run->place.number + found->first)};
  *tensor = {const_cast<void *>(executable.result(found->second)),
             device,
             static_cast<int32_t>(result.shape.size()),
             fromDType(result.dtype),
             const_cast<int64_t *>(result.shape.data()),
             nullptr,
             0};
  return nullptr;
}

/// Moves a result out of the arena. Returns null, and changes nothing, if a copy is cheaper, if the
/// result lies elsewhere or shares bytes with another result, or if the system moves no pages.
static std::unique_ptr<DeviceMemory> moveResult(Executable &executable, const Result &result) {
  constexpr uint64_t leastMoved = 16384;
  const BufferRef &own = result.buffer;
  auto shares = [&](const Result &other) {
    return &other != &result && other.buffer.space == Space::Arena &&
           other.buffer.offset < own.offset + own.bytes &&
           own.offset < other.buffer.offset + other.buffer.bytes;
  };
  if (own.space != Space::Arena || own.bytes < leastMoved ||
      llvm::any_of(executable.bundle().results, shares))
    return nullptr;
  return executable.arenaMemory().take(own.offset, own.bytes);
}

reprise_error *reprise_run_take_result(reprise_run *run, const char *name, DLTensor *tensor,
                                       reprise_memory **memory) {
  if (reprise_error *error =
          refuseNull({{"run", run}, {"name", name}, {"tensor", tensor}, {"memory", memory}}))
    return error;
  run->session->begin();
  if (reprise_error *error = checkStepped(run))
    return error;
  if (run->place.kind != DeviceKind::Cpu)
    return run->session->fail("only results of a run on the CPU can be taken");
  auto made = std::make_unique<reprise_memory>();
  if (run->isInRows(name)) {
    Expected<JoinedRows> whole = run->joinRows(name);
    if (!whole)
      return run->session->fail(whole.message());
    made->shape = whole->shape;
    *tensor = describe(*whole);
    tensor->shape = made->shape.data();
    made->copied = std::move(whole->memory);
    *memory = made.release();
    return nullptr;
  }
  auto found = run->findResult(name);
  if (!found)
    return run->session->fail(found.message());
  Executable &executable = run->group->executable(found->first);
  const Result &result = executable.bundle().results[found->second];
  made->moved = moveResult(executable, result);
  if (!made->moved) {
    made->copied = allocateHost(result.buffer.bytes);
    if (!made->copied)
      return run->session->fail("no memory for a copy of '" + std::string(name) + "'");
    std::memcpy(made->copied.get(), executable.result(found->second), result.buffer.bytes);
  }
  made->shape = result.shape;
  *tensor = {made->moved ? made->moved->address() : made->copied.get(),
             {kDLCPU, 0},
             static_cast<int32_t>(made->shape.size()),
             fromDType(result.dtype),
             made->shape.data(),
             nullptr,
             0};
  run->taken.insert(name);
  *memory = made.release();
  return nullptr;
}

void reprise_memory_destroy(reprise_memory *memory) { delete memory; }
