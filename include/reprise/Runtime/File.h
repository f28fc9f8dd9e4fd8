// reprise: files read whole, and output paths tried before long work starts
#ifndef REPRISE_RUNTIME_FILE_H
#define REPRISE_RUNTIME_FILE_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::runtime {

/// Everything in `path`, or in standard input for "-", of which pipes and devices may give at most
/// 256 MiB; the error says "cannot read 'PATH': REASON".
Expected<std::vector<uint8_t>> readFile(const std::string &path);

/// Writes the file whole or not at all (AtomicFile.h).
Error writeFile(const std::string &path, const void *data, uint64_t size);

/// An error if no file, or no folder, can be made or replaced at `path`: lets long work fail before
/// it starts.
Error checkWritable(const std::string &path, bool asFolder = false);

/// Whether both paths lead to one file or folder, which need not exist yet; hard links do. Devices,
/// pipes and "-" are never the same.
bool isSameFile(const std::string &first, const std::string &second);

/// Whether `path` leads into the folder; neither need exist yet.
bool isInside(const std::string &path, const std::string &folder);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_FILE_H
