// reprise: builds the graph of a loop nest from the ops of a group
#ifndef REPRISE_CONVERSION_LOOPNEST_GRAPHBUILDER_H
#define REPRISE_CONVERSION_LOOPNEST_GRAPHBUILDER_H

#include "Graph.h"

#include <map>

namespace reprise::nests {

/// Adds a node whose operands are there, and returns its number.
int addNode(Graph &graph, Node node);

/// Adds the constant `value` of element type `type`.
int addSplat(Graph &graph, mlir::Type type, mlir::Attribute value);

/// The number of a buffer, which is added if it is new.
int addBuffer(Graph &graph, BufferSlot slot);

/// One attempt with the factors of a shape as they are. Every visit returns a node, or fails and
/// says why in `split` (a factor has to fall apart first) or `obstacle`.
class GraphBuilder {
public:
  /// Sizes of inner dimensions that groups of an op's dimensions fall apart into, where 1 does not
  /// do.
  using Grains = std::map<std::pair<mlir::Operation *, unsigned>, int64_t>;

  GraphBuilder(const Shape &shape, const Leaves &leaves, const Grains &grains);

  mlir::LogicalResult addRoot(const Root &root);
  Graph take();
  /// Makes a shape or the grains meet the wish of a split.
  void apply(Split split, Shape &shape, Grains &grains) const;

  std::optional<Split> split;
  Obstacle obstacle;

private:
  using Result = mlir::FailureOr<int>;

  /// The element of a value at a row-major position.
  Result visit(mlir::Value value, const Affine &position);
  Result visitOp(mlir::Operation *op, mlir::Value value, const Affine &position);
  Result visitView(mlir::Operation *op, const Affine &position);
  Result visitPad(mlir::Operation *op, const Affine &position);
  Result visitConcatenate(mlir::Operation *op, const Affine &position);
  Result visitGather(mlir::Operation *op, const Affine &position);
  Result visitDynamicSlice(mlir::Operation *op, const Affine &position);
  Result visitIota(mlir::Operation *op, const Affine &position);
  Result visitCompute(mlir::Operation *op, const Affine &position);
  Result visitDraw(mlir::Operation *op, const Affine &position);
  Result visitReduction(mlir::Operation *op, const Affine &position);
  Result visitSequence(mlir::Operation *op, const Affine &position);
  Result visitRow(mlir::Operation *op, const Affine &position);
  Result visitParts(mlir::Value value, const Affine &position);
  Result visitTile(mlir::Value value, const Affine &position);
  /// The operand of a reduction at positions in the kept and in the reduced dimensions.
  Result visitReduced(mlir::Operation *op, const Affine &kept, const Affine &reduced);

  /// The element of `indices` at a position as a symbol, clamped to [0, size - 1].
  std::optional<Affine> indirect(mlir::Value indices, const Affine &position, int64_t size);
  Result fail(mlir::Value cut, bool misplaced = false);
  /// Where a strided view over `sizes` has the element of a row-major position in `sizes`.
  std::optional<Affine> follow(const Affine &position, llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> strides);
  std::optional<llvm::SmallVector<Affine>> indexIn(const Affine &position,
                                                   llvm::ArrayRef<int64_t> sizes);
  unsigned addSymbol(Symbol symbol);
  Result visitPartsRoot(const Root &root);

  const Leaves &leaves;
  const Grains &grains;
  Graph graph;
  llvm::SmallVector<int64_t> symbolSizes;
  std::map<std::pair<void *, Affine>, int> known;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_GRAPHBUILDER_H
