// reprise: arrays as .npy files
//
// The format is that of numpy/lib/format.py: magic, version, length of the header, a Python
// dictionary as text, elements.
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Support/Wording.h"

#include <cstring>

using namespace reprise;
using namespace reprise::runtime;

namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr uint64_t magicBytes = 6;
constexpr uint64_t maxHeaderBytes = 1 << 20;

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

} // namespace

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

Error reprise::runtime::writeNpyRows(const std::string &path, const ArrayRef &part) {
  std::string header = headerOf(part);
  FileBytes first = {header.data(), part.firstRow == 0 ? header.size() : 0, 0};
  return writeElements(path, first, part, header.size());
}

/// Returns the text of the header, and the byte where the elements begin.
static Expected<std::pair<std::string, uint64_t>> readHeader(const OpenFile &file) {
  uint8_t start[12] = {};
  int64_t got = file.readAt(start, sizeof start, 0);
  if (got < int64_t(magicBytes) || std::memcmp(start, magic, magicBytes) != 0)
    return file.fail("expected a .npy file");
  bool first = start[6] == 1;
  if ((!first && start[6] != 2) || start[7] != 0)
    return file.fail("version " + std::to_string(start[6]) + "." + std::to_string(start[7]) +
                     " of the .npy format, expected 1.0 or 2.0");
  uint64_t length = start[8] | start[9] << 8;
  if (!first)
    length |= uint64_t(start[10]) << 16 | uint64_t(start[11]) << 24;
  if (length > maxHeaderBytes)
    return file.fail("the header is too long");
  uint64_t begin = first ? 10 : 12;
  std::string text(length, ' ');
  if (got < int64_t(begin) || file.readAt(text.data(), length, begin) != int64_t(length))
    return file.fail("truncated within the header");
  return std::make_pair(std::move(text), begin + length);
}

/// Checks that the file has the bytes that its shape needs.
static Error checkSize(const OpenFile &file, const ArrayFile::Content &content) {
  std::optional<uint64_t> bytes = countBytes(content.dtype, content.shape);
  if (!bytes)
    return file.fail("the shape " + shapeText(content.shape) + " is out of range");
  uint64_t present = file.size() - content.offset;
  if (present < *bytes)
    return file.fail("truncated: " + groupDigits(int64_t(present)) + " of " +
                     groupDigits(int64_t(*bytes)) + " bytes");
  if (present > *bytes)
    return file.fail(reprise::amount(int64_t(present - *bytes), "byte") +
                     " more than the shape needs");
  return Error::success();
}

Expected<ArrayFile> reprise::runtime::openNpy(const std::string &path, DType dtype) {
  Expected<std::shared_ptr<const OpenFile>> opened = OpenFile::open(path);
  if (!opened)
    return opened.error();
  const OpenFile &file = **opened;
  auto read = readHeader(file);
  if (!read)
    return read.error();
  HeaderParser header(read->first);
  if (!header.parse())
    return file.fail("the header cannot be parsed");
  const std::string expected = descriptorOf(dtype);
  if (header.descr == '>' + expected.substr(1))
    return file.fail("big endian, expected little endian");
  if (header.descr != expected)
    return file.fail("type '" + header.descr + "', expected '" + expected + "' for " +
                     dtypeName(dtype));
  if (header.fortranOrder && header.shape.size() > 1)
    return file.fail("the order is Fortran, expected C");
  ArrayFile::Content content = {"", dtype, header.shape, read->second};
  if (Error error = checkSize(file, content))
    return error;
  return ArrayFile(std::move(*opened), std::move(content));
}
