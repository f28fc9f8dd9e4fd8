// reprise: the interface of targets to the phases from kernels on
#ifndef REPRISE_TARGET_TARGET_H
#define REPRISE_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/OwningOpRef.h"
#include "reprise/Target/Contractions.h"
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

/// Chip that code is for.
struct Chip {
  std::string name; ///< such as sm_90
  /// Bytes of the memory that the blocks on a multiprocessor share, without what the driver takes.
  int64_t sharedBytes = 0;
};

/// Properties of a target that passes ask for. A target fills them when it is made.
struct Capabilities {
  Contractions contractions = Contractions::Exact;
  bool hasTensorCores = false;
  /// Libraries of the device compute contractions.
  bool callsLibraries = false;
  /// A launch that computes a contraction can add its bias (reprise.dot_bias).
  bool addsBias = false;
  /// A contraction that continues sums is as fast as any other, and has the bits of one that was
  /// not divided (reprise.dot_accumulate).
  bool continuesSums = false;
  /// Contractions of 16 bits are faster where all rows begin at multiples of 16 bytes, and their
  /// order of sums is not part of the promise.
  bool prefersWholeRows = false;
  /// Bytes that the device moves in its memory while one goes to or from the memory of the host; 0:
  /// it does nothing else meanwhile.
  int64_t bytesBesideHost = 0;
  /// Bytes that the device moves in its memory while one byte arrives from another device; 0: it
  /// does nothing else meanwhile.
  int64_t bytesBesideLink = 0;
  /// Chips of a GPU, older ones first. Kernels may differ from chip to chip.
  std::vector<Chip> chips = {};
  /// Kernels load and store aligned places in wide accesses, so bodies with other places are marked
  /// (`exec.place_alignment`) and have kernels of their own.
  bool usesPlaceAlignment = false;
  /// The machine may refuse or lose a command, so a run has to name the op of each command.
  bool canFail = false;
};

/// A machine. If a launch names nests (Target/GivenNests.h), its kernels, its scratch and what may
/// lie in place follow from these nests instead of the body. Grouping, places and code generation
/// know nothing else of it.
class Target {
public:
  /// Pairs (operand of a body's terminator, argument of the body).
  using InPlacePairs = llvm::SmallVector<std::pair<unsigned, unsigned>>;

  virtual ~Target();
  const Capabilities &getCapabilities() const { return capabilities; }

  /// Returns the full name, such as that of a CPU's level, for bundles.
  virtual std::string getName() const = 0;
  /// Returns the features that a machine must have to run the kernels. The runtime checks these
  /// names.
  virtual std::vector<std::string> getFeatures() const = 0;

  /// Tells whether one launch can hold these ops, two or more in program order, and whether that is
  /// of use.
  virtual bool canHold(llvm::ArrayRef<mlir::Operation *> ops) const = 0;
  /// Returns the results of a launch body that may lie at the same address as an argument. The step
  /// that stores the result's element is the last reader of the argument's element in that place.
  virtual InPlacePairs findInPlacePairs(mlir::Block &body) const = 0;

  /// Returns the body as loop nests, a `nest.program` of the name; null if other kernels compute
  /// it.
  virtual mlir::OwningOpRef<mlir::Operation *> formNests(mlir::Block &body,
                                                         llvm::StringRef name) const = 0;
  /// Adds the kernels of one launch body to `kernels`, under symbols that start with `name`, and
  /// returns their commands. Errors are emitted at the op that no kernel can hold.
  virtual mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                                    mlir::ModuleOp kernels) const = 0;
  /// Adds the kernels of nests, a `nest.program` without tiles, in the same way. Fails if a
  /// schedule does not fit the target.
  virtual mlir::FailureOr<EmittedLaunch> emitNests(mlir::Operation *program, llvm::StringRef name,
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
  /// Returns a module of modules in which these kernels are of the dialects llvm and nvvm.
  virtual mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  lowerKernels(mlir::ModuleOp kernels) const = 0;
  /// Compiles all kernels that emitLaunch has added. The same module gives the same bytes.
  virtual mlir::FailureOr<Image> compileKernels(mlir::ModuleOp kernels) const = 0;

  /// Resolves `cpu`, which is this machine, `cpu:x86-64-v3`, `cuda:sm_90` and so on.
  ///
  /// - `cuda:sm_90:exact`, `cuda:sm_90:tf32` and `cuda:sm_90:library` choose the precision of
  ///   contractions, as `--contractions` does.
  /// - `cuda:sm_90:cubin`, also before these suffixes, adds machine code to PTX.
  /// - Errors, at `location`: another name, machine code without ptxas, `cpu` on a machine below
  ///   all targets, or a context without the targets of registerAllDialects.
  static mlir::LogicalResult get(llvm::StringRef name, mlir::Location location,
                                 std::shared_ptr<const Target> &target);

protected:
  Capabilities capabilities = {};
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
