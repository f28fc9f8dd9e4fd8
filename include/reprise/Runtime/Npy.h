// reprise: arrays as .npy files
#ifndef REPRISE_RUNTIME_NPY_H
#define REPRISE_RUNTIME_NPY_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Array in memory that another object owns: row-major, an i1 takes one byte, 0 or 1. The array may
/// be rows of a larger array, whose name it then has.
struct ArrayRef {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
  /// Position of the first row in the larger array.
  int64_t firstRow = 0;
  /// Rows of the larger array; 0 if the array is not a part.
  int64_t wholeRows = 0;

  uint64_t bytes() const;
  /// Returns the shape of the larger array, or of this array if it is not a part.
  std::vector<int64_t> wholeShape() const;
  uint64_t wholeBytes() const;
  uint64_t offsetInWhole() const;
  /// Returns true for an array in one piece, and for the last rows of a larger array.
  bool endsWhole() const;
};

/// Returns "[2, 3]", for messages.
std::string shapeText(const std::vector<int64_t> &shape);

/// Replaces every NaN among `count` elements, in place, by the quiet NaN with an empty payload and
/// sign 0. Leaves integer types unchanged.
void canonicalizeNaNs(DType dtype, void *data, uint64_t count);

/// Writes the file as numpy does: version 1.0, little endian, C order; bf16 as uint16, i1 as bool;
/// NaNs canonical. The file is written whole or not at all.
Error writeNpy(const std::string &path, const ArrayRef &array);
/// Writes an array whose rows are given in consecutive parts, in the same format.
Error writeNpyParts(const std::string &path, const std::vector<ArrayRef> &parts);
/// Writes rows of an array into a file while other processes may write other rows.
Error writeNpyRows(const std::string &path, const ArrayRef &part);

/// Open .npy file of version 1.0 or 2.0. Elements are read on demand.
class NpyFile {
public:
  /// Opens a file. Errors name the file: not .npy, another type than `dtype`, big endian, Fortran
  /// order, truncated, longer than its shape.
  static Expected<NpyFile> open(const std::string &path, DType dtype);
  NpyFile(NpyFile &&other) noexcept;
  NpyFile &operator=(NpyFile &&other) noexcept;
  ~NpyFile();

  const std::string &path() const { return name; }
  const std::vector<int64_t> &shape() const { return dims; }
  /// Copies `bytes` bytes from byte `offset` of the elements. A bool other than 0 or 1 is an error.
  /// Allocates no memory on success.
  Error read(void *into, uint64_t offset, uint64_t bytes) const;

private:
  NpyFile() = default;
  Error parse(DType wanted);
  Error readHeader(std::string &text);
  Error checkSize(uint64_t fileBytes) const;
  Error fail(const std::string &why) const;

  std::string name;
  std::vector<int64_t> dims;
  DType dtype = DType::F32;
  uint64_t dataOffset = 0;
  int descriptor = -1;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_NPY_H
