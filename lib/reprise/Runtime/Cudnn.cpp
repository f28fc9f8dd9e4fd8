// reprise: the functions of cuDNN, opened when a bundle first calls one
#include "Cudnn.h"

#include "CudaLibrary.h"

namespace reprise::runtime::cudnn {

Error Library::check(int status, const std::string &what) const {
  if (status == 0)
    return Error::success();
  const char *name = getErrorString(status);
  return Error::make("cannot " + what + ": cuDNN says " + (name ? name : std::to_string(status)));
}

static Expected<const Library *> open() {
  Expected<void *> handle = cuda::openLibrary({"libcudnn.so.9", "libcudnn.so.8"});
  if (!handle)
    return handle.error();
  static Library library;
#define REPRISE_FIND(member, name, result, parameters)                                             \
  if (Expected<void *> found = cuda::findFunction(*handle, #name, "libcudnn"))                     \
    library.member = reinterpret_cast<decltype(library.member)>(*found);                           \
  else                                                                                             \
    return found.error();
  REPRISE_CUDNN_FUNCTIONS(REPRISE_FIND)
#undef REPRISE_FIND
  return &library;
}

Expected<const Library *> Library::get() {
  static const Expected<const Library *> library = open();
  return library;
}

} // namespace reprise::runtime::cudnn
