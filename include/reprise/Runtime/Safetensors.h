// reprise: arrays as tensors of .safetensors files
//
// A file is 8 bytes with the length of the header, the header as JSON, and the elements of all
// tensors without gaps. docs/explanation/RunFolders.md gives the reasons for this design.
#ifndef REPRISE_RUNTIME_SAFETENSORS_H
#define REPRISE_RUNTIME_SAFETENSORS_H

#include "reprise/Runtime/ArrayFile.h"

#include <map>

namespace reprise::runtime {

/// Returns whether a path ends with ".safetensors".
bool isSafetensorsName(const std::string &path);

/// Open .safetensors file with a checked header.
class SafetensorsFile {
public:
  struct Tensor {
    std::string type; ///< "F32", also a type that no program has
    std::vector<int64_t> shape;
    uint64_t begin = 0, end = 0; ///< bytes behind the header
  };

  /// Opens a file. Errors name the file, and the tensor: a header that is too short, too long or no
  /// JSON, a repeated name, offsets that overlap, leave gaps, end outside the file or differ from
  /// type and shape.
  static Expected<std::shared_ptr<const SafetensorsFile>> open(const std::string &path);

  const std::string &path() const { return file->path(); }
  const std::map<std::string, Tensor> &tensors() const { return content; }
  /// Returns the string `run` of the metadata, which is run.json; empty without it.
  const std::string &run() const { return record; }
  /// Returns a tensor of this file as an array. Another type is an error.
  Expected<ArrayFile> array(const std::string &tensor, DType dtype) const;

private:
  friend class SafetensorsHeader;
  SafetensorsFile() = default;

  std::shared_ptr<const OpenFile> file;
  std::map<std::string, Tensor> content;
  std::string record;
  uint64_t dataOffset = 0;
};

/// Tensors by name, of one file or of the files that an index names.
using TensorFiles = std::map<std::string, std::shared_ptr<const SafetensorsFile>>;

/// Adds the tensors of a .safetensors file.
Error addTensors(const std::string &path, TensorFiles &tensors);
/// Adds the tensors of all files that an index names ("weight_map": {TENSOR: FILE}). Files lie
/// beside the index.
Error addIndexedTensors(const std::string &path, TensorFiles &tensors);

/// Names of tensors by names of arguments and results. Without an entry, a tensor has the name of
/// its array with '.' for '/'.
class TensorNames {
public:
  /// Reads a JSON object {ARRAY: TENSOR} or {ARRAY: [TENSOR, ANOTHER NAME, …]}. Fails if two arrays
  /// have the same tensor.
  static Expected<TensorNames> read(const std::string &path);

  /// Returns the name under which an array is written, and then all other names under which it may
  /// be read.
  std::vector<std::string> of(const std::string &array) const;

private:
  std::map<std::string, std::vector<std::string>> names;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_SAFETENSORS_H
