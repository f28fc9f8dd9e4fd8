// reprise: arrays in memory, and arrays in files
#ifndef REPRISE_RUNTIME_ARRAYFILE_H
#define REPRISE_RUNTIME_ARRAYFILE_H

#include "reprise/Runtime/Bundle.h"

#include <functional>
#include <memory>

namespace reprise::runtime {

/// Place of a part in the bytes of its array: `count` runs of `bytes` consecutive bytes. The first
/// run begins at byte `begin`, and each other one `stride` bytes behind the run before it.
struct Runs {
  uint64_t count = 1, bytes = 0, stride = 0, begin = 0;
};
/// Returns the place of rows of the shape `shape` with elements of `elementBytes` bytes.
Runs findRuns(const std::vector<int64_t> &shape, uint64_t elementBytes, const Rows &rows);
Runs findRuns(const Argument &argument);

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
  /// Dimension that counts the rows.
  int64_t rowDim = 0;

  uint64_t bytes() const;
  /// Returns the shape of the larger array, or of this array if it is not a part.
  std::vector<int64_t> wholeShape() const;
  uint64_t wholeBytes() const;
  /// Returns the place of the elements in those of the larger array.
  Runs runsInWhole() const;
  /// Returns true for an array in one piece, and for the last rows of a larger array.
  bool endsWhole() const;
};

/// Returns the array that a result is, without its data.
ArrayRef describeArray(const Result &result);

/// Returns "[2, 3]", for messages.
std::string shapeText(const std::vector<int64_t> &shape);

/// Returns the bytes of an array; none if they do not fit 63 bits, or if a size is negative.
std::optional<uint64_t> countBytes(DType dtype, const std::vector<int64_t> &shape);

/// Replaces every NaN among `count` elements, in place, by the quiet NaN with an empty payload and
/// sign 0. Leaves integer types unchanged.
void canonicalizeNaNs(DType dtype, void *data, uint64_t count);

/// Calls write(data, bytes, byte of the larger array) for the elements with canonical NaNs, in
/// order, as long as that returns true.
void forEachChunk(const ArrayRef &array,
                  const std::function<bool(const void *, uint64_t, uint64_t)> &write);

/// Returns an error if the device could not return the data of an array.
Error checkData(const std::vector<ArrayRef> &arrays);

/// Bytes of a file at an offset.
struct FileBytes {
  const void *data;
  uint64_t size, offset;
};

/// Writes `header` and the elements of `array`, whose larger array begins at byte `begin`, into a
/// file that other processes may write, too. Makes the file if there is none.
Error writeElements(const std::string &path, const FileBytes &header, const ArrayRef &array,
                    uint64_t begin);

/// Regular file that is open for reading. The last array that reads it closes it.
class OpenFile {
public:
  static Expected<std::shared_ptr<const OpenFile>> open(const std::string &path);
  ~OpenFile();
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;

  const std::string &path() const { return name; }
  uint64_t size() const { return bytes; }
  /// Reads up to `count` bytes; fewer at the end of the file, negative on an error.
  int64_t readAt(void *into, uint64_t count, uint64_t offset) const;
  /// Returns "cannot read 'PATH': WHY".
  Error fail(const std::string &why) const;

private:
  OpenFile() = default;

  std::string name;
  uint64_t bytes = 0;
  int descriptor = -1;
};

/// Array in a file. Elements are read on demand.
class ArrayFile {
public:
  struct Content {
    std::string tensor; ///< name in a file with several arrays, or empty
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
    uint64_t offset = 0; ///< byte of the file where the elements begin
  };
  ArrayFile(std::shared_ptr<const OpenFile> file, Content content)
      : file(std::move(file)), content(std::move(content)) {}

  const std::string &path() const { return file->path(); }
  /// Returns "'PATH'", or "'PATH': tensor 'NAME'", for messages.
  std::string label() const;
  const std::string &tensor() const { return content.tensor; }
  const std::vector<int64_t> &shape() const { return content.shape; }
  /// Copies `bytes` bytes from byte `offset` of the elements. A bool other than 0 or 1 is an error.
  /// Allocates no memory on success.
  Error read(void *into, uint64_t offset, uint64_t bytes) const;
  /// Copies the runs of a part of an array that begins at byte `offset` of the elements.
  Error readRuns(void *into, uint64_t offset, const Runs &runs) const;

private:
  Error fail(const std::string &why) const;

  std::shared_ptr<const OpenFile> file;
  Content content;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_ARRAYFILE_H
