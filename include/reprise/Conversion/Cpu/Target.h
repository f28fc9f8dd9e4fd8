// reprise: the CPUs that kernels are compiled for, and the compilation of a module of kernels to
// one flat image
#ifndef REPRISE_CONVERSION_CPU_TARGET_H
#define REPRISE_CONVERSION_CPU_TARGET_H

#include "reprise/Target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

/// CPU of a target. Code uses only the instructions of `level`, so that results and the set of
/// machines that run a bundle depend only on the level; `tune` only orders instructions.
struct CpuTarget {
  /// Name in the user's spelling, one of getNames().
  std::string name;
  /// Level that a bundle records and a runtime checks: `x86-64-v3` (AVX2, FMA, F16C, BMI2) or
  /// `x86-64-v4` (plus AVX-512 F, BW, CD, DQ, VL). The names are those of the x86-64 psABI and of
  /// `__builtin_cpu_supports`.
  std::string level;
  /// LLVM name of the CPU whose scheduling model is used.
  std::string tune;
  /// Bytes of one vector register.
  int64_t vectorBytes = 32;

  /// Returns the number of elements of `elementBytes` bytes in one register: 8 or 16 for f32, 4 or
  /// 8 for f64.
  int64_t lanes(int64_t elementBytes = 4) const { return vectorBytes / elementBytes; }
  /// Returns the number of vector registers: 16 or 32.
  int64_t registers() const { return vectorBytes == 64 ? 32 : 16; }
  /// Returns whether this machine can run code for the target.
  bool runsHere() const;

  /// Returns the names that `get` resolves.
  static std::vector<std::string> getNames();
  /// Resolves a name. `native` is the highest level that this machine has, tuned for it. Errors: an
  /// unknown name, or `native` on a machine below x86-64-v3.
  static llvm::Expected<CpuTarget> get(llvm::StringRef name);
};

/// Places the sections of relocatable x86-64 ELF objects one after the other, resolves their
/// relocations, and returns the flat image. Errors: an undefined symbol (named), a symbol defined
/// twice, a writable section, an unknown relocation.
llvm::Expected<Image> linkImage(llvm::ArrayRef<std::string> objects);

/// Returns a module of modules in which the kernels are of the dialect llvm.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerKernels(mlir::ModuleOp module);

/// Compiles a module of `llvm.func` kernels whose bodies hold arith, math, scf, vector, cf, index,
/// ub and llvm operations; loop-carried vectors must have one dimension. Leaves the module
/// unchanged. The same module and target give the same bytes for any number of threads. Only
/// `math.fma` fuses. Errors are emitted at the module: an operation that does not lower, or a
/// kernel that would call a function.
mlir::FailureOr<Image> compileKernels(mlir::ModuleOp module, const CpuTarget &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_TARGET_H
