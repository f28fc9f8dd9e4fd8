// reprise: what a target says of launches before they are compiled
#ifndef REPRISE_TARGET_LAUNCHFACTS_H
#define REPRISE_TARGET_LAUNCHFACTS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Target/Target.h"

#include <mutex>
#include <optional>

namespace reprise {

/// Words that are equal for bodies of one kernel: ops, attributes, types, and who reads whom. The
/// streams of random ops are not in the body, see `exec.launch`. For comparisons within one
/// context.
std::vector<uintptr_t> describeBody(mlir::Block &body);

/// Looks each distinct body up once, over all programs that it is asked about, from any thread.
class LaunchFacts {
public:
  LaunchFacts(std::shared_ptr<const Target> target, mlir::MLIRContext *context);

  /// The dialects that kernels are written in. A pass that loads facts while others run depends on
  /// them.
  static void addDialects(mlir::DialectRegistry &registry);
  /// Kernels are emitted in a context that has loaded them before.
  static void loadDialects(mlir::MLIRContext &context);
  /// Leaves `facts` as it is if it is of a target already. Errors as Target::get.
  static mlir::LogicalResult load(llvm::StringRef target, mlir::Location location,
                                  std::shared_ptr<LaunchFacts> &facts);

  const Target &getTarget() const { return *target; }
  const Target::InPlacePairs &findInPlacePairs(exec::LaunchOp launch);
  /// True if the launch of `result` may store it where its operand `input` lies.
  bool mayShare(mlir::OpResult result, unsigned input);
  /// Errors at an op that no kernel can hold.
  mlir::FailureOr<Scratch> findScratch(exec::LaunchOp launch);
  /// Bytes that every worker needs for the launches of the function.
  mlir::FailureOr<int64_t> findWorkerBytes(mlir::Operation *function);

private:
  struct Facts {
    std::optional<Target::InPlacePairs> inPlace;
    std::optional<Scratch> scratch;
  };

  std::shared_ptr<const Target> target;
  std::mutex mutex;
  std::map<std::vector<uintptr_t>, Facts> byBody;
};

} // namespace reprise

#endif // REPRISE_TARGET_LAUNCHFACTS_H
