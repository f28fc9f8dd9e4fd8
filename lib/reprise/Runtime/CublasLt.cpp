// reprise: the functions of cuBLASLt, opened when a bundle first calls one
#include "CublasLt.h"

#include "CudaLibrary.h"

namespace reprise::runtime::cublaslt {

Error Library::check(int status, const std::string &what) const {
  if (status == 0)
    return Error::success();
  const char *name = getStatusName(status);
  return Error::make("cannot " + what + ": cuBLASLt says " +
                     (name ? name : std::to_string(status)));
}

static Expected<const Library *> open() {
  Expected<void *> handle = cuda::openLibrary({"libcublasLt.so.13", "libcublasLt.so.12"});
  if (!handle)
    return handle.error();
  static Library library;
#define REPRISE_FIND(member, name, result, parameters)                                             \
  if (Expected<void *> found = cuda::findFunction(*handle, #name, "libcublasLt"))                  \
    library.member = reinterpret_cast<decltype(library.member)>(*found);                           \
  else                                                                                             \
    return found.error();
  REPRISE_CUBLASLT_FUNCTIONS(REPRISE_FIND)
#undef REPRISE_FIND
  return &library;
}

Expected<const Library *> Library::get() {
  static const Expected<const Library *> library = open();
  return library;
}

} // namespace reprise::runtime::cublaslt
