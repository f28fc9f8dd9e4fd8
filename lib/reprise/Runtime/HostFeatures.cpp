// reprise: CPU features that a bundle may need, and those of this machine
#include "reprise/Runtime/HostFeatures.h"

#include <cpuid.h>
#include <cstdint>
#include <map>

using namespace reprise::runtime;

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// Registers that the operating system must save on a switch: bits of XCR0.
enum SavedState : uint64_t { None = 0, Ymm = 0x6, Zmm = 0xe6 };

struct Bit {
  uint32_t leaf, subleaf;
  Register reg;
  unsigned bit;
  SavedState state;
};

// Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E.
const std::map<std::string, Bit> &bits() {
  static const std::map<std::string, Bit> table = {
      {"sse3", {1, 0, ECX, 0, None}},
      {"pclmul", {1, 0, ECX, 1, None}},
      {"ssse3", {1, 0, ECX, 9, None}},
      {"fma", {1, 0, ECX, 12, Ymm}},
      {"cx16", {1, 0, ECX, 13, None}},
      {"sse4.1", {1, 0, ECX, 19, None}},
      {"sse4.2", {1, 0, ECX, 20, None}},
      {"movbe", {1, 0, ECX, 22, None}},
      {"popcnt", {1, 0, ECX, 23, None}},
      {"aes", {1, 0, ECX, 25, None}},
      {"avx", {1, 0, ECX, 28, Ymm}},
      {"f16c", {1, 0, ECX, 29, Ymm}},
      {"bmi", {7, 0, EBX, 3, None}},
      {"avx2", {7, 0, EBX, 5, Ymm}},
      {"bmi2", {7, 0, EBX, 8, None}},
      {"avx512f", {7, 0, EBX, 16, Zmm}},
      {"avx512dq", {7, 0, EBX, 17, Zmm}},
      {"adx", {7, 0, EBX, 19, None}},
      {"avx512ifma", {7, 0, EBX, 21, Zmm}},
      {"avx512cd", {7, 0, EBX, 28, Zmm}},
      {"sha", {7, 0, EBX, 29, None}},
      {"avx512bw", {7, 0, EBX, 30, Zmm}},
      {"avx512vl", {7, 0, EBX, 31, Zmm}},
      {"avx512vbmi", {7, 0, ECX, 1, Zmm}},
      {"avx512vbmi2", {7, 0, ECX, 6, Zmm}},
      {"gfni", {7, 0, ECX, 8, None}},
      {"vaes", {7, 0, ECX, 9, Ymm}},
      {"vpclmulqdq", {7, 0, ECX, 10, Ymm}},
      {"avx512vnni", {7, 0, ECX, 11, Zmm}},
      {"avx512bitalg", {7, 0, ECX, 12, Zmm}},
      {"avx512vpopcntdq", {7, 0, ECX, 14, Zmm}},
      {"avx512vp2intersect", {7, 0, EDX, 8, Zmm}},
      {"avx512fp16", {7, 0, EDX, 23, Zmm}},
      {"avxvnni", {7, 1, EAX, 4, Ymm}},
      {"avx512bf16", {7, 1, EAX, 5, Zmm}},
      {"avxifma", {7, 1, EAX, 23, Ymm}},
      {"avxvnniint8", {7, 1, EDX, 4, Ymm}},
      {"avxneconvert", {7, 1, EDX, 5, Ymm}},
      {"avxvnniint16", {7, 1, EDX, 10, Ymm}},
      {"sahf", {0x80000001, 0, ECX, 0, None}},
      {"lzcnt", {0x80000001, 0, ECX, 5, None}},
      {"sse4a", {0x80000001, 0, ECX, 6, None}},
  };
  return table;
}

// The levels of the x86-64 psABI; each includes the one before.
const std::map<std::string, std::vector<std::string>> &levels() {
  static const std::map<std::string, std::vector<std::string>> table = {
      {"x86-64-v2", {"cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3", {"x86-64-v2", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v4", {"x86-64-v3", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
  };
  return table;
}

uint64_t savedState() {
  uint32_t a, b, c, d;
  constexpr uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & osxsave))
    return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

bool hostHasBit(const Bit &bit) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(bit.leaf, bit.subleaf, &registers[EAX], &registers[EBX], &registers[ECX],
                         &registers[EDX]))
    return false;
  return (registers[bit.reg] >> bit.bit & 1) && (savedState() & bit.state) == bit.state;
}

} // namespace

const std::vector<std::string> &reprise::runtime::knownFeatures() {
  static const std::vector<std::string> names = [] {
    std::map<std::string, bool> sorted;
    for (const auto &[name, bit] : bits())
      sorted[name];
    for (const auto &[name, members] : levels())
      sorted[name];
    std::vector<std::string> names;
    for (const auto &[name, unused] : sorted)
      names.push_back(name);
    return names;
  }();
  return names;
}

bool reprise::runtime::hostHasFeature(const std::string &name) {
  if (auto level = levels().find(name); level != levels().end())
    return missingFeatures(level->second).empty();
  auto bit = bits().find(name);
  return bit != bits().end() && hostHasBit(bit->second);
}

std::vector<std::string> reprise::runtime::hostFeatures() {
  std::vector<std::string> present;
  for (const std::string &name : knownFeatures())
    if (hostHasFeature(name))
      present.push_back(name);
  return present;
}

std::vector<std::string> reprise::runtime::missingFeatures(const std::vector<std::string> &needed) {
  std::vector<std::string> missing;
  for (const std::string &name : needed)
    if (!hostHasFeature(name))
      missing.push_back(name);
  return missing;
}
