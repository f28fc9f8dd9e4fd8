// reprise: a kernel of the dialect nest, and what follows from its ops
#ifndef REPRISE_CONVERSION_LOOPNEST_NEST_H
#define REPRISE_CONVERSION_LOOPNEST_NEST_H

#include "reprise/Dialect/Nest/IR/Nest.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace reprise::nests {

constexpr int64_t reductionLanes = 32;
constexpr int64_t laneBlock = 4096;
constexpr int64_t orderedBlock = 64;

/// How often an element is computed: once per kernel, per row, per column, or within an element's
/// own inner loop.
enum class Level { Kernel, Row, Column, Inner };

/// A kernel, and facts that follow from its ops: levels, stages and costs of elements.
class Nest {
public:
  explicit Nest(KernelOp kernel);

  /// Adds an op whose operands have been added.
  void add(mlir::Operation *op);
  /// Adds an index that follows from values; that of a loop follows from none.
  void addIndex(mlir::Value index, mlir::ValueRange from);

  Level levelOf(mlir::Value value) const { return facts.find(value)->second.level; }
  /// The number of reductions over columns, one after the other, that come before.
  int stageOf(mlir::Value value) const { return facts.find(value)->second.stage; }
  /// Approximate number of instructions for one element, with all that it needs.
  int64_t costOf(mlir::Value value) const { return facts.find(value)->second.cost; }
  /// True if a place varies with a loop.
  bool varies(const Place &place, mlir::Value loop) const;
  /// The level of a place with these terms.
  Level levelOf(const Place &place) const;

  template <typename OpT> bool has() const {
    return llvm::any_of(elements, [](mlir::Value value) { return value.getDefiningOp<OpT>(); });
  }
  bool hasReductions() const { return has<ReduceOp>(); }
  bool stores(Stored what) const {
    return llvm::any_of(roots, [&](StoreOp root) { return root.getWhat() == what; });
  }
  /// The index of a loop, by its number, and that of the innermost loop of the columns.
  mlir::Value loop(size_t number) const { return kernel.getBlock().getArgument(number); }
  mlir::Value innermost() const { return loop(shape.factors().size() - 1); }
  /// The number of a value if it is the index of a loop.
  std::optional<size_t> loopNumber(mlir::Value index) const;
  /// Places in a row-major value with an element per iteration, and over outer and rows.
  Place position() const;
  Place rowPosition() const;

  mutable KernelOp kernel;
  Shape shape;
  llvm::SmallVector<BufferSlot> buffers;
  /// All elements, operands before results.
  std::vector<mlir::Value> elements;
  llvm::SmallVector<StoreOp> roots;

private:
  struct Facts {
    /// Loops, and behind them steps of inner loops, that the value varies with, those inside of
    /// computed indices included.
    llvm::SmallBitVector varies = {};
    Level level = Level::Kernel;
    /// The level that the reductions inside ask for, even if nothing varies.
    Level floor = Level::Kernel;
    int stage = 0;
    int64_t cost = 0;
  };

  Level levelOf(const llvm::SmallBitVector &varies) const;
  void addElement(mlir::Operation *op);
  Facts factsOf(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, Facts> facts;
  unsigned indices = 0;
};

/// Returns the elements that an op reads, those of its places last.
llvm::SmallVector<mlir::Value> inputsOf(mlir::Value element);
/// Returns the elements that an op reads as indices of its places.
llvm::SmallVector<mlir::Value> indexInputsOf(mlir::Value element);
/// Returns the elements that an op reads, without the indices of its places.
llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation *op);

inline mlir::Type typeOf(mlir::Value element) {
  return llvm::cast<mlir::RankedTensorType>(element.getType()).getElementType();
}

inline ReductionKind kindOf(Fold fold) { return static_cast<ReductionKind>(fold); }
inline Fold foldOf(ReductionKind kind) { return static_cast<Fold>(kind); }

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_NEST_H
