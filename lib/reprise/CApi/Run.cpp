// reprise: runs of the C API, on memory of the caller
#include "Handles.h"
#include "Options.h"
#include "Tensor.h"

#include "reprise/Runtime/Session.h"
#include "reprise/Support/Readable.h"

#include <cstdlib>
#include <set>
#include <utility>

using namespace reprise::capi;
using namespace reprise::runtime;

namespace {
struct Free {
  void operator()(uint8_t *memory) const { std::free(memory); }
};

/// Tensor that steps cannot use in place, and the copy that they use.
struct Copied {
  DLTensor tensor;
  std::vector<int64_t> shape, strides; ///< shape and strides of the tensor
  std::unique_ptr<uint8_t, Free> memory;
  uint64_t elementBytes = 0;
  bool isReplaced = false; ///< a result replaces it
  bool isLate = false;     ///< accessed only behind the pause
  bool isMoved = false;    ///< bound at a pause, and read again behind it
  bool isEarly = false;    ///< its result is complete at the pause
};
} // namespace

struct reprise_run {
  SessionPtr session;
  DeviceKind kind = DeviceKind::Cpu;
  std::unique_ptr<ProgramGroup> group;
  std::unique_ptr<Session> steps;
  std::map<std::string, Copied> copies; ///< copies by argument
  std::set<std::string> earlyResults;   ///< results that are complete at the pause
  std::string hash;
  bool isStarted = false, hasStepped = false;

  const Argument *find(const std::string &name) const {
    std::optional<size_t> found = steps->find(name);
    return found ? &group->bundle().arguments[*found] : nullptr;
  }
  bool isReplaced(const std::string &name) const;
  std::string check(const std::string &name, const DLTensor &tensor, bool mayHaveRows) const;
  std::string checkPlace(const std::string &name, const DLTensor &tensor) const;
  Error bindCopy(const std::string &name, const DLTensor &tensor, uint64_t bytes);
  /// Part of a step, by the arguments that it accesses and the results that it completes.
  enum Part { All, ToPause, FromPause };
  void copyIn(Part part);
  void copyOut(Part part);
};

bool reprise_run::isReplaced(const std::string &name) const {
  const Bundle &bundle = group->bundle();
  return llvm::any_of(bundle.results, [&](const Result &result) {
    return result.argument >= 0 && arrayName(bundle.arguments[result.argument]) == name;
  });
}

/// Returns whether steps can use the tensor in place.
static bool liesWell(const DLTensor &tensor) {
  return reinterpret_cast<uintptr_t>(startOf(tensor)) % bufferAlignment == 0 && isDense(tensor);
}

/// Checks where the elements of a tensor of the right shape lie. Returns the fault, or an empty
/// text.
std::string reprise_run::checkPlace(const std::string &name, const DLTensor &tensor) const {
  DLDeviceType wanted = kind == DeviceKind::Cuda ? kDLCUDA : kDLCPU;
  if (tensor.device.device_type != wanted)
    return std::string("the tensor is not on the ") + (wanted == kDLCUDA ? "GPU" : "CPU") +
           ", on which the run is";
  if (kind == DeviceKind::Cuda && !liesWell(tensor))
    return "on a GPU the tensor must lie at a multiple of " +
           reprise::groupDigits(bufferAlignment) + " bytes, row-major without gaps";
  if (isReplaced(name) && !isWritable(tensor))
    return "the step writes to the tensor, whose strides are negative or let elements overlap";
  return "";
}

/// Returns the fault of a tensor for the argument; empty if it is valid.
std::string reprise_run::check(const std::string &name, const DLTensor &tensor,
                               bool mayHaveRows) const {
  const Argument *argument = find(name);
  if (!argument)
    return "the step has no argument of this name";
  if (toDType(tensor.dtype, argument->dtype) != argument->dtype)
    return std::string("expected a tensor of type ") + dtypeName(argument->dtype);
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape))
    return "the tensor has no shape";
  std::vector<int64_t> shape = shapeOf(tensor), expected = arrayShape(*argument);
  bool hasRows =
      mayHaveRows && argument->role == Role::Input && shape.size() == expected.size() + 1;
  if (hasRows ? !std::equal(expected.begin(), expected.end(), shape.begin() + 1)
              : shape != expected)
    return "shape " + shapeText(shape) + ", expected " + shapeText(expected);
  uint64_t bytes = std::max<uint64_t>(arrayBytes(*argument), 1);
  if (hasRows && (shape[0] < 1 || static_cast<uint64_t>(shape[0]) > INT64_MAX / bytes))
    return "shape " + shapeText(shape) + ", expected a number of values from 1 to " +
           std::to_string(INT64_MAX / bytes) + " of shape " + shapeText(expected);
  if (!tensor.data && !llvm::is_contained(shape, 0))
    return "the tensor has no data";
  return "";
}

