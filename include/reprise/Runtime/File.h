// reprise: files read whole, and early checks of output paths
#ifndef REPRISE_RUNTIME_FILE_H
#define REPRISE_RUNTIME_FILE_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::runtime {

/// Reads all bytes of `path`, or of standard input for "-". Pipes and devices may give at most 256
/// MiB. Errors: "cannot read 'PATH': REASON".
Expected<std::vector<uint8_t>> readFile(const std::string &path);

/// Writes the file whole or not at all (AtomicFile.h).
Error writeFile(const std::string &path, const void *data, uint64_t size);

/// Returns an error if no file, or no folder, can be created or replaced at `path`, so that long
/// work fails before it starts.
Error checkWritable(const std::string &path, bool asFolder = false);

/// Returns whether both paths lead to one file or folder, which need not exist yet. Hard links of
/// one file are the same; devices, pipes and "-" never are.
bool isSameFile(const std::string &first, const std::string &second);

/// Returns whether `path` leads into the folder; neither need exist yet.
bool isInside(const std::string &path, const std::string &folder);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_FILE_H
