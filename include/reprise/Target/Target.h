// reprise: what the phases from kernels on ask of the machine that a program is compiled for
#ifndef REPRISE_TARGET_TARGET_H
#define REPRISE_TARGET_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/OwningOpRef.h"
#include "reprise/Target/Launch.h"

#include <map>
#include <memory>
#include <vector>

namespace reprise {

/// The code of kernels and their constants; nothing in it is written to. For a CPU it is
/// position-independent machine code that refers to nothing outside, for a GPU a PTX module per
/// kernel, with or without machine code behind it (Runtime/Bundle.h).
struct Image {
  std::vector<uint8_t> bytes;
  /// Byte offset of each kernel, a multiple of 64.
  std::map<std::string, uint64_t> symbols;
};

/// The largest alignment that kernels may ask of a place, in bytes.
constexpr int64_t widestAccess = 16;
/// Returns the bytes that divide all places of a launch's arguments and results, at most
/// widestAccess. Rows of arrays in loops may have a smaller alignment (`exec.place_alignment`).
int64_t getPlaceAlignment(mlir::Block &body);

/// Properties of a target that passes ask for. A target fills them when it is made.
struct Capabilities {
  /// Arithmetic of contractions: `exact`, chains of fma in every type; `tensor-cores`, 16-bit types
  /// on tensor cores; `tf32`, f32 there, too; or `library`, 16-bit types by libraries of the GPU.
  std::string contractions = "exact";
  bool hasTensorCores = false;
  /// Whether libraries of the device compute contractions.
  bool callsLibraries = false;
  /// Whether one launch computes a contraction and adds its bias (reprise.dot_bias).
  bool addsBias = false;
  /// Whether contractions of 16 bits are faster where all rows begin at multiples of 16 bytes, and
  /// in no order that is part of the promise.
  bool prefersWholeRows = false;
  /// Bytes that the device moves in its memory while one goes to or from the memory of the host; 0:
  /// it does nothing else meanwhile.
  int64_t bytesBesideHost = 0;
  /// Whether kernels take what lies at a multiple of many bytes in one access, so that bodies whose
  /// places do not are told (`exec.place_alignment`) and have kernels of their own.
  bool usesPlaceAlignment = false;
  /// Whether the machine may refuse or lose a command, so that a run has to name its op.
  bool canFail = false;
};

/// A machine. Grouping, places and code generation know nothing else of it.
class Target {
public:
  /// A pair (operand of a body's terminator, argument of the body).
  using InPlacePairs = llvm::SmallVector<std::pair<unsigned, unsigned>>;

  virtual ~Target();
  const Capabilities &getCapabilities() const { return capabilities; }

  /// With what names it, such as the level of a CPU: for bundles.
  virtual std::string getName() const = 0;
  /// What a machine must have to run the kernels; the runtime checks these names.
  virtual std::vector<std::string> getFeatures() const = 0;

  /// Whether it is of use that one launch holds these ops, two or more in program order, and can
  /// be.
  virtual bool canHold(llvm::ArrayRef<mlir::Operation *> ops) const = 0;
  /// The results of a launch body that may lie at the same address as an argument: every element of
  /// the argument is read for the last time by the step that stores the result's element in its
  /// place.
  virtual InPlacePairs findInPlacePairs(mlir::Block &body) const = 0;

  /// Returns the body as loop nests, a `nest.program` of the name; null if other kernels compute
  /// it.
  virtual mlir::OwningOpRef<mlir::Operation *> formNests(mlir::Block &body,
                                                         llvm::StringRef name) const = 0;
  /// Adds the kernels of one launch body to `kernels`, under symbols that start with `name`, and
  /// returns the commands that run them. Errors are emitted at the op that no kernel can hold.
  virtual mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                                    mlir::ModuleOp kernels) const = 0;
  /// Which function of a library computes a launch, or why none does that was asked for; both are
  /// empty where none is asked for.
  struct LibraryChoice {
    std::string function, whyOwn;
  };
  virtual LibraryChoice findLibrary(mlir::Block &body) const { return {}; }
  /// What the commands of emitLaunch need; none for ops that it cannot compile yet. Other errors as
  /// there.
  virtual mlir::FailureOr<Scratch> findScratch(mlir::Block &body) const = 0;
  /// Compiles all kernels that emitLaunch has added. The same module gives the same bytes.
  virtual mlir::FailureOr<Image> compileKernels(mlir::ModuleOp kernels) const = 0;

  /// Resolves `cpu`, `cpu:native`, `cpu:x86-64-v3`, `cpu:x86-64-v4`, `cuda:sm_90` and so on; `cpu`
  /// is this machine. `cuda:sm_90:exact`, `cuda:sm_90:tf32` and `cuda:sm_90:library` choose how
  /// contractions compute, as `--contractions` does; `cuda:sm_90:cubin`, also before these, has
  /// machine code beside PTX. Errors, at `location`: another name, machine code without ptxas, this
  /// machine where it is too weak to be a target, or a context without the targets of
  /// registerAllDialects.
  static mlir::LogicalResult get(llvm::StringRef name, mlir::Location location,
                                 std::shared_ptr<const Target> &target);

protected:
  Capabilities capabilities = {};
};

/// Who makes the targets of a context: an interface of RepriseDialect. So what asks for a target
/// stands below all of them.
class TargetProvider : public mlir::DialectInterface::Base<TargetProvider> {
public:
  using Base::Base;

  /// As Target::get.
  virtual mlir::LogicalResult find(llvm::StringRef name, mlir::Location location,
                                   std::shared_ptr<const Target> &target) const = 0;
};

} // namespace reprise

#endif // REPRISE_TARGET_TARGET_H
