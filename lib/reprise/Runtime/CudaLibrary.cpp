// reprise: a library of a GPU that a bundle calls, opened by the names of its versions
#include "CudaLibrary.h"

#include <dlfcn.h>

namespace reprise::runtime::cuda {

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
  return Error::make("the bundle calls " + names + ", which cannot be opened: " + first +
                     withoutLibrary);
}

Expected<void *> findFunction(void *library, const char *name, const char *file) {
  if (void *function = dlsym(library, name))
    return function;
  return Error::make(std::string(file) + " is too old: it lacks " + name + withoutLibrary);
}

} // namespace reprise::runtime::cuda
