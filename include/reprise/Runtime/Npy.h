// reprise: arrays as .npy files
#ifndef REPRISE_RUNTIME_NPY_H
#define REPRISE_RUNTIME_NPY_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// An array in memory that belongs to someone else: row-major, an i1 one byte, 0 or 1. It may be
/// rows of a larger one, whose name it has.
struct ArrayRef {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
  int64_t firstRow = 0;  ///< of rows of a larger array: where they begin in it
  int64_t wholeRows = 0; ///< of such: how many that has; else 0

  uint64_t bytes() const;
  /// Of the larger array, if it is rows of one.
  std::vector<int64_t> wholeShape() const;
  uint64_t wholeBytes() const;
  uint64_t offsetInWhole() const;
  /// True for one in one piece, and for the last rows of a larger one.
  bool endsWhole() const;
};

/// "[2, 3]", for messages.
std::string shapeText(const std::vector<int64_t> &shape);

/// Makes every NaN the quiet one with an empty payload and sign 0; `count` elements, in place.
/// Integer types are left alone.
void canonicalizeNaNs(DType dtype, void *data, uint64_t count);

/// The file as numpy writes it: version 1.0, little endian, C order; bf16 as uint16, i1 as bool;
/// NaNs canonical. Whole or not at all.
Error writeNpy(const std::string &path, const ArrayRef &array);
/// The same for an array whose rows are given in parts, one behind the other.
Error writeNpyParts(const std::string &path, const std::vector<ArrayRef> &parts);
/// Writes rows of an array into a file that others may be writing other rows into.
Error writeNpyRows(const std::string &path, const ArrayRef &part);

/// An open .npy file of versions 1.0 or 2.0. Elements are read on demand.
class NpyFile {
public:
  /// Errors name the file: not .npy, another type than `dtype`, big endian, Fortran order,
  /// truncated, longer than its shape.
  static Expected<NpyFile> open(const std::string &path, DType dtype);
  NpyFile(NpyFile &&other) noexcept;
  NpyFile &operator=(NpyFile &&other) noexcept;
  ~NpyFile();

  const std::string &path() const { return name; }
  const std::vector<int64_t> &shape() const { return dims; }
  /// Copies `bytes` bytes from byte `offset` of the elements. A bool that is neither 0 nor 1 is an
  /// error. Allocates nothing on success.
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
