// reprise: the kind of a file that a tool was given by mistake
#ifndef REPRISE_RUNTIME_FILEKIND_H
#define REPRISE_RUNTIME_FILEKIND_H

#include <string>
#include <string_view>

namespace reprise::runtime {

/// Content of a file, as far as its first bytes tell. `Text` is any other text.
enum class FileKind { Bundle, Bytecode, Model, Array, Program, Json, Text, Binary };

FileKind findFileKind(std::string_view bytes);

/// Returns an error with advice if `bytes`, the content of `path`, are not of kind `wanted`:
/// "'step.rpb' is a bundle: run it with reprise-run". Returns an empty string if they may be of
/// that kind. `wanted` is Bundle, Model (text or bytecode), Json, or Text (CSV).
std::string findMisplaced(const std::string &path, std::string_view bytes, FileKind wanted);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_FILEKIND_H
