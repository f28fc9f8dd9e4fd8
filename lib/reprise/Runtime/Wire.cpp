// reprise: messages between the processes of a run: discovery of the other processes
#include "reprise/Runtime/Wire.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace reprise::runtime;

Wire::~Wire() = default;

static std::optional<uint32_t> numberIn(const char *variable) {
  const char *text = std::getenv(variable);
  if (!text || *text < '0' || *text > '9')
    return std::nullopt;
  char *end = nullptr;
  unsigned long number = std::strtoul(text, &end, 10);
  return *end || number > UINT32_MAX ? std::nullopt : std::optional<uint32_t>(number);
}

std::optional<Launch> reprise::runtime::findLaunch() {
  const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, // Open MPI
                                  {"PMI_RANK", "PMI_SIZE"}};                        // MPICH
  for (auto [rank, size] : names)
    if (std::optional<uint32_t> own = numberIn(rank), all = numberIn(size); own && all)
      return Launch{*own, *all};
  return std::nullopt;
}

/// Returns the path of the module, beside this library.
static std::string modulePath() {
  const char *name = "libRepriseMpi.so";
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&modulePath), &info) || !info.dli_fname)
    return name;
  std::string own = info.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + name;
}

Expected<std::unique_ptr<Wire>> reprise::runtime::openWire(const Launch &launch) {
  std::string what = "cannot run as one of " + std::to_string(launch.size) + " processes: ";
  // MPI searches its symbols among all loaded libraries when it loads its own parts.
  void *module = dlopen(modulePath().c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!module)
    return Error::make(what + "this build has no MPI: " + dlerror());
  using Maker = Wire *(*)(std::string &);
  auto make = reinterpret_cast<Maker>(dlsym(module, "repriseMakeMpiWire"));
  if (!make)
    return Error::make(what + dlerror());
  std::string failure;
  std::unique_ptr<Wire> wire(make(failure));
  if (!wire)
    return Error::make(what + failure);
  if (wire->size() != launch.size || wire->rank() != launch.rank)
    return Error::make(
        what + "MPI reports " + std::to_string(wire->size()) +
        " as their number: mpirun belongs to another MPI than the one of this build");
  return makeBackgroundWire(std::move(wire));
}
