// reprise: the stage and the pass of each op of a step
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PLACES_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PLACES_H

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise::pipe {

/// Place of an op. A sweep goes through all stages, up from the first stage or down from the last.
/// Sweep 0 is the forward pass, sweep 1 its derivative. A derivative of both adds the derivatives
/// of the backward pass, which go up, and of the forward pass. Expansion i reverses the list of
/// sweeps and appends it, so that sweep s has the order s ^ (s >> 1), a Gray code.
struct Place {
  enum Kind : uint8_t {
    Before, ///< no micro-batch: before the first
    Within,
    After ///< no micro-batch: behind the last; needs whole gradients
  };
  Kind kind = Before;
  int64_t stage = 0;
  int64_t sweep = 0; ///< kind Within only, as the next two
  bool isWeight = false;
  int64_t microbatch = 0;
  int64_t replica = 0; ///< that of the micro-batch; in other kinds the mark of the op
};

/// Returns true for an op that belongs to a gradient, or that a gradient is taken of.
bool isOfGradient(mlir::Operation *op);

/// Returns the arguments that live on one device: parameters, states, and inputs that a result
/// replaces.
llvm::DenseSet<mlir::Value> findOwned(ProgramOp step);

/// Places of the ops of a flat step with marks of stages and micro-batches. An op without marks
/// follows its operands; an op with an operand of a later place moves there.
class Places {
public:
  Places(ProgramOp step, int64_t stages, int64_t replicas, bool splitsBackward);

  /// Returns the place of a pass of a stage.
  Place getPass(int64_t stage, int64_t sweep, bool isWeight, int64_t microbatch) const {
    return {Place::Within, stage,      sweep,
            isWeight,      microbatch, microbatch * replicas / microbatches};
  }
  /// Returns the place; none for an op that every device computes where it is read. These are
  /// constants, ops of constants, rows of inputs, and, outside of the micro-batches, broadcasts of
  /// smaller values.
  std::optional<Place> get(mlir::Operation *op) const;
  /// Returns true for an argument that each device may have: a number, or an input that no result
  /// replaces.
  bool isEverywhere(mlir::BlockArgument argument) const { return shared.contains(argument); }
  /// The stage of a parameter or state.
  int64_t getHome(mlir::BlockArgument argument) const { return homes.lookup(argument); }
  int64_t countSweeps() const { return sweeps; }
  int64_t countMicrobatches() const { return microbatches; }

private:
  void findShared();
  void findFree();
  bool isFreeOp(mlir::Operation &op);
  bool isGather(mlir::Operation &op);
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
  int64_t stages, replicas, sweeps = 1, microbatches = 1;
  bool splitsBackward;
  llvm::DenseSet<mlir::Value> shared; ///< arguments that every device may have
  llvm::DenseSet<mlir::Operation *> free, weights, marked;
  llvm::DenseMap<mlir::Value, int64_t> homes; ///< stages of all other arguments
  llvm::DenseMap<mlir::Operation *, Place> places;
  llvm::DenseSet<mlir::Operation *> unsettled; ///< ops behind the micro-batches without a stage yet
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PLACES_H
