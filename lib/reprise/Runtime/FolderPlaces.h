// reprise: where run folders are written
#ifndef REPRISE_LIB_RUNTIME_FOLDERPLACES_H
#define REPRISE_LIB_RUNTIME_FOLDERPLACES_H

#include "reprise/Runtime/Error.h"

namespace reprise::runtime {

/// Returns "cannot write 'PATH': WHY".
Error cannotWrite(const std::string &path, const std::string &why);

/// Returns the destination of `path`, without slashes at its end, so that a rename acts on the
/// folder itself.
std::string resolveFolder(std::string path);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_FOLDERPLACES_H
