// reprise: a library of a GPU that a bundle calls, opened by the names of its versions
#ifndef REPRISE_LIB_RUNTIME_CUDALIBRARY_H
#define REPRISE_LIB_RUNTIME_CUDALIBRARY_H

#include "reprise/Runtime/Error.h"

#include <vector>

namespace reprise::runtime::cuda {

/// The handle of the first of these files that is found, for dlsym.
Expected<void *> openLibrary(const std::vector<const char *> &files);
/// The function of that name, or an error that names the first file.
Expected<void *> findFunction(void *library, const char *name, const char *file);

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDALIBRARY_H
