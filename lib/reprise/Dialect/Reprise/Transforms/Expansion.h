// reprise: expands one value_and_grad by the derivative rules of the ops.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_EXPANSION_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_EXPANSION_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace reprise {

/// Listener that marks every created op with the attributes inherited from its source op, and
/// records it.
class Inheritance : public mlir::OpBuilder::Listener {
public:
  Inheritance(mlir::MLIRContext *context, unsigned height, bool outermost)
      : context(context), height(height), outermost(outermost) {
    setSource(nullptr);
  }

  /// Sets the source of ops created from now on; null for no source.
  void setSource(mlir::Operation *source);
  mlir::DictionaryAttr getAttributes() const { return attributes; }
  void setAttributes(mlir::DictionaryAttr like) { attributes = like; }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    op->setDiscardableAttrs(attributes);
    made.push_back(op);
  }
  /// Marks a clone of an op of the primal part.
  void notifyCloned(mlir::Operation *op) {
    setSource(op);
    notifyOperationInserted(op, {});
  }

  /// Erases unused ops of the rules; readers stand behind their operands, loops behind their
  /// bodies. Returns the number of ops that stay.
  int64_t eraseUnused();

private:
  mlir::MLIRContext *context;
  unsigned height;
  bool outermost;
  mlir::DictionaryAttr attributes;
  llvm::SmallVector<mlir::Operation *> made;
};

/// Expansion of one value_and_grad whose body holds only loops as regions.
class Expansion {
public:
  Expansion(ValueAndGradOp op, unsigned height, bool outermost)
      : op(op), body(op.getBody().front()), outermost(outermost),
        inheritance(op.getContext(), height, outermost),
        builder(op.getLoc(), body.getTerminator(), &inheritance) {}

  /// Returns the number of ops that run() made and that have readers.
  int64_t countMade() const { return kept; }

  llvm::LogicalResult run();

private:
  /// Cotangent body of a loop during construction.
  struct ReverseBody;

  llvm::LogicalResult collectPrimal();
  void findActive(mlir::Block &block);
  void findActiveInLoop(LoopOp loop);
  llvm::LogicalResult pullBack(mlir::Value scalar, llvm::SmallVectorImpl<mlir::Value> &gradients);
  llvm::LogicalResult pullBackOp(mlir::Operation *source);
  llvm::LogicalResult applyRule(mlir::Operation *source);
  llvm::LogicalResult check(mlir::Operation *source);
  void accumulate(mlir::OpOperand &use, mlir::Value cotangent);
  mlir::Value gradient(mlir::Value argument);
  mlir::RankedTensorType cotangentType(mlir::Value value);
  mlir::Value constant(mlir::RankedTensorType type, double value);
  void flatten(mlir::Operation *yield);
  mlir::InFlightDiagnostic fail(mlir::Operation *source, const llvm::Twine &message);

  // ExpansionLoops.cpp
  llvm::LogicalResult pullBackLoop(LoopOp loop);
  void seedLoop(LoopOp loop, ReverseBody &reverse);
  void collectCarries(LoopOp loop, ReverseBody &reverse, llvm::SmallVectorImpl<mlir::Value> &inits,
                      llvm::SmallVectorImpl<mlir::BlockArgument> &arguments,
                      llvm::SmallVectorImpl<mlir::Value> &yielded);
  LoopOp finishLoop(LoopOp loop, ReverseBody &reverse);
  void bringResiduals(LoopOp reverse);
  void distribute(LoopOp loop, LoopOp made, ReverseBody &reverse);
  mlir::Value &accumulator(mlir::OpOperand &use, mlir::RankedTensorType type);
  bool isLocal(mlir::Value value) const;

  ValueAndGradOp op;
  mlir::Block &body;
  bool outermost;
  Inheritance inheritance;
  mlir::ImplicitLocOpBuilder builder;
  llvm::SmallVector<mlir::Operation *> primal;
  llvm::DenseSet<mlir::Value> active;     ///< values that depend on an argument to differentiate by
  llvm::DenseSet<mlir::Value> parameters; ///< arguments to differentiate by, and their reshapes
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
  /// Attributes and place for ops of a parameter's cotangent, from its last source.
  llvm::DenseMap<mlir::Value, std::pair<mlir::DictionaryAttr, mlir::LocationAttr>> lastSource;
  ReverseBody *reverseBody = nullptr; ///< innermost body under construction; null outside loops
  int64_t kept = 0;
};

} // namespace reprise

#endif
