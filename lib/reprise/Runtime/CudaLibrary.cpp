// reprise: a library of a GPU that a bundle calls, opened by the names of its versions
#include "CudaLibrary.h"

#include <dlfcn.h>

namespace reprise::runtime::cuda {

static constexpr char without[] = "; a bundle compiled without --contractions=library needs none";

Expected<void *> openLibrary(const std::vector<const char *> &files) {
  std::string names, first;
  for (const char *file : files) {
    if (void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL))
      return library;
    const char *text = dlerror();
    if (names.empty())
      first = text ? text : "unknown error";
    names += (names.empty() ? "" : " or ") + std::string(file);
  }
  return Error::make("the bundle calls " + names + ", which cannot be opened: " + first + without);
}

Expected<void *> findFunction(void *library, const char *name, const char *file) {
  if (void *function = dlsym(library, name))
    return function;
  return Error::make(std::string(file) + " is too old: it lacks " + name + without);
}

} // namespace reprise::runtime::cuda
