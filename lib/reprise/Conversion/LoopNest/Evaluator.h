// reprise: emits the elements of a loop nest
#ifndef REPRISE_CONVERSION_LOOPNEST_EVALUATOR_H
#define REPRISE_CONVERSION_LOOPNEST_EVALUATOR_H

#include "Schedule.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

namespace reprise::nests {

/// Place where code is being emitted, and the values that are computed there already. A scope sees
/// the values of its parents.
struct Scope {
  const Scope *parent = nullptr;
  /// Number of lanes, which run along the innermost columns.
  int64_t width = 1;
  /// The active lanes; null if all are active.
  mlir::Value mask = nullptr;
  /// The pass over the columns, which decides the kept elements that can be loaded.
  int pass = 0;
  /// The column within the item, where kept elements are loaded.
  mlir::Value column = nullptr;
  /// Columns [first, last) around this one, if they decide choices between operands.
  std::optional<std::pair<int64_t, int64_t>> stretch = std::nullopt;

  llvm::DenseMap<mlir::Value, mlir::Value> nodes, splats;
  /// Indices in lane 0, as i64.
  llvm::DenseMap<mlir::Value, mlir::Value> symbols;

  /// A scope within this one, at the same place of the iteration space.
  Scope inner() const;
  /// A scope at this place whose values are scalars.
  Scope scalar() const;
};

/// Loads in the type of the arithmetic: 16-bit floats are widened, i1 are bytes in memory. Masked
/// lanes are not touched and give 0. The index must be a multiple of `elements`. `isConstant`: no
/// thread of the kernel writes to this memory.
mlir::Value loadMasked(mlir::ImplicitLocOpBuilder &b, mlir::Type type, mlir::Value base,
                       mlir::Value index, const Scope &scope, int64_t elements = 1,
                       bool isConstant = false);

/// Stores to memory of the layout that `loadMasked` reads. Masked lanes are not touched.
void storeMasked(mlir::ImplicitLocOpBuilder &b, mlir::Type type, mlir::Value value,
                 mlir::Value base, mlir::Value index, const Scope &scope, int64_t elements = 1);

/// Divides a mean, and rounds to the element's type.
mlir::Value finishReduction(mlir::ImplicitLocOpBuilder &b, std::optional<uint64_t> over,
                            mlir::Type type, mlir::Value value);

/// Returns the step of a place from lane to lane, in elements; none if computed indices move it.
std::optional<int64_t> laneStep(const Nest &nest, const Place &place, const Scope &scope);

/// Emits values in the type of arithmetic: a scalar, or a vector of the scope's width. 16-bit
/// floats are f32 already rounded.
class Evaluator {
public:
  Evaluator(KernelBuilder &k, const Nest &nest, const Schedule &schedule)
      : k(k), b(k.b), nest(nest), schedule(schedule) {}

  /// The kernel's buffer that is the nest's first one.
  unsigned firstBuffer = 0;
  /// All vectors start at a multiple of this, plus a multiple of their width.
  int64_t columnStep = 0;
  /// The contraction's element of the scope, not yet rounded, if the nest runs over blocks of one.
  std::function<mlir::Value(Scope &)> tile;

  mlir::Value value(mlir::Value element, Scope &scope);
  /// The place of a scope in the iteration space: of its row, and of its column.
  void bindRow(Scope &scope, mlir::Value outer, mlir::Value row);
  void bindColumn(Scope &scope, mlir::Value column);
  /// A place in lane 0.
  mlir::Value index(const Place &place, Scope &scope);
  /// Memory of a GPU's block for the row's kept elements; null: these lie in the worker's scratch.
  mlir::Value rowMemory;
  /// Alignment of all places, in bytes.
  int64_t placeAlignment = 1;

  mlir::Value buffer(mlir::Value own) { return k.buffer(firstBuffer + nest.kernel.numberOf(own)); }
  void store(StoreOp root, const Place &place, mlir::Value value, Scope &scope);
  /// Keeps an element, at the scope's column, in the worker's scratch.
  void keep(mlir::Value element, mlir::Value value, Scope &scope);
  /// Loads a kept element, at the scope's column.
  mlir::Value loadRow(mlir::Value element, const Scope &scope);
  /// Begins to copy the elements that are read to the row's memory.
  void fetch(ReadOp read, Scope &scope);
  /// The base of a scratch row.
  mlir::Value scratch(int64_t offset);

private:
  // One overload per op, and one for the arithmetic of the model's ops.
  mlir::Value compute(ReadOp read, Scope &scope);
  mlir::Value compute(NumberOp number, Scope &scope);
  mlir::Value compute(EmissionOpInterface op, Scope &scope);
  mlir::Value compute(ConstantOp op, Scope &scope);
  mlir::Value compute(DrawOp draw, Scope &scope);
  mlir::Value compute(ChooseOp choose, Scope &scope);
  mlir::Value compute(SequenceOp sequence, Scope &scope);
  mlir::Value compute(MeetOp meet, Scope &scope);
  mlir::Value compute(mlir::Operation *op, Scope &scope);
  mlir::Value loadKept(mlir::Value element, const Kept &kept, Scope &scope);
  /// Returns the address of kept elements, and their type in memory.
  std::pair<mlir::Value, mlir::Type> keptRow(mlir::Value element);
  mlir::Value symbol(mlir::Value index, Scope &scope);
  bool isAligned(const Place &place, const Scope &scope) const;
  /// Returns the number of elements that a GPU can load at once from an index: 4 or 1.
  int64_t alignmentOf(const Place &place, const Scope &scope) const;
  mlir::Value lanes(const Place &place, Scope &scope);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const Nest &nest;
  const Schedule &schedule;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_EVALUATOR_H
