// reprise: the replicas whose passes compute what an op reads
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_REPLICACOVERS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_REPLICACOVERS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include <optional>

namespace reprise::pipe {

/// Replicas [first, end) whose passes compute what an op reads.
struct Cover {
  int64_t first, end;
  int64_t size() const { return end - first; }
  Cover join(Cover other) const { return {std::min(first, other.first), std::max(end, other.end)}; }
  /// Returns the replica in the cover that works for the part of replica `owner`. In a tree of sums
  /// each level therefore moves half of what is left.
  int64_t pick(int64_t owner) const { return first + owner % size(); }
};

/// Covers of the ops of a flat step whose micro-batches belong to replicas.
class ReplicaCovers {
public:
  /// Finds the covers. The op of a micro-batch belongs to a pass of its replica if `isOfPass`.
  ReplicaCovers(ProgramOp step, int64_t replicas,
                llvm::function_ref<bool(mlir::Operation *)> isOfPass);

  /// Returns the cover; none for an op that depends on no pass.
  std::optional<Cover> find(mlir::Operation *op) const {
    auto found = covers.find(op);
    return found == covers.end() ? std::nullopt : std::optional(found->second);
  }

private:
  std::optional<Cover> findRead(mlir::Operation &op) const;

  llvm::DenseMap<mlir::Operation *, Cover> covers;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_REPLICACOVERS_H
