// reprise: arrays in memory, and arrays in files
#include "reprise/Runtime/ArrayFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

static constexpr uint64_t chunkBytes = 1 << 16;

template <typename Word>
static void canonicalize(void *data, uint64_t count, Word infinity, Word quiet) {
  Word *words = static_cast<Word *>(data);
  constexpr Word sign = Word(1) << (8 * sizeof(Word) - 1);
  for (uint64_t i = 0; i < count; ++i)
    if (Word(words[i] & ~sign) > infinity)
      words[i] = quiet;
}

Runs reprise::runtime::findRuns(const std::vector<int64_t> &shape, uint64_t elementBytes,
                                const Rows &rows) {
  Runs runs;
  uint64_t row = elementBytes; // bytes of a row in a run
  for (size_t i = 0; i < shape.size(); ++i)
    (rows.of && int64_t(i) < rows.dim ? runs.count : row) *= uint64_t(shape[i]);
  runs.bytes = row;
  if (rows.of) {
    row /= uint64_t(shape[size_t(rows.dim)]);
    runs.stride = row * uint64_t(rows.of);
    runs.begin = row * uint64_t(rows.first);
  }
  return runs;
}

Runs reprise::runtime::findRuns(const Argument &argument) {
  return findRuns(argument.shape, elementBytes(argument.dtype), argument.rows);
}

uint64_t ArrayRef::bytes() const {
  uint64_t bytes = elementBytes(dtype);
  for (int64_t dim : shape)
    bytes *= uint64_t(dim);
  return bytes;
}

std::vector<int64_t> ArrayRef::wholeShape() const {
  std::vector<int64_t> whole = shape;
  if (wholeRows)
    whole[size_t(rowDim)] = wholeRows;
  return whole;
}

uint64_t ArrayRef::wholeBytes() const {
  return wholeRows ? bytes() / uint64_t(shape[size_t(rowDim)]) * uint64_t(wholeRows) : bytes();
}

Runs ArrayRef::runsInWhole() const {
  return findRuns(shape, elementBytes(dtype), {name, firstRow, wholeRows, rowDim});
}

bool ArrayRef::endsWhole() const {
  return wholeRows == 0 || firstRow + shape[size_t(rowDim)] == wholeRows;
}

ArrayRef reprise::runtime::describeArray(const Result &result) {
  return {arrayName(result), result.dtype,   result.shape,   nullptr,
          result.rows.first, result.rows.of, result.rows.dim};
}

std::string reprise::runtime::shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

void reprise::runtime::canonicalizeNaNs(DType dtype, void *data, uint64_t count) {
  switch (dtype) {
  case DType::F32:
    return canonicalize<uint32_t>(data, count, 0x7f800000u, 0x7fc00000u);
  case DType::F64:
    return canonicalize<uint64_t>(data, count, 0x7ff0000000000000u, 0x7ff8000000000000u);
  case DType::BF16:
    return canonicalize<uint16_t>(data, count, 0x7f80, 0x7fc0);
  case DType::F16:
    return canonicalize<uint16_t>(data, count, 0x7c00, 0x7e00);
  case DType::I32:
  case DType::I64:
  case DType::I1:
    return;
  }
}

std::optional<uint64_t> reprise::runtime::countBytes(DType dtype,
                                                     const std::vector<int64_t> &shape) {
  uint64_t bytes = elementBytes(dtype);
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes) || bytes >> 63)
      return std::nullopt;
  return bytes;
}

Error reprise::runtime::checkData(const std::vector<ArrayRef> &arrays) {
  for (const ArrayRef &array : arrays)
    if (!array.data && array.bytes() != 0)
      return Error::make("the device did not return the result '" + array.name + "'");
  return Error::success();
}

void reprise::runtime::forEachChunk(
    const ArrayRef &array, const std::function<bool(const void *, uint64_t, uint64_t)> &write) {
  std::vector<uint64_t> chunk(chunkBytes / 8);
  const char *data = static_cast<const char *>(array.data);
  uint64_t bytes = array.bytes();
  Runs runs = array.runsInWhole();
  for (uint64_t at = 0; at < bytes;) {
    uint64_t within = at % runs.bytes, part = std::min(runs.bytes - within, chunkBytes);
    std::memcpy(chunk.data(), data + at, part);
    canonicalizeNaNs(array.dtype, chunk.data(), part / elementBytes(array.dtype));
    if (!write(chunk.data(), part, runs.begin + at / runs.bytes * runs.stride + within))
      return;
    at += part;
  }
}