Error reprise_run::bindCopy(const std::string &name, const DLTensor &tensor, uint64_t bytes) {
  Copied copied{tensor, shapeOf(tensor), {}, nullptr, elementBytes(find(name)->dtype), false};
  if (tensor.strides)
    copied.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  uint64_t room = (std::max<uint64_t>(bytes, 1) + bufferAlignment - 1) / bufferAlignment;
  copied.memory.reset(
      static_cast<uint8_t *>(std::aligned_alloc(bufferAlignment, room * bufferAlignment)));
  if (!copied.memory)
    return Error::make("no memory for a copy of '" + name + "'");
  copied.isReplaced = isReplaced(name);
  copied.isLate = group->bundle().isLate(static_cast<uint32_t>(*steps->find(name)));
  copied.isMoved = steps->isPaused();
  copied.isEarly = earlyResults.count(name);
  if (Error error = steps->bind(name, copied.memory.get(), bytes))
    return error;
  Copied &kept = copies[name] = std::move(copied);
  kept.tensor.shape = kept.shape.data();
  kept.tensor.strides = kept.strides.empty() ? nullptr : kept.strides.data();
  // The caller reads results between the parts.
  copyFrom(kept.tensor, kept.elementBytes, kept.memory.get());
  return Error::success();
}

void reprise_run::copyIn(Part part) {
  for (auto &[name, copied] : copies) {
    bool isMoved = std::exchange(copied.isMoved, false) && part == FromPause;
    if (part == All || isMoved || copied.isLate == (part == FromPause))
      copyFrom(copied.tensor, copied.elementBytes, copied.memory.get());
  }
}

void reprise_run::copyOut(Part part) {
  for (auto &[name, copied] : copies)
    if (copied.isReplaced && (part == All || copied.isEarly == (part == ToPause)))
      copyTo(copied.tensor, copied.elementBytes, copied.memory.get());
}

reprise_error *reprise_run_create(const reprise_bundle *bundle, const reprise_options *options,
                                  reprise_run **run) {
  if (reprise_error *error = refuseNull({{"bundle", bundle}, {"run", run}}))
    return error;
  static const reprise_options none;
  SessionState &session = *bundle->session;
  session.begin();
  const reprise_options &given = options ? *options : none;
  std::string device = given.has("device") ? given.text("device") : "cpu";
  std::string wrong = checkUse(&given, ForRun);
  if (wrong.empty() && device != "cpu" && device != "cuda")
    wrong = "expected device cpu or cuda, got '" + device + "'";
  if (!wrong.empty())
    return session.fail(wrong, REPRISE_BAD_USAGE);
  Expected<Bundle> read =
      deserializeBundle(bundle->bytes.data(), bundle->bytes.size(), bundle->name);
  if (!read)
    return session.fail(read.message());
  auto made = std::make_unique<reprise_run>();
  made->session = bundle->session;
  made->kind = device == "cuda" ? DeviceKind::Cuda : DeviceKind::Cpu;
  unsigned threads = given.has("threads") ? static_cast<unsigned>(given.integer("threads")) : 0;
  auto group = ProgramGroup::create(std::move(*read), bundle->name, threads, nullptr, made->kind);
  if (!group)
    return session.fail(group.message());
  made->group = std::move(*group);
  for (const Result &result : made->group->bundle().results)
    if (made->group->bundle().isEarly(result))
      made->earlyResults.insert(result.name);
  for (size_t i = 0; i < made->group->size(); ++i)
    made->group->executable(i).setCheckIndices(given.isOn("check-indices"));
  made->steps = std::make_unique<Session>(*made->group);
  *run = made.release();
  return nullptr;
}

void reprise_run_destroy(reprise_run *run) { delete run; }

