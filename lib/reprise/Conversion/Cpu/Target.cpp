// reprise: resolves the names of CPU targets
#include "reprise/Conversion/Cpu/Target.h"

#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace reprise {

namespace {
/// Level of the psABI, whose vectors have so many bytes.
struct Level {
  StringLiteral name;
  int64_t vectorBytes;
  std::initializer_list<StringRef> features; ///< features beyond the level before
};
} // namespace

/// Levels that kernels are compiled for, lowest first.
static const Level kLevels[] = {
    {"x86-64-v3", 32, {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}},
    {"x86-64-v4", 64, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}};
static constexpr StringLiteral kNative = "native";

/// Returns the levels that this machine has.
static ArrayRef<Level> hostLevels() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  const Level *missing = llvm::find_if(kLevels, [&](const Level &level) {
    return !llvm::all_of(level.features, [&](StringRef name) { return features.lookup(name); });
  });
  return ArrayRef(std::begin(kLevels), missing);
}

bool CpuTarget::runsHere() const {
  return llvm::any_of(hostLevels(), [&](const Level &own) { return own.name == level; });
}

std::vector<std::string> CpuTarget::getNames() {
  std::vector<std::string> names = {kNative.str()};
  for (const Level &level : kLevels)
    names.push_back(level.name.str());
  return names;
}

Expected<CpuTarget> CpuTarget::get(StringRef name) {
  CpuTarget target;
  target.name = name.str();
  target.level = target.name;
  target.tune = target.name;
  if (name == kNative) {
    ArrayRef<Level> levels = hostLevels();
    if (levels.empty())
      return createStringError("this machine lacks AVX2 and FMA (" + kLevels[0].name +
                               "), which kernels need");
    target.level = levels.back().name.str();
    target.tune = sys::getHostCPUName().str();
  }
  const Level *own =
      llvm::find_if(kLevels, [&](const Level &level) { return level.name == target.level; });
  if (own == std::end(kLevels))
    return createStringError("unknown CPU target '" + name + "'" + suggest(name, getNames()));
  target.vectorBytes = own->vectorBytes;
  return target;
}

} // namespace reprise
