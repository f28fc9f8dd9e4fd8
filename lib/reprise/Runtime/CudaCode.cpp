// reprise: which code of an image a GPU takes, and where it lies
#include "CudaCode.h"

#include <algorithm>
#include <charconv>

namespace reprise::runtime::cuda {

static const std::string device = "cuda:", chipPrefix = "sm_";

/// PTX of a chip runs on later chips, too, but if a letter behind the number says otherwise.
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
  // Behind the chips the name may say more.
  std::string chips = target.substr(device.size(), target.find(':', device.size()) - device.size());
  std::optional<Code> best;
  size_t number = 0;
  for (size_t begin = 0; begin <= chips.size(); ++number) {
    size_t end = std::min(chips.find('+', begin), chips.size());
    std::string chip = chips.substr(begin, end - begin);
    if (canRun(chip, capability))
      best = {chip, number};
    begin = end + 1;
  }
  return best;
}

std::optional<size_t> findText(const std::vector<uint8_t> &image, size_t offset, size_t number) {
  constexpr size_t alignment = 64;
  for (; number != 0 && offset < image.size(); --number) {
    auto zero = std::find(image.begin() + ptrdiff_t(offset), image.end(), 0);
    offset = (size_t(zero - image.begin()) / alignment + 1) * alignment;
  }
  return offset < image.size() ? std::optional(offset) : std::nullopt;
}

} // namespace reprise::runtime::cuda
