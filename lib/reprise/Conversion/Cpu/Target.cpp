// reprise: resolves the names of CPU targets
#include "reprise/Conversion/Cpu/Target.h"

#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace reprise {

/// The psABI's level that this machine has, 0 below x86-64-v3.
static int hostLevel() {
  StringMap<bool> features = sys::getHostCPUFeatures();
  auto all = [&](std::initializer_list<StringRef> names) {
    return llvm::all_of(names, [&](StringRef name) { return features.lookup(name); });
  };
  if (!all({"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}))
    return 0;
  return all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? 4 : 3;
}

bool CpuTarget::runsHere() const { return hostLevel() >= (level == "x86-64-v4" ? 4 : 3); }

Expected<CpuTarget> CpuTarget::get(StringRef name) {
  CpuTarget target;
  target.name = name.str();
  target.level = target.name;
  target.tune = target.name;
  if (name == "native") {
    int level = hostLevel();
    if (!level)
      return createStringError("this machine lacks AVX2 and FMA (x86-64-v3), which kernels need");
    target.level = level == 4 ? "x86-64-v4" : "x86-64-v3";
    target.tune = sys::getHostCPUName().str();
  } else if (name != "x86-64-v3" && name != "x86-64-v4") {
    static constexpr StringLiteral known[] = {"native", "x86-64-v3", "x86-64-v4"};
    return createStringError("unknown CPU target '" + name + "'" + suggest(name, known));
  }
  target.vectorBytes = target.level == "x86-64-v4" ? 64 : 32;
  return target;
}

} // namespace reprise
