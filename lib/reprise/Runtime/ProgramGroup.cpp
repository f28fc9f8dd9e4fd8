// reprise: the device programs of a bundle that run together
#include "reprise/Runtime/ProgramGroup.h"

#include "reprise/Runtime/RunFolder.h"
#include "reprise/Runtime/ThreadPool.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

using namespace reprise::runtime;

ProgramGroup::~ProgramGroup() = default;

Expected<std::unique_ptr<ProgramGroup>> ProgramGroup::load(const std::string &path,
                                                           unsigned threads) {
  Expected<Bundle> bundle = readBundle(path);
  if (!bundle)
    return bundle.error();
  return create(std::move(*bundle), path, threads);
}

Expected<std::unique_ptr<ProgramGroup>> ProgramGroup::create(Bundle bundle, const std::string &name,
                                                             unsigned threads, Ranks *ranks,
                                                             const DevicePlace &place) {
  std::unique_ptr<ProgramGroup> self(new ProgramGroup());
  self->place = place;
  self->fileName = name;
  self->processes = ranks;
  self->tuning = std::make_shared<Tuning>(Tuning::pathBeside(name));
  if (Error error = self->checkRanks(bundle))
    return error;
  if (Error error = validateBundle(bundle)) // before the bundle's number of threads is read
    return Error::make(name + ": the bundle is malformed: " + error.message());
  if (bundle.countDevices() == 1) {
    if (Error error = self->openOnly(std::move(bundle), threads))
      return error;
    return self;
  }
  if (Error error = self->open(bundle, threads == 0 ? bundle.threads : threads))
    return error;
  bundle.constants = {};
  for (Image &image : bundle.images)
    image.bytes = {};
  self->manifest = std::move(bundle);
  return self;
}

Error ProgramGroup::openOnly(Bundle bundle, unsigned threads) {
  Expected<std::unique_ptr<Device>> device =
      makeDevice(place, threads == 0 ? bundle.threads : threads);
  if (!device)
    return Error::make(fileName + ": " + device.message());
  (*device)->setTuning(tuning);
  auto executable = Executable::create(std::move(bundle), fileName, std::move(*device));
  if (!executable)
    return executable.error();
  executables.push_back(std::move(*executable));
  manifest = executables.front()->bundle();
  tuning->write();
  return Error::success();
}

static bool hasCalls(const Bundle &bundle) {
  for (const Program &program : bundle.programs)
    for (const Command &command : program.commands)
      if (command.kind == CommandKind::Call)
        return true;
  return false;
}

/// Reads the file in the first process for all processes, which may be on other machines.
Error ProgramGroup::readTuning() {
  Expected<std::string> read = processes->isFirst() ? tuning->readContents() : std::string();
  if (!read)
    return read.error();
  auto all = processes->exchange(*read);
  return all ? tuning->take(all->front()) : all.error();
}

/// The first process writes for all: each has chosen for the calls of its own program.
Error ProgramGroup::writeTuning() {
  if (processes) {
    auto all = processes->gather(tuning->contents());
    if (!all)
      return all.error();
    if (!processes->isFirst())
      return Error::success();
    for (size_t rank = 1; rank < all->size(); ++rank)
      if (Error error = tuning->add((*all)[rank]))
        return error;
  }
  tuning->write();
  return Error::success();
}

Error ProgramGroup::checkRanks(const Bundle &bundle) const {
  if (!processes)
    return Error::success();
  Ranks::Facts facts = {{"the checksum of the bundle", hashText(bundle.checksum)}};
  if (Error error = processes->checkAlike(fileName, facts))
    return error;
  uint32_t programs = bundle.countDevices();
  if (processes->size() == programs)
    return Error::success();
  return Error::make(fileName + ": " + std::to_string(processes->size()) + " processes run " +
                     std::to_string(programs) + (programs == 1 ? " program" : " programs") +
                     ": start one for each program, or one for all");
}

/// Returns the share of one of `programs` programs of the `threads` workers, at least one.
static unsigned shareOf(unsigned threads, uint32_t program, uint32_t programs) {
  return std::max(1u, threads / programs + (program < threads % programs ? 1 : 0));
}

static std::string hostName() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

