// reprise: which stage runs each op of a step, and in which of its passes
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PLACES_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PLACES_H

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise::pipe {

/// A sweep goes through all stages, up from the first one or down from the last one. Sweep 0 is the
/// forward pass, sweep 1 its derivative. A derivative of both adds that of the backward pass, which
/// goes up, and that of the forward pass: expansion i turns the list of sweeps around and appends
/// it, so that sweep s has the order s ^ (s >> 1), a Gray code.
struct Place {
  enum Kind : uint8_t {
    Before, ///< of no micro-batch, before the first one
    Within,
    After ///< behind the last micro-batch: what needs whole gradients
  };
  Kind kind = Before;
  int64_t stage = 0;
  int64_t sweep = 0; ///< of kind Within, as the next two
  bool isWeight = false;
  int64_t microbatch = 0;

  bool operator==(const Place &other) const {
    return kind == other.kind && stage == other.stage && sweep == other.sweep &&
           isWeight == other.isWeight && microbatch == other.microbatch;
  }
};

/// The places of the ops of a flat step with marks of stages and micro-batches. An op without marks
/// follows what it reads; an op that reads something of a later place moves there.
class Places {
public:
  Places(ProgramOp step, int64_t stages, bool splitsBackward);

  /// None for an op that every device that reads it runs by itself: constants, what is made of
  /// them, rows of inputs, and outside of the micro-batches values that spread a smaller one.
  std::optional<Place> get(mlir::Operation *op) const;
  /// True for an argument that each device may have: a number, or an input that no result replaces.
  bool isEverywhere(mlir::BlockArgument argument) const { return shared.contains(argument); }
  /// The stage of a parameter or state.
  int64_t getHome(mlir::BlockArgument argument) const { return homes.lookup(argument); }
  int64_t countSweeps() const { return sweeps; }
  int64_t countMicrobatches() const { return microbatches; }

private:
  void findShared();
  void findFree();
  bool isFreeOp(mlir::Operation &op) const;
  void findWeights();
  void findHomes();
  void placeAll();
  Place place(mlir::Operation &op);
  bool follow(mlir::Operation &op, Place &own) const;
  std::optional<int64_t> findStage(mlir::Operation &op) const;
  void settle();
  bool isSpread(mlir::Operation *op, const Place &place) const;
  int64_t rank(const Place &place) const;

  ProgramOp step;
  EntrySignature signature;
  int64_t stages, sweeps = 1, microbatches = 1;
  bool splitsBackward;
  llvm::DenseSet<mlir::Value> shared; ///< arguments that are everywhere
  llvm::DenseSet<mlir::Operation *> free, weights, marked;
  llvm::DenseMap<mlir::Value, int64_t> homes; ///< of arguments that are not everywhere
  llvm::DenseMap<mlir::Operation *, Place> places;
  llvm::DenseSet<mlir::Operation *> unsettled; ///< ops behind the micro-batches without a stage yet
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PLACES_H
