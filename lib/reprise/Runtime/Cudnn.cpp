// reprise: the functions of cuDNN, opened at the first call of a bundle
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
  static Library library;
  if (Error error = cuda::loadFunctions({"libcudnn.so.9", "libcudnn.so.8"}, "libcudnn",
                                        {REPRISE_CUDNN_FUNCTIONS(REPRISE_PLACE)}))
    return error;
  return &library;
}

Expected<const Library *> Library::get() {
  static const Expected<const Library *> library = open();
  return library;
}

} // namespace reprise::runtime::cudnn
