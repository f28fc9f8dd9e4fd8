// reprise: the functions of cuBLASLt, opened at the first call of a bundle
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
  static Library library;
  if (Error error = cuda::loadFunctions({"libcublasLt.so.13", "libcublasLt.so.12"}, "libcublasLt",
                                        {REPRISE_CUBLASLT_FUNCTIONS(REPRISE_PLACE)}))
    return error;
  return &library;
}

Expected<const Library *> Library::get() {
  static const Expected<const Library *> library = open();
  return library;
}

} // namespace reprise::runtime::cublaslt
