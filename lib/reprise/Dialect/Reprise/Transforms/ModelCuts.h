// reprise: how the model axis cuts the values and ops of a step
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELCUTS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELCUTS_H

#include "ModelRules.h"
#include "reprise/Dialect/Reprise/Batching.h"

namespace reprise {

/// Cut of an op along the model axis.
struct ModelCut {
  OpFactors factors;
  int factor = -1;
  bool isOfUpdate = false; ///< an op of an update, which runs where its readers do
  /// Tells whether the terms of a contraction are cut: its result is the sum over the parts.
  bool isSum() const { return factors.factors[factor].kind == FactorKind::Summed; }
};

/// Cuts of a flat step, which depend on the cuts of arguments, shapes and lanes only. From these
/// arguments on, sweeps over the step cut every op that has a cut operand or result and may be cut
/// there. The first cut of an op holds:
///
/// - The cut of an argument with a rule comes first, then those that readers of the results ask
///   for, then those of operands.
/// - Elements and rows that an op computes independently may be cut, and the terms of a
///   contraction.
/// - A value is cut if its op is cut, and an argument if a rule cuts it. The order of ops that do
///   not depend on each other does not matter, since plans may change it.
///
/// With several parts the other ops follow, in cuts that move bytes and change no sum:
///
/// - Each part adds its share of a contraction with lanes: the first dimension of the result that
///   the parts divide.
/// - Ops on such shares are cut where each part computes its results from that part of the
///   operands.
/// - An op that cannot follow is cut along another dimension of its result if it is a contraction,
///   if its results are smaller than its operands, or if its readers ask for parts.
///
/// An array with a rule lives in parts, with its states and the ops that update them. If the step
/// has gradients, no other ops outside of them are cut.
///
/// An op that reads a cut value otherwise reads the parts joined.
class ModelCuts {
public:
  ModelCuts(ProgramOp step, const ArgumentCuts &arguments, int64_t lanes, int64_t parts);
  /// Reads the shardings of a step and finds all cuts. Errors: numbers of lanes or parts that are
  /// not valid; those of readModelRules; a sharding without an op that can be cut there. Without
  /// lanes nothing is cut, and shardings are an error.
  static mlir::FailureOr<ModelCuts> find(ProgramOp step, llvm::StringRef rules, int64_t lanes,
                                         int64_t parts);

  /// Returns the cut of an op; null for an op in one piece.
  const ModelCut *get(mlir::Operation *op) const;
  /// Returns the dimension of a value that is cut; -1 for a value in one piece. The result of a
  /// contraction with lanes is cut only if there are several parts.
  int64_t getDim(mlir::Value value) const;
  /// Returns true for an argument that is stored in parts.
  bool isInParts(mlir::BlockArgument argument) const { return inParts.contains(argument); }

private:
  /// Cuts with sums of parts, then those that follow other values, then those of all other ops.
  enum class Round : uint8_t { Terms, Follow, Share };

  void sweep();
  void shareSums();
  void cutArrays(const ArgumentCuts &arguments);
  bool choose(mlir::Operation &op, bool isForward);
  int findShare(mlir::Operation &op, const OpFactors &factors, bool isAsked) const;
  int findFactorOfResults(const OpFactors &factors, mlir::Operation *op) const;
  bool keepsWhole(mlir::Operation &op) const;
  int findFactor(mlir::Operation *op, const OpFactors &factors, llvm::ArrayRef<OpFactors::Dim> dims,
                 int64_t dim) const;
  bool allows(mlir::Operation *op, const OpFactors &factors, int factor) const;
  void spread(mlir::Operation &op, const ModelCut &cut);

  ProgramOp step;
  int64_t parts;
  int64_t divisor; ///< what divides a dimension that is cut: lanes, then parts
  Round round = Round::Terms;
  bool hasGradients = false;
  llvm::DenseSet<mlir::Value> ruled;           ///< arguments with a rule
  llvm::DenseSet<mlir::Value> inParts;         ///< arguments that are stored in parts
  llvm::DenseMap<mlir::Value, int64_t> dims;   ///< cuts of values; -1: never cut
  llvm::DenseMap<mlir::Value, int64_t> wanted; ///< cuts that readers ask for
  llvm::DenseMap<mlir::Operation *, ModelCut> cuts;
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELCUTS_H
