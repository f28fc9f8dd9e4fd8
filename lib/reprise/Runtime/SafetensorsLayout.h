// reprise: where the arrays of a run lie in .safetensors files
#ifndef REPRISE_LIB_RUNTIME_SAFETENSORSLAYOUT_H
#define REPRISE_LIB_RUNTIME_SAFETENSORSLAYOUT_H

#include "reprise/Runtime/RunFolder.h"

namespace reprise::runtime {

/// Files of one run, which all processes know before they write rows.
struct SafetensorsLayout {
  struct File {
    std::string name;
    std::string header; ///< length and JSON: all bytes in front of the elements
    uint64_t bytes = 0; ///< bytes of the elements
  };
  /// File of an array, and the byte of the file where its elements begin.
  struct Place {
    size_t file = 0;
    uint64_t begin = 0;
  };
  std::vector<File> files;
  std::map<std::string, Place> places; ///< by the name of the array
  std::string index;                   ///< text of the index; empty for one file
};

/// Name of the only file, and of the index of several files.
inline constexpr char soleTensorFile[] = "model.safetensors";
inline constexpr char tensorIndexFile[] = "model.safetensors.index.json";
/// The string `run` in the metadata of a file that lies in a folder beside run.json.
inline constexpr char partOfFolder[] = "run.json";

/// Returns whether a run may have given a file of a folder this name.
bool isTensorFileName(const std::string &name);

/// Returns an error if two arrays have the same tensor name; `what` is the noun for messages.
Error checkTensorNames(const std::string &what, const std::vector<std::string> &arrays,
                       const TensorNames &names);

/// Sorts the results by element size, the largest first, and by name. Several files begin a new
/// file before they exceed `folder.shardBytes`. `run` is the string of that name in the metadata.
SafetensorsLayout layOutTensors(const OutputFolder &folder, const std::string &run);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_SAFETENSORSLAYOUT_H