/// Writes at an offset; returns false on an error.
static bool writeAt(int descriptor, const void *from, uint64_t bytes, uint64_t offset) {
  const char *data = static_cast<const char *>(from);
  while (bytes > 0) {
    ssize_t written = pwrite(descriptor, data, bytes, int64_t(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    data += written;
    bytes -= uint64_t(written);
    offset += uint64_t(written);
  }
  return true;
}

Error reprise::runtime::writeElements(const std::string &path, const FileBytes &header,
                                      const ArrayRef &array, uint64_t begin) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  bool isWritten = descriptor >= 0;
  if (isWritten && header.size != 0)
    isWritten = writeAt(descriptor, header.data, header.size, header.offset);
  if (isWritten)
    forEachChunk(array, [&](const void *data, uint64_t bytes, uint64_t at) {
      return isWritten = writeAt(descriptor, data, bytes, begin + at);
    });
  int code = errno;
  // Some file systems report a full disk only when the file is closed.
  if (descriptor >= 0 && close(descriptor) != 0 && isWritten) {
    code = errno;
    isWritten = false;
  }
  return isWritten ? Error::success()
                   : Error::make("cannot write '" + path + "': " + std::strerror(code));
}

Error OpenFile::fail(const std::string &why) const {
  return Error::make("cannot read '" + name + "': " + why);
}

/// Raises the limit of open files as far as the process may. A folder has a file for each array,
/// and the usual limit of 1,024 is for programs that call select().
static bool raiseFileLimit() {
  struct rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
    return false;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

Expected<std::shared_ptr<const OpenFile>> OpenFile::open(const std::string &path) {
  std::shared_ptr<OpenFile> file(new OpenFile);
  file->name = path;
  auto openHere = [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); };
  file->descriptor = openHere();
  if (file->descriptor < 0 && errno == EMFILE && raiseFileLimit())
    file->descriptor = openHere();
  if (file->descriptor < 0)
    return file->fail(std::strerror(errno));
  struct stat status{};
  if (fstat(file->descriptor, &status) != 0)
    return file->fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return file->fail("expected a regular file");
  file->bytes = uint64_t(status.st_size);
  return std::shared_ptr<const OpenFile>(std::move(file));
}

OpenFile::~OpenFile() {
  if (descriptor >= 0)
    close(descriptor);
}

int64_t OpenFile::readAt(void *into, uint64_t count, uint64_t offset) const {
  uint64_t done = 0;
  while (done < count) {
    ssize_t got =
        pread(descriptor, static_cast<char *>(into) + done, count - done, int64_t(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += uint64_t(got);
  }
  return int64_t(done);
}

std::string ArrayFile::label() const {
  std::string text = "'" + path() + "'";
  return content.tensor.empty() ? text : text + ": tensor '" + content.tensor + "'";
}

Error ArrayFile::fail(const std::string &why) const {
  return Error::make("cannot read " + label() + ": " + why);
}

Error ArrayFile::read(void *into, uint64_t offset, uint64_t bytes) const {
  int64_t got = file->readAt(into, bytes, content.offset + offset);
  if (got < 0)
    return fail(std::strerror(errno));
  if (uint64_t(got) != bytes)
    return fail("the file became shorter while it was read");
  const uint8_t *flags = static_cast<const uint8_t *>(into);
  if (content.dtype == DType::I1)
    for (uint64_t i = 0; i < bytes; ++i)
      if (flags[i] > 1)
        return fail("the bool at position " + std::to_string(offset + i) + " is neither 0 nor 1");
  return Error::success();
}

Error ArrayFile::readRuns(void *into, uint64_t offset, const Runs &runs) const {
  for (uint64_t run = 0; run < runs.count; ++run)
    if (Error error = read(static_cast<char *>(into) + run * runs.bytes,
                           offset + runs.begin + run * runs.stride, runs.bytes))
      return error;
  return Error::success();
}
