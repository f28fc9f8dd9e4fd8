// reprise: an attempt to build the kernel of a loop nest
#ifndef REPRISE_CONVERSION_LOOPNEST_NESTBUILDER_H
#define REPRISE_CONVERSION_LOOPNEST_NESTBUILDER_H

#include "Affine.h"
#include "BuildNest.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace reprise::nests {

/// A symbol of the affine functions of a builder: a loop, a step of an inner loop, a position that
/// an element gives, or a quotient.
struct Symbol {
  int64_t size;
  /// The index; null for a quotient by 1, which only bounds its numerator.
  mlir::Value value = nullptr;
  Affine numerator = {};
  /// For a quotient by 1: the op and the dimension group that this symbol iterates over. The range
  /// may be split at multiples of `granule`.
  mlir::Operation *op = nullptr;
  unsigned group = 0;
  int64_t granule = 1;
};

/// Writes the ops of a kernel whose places are affine functions of symbols.
class KernelWriter {
public:
  mlir::OwningOpRef<KernelOp> take();

protected:
  KernelWriter(mlir::Location location, const Shape &shape);

  Affine addSymbol(Symbol symbol);
  /// A quotient of the numerator by `divisor`, below `symbol.size`.
  Affine addQuotient(Symbol symbol, int64_t divisor);
  /// Puts an op into the innermost open loop that it depends on.
  mlir::Value insert(mlir::Operation *op);
  mlir::Value addSplat(mlir::Type type, mlir::Attribute value);
  mlir::Value addRead(mlir::Type type, BufferSlot slot, const Affine &at);
  mlir::Value choose(const Affine &at, int64_t lower, int64_t upper, int64_t step,
                     mlir::Value inside, mlir::Value outside);
  mlir::Value bufferOf(const BufferSlot &slot);
  /// The place of an iteration in what the kernel stores.
  Affine position() const;
  /// An affine function as the indices and the coefficients of a place.
  Place placeOf(Affine affine) const;
  Level levelOf(const Affine &affine) const { return nest.levelOf(placeOf(affine)); }

  mlir::OpBuilder b;
  mlir::Location location;
  mlir::OwningOpRef<KernelOp> kernel;
  Nest nest;
  /// The kernel's block, and those of the inner loops that are being built.
  llvm::SmallVector<mlir::Block *> open;
  std::vector<Symbol> symbols;
  llvm::SmallVector<int64_t> symbolSizes;
};

/// Attempts to build a kernel with the factors of a shape as they are. Every visit returns an
/// element, or fails and sets the reason: `split` (a factor must be split first) or `obstacle`.
class NestBuilder : public KernelWriter {
public:
  /// Size of the inner dimension that a group of an op's dimensions is split into; 1 if none is
  /// given.
  using Grains = std::map<std::pair<mlir::Operation *, unsigned>, int64_t>;

  NestBuilder(mlir::Location location, const Shape &shape, const Leaves &leaves,
              const Grains &grains);

  mlir::LogicalResult addRoot(const Root &root);
  /// Carries out a split in the shape or in the grains.
  void apply(Split split, Shape &shape, Grains &grains) const;

  std::optional<Split> split;
  Obstacle obstacle;

private:
  using Result = mlir::FailureOr<mlir::Value>;

  /// The element of a value at a row-major position.
  Result visit(mlir::Value value, const Affine &position);
  Result visitOp(mlir::Operation *op, mlir::Value value, const Affine &position);
  Result visitView(mlir::Operation *op, const Affine &position);
  Result visitPad(mlir::Operation *op, const Affine &position);
  Result visitConcatenate(mlir::Operation *op, const Affine &position);
  Result visitGather(mlir::Operation *op, const Affine &position);
  Result visitDynamicSlice(mlir::Operation *op, const Affine &position);
  Result visitIota(mlir::Operation *op, const Affine &position);
  Result visitConstant(ConstantOp op, const Affine &position);
  Result visitCompute(mlir::Operation *op, const Affine &position);
  Result visitDraw(mlir::Operation *op, const Affine &position);
  Result visitReduction(mlir::Operation *op, const Affine &position);
  Result visitSequence(mlir::Operation *op, const Affine &position);
  Result visitRow(mlir::Operation *op, const Affine &position);
  Result visitParts(mlir::Value value, const Affine &at);
  bool isRowIndex(const Affine &position) const;
  Result visitTile(mlir::Value value, const Affine &at);
  /// The operand of a reduction at positions in the kept and in the reduced dimensions.
  Result visitReduced(mlir::Operation *op, const Affine &kept, const Affine &reduced);

  /// The element of `indices` at a position as a symbol, clamped to [0, size - 1].
  std::optional<Affine> indirect(mlir::Value indices, const Affine &position, int64_t size);
  Result fail(mlir::Value cut, bool misplaced = false);
  /// Maps a row-major position in `sizes` to the offset in a strided view over `sizes`.
  std::optional<Affine> follow(const Affine &position, llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> strides);
  std::optional<llvm::SmallVector<Affine>> indexIn(const Affine &position,
                                                   llvm::ArrayRef<int64_t> sizes);
  Result visitPartsRoot(const Root &root);

  const Leaves &leaves;
  const Grains &grains;
  std::map<std::pair<void *, Affine>, mlir::Value> known;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_NESTBUILDER_H