reprise_error *reprise_run_bind(reprise_run *run, const char *name, const DLTensor *tensor,
                                int *is_copied) {
  if (reprise_error *error = refuseNull({{"run", run}, {"name", name}, {"tensor", tensor}}))
    return error;
  run->session->begin();
  std::string wrong = run->check(name, *tensor, false);
  if (wrong.empty())
    wrong = run->checkPlace(name, *tensor);
  if (!wrong.empty())
    return run->session->fail("cannot bind '" + std::string(name) + "': " + wrong);
  uint64_t bytes = arrayBytes(*run->find(name));
  bool isInPlace = liesWell(*tensor);
  Error error = isInPlace ? run->steps->bind(name, startOf(*tensor), bytes)
                          : run->bindCopy(name, *tensor, bytes);
  if (error)
    return run->session->fail(error);
  if (isInPlace)
    run->copies.erase(name);
  if (is_copied)
    *is_copied = !isInPlace;
  return nullptr;
}

reprise_error *reprise_run_give(reprise_run *run, const char *name, const DLTensor *tensor) {
  if (reprise_error *error = refuseNull({{"run", run}, {"name", name}, {"tensor", tensor}}))
    return error;
  run->session->begin();
  std::string wrong = run->check(name, *tensor, true);
  if (wrong.empty() && (tensor->device.device_type != kDLCPU || !isDense(*tensor)))
    wrong = "the tensor is not on the CPU, or not row-major without gaps";
  if (!wrong.empty())
    return run->session->fail("cannot set the value of '" + std::string(name) + "': " + wrong);
  ArrayRef value;
  value.name = name;
  value.dtype = run->find(name)->dtype;
  value.shape = shapeOf(*tensor);
  value.data = startOf(*tensor);
  if (Error error = run->steps->giveValue(value))
    return run->session->fail(error);
  return nullptr;
}

reprise_error *reprise_run_give_folder(reprise_run *run, const char *path) {
  if (reprise_error *error = refuseNull({{"run", run}, {"path", path}}))
    return error;
  run->session->begin();
  if (Error error = run->steps->giveFolder(path))
    return run->session->fail(error);
  return nullptr;
}

reprise_error *reprise_run_set_state(reprise_run *run, const reprise_run_state *state) {
  if (reprise_error *error = refuseNull({{"run", run}, {"state", state}}))
    return error;
  run->session->begin();
  if (Error error = run->steps->setState({state->seed, state->offset, state->step}))
    return run->session->fail(error);
  return nullptr;
}

void reprise_run_get_state(const reprise_run *run, reprise_run_state *state) {
  if (!run || !state)
    return;
  const RunState &own = run->steps->state();
  *state = {own.seed, own.offset, own.step};
}

reprise_error *reprise_run_start(reprise_run *run, int64_t steps) {
  if (reprise_error *error = refuseNull({{"run", run}}))
    return error;
  run->session->begin();
  if (steps < 0)
    return run->session->fail("expected a number of steps from 0 on, got " + std::to_string(steps),
                              REPRISE_BAD_USAGE);
  run->copyIn(run->group->bundle().pauses() ? reprise_run::ToPause : reprise_run::All);
  if (Error error = run->steps->start(steps))
    return run->session->fail(error);
  run->isStarted = true;
  return nullptr;
}

using Work = Error (Session::*)();

static reprise_error *runPart(reprise_run *run, reprise_run::Part part, Work work) {
  if (reprise_error *error = refuseNull({{"run", run}}))
    return error;
  run->session->begin();
  if (!run->isStarted)
    return run->session->fail("the run was not started", REPRISE_BAD_USAGE);
  run->copyIn(part);
  if (Error error = (*run->steps.*work)())
    return run->session->fail(error);
  run->hasStepped |= part != reprise_run::ToPause;
  run->copyOut(part);
  return nullptr;
}

reprise_error *reprise_run_step(reprise_run *run) {
  return runPart(run, reprise_run::All, &Session::step);
}

reprise_error *reprise_run_begin_step(reprise_run *run) {
  return runPart(run, reprise_run::ToPause, &Session::beginStep);
}

reprise_error *reprise_run_end_step(reprise_run *run) {
  return runPart(run, reprise_run::FromPause, &Session::endStep);
}

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
      if (run->kind == DeviceKind::Cuda)
        device = {kDLCUDA, static_cast<int32_t>(i)};
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