Error ProgramGroup::open(const Bundle &bundle, unsigned threads) {
  uint32_t ownDevice = 0;
  if (processes) {
    auto all = processes->exchange(hostName());
    if (!all)
      return all.error();
    hosts = std::move(*all);
    // Each process on a machine has its own device there.
    auto own = hosts.begin() + processes->rank();
    ownDevice = uint32_t(std::count(hosts.begin(), own, *own));
  }
  if (!processes)
    transport = makeLocalTransport(bundle.deviceNames());
  bool sharesTuning = processes && hasCalls(bundle);
  if (Error error = sharesTuning ? readTuning() : Error::success())
    return Error::make(fileName + ": " + error.message());
  for (uint32_t device = 0; device < bundle.countDevices(); ++device) {
    if (processes && device != processes->rank())
      continue;
    unsigned own = processes ? threads : shareOf(threads, device, bundle.countDevices());
    if (Error error = openProgram(bundle, device, processes ? ownDevice : device, own))
      return error;
  }
  if (Error error = !processes || sharesTuning ? writeTuning() : Error::success())
    return error;
  if (Error error = checkMemory())
    return error;
  if (processes)
    return Error::success();
  Expected<std::unique_ptr<ThreadPool>> made = ThreadPool::create(unsigned(size()));
  if (!made)
    return Error::make(fileName + ": " + made.message());
  crew = std::move(*made);
  errors.assign(size(), Error::success());
  return Error::success();
}

/// Bytes of all processes on this machine.
static Expected<uint64_t> addUpOnHost(Ranks &ranks, const std::vector<std::string> &hosts,
                                      uint64_t own) {
  auto all = ranks.exchange(std::to_string(own));
  if (!all)
    return all.error();
  uint64_t sum = 0;
  for (size_t i = 0; i < all->size(); ++i)
    if (hosts[i] == hosts[ranks.rank()])
      sum += std::strtoull((*all)[i].c_str(), nullptr, 10);
  return sum;
}

/// Checks the memory of all programs together. Each program fits separately, which is enough if
/// each has its own device. Their memory has not been touched yet.
Error ProgramGroup::checkMemory() const {
  if (!executables.front()->device().hasHostMemory())
    return Error::success();
  uint64_t needed = 0;
  for (const auto &executable : executables) {
    const Bundle &own = executable->bundle();
    needed += own.persistentBytes() + executable->arenaMemory().size() +
              own.workspaceBytes(executable->device().workers());
  }
  if (processes) {
    Expected<uint64_t> together = addUpOnHost(*processes, hosts, needed);
    if (!together)
      return together.error();
    needed = *together;
  }
  uint64_t available = executables.front()->device().availableMemory();
  if (needed > available)
    return Error::make(fileName + ": a step of all programs needs " + groupDigits(needed) +
                       " bytes of memory, this machine has " + groupDigits(available) +
                       " available");
  return Error::success();
}

unsigned ProgramGroup::allThreads() const {
  unsigned sum = 0;
  for (const auto &executable : executables)
    sum += executable->device().workers();
  return sum;
}

Error ProgramGroup::openProgram(const Bundle &bundle, uint32_t device, uint32_t number,
                                unsigned threads) {
  std::string own = fileName + ", program '" + bundle.deviceName(device) + "'";
  Expected<std::unique_ptr<Device>> made =
      makeDevice({place.kind, place.number + number, place.isBorrowed}, threads);
  if (!made)
    return Error::make(own + ": " + made.message());
  if (processes) {
    Expected<std::unique_ptr<Transport>> connected = (*made)->connect(*processes, bundle);
    if (!connected)
      return Error::make(own + ": " + connected.message());
    transport = std::move(*connected);
  }
  (*made)->setTuning(tuning);
  Expected<std::unique_ptr<Endpoint>> endpoint = transport->join(bundle.deviceName(device));
  if (!endpoint)
    return Error::make(own + ": " + endpoint.message());
  auto executable =
      Executable::create(selectDevice(bundle, device), own, std::move(*made), std::move(*endpoint));
  if (!executable)
    return executable.error();
  executables.push_back(std::move(*executable));
  return Error::success();
}

std::vector<std::string> ProgramGroup::takeNotes() const {
  std::vector<std::string> notes;
  for (const auto &executable : executables)
    for (std::string &note : executable->device().takeNotes())
      notes.push_back(std::move(note));
  for (std::string &note : tuning->takeNotes())
    notes.push_back(std::move(note));
  return notes;
}

Error ProgramGroup::runAll(Error (*run)(void *, size_t), void *context) {
  if (!crew)
    return run(context, 0);
  struct Call {
    ProgramGroup &group;
    Error (*run)(void *, size_t);
    void *context;
  } call{*this, run, context};
  crew->run(
      [](void *given, unsigned worker) {
        Call &own = *static_cast<Call *>(given);
        own.group.errors[worker] = own.run(own.context, worker);
      },
      &call);
  // Errors of the other programs are consequences of the first failure.
  if (std::optional<std::string> first = transport->firstFailure())
    for (size_t i = 0; i < size(); ++i)
      if (*first == manifest.deviceName(uint32_t(i)) && errors[i])
        return errors[i];
  for (const Error &error : errors)
    if (error)
      return error;
  return Error::success();
}
