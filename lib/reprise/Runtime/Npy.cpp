// reprise: arrays as .npy files
//
// The format is that of numpy/lib/format.py: magic, version, length of the header, a Python
// dictionary as text, elements.
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise;
using namespace reprise::runtime;

namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr uint64_t magicBytes = 6;
constexpr uint64_t maxHeaderBytes = 1 << 20;
constexpr uint64_t chunkBytes = 1 << 16;

const char *descriptorOf(DType dtype) {
  static const char *const names[numDTypes] = {"<f4", "<f8", "<u2", "<f2", "<i4", "<i8", "|b1"};
  return names[unsigned(dtype)];
}

/// Reads the header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
public:
  explicit HeaderParser(const std::string &text) : text(text) {}

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

  bool parse() {
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':') || !value(key))
        return false;
      if (!take(',')) {
        if (!take('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return at == text.size() && seen == 7;
  }

private:
  bool value(const std::string &key) {
    if (key == "descr")
      return mark(1) && string(descr);
    if (key == "fortran_order")
      return mark(2) && boolean(fortranOrder);
    return key == "shape" && mark(4) && tuple();
  }
  bool mark(unsigned bit) {
    bool first = !(seen & bit);
    seen |= bit;
    return first;
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool string(std::string &into) {
    skipSpace();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string::npos)
      return false;
    into = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool boolean(bool &into) {
    skipSpace();
    for (bool candidate : {false, true}) {
      const std::string word = candidate ? "True" : "False";
      if (text.compare(at, word.size(), word) == 0) {
        into = candidate;
        at += word.size();
        return true;
      }
    }
    return false;
  }
  bool number(int64_t &into) {
    skipSpace();
    size_t begin = at;
    into = 0;
    // 18 digits cannot overflow.
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 18; ++at)
      into = into * 10 + (text[at] - '0');
    return at != begin;
  }
  bool tuple() {
    if (!take('('))
      return false;
    while (!take(')')) {
      int64_t dim;
      if (!number(dim))
        return false;
      shape.push_back(dim);
      if (!take(',')) {
        // A single number in parentheses is no tuple.
        return shape.size() > 1 && take(')');
      }
    }
    return true;
  }

  const std::string &text;
  size_t at = 0;
  unsigned seen = 0;
};

/// Reads up to `bytes` bytes; fewer at the end of the file, negative on an error.
int64_t readAt(int descriptor, void *into, uint64_t bytes, uint64_t offset) {
  uint64_t done = 0;
  while (done < bytes) {
    ssize_t got = pread(descriptor, static_cast<char *>(into) + done, bytes - done, offset + done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += got;
  }
  return int64_t(done);
}

std::string headerOf(const ArrayRef &array) {
  std::string text = std::string("{'descr': '") + descriptorOf(array.dtype) +
                     "', 'fortran_order': False, 'shape': (";
  std::vector<int64_t> shape = array.wholeShape();
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  // The elements start at a multiple of 64, behind a newline.
  uint64_t before = magicBytes + 4;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string header(magic, magicBytes);
  header += {'\x01', '\x00', char(text.size() & 0xff), char(text.size() >> 8)};
  return header + text;
}

template <typename Word> void canonicalize(void *data, uint64_t count, Word infinity, Word quiet) {
  Word *words = static_cast<Word *>(data);
  constexpr Word sign = Word(1) << (8 * sizeof(Word) - 1);
  for (uint64_t i = 0; i < count; ++i)
    if (Word(words[i] & ~sign) > infinity)
      words[i] = quiet;
}

} // namespace

uint64_t ArrayRef::bytes() const {
  uint64_t bytes = elementBytes(dtype);
  for (int64_t dim : shape)
    bytes *= uint64_t(dim);
  return bytes;
}

std::vector<int64_t> ArrayRef::wholeShape() const {
  std::vector<int64_t> whole = shape;
  if (wholeRows)
    whole[0] = wholeRows;
  return whole;
}

uint64_t ArrayRef::wholeBytes() const {
  return wholeRows ? bytes() / uint64_t(shape[0]) * uint64_t(wholeRows) : bytes();
}

uint64_t ArrayRef::offsetInWhole() const {
  return wholeRows ? bytes() / uint64_t(shape[0]) * uint64_t(firstRow) : 0;
}

bool ArrayRef::endsWhole() const { return wholeRows == 0 || firstRow + shape[0] == wholeRows; }

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

/// Calls write(data, bytes, byte of the array) for its elements, as long as that returns true.
template <typename Write> static void forEachChunk(const ArrayRef &array, Write write) {
  std::vector<uint64_t> chunk(chunkBytes / 8);
  const char *data = static_cast<const char *>(array.data);
  uint64_t bytes = array.bytes();
  for (uint64_t at = 0; at < bytes; at += chunkBytes) {
    uint64_t part = std::min(bytes - at, chunkBytes);
    std::memcpy(chunk.data(), data + at, part);
    canonicalizeNaNs(array.dtype, chunk.data(), part / elementBytes(array.dtype));
    if (!write(chunk.data(), part, at))
      return;
  }
}

Error reprise::runtime::writeNpy(const std::string &path, const ArrayRef &array) {
  return writeNpyParts(path, {array});
}

Error reprise::runtime::writeNpyParts(const std::string &path, const std::vector<ArrayRef> &parts) {
  AtomicFile file(path);
  file.write(headerOf(parts.front()));
  for (const ArrayRef &part : parts)
    forEachChunk(
        part, [&](const void *data, uint64_t bytes, uint64_t) { return file.write(data, bytes); });
  return file.commit() ? Error::success() : Error::make(file.error());
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

Error reprise::runtime::writeNpyRows(const std::string &path, const ArrayRef &part) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  bool isWritten = descriptor >= 0;
  std::string header = headerOf(part);
  if (isWritten && part.firstRow == 0)
    isWritten = writeAt(descriptor, header.data(), header.size(), 0);
  uint64_t begin = header.size() + part.offsetInWhole();
  if (isWritten)
    forEachChunk(part, [&](const void *data, uint64_t bytes, uint64_t at) {
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

NpyFile::NpyFile(NpyFile &&other) noexcept { *this = std::move(other); }

NpyFile &NpyFile::operator=(NpyFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(dims, other.dims);
  std::swap(dtype, other.dtype);
  std::swap(dataOffset, other.dataOffset);
  std::swap(descriptor, other.descriptor);
  return *this;
}

NpyFile::~NpyFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Error NpyFile::fail(const std::string &why) const {
  return Error::make("cannot read '" + name + "': " + why);
}

Expected<NpyFile> NpyFile::open(const std::string &path, DType dtype) {
  NpyFile file;
  file.name = path;
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0)
    return file.fail(std::strerror(errno));
  if (Error error = file.parse(dtype))
    return error;
  return file;
}

Error NpyFile::parse(DType wanted) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0)
    return fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail("expected a regular file");
  std::string text;
  if (Error error = readHeader(text))
    return error;
  HeaderParser header(text);
  if (!header.parse())
    return fail("the header cannot be parsed");
  const std::string expected = descriptorOf(wanted);
  if (header.descr == '>' + expected.substr(1))
    return fail("big endian, expected little endian");
  if (header.descr != expected)
    return fail("type '" + header.descr + "', expected '" + expected + "' for " +
                dtypeName(wanted));
  if (header.fortranOrder && header.shape.size() > 1)
    return fail("the order is Fortran, expected C");
  dtype = wanted;
  dims = header.shape;
  return checkSize(uint64_t(status.st_size));
}

/// Sets dataOffset as well.
Error NpyFile::readHeader(std::string &text) {
  uint8_t start[12] = {};
  int64_t got = readAt(descriptor, start, sizeof start, 0);
  if (got < int64_t(magicBytes) || std::memcmp(start, magic, magicBytes) != 0)
    return fail("expected a .npy file");
  bool first = start[6] == 1;
  if ((!first && start[6] != 2) || start[7] != 0)
    return fail("version " + std::to_string(start[6]) + "." + std::to_string(start[7]) +
                " of the .npy format, expected 1.0 or 2.0");
  uint64_t length = start[8] | start[9] << 8;
  if (!first)
    length |= uint64_t(start[10]) << 16 | uint64_t(start[11]) << 24;
  if (length > maxHeaderBytes)
    return fail("the header is too long");
  uint64_t begin = first ? 10 : 12;
  text.resize(length);
  if (got < int64_t(begin) || readAt(descriptor, text.data(), length, begin) != int64_t(length))
    return fail("truncated within the header");
  dataOffset = begin + length;
  return Error::success();
}

Error NpyFile::checkSize(uint64_t fileBytes) const {
  uint64_t bytes = elementBytes(dtype);
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(bytes, uint64_t(dim), &bytes))
      return fail("the shape " + shapeText(dims) + " is out of range");
  uint64_t present = fileBytes - dataOffset;
  if (present < bytes)
    return fail("truncated: " + groupDigits(int64_t(present)) + " of " +
                groupDigits(int64_t(bytes)) + " bytes");
  if (present > bytes)
    return fail(reprise::amount(int64_t(present - bytes), "byte") + " more than the shape needs");
  return Error::success();
}

Error NpyFile::read(void *into, uint64_t offset, uint64_t bytes) const {
  int64_t got = readAt(descriptor, into, bytes, dataOffset + offset);
  if (got < 0)
    return fail(std::strerror(errno));
  if (uint64_t(got) != bytes)
    return fail("the file became shorter while it was read");
  const uint8_t *flags = static_cast<const uint8_t *>(into);
  if (dtype == DType::I1)
    for (uint64_t i = 0; i < bytes; ++i)
      if (flags[i] > 1)
        return fail("the bool at position " + std::to_string(offset + i) + " is neither 0 nor 1");
  return Error::success();
}
