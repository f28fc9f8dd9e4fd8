// reprise: properties of launches on a target before they are compiled
#ifndef REPRISE_TARGET_LAUNCHFACTS_H
#define REPRISE_TARGET_LAUNCHFACTS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Target/Target.h"

#include <mutex>
#include <optional>

namespace reprise {

/// Returns words that are equal for bodies of one kernel: ops, attributes, types, and data flow.
/// The streams of random ops are not in the body, see `exec.launch`. Words are comparable within
/// one context.
std::vector<uintptr_t> describeBody(mlir::Block &body);
/// Returns these words, followed by the nests that the launch names, if any.
std::vector<uintptr_t> describeLaunch(exec::LaunchOp launch);

/// Cache of facts per distinct body, over all programs, for use from any thread.
class LaunchFacts {
public:
  LaunchFacts(std::shared_ptr<const Target> target, mlir::MLIRContext *context);

  /// Adds the dialects of kernels. A pass that loads facts while other passes run depends on them.
  static void addDialects(mlir::DialectRegistry &registry);
  /// Loads the dialects of kernels into a context, before kernels are emitted in it.
  static void loadDialects(mlir::MLIRContext &context);
  /// Makes the facts of a target unless `facts` has a target already. Fails as Target::get does.
  static mlir::LogicalResult load(llvm::StringRef target, mlir::Location location,
                                  std::shared_ptr<LaunchFacts> &facts);

  const Target &getTarget() const { return *target; }
  const Target::InPlacePairs &findInPlacePairs(exec::LaunchOp launch);
  /// Returns true if the launch of `result` may store it in the place of its operand `input`.
  bool mayShare(mlir::OpResult result, unsigned input);
  /// Returns the scratch of a launch; fails at an op that no kernel can hold.
  mlir::FailureOr<Scratch> findScratch(exec::LaunchOp launch);
  /// Returns the bytes of workspace of the function: those of its calls, and as many as each of
  /// `threads` workers needs for the launches.
  mlir::FailureOr<int64_t> findWorkspace(mlir::Operation *function, unsigned threads);

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
