// reprise: arrays as tensors of .safetensors files
#include "reprise/Runtime/Safetensors.h"
#include "SafetensorsTypes.h"
#include "reprise/Json/JsonScanner.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <tuple>

using namespace reprise;
using namespace reprise::runtime;

using Tensor = SafetensorsFile::Tensor;

/// Limit of the format's own library.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

bool reprise::runtime::isSafetensorsName(const std::string &path) {
  constexpr std::string_view end = ".safetensors";
  return path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
}

namespace reprise::runtime {

/// Reader and judge of a header.
class SafetensorsHeader {
public:
  explicit SafetensorsHeader(SafetensorsFile &into) : into(into), file(*into.file) {}

  Error read() {
    if (Error error = readText())
      return error;
    JsonScanner scanner(text);
    if (scanner.error().empty() && scanner.peek() != '{')
      return file.fail("the header is no JSON object");
    scanner.readObject([&](std::string_view key) {
      std::string name = unescapeJson(key);
      if (name == "__metadata__")
        return readMetadata(scanner);
      readTensor(scanner, name);
    });
    scanner.finish();
    if (!scanner.error().empty())
      return file.fail("the header: " + scanner.error());
    if (!wrong.empty())
      return file.fail(wrong);
    return checkOffsets();
  }

private:
  Error readText() {
    uint8_t start[8] = {};
    if (file.readAt(start, sizeof start, 0) != int64_t(sizeof start))
      return file.fail("expected a .safetensors file, got " +
                       reprise::amount(int64_t(file.size()), "byte"));
    uint64_t length = 0;
    for (unsigned i = 0; i < 8; ++i)
      length |= uint64_t(start[i]) << (8 * i);
    if (length > maxHeaderBytes)
      return file.fail("the length of the header is " + std::to_string(length) +
                       ", expected at most " + std::to_string(maxHeaderBytes));
    if (length > file.size() - sizeof start)
      return file.fail("truncated within the header, which has " +
                       reprise::amount(int64_t(length), "byte"));
    text.resize(length);
    if (file.readAt(text.data(), length, sizeof start) != int64_t(length))
      return file.fail("the file became shorter while it was read");
    into.dataOffset = sizeof start + length;
    return Error::success();
  }

  void readMetadata(JsonScanner &scanner) {
    bool isObject = scanner.readObject([&](std::string_view key) {
      std::optional<std::string_view> value = scanner.readString();
      if (!value)
        fail("the values of '__metadata__' must be strings" + scanner.place());
      else if (key == "run")
        into.record = unescapeJson(*value);
    });
    if (!isObject)
      fail("'__metadata__' is no object" + scanner.place());
  }

  void readTensor(JsonScanner &scanner, const std::string &name) {
    Tensor tensor;
    std::vector<int64_t> offsets;
    unsigned seen = 0;
    bool isObject = scanner.readObject([&](std::string_view key) {
      if (key == "dtype") {
        std::optional<std::string_view> type = scanner.readString();
        tensor.type = type.value_or("");
        seen |= type ? 1 : 0;
      } else if (key == "shape") {
        seen |= readIntegers(scanner, tensor.shape) ? 2 : 0;
      } else if (key == "data_offsets") {
        seen |= readIntegers(scanner, offsets) && offsets.size() == 2 ? 4 : 0;
      } else {
        scanner.skip();
      }
    });
    if (!isObject || seen != 7)
      return fail("tensor '" + name + "' needs 'dtype', 'shape' and 'data_offsets'");
    tensor.begin = uint64_t(offsets[0]);
    tensor.end = uint64_t(offsets[1]);
    checkTensor(name, tensor);
    into.content.emplace(name, std::move(tensor));
  }

  /// Reads an array of integers from 0 on.
  static bool readIntegers(JsonScanner &scanner, std::vector<int64_t> &integers) {
    bool isGood = true;
    bool isArray = scanner.readArray([&] {
      std::optional<int64_t> each = scanner.readInteger();
      isGood &= each && *each >= 0;
      integers.push_back(each.value_or(0));
    });
    return isArray && isGood;
  }

  void checkTensor(const std::string &name, const Tensor &tensor) {
    std::string what = "tensor '" + name + "' ";
    std::string offsets =
        "[" + std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + "]";
    uint64_t present = file.size() - into.dataOffset;
    if (tensor.begin > tensor.end)
      return fail(what + "has the offsets " + offsets);
    if (tensor.end > present)
      return fail(what + "ends at byte " + std::to_string(tensor.end) + " of " +
                  std::to_string(present));
    std::optional<uint64_t> bits = bitsOfType(tensor.type), bytes;
    if (!bits)
      return fail(what + "has the unknown type '" + tensor.type + "'");
    bytes = countBytes(DType::I1, tensor.shape);
    if (!bytes || *bytes > (uint64_t(1) << 57))
      return fail(what + "has the shape " + shapeText(tensor.shape) + ", which is out of range");
    if ((*bytes * *bits + 7) / 8 != tensor.end - tensor.begin)
      fail(what + "of type " + tensor.type + " and shape " + shapeText(tensor.shape) +
           " has the offsets " + offsets);
  }

  /// Checks that the tensors fill the file without gaps and overlaps, as the format's own library
  /// demands.
  Error checkOffsets() const {
    std::vector<std::pair<const std::string *, const Tensor *>> sorted;
    for (const auto &[name, tensor] : into.content)
      sorted.push_back({&name, &tensor});
    std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
      return std::tie(a.second->begin, a.second->end, *a.first) <
             std::tie(b.second->begin, b.second->end, *b.first);
    });
    uint64_t at = 0;
    const std::string *before = nullptr;
    for (auto [name, tensor] : sorted) {
      if (tensor->begin < at)
        return file.fail("the tensors '" + *before + "' and '" + *name + "' overlap");
      if (tensor->begin > at)
        return file.fail("there is a gap of " +
                         reprise::amount(int64_t(tensor->begin - at), "byte") +
                         " in front of tensor '" + *name + "'");
      at = tensor->end;
      before = name;
    }
    uint64_t present = file.size() - into.dataOffset;
    if (at != present)
      return file.fail(reprise::amount(int64_t(present - at), "byte") +
                       " more than the tensors need");
    return Error::success();
  }

  void fail(const std::string &why) {
    if (wrong.empty())
      wrong = why;
  }

  SafetensorsFile &into;
  const OpenFile &file;
  std::string text, wrong;
};

} // namespace reprise::runtime

Expected<std::shared_ptr<const SafetensorsFile>> SafetensorsFile::open(const std::string &path) {
  Expected<std::shared_ptr<const OpenFile>> opened = OpenFile::open(path);
  if (!opened)
    return opened.error();
  std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  file->file = std::move(*opened);
  if (Error error = SafetensorsHeader(*file).read())
    return error;
  return std::shared_ptr<const SafetensorsFile>(std::move(file));
}

Expected<ArrayFile> SafetensorsFile::array(const std::string &tensor, DType dtype) const {
  auto found = content.find(tensor);
  if (found == content.end())
    return file->fail("there is no tensor '" + tensor + "'");
  const Tensor &own = found->second;
  if (own.type != safetensorsType(dtype))
    return file->fail("tensor '" + tensor + "' has the type '" + own.type + "', expected '" +
                      safetensorsType(dtype) + "'");
  return ArrayFile(file, {tensor, dtype, own.shape, dataOffset + own.begin});
}
