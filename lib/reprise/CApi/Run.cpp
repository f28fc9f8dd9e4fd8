// reprise: runs of the C API, on memory of the caller
#include "Options.h"
#include "RunHandle.h"
#include "reprise/Support/Readable.h"

#include <utility>

using namespace reprise::capi;
using namespace reprise::runtime;

HostMemory reprise::capi::allocateHost(uint64_t bytes) {
  uint64_t room = (std::max<uint64_t>(bytes, 1) + bufferAlignment - 1) / bufferAlignment;
  return HostMemory(
      static_cast<uint8_t *>(std::aligned_alloc(bufferAlignment, room * bufferAlignment)));
}

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
  DLDeviceType wanted = place.kind == DeviceKind::Cuda ? kDLCUDA : kDLCPU;
  if (tensor.device.device_type != wanted)
    return std::string("the tensor is not on the ") + (wanted == kDLCUDA ? "GPU" : "CPU") +
           ", on which the run is";
  auto number = static_cast<int32_t>(place.number);
  if (wanted == kDLCUDA && group->size() == 1 && tensor.device.device_id != number)
    return "the tensor is on GPU " + std::to_string(tensor.device.device_id) +
           ", the run is on GPU " + std::to_string(number);
  if (wanted == kDLCUDA && !liesWell(tensor))
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
  copied.memory = allocateHost(bytes);
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

/// Reads the place of a run from its options. Returns the fault, or an empty text.
static std::string readPlace(const reprise_options &given, DevicePlace &place) {
  std::string device = given.has("device") ? given.text("device") : "cpu";
  std::string memory = given.has("memory") ? given.text("memory") : "own";
  llvm::StringRef number = device;
  bool isCuda = number.consume_front("cuda");
  bool isNumbered = isCuda && number.consume_front(":");
  if (device != "cpu" &&
      (!isCuda || (isNumbered ? number.getAsInteger(10, place.number) : !number.empty())))
    return "expected device cpu, cuda or cuda:NUMBER, got '" + device + "'";
  if (memory != "own" && memory != "caller")
    return "expected memory own or caller, got '" + memory + "'";
  place.kind = isCuda ? DeviceKind::Cuda : DeviceKind::Cpu;
  place.isBorrowed = memory == "caller";
  return "";
}

reprise_error *reprise_run_create(const reprise_bundle *bundle, const reprise_options *options,
                                  reprise_run **run) {
  if (reprise_error *error = refuseNull({{"bundle", bundle}, {"run", run}}))
    return error;
  static const reprise_options none;
  SessionState &session = *bundle->session;
  session.begin();
  const reprise_options &given = options ? *options : none;
  auto made = std::make_unique<reprise_run>();
  std::string wrong = checkUse(&given, ForRun);
  if (wrong.empty())
    wrong = readPlace(given, made->place);
  if (!wrong.empty())
    return session.fail(wrong, REPRISE_BAD_USAGE);
  Expected<Bundle> read =
      deserializeBundle(bundle->bytes.data(), bundle->bytes.size(), bundle->name);
  if (!read)
    return session.fail(read.message());
  made->session = bundle->session;
  unsigned threads = given.has("threads") ? static_cast<unsigned>(given.integer("threads")) : 0;
  auto group = ProgramGroup::create(std::move(*read), bundle->name, threads, nullptr, made->place);
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

void reprise_run_destroy(reprise_run *run) {
  if (run)
    (void)run->saver.finish(); // reprise_run_finish_save returns errors
  delete run;
}

uint64_t reprise_run_memory_bytes(const reprise_run *run) {
  return run && run->place.isBorrowed ? lentBytes(run->group->bundle()) : 0;
}

reprise_error *reprise_run_set_memory(reprise_run *run, void *memory, uint64_t bytes,
                                      void *stream) {
  if (reprise_error *error = refuseNull({{"run", run}, {"memory", memory}}))
    return error;
  run->session->begin();
  Executable &executable = run->group->executable(0);
  uint64_t needed = lentBytes(executable.bundle());
  if (run->place.isBorrowed && bytes < needed)
    return run->session->fail("the memory has " + reprise::groupDigits(bytes) +
                              " bytes, the run needs " + reprise::groupDigits(needed));
  Error error = executable.lend(memory);
  if (!error)
    error = executable.device().borrow(stream);
  run->hasMemory = !error;
  return error ? run->session->fail(error) : nullptr;
}

/// Returns an error for a run in memory of the caller that has none.
static reprise_error *checkMemory(const reprise_run *run) {
  if (!run->place.isBorrowed || run->hasMemory)
    return nullptr;
  return run->session->fail("the run is in memory of the caller, which lent no memory: call "
                            "reprise_run_set_memory before each step",
                            REPRISE_BAD_USAGE);
}

/// Returns an error for a run in memory of the caller, which keeps no values between steps.
static reprise_error *refuseGiven(const reprise_run *run, const std::string &what) {
  if (!run->place.isBorrowed)
    return nullptr;
  return run->session->fail("cannot set the value of " + what +
                            ": the run is in memory of the caller: bind a tensor");
}

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
  if (reprise_error *error = refuseGiven(run, "'" + std::string(name) + "'"))
    return error;
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
  if (reprise_error *error = checkMemory(run))
    return error;
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
  if (reprise_error *error = checkMemory(run))
    return error;
  if (Error error = run->saver.poll())
    return run->session->fail(error);
  run->copyIn(part);
  run->taken.clear();
  run->joined.clear();
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
