// reprise: segments of passes, behind which sums over replicas are added
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_SEGMENTS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_SEGMENTS_H

#include "Places.h"

namespace reprise::pipe {

/// Segments of the last pass of each stage in each replica.
///
/// A pass ends a segment wherever it has computed another sixteenth of the bytes that replicas add
/// up. An op that adds such values, or takes their rows, runs behind a segment instead of behind
/// all passes. So a gradient leaves while the pass goes on, and its bytes are free soon.
///
/// The op runs behind the latest segment of its operands. A value of another replica counts as one
/// segment more, so that the transfer runs beside a segment. Segments that do not exist stand for
/// places behind the pass, in their order.
class Segments {
public:
  Segments(ProgramOp step, const Places &places, int64_t replicas);

  /// Returns the segment of an op of a last pass, or the segment behind which an op after all
  /// passes runs. Returns none for ops of other passes, and for ops that wait for all passes.
  std::optional<int64_t> get(mlir::Operation *op) const {
    auto found = segments.find(op);
    return found == segments.end() ? std::nullopt : std::optional(found->second);
  }

private:
  /// Pass in the order of a device: micro-batch, weights last, sweep.
  using Pass = std::tuple<int64_t, bool, int64_t>;
  using Stage = std::pair<int64_t, int64_t>; ///< replica and stage

  static Pass getPass(const Place &place) {
    return {place.microbatch, place.isWeight, place.sweep};
  }
  static Stage getStage(const Place &place) { return {place.replica, place.stage}; }
  bool isEarly(mlir::Operation &op, const Place &place) const;
  int64_t countAdded(mlir::Operation &op) const;
  void findEarly();
  void cutPasses();
  void findLevels();
  int64_t getLevel(mlir::Operation *op, const Place &reader) const;

  ProgramOp step;
  const Places &places;
  llvm::DenseSet<mlir::Operation *> early; ///< ops after all passes that need not wait
  std::map<Stage, Pass> last;              ///< last pass of each stage
  llvm::DenseMap<mlir::Operation *, int64_t> segments;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_SEGMENTS_H
