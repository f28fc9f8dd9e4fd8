// reprise: the order in which the devices of a pipeline run the passes of their stages
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_ORDER_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_ORDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Pipeline/Schedule.h"

#include <optional>

namespace reprise::pipe {

/// Returns the number of a mark of an op, such as its micro-batch; none without the mark.
std::optional<int64_t> getNumber(mlir::Operation *op, llvm::StringRef name);

/// Returns how many times a step goes through its stages: 1 without a gradient, 2 with a gradient.
int64_t countSweeps(ProgramOp step);

/// Returns the number of micro-batches of a step: that of its replicas, or the marks that there
/// are.
int64_t countMicrobatches(ProgramOp step);

/// The schedule that is the fastest one.
inline constexpr llvm::StringLiteral kAuto = "auto";

/// Writes the schedule of a step in pieces beside the step, which names it.
void writeSchedule(ProgramOp step, const pipeline::Schedule &schedule, int64_t replicas,
                   int64_t rounds);

/// A rule, or the schedule of a file.
class Order {
public:
  /// Finds the rule or the file `name`.
  ///
  /// - Without a name the order is that of pipeline::usualRule.
  /// - For `auto` the order is that of the chosen cut (`pipe.cuts`), or kRuleOfAnySweeps for a step
  /// without
  ///   two sweeps.
  /// - Errors: no rule and no file has the name; the schedule has no order for the number of
  ///   sweeps; the file cannot be read, or is for another number of devices.
  static mlir::FailureOr<Order> find(ProgramOp step, llvm::StringRef name, int64_t devices,
                                     int64_t chunks);

  /// Returns the shape, in which the number of micro-batches is not set.
  const pipeline::Shape &getShape() const { return shape; }
  bool splitsBackward() const { return rule ? rule->splitsBackward : given->splitsBackward; }

  /// Makes the order of `microbatches` micro-batches. Fails if a file's schedule has another number
  /// of micro-batches, or deadlocks.
  mlir::FailureOr<pipeline::Schedule> make(ProgramOp step, int64_t microbatches) const;

private:
  pipeline::Shape shape;
  const pipeline::Rule *rule = nullptr;
  std::optional<pipeline::Schedule> given;
  std::string file;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_ORDER_H
