// reprise: loading of a GPU library by the file names of its versions
#include "CudaLibrary.h"

#include "LibraryCalls.h"
#include "reprise/Support/Wording.h"

#include <dlfcn.h>

namespace reprise::runtime::cuda {

/// The handle of the first of these files that is found, for dlsym.
static Expected<void *> openLibrary(const std::vector<const char *> &files) {
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

Error loadFunctions(const std::vector<const char *> &files, const char *file,
                    const std::vector<FunctionPlace> &functions) {
  Expected<void *> library = openLibrary(files);
  if (!library)
    return library.error();
  for (const FunctionPlace &function : functions)
    if (!(*function.place = dlsym(*library, function.name)))
      return Error::make(std::string(file) + " is too old: no function " + function.name +
                         withoutLibrary);
  return Error::success();
}

Error checkWorkspace(uint64_t needed, uint64_t given) {
  if (needed <= given)
    return Error::success();
  return Error::make("the algorithm needs " + groupDigits(needed) +
                     " bytes of workspace, and has " + groupDigits(given));
}

} // namespace reprise::runtime::cuda
