// reprise: the functions of NVIDIA's library of transfers between GPUs, opened on demand
#include "Nccl.h"

#include <dlfcn.h>

namespace reprise::runtime::nccl {

std::string versionText(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Error Library::check(Result result, Comm comm, const std::string &what) const {
  if (result == success)
    return Error::success();
  const char *text = getErrorString(result), *last = getLastError(comm);
  return Error::make("NCCL cannot " + what + ": " + (text ? text : "unknown error") +
                     (last && *last ? std::string(" (") + last + ")" : ""));
}

static Expected<const Library *> open() {
  void *file = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!file)
    return Error::make(dlerror());
  static Library library;
#define REPRISE_FIND(member, name, result, parameters)                                             \
  library.member = reinterpret_cast<decltype(library.member)>(dlsym(file, #name));                 \
  if (!library.member)                                                                             \
    return Error::make(std::string("libnccl.so.2 is too old: no function ") + #name);
  REPRISE_NCCL_FUNCTIONS(REPRISE_FIND)
#undef REPRISE_FIND
  if (Error error =
          library.check(library.getVersion(&library.version), nullptr, "tell its version"))
    return error;
  if (library.version < oldestVersion)
    return Error::make("libnccl.so.2 is too old: version " + versionText(library.version));
  return &library;
}

Expected<const Library *> Library::get() {
  static const Expected<const Library *> library = open();
  return library;
}

} // namespace reprise::runtime::nccl
