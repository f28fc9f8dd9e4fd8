// reprise: the code of an image for a GPU, and its place
#include "CudaCode.h"

#include <algorithm>
#include <charconv>

namespace reprise::runtime::cuda {

static const std::string device = "cuda:", chipPrefix = "sm_";

/// Returns whether PTX of a chip runs on a GPU. It also runs on later chips, unless a letter
/// follows the chip's number.
static bool canRun(const std::string &chip, int capability) {
  const char *begin = chip.data() + chipPrefix.size(), *end = chip.data() + chip.size();
  int number = 0;
  if (chip.compare(0, chipPrefix.size(), chipPrefix) != 0)
    return false;
  auto [rest, error] = std::from_chars(begin, end, number);
  return error == std::errc() && (rest == end ? number <= capability : number == capability);
}

bool isCudaCode(const std::string &target) { return target.compare(0, device.size(), device) == 0; }

std::optional<Code> chooseCode(const std::string &target, int capability) {
  if (!isCudaCode(target))
    return std::nullopt;
  // The name may have suffixes behind the chips.
  size_t colon = std::min(target.find(':', device.size()), target.size());
  std::string chips = target.substr(device.size(), colon - device.size());
  std::string next = target.substr(colon, target.find(':', colon + 1) - colon);
  bool hasCubins = next == ":cubin";
  size_t count = 1 + size_t(std::count(chips.begin(), chips.end(), '+'));
  std::optional<Code> best;
  size_t number = 0;
  for (size_t begin = 0; begin <= chips.size(); ++number) {
    size_t end = std::min(chips.find('+', begin), chips.size());
    std::string chip = chips.substr(begin, end - begin);
    if (canRun(chip, capability))
      best = Code{chip, number, count, hasCubins};
    begin = end + 1;
  }
  return best;
}

ChipKernel chooseKernel(const Kernel &kernel, const Code &code,
                        const std::vector<std::string> &chips) {
  ChipKernel chosen{code.chip, kernel.name, kernel.itemThreads, kernel.blockThreads};
  for (const ChipKernel &own : kernel.chips)
    if (size_t(std::find(chips.begin(), chips.end(), own.chip) - chips.begin()) <= code.number)
      chosen = own;
  return chosen;
}

static constexpr size_t alignment = 64;

std::optional<size_t> findText(const std::vector<uint8_t> &image, size_t offset, size_t number) {
  for (; number != 0 && offset < image.size(); --number) {
    auto zero = std::find(image.begin() + ptrdiff_t(offset), image.end(), 0);
    offset = (size_t(zero - image.begin()) / alignment + 1) * alignment;
  }
  return offset < image.size() ? std::optional(offset) : std::nullopt;
}

std::optional<size_t> findCubin(const std::vector<uint8_t> &image, size_t offset,
                                const Code &code) {
  std::optional<size_t> found = findText(image, offset, code.count);
  for (size_t number = 0; found; ++number) {
    size_t begin = *found + alignment;
    uint64_t size = 0;
    if (begin >= image.size())
      return std::nullopt;
    for (size_t byte = 8; byte-- > 0;)
      size = size << 8 | image[*found + byte];
    static const uint8_t elf[] = {0x7f, 'E', 'L', 'F'};
    if (size < alignment || size > image.size() - begin ||
        !std::equal(std::begin(elf), std::end(elf), image.begin() + ptrdiff_t(begin)))
      return std::nullopt;
    if (number == code.number)
      return begin;
    found = begin + (size + alignment - 1) / alignment * alignment;
  }
  return std::nullopt;
}

} // namespace reprise::runtime::cuda
