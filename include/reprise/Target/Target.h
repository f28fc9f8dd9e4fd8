// reprise: the interface of targets to the phases from kernels on
#ifndef REPRISE_TARGET_TARGET_H
#define REPRISE_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"
#include "reprise/Target/Launch.h"

#include <map>
#include <memory>
#include <vector>

namespace reprise {

/// Code of kernels and their constants, which is never written to. For a CPU it is
/// position-independent machine code without outside references; for a GPU a PTX module per kernel,
/// optionally followed by machine code (Runtime/Bundle.h).
struct Image {
  std::vector<uint8_t> bytes;
  /// Byte offset of each kernel, a multiple of 64.
  std::map<std::string, uint64_t> symbols;
};

/// Largest alignment in bytes that kernels may require of a place.
constexpr int64_t widestAccess = 16;
/// Returns the alignment in bytes of all places of a launch's arguments and results, at most
/// widestAccess. Rows of arrays in loops may have a smaller alignment (`exec.place_alignment`).
int64_t getPlaceAlignment(mlir::Block &body);

/// Machine that code is generated for, as grouping, places and code generation see it.
class Target {
public:
  /// Pairs (operand of a body's terminator, argument of the body).
  using InPlacePairs = llvm::SmallVector<std::pair<unsigned, unsigned>>;

  virtual ~Target();

  /// Returns the full name, such as that of a CPU's level, for bundles.
  virtual std::string getName() const = 0;
  /// Returns the precision of contractions: `exact`, chains of fma in every type; `tensor-cores`,
  /// 16-bit types on tensor cores; `tf32`, also f32 on tensor cores; or `library`, 16-bit types by
  /// libraries of the GPU.
  virtual std::string getContractions() const { return "exact"; }
  /// Returns the features that a machine needs to run the kernels; the runtime checks these names.
  virtual std::vector<std::string> getFeatures() const = 0;

  /// Returns whether one launch computes a contraction and adds its bias (reprise.dot_bias).
  virtual bool addsBias() const { return false; }
  /// Returns addsBias() of the target with this name.
  static bool addsBias(llvm::StringRef name) { return name.ends_with(":library"); }
  /// Returns whether 16-bit contractions are faster if all rows begin at multiples of 16 bytes, and
  /// do not promise an order of their sums.
  static bool prefersWholeRows(llvm::StringRef name) {
    return name.starts_with("cuda:") && !name.ends_with(":exact");
  }

  /// Returns whether one launch can hold these ops, two or more in program order, and gains from
  /// it.
  virtual bool canHold(llvm::ArrayRef<mlir::Operation *> ops) const = 0;
  /// Returns the results of a launch body that may lie at the same address as an argument. The step
  /// that stores the result's element is the last reader of the argument's element in that place.
  virtual InPlacePairs findInPlacePairs(mlir::Block &body) const = 0;

  /// Returns the bytes that the device moves in its memory while one byte goes to or from host
  /// memory; 0 if the device does no other work meanwhile.
  virtual int64_t countBytesBesideHost() const { return 0; }

  /// Returns whether kernels use wide accesses for aligned places. If so, bodies with less aligned
  /// places are marked (`exec.place_alignment`) and have their own kernels.
  virtual bool usesPlaceAlignment() const { return false; }
  /// Returns whether the machine may refuse or lose a command, so that a run has to name its op.
  virtual bool canFail() const { return false; }
  /// Adds the kernels of one launch body to `kernels`, under symbols that start with `name`, and
  /// returns their commands. Errors are emitted at the op that no kernel can hold.
  virtual mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                                    mlir::ModuleOp kernels) const = 0;
  /// Library function for a launch, or the reason why a requested library does not compute it; both
  /// are empty if no library is requested.
  struct LibraryChoice {
    std::string function, whyOwn;
  };
  virtual LibraryChoice findLibrary(mlir::Block &body) const { return {}; }
  /// Returns the scratch of the commands of emitLaunch; 0 for ops without a kernel yet. Other
  /// errors are those of emitLaunch.
  virtual mlir::FailureOr<Scratch> findScratch(mlir::Block &body) const = 0;
  /// Compiles all kernels that emitLaunch has added. The same module gives the same bytes.
  virtual mlir::FailureOr<Image> compileKernels(mlir::ModuleOp kernels) const = 0;

  /// Resolves `cpu`, `cpu:native`, `cpu:x86-64-v3`, `cpu:x86-64-v4`, `cuda:sm_90` and so on; `cpu`
  /// is this machine.
  ///
  /// - `cuda:sm_90:exact`, `cuda:sm_90:tf32` and `cuda:sm_90:library` choose the precision of
  ///   contractions, as `--contractions` does.
  /// - `cuda:sm_90:cubin`, also before these suffixes, adds machine code to PTX.
  /// - Errors, at `location`: another name, machine code without ptxas, `cpu` on a machine below
  ///   all targets, or a context without the targets of registerAllDialects.
  static mlir::LogicalResult get(llvm::StringRef name, mlir::Location location,
                                 std::shared_ptr<const Target> &target);
};

/// Maker of the targets of a context: an interface of RepriseDialect. With it, users of targets do
/// not depend on the rooms of the targets.
class TargetProvider : public mlir::DialectInterface::Base<TargetProvider> {
public:
  using Base::Base;

  /// Finds a target, as Target::get does.
  virtual mlir::LogicalResult find(llvm::StringRef name, mlir::Location location,
                                   std::shared_ptr<const Target> &target) const = 0;
};

} // namespace reprise

#endif // REPRISE_TARGET_TARGET_H
