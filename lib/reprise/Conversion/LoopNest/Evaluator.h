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
struct Evaluator {
  Evaluator(KernelBuilder &k, const Nest &nest, const Schedule &schedule)
      : k(k), b(k.b), nest(nest), schedule(schedule) {}

  mlir::Value value(mlir::Value element, Scope &scope) const;
  /// The place of a scope in the iteration space: of its row, and of its column.
  void bindRow(Scope &scope, mlir::Value outer, mlir::Value row) const;
  void bindColumn(Scope &scope, mlir::Value column) const;
  /// A place in lane 0.
  mlir::Value index(const Place &place, Scope &scope) const;
  mlir::Value buffer(mlir::Value own) const {
    return k.buffer(firstBuffer + nest.kernel.numberOf(own));
  }
  void store(StoreOp root, const Place &place, mlir::Value value, Scope &scope) const;
  /// Keeps an element, at the scope's column, in the worker's scratch.
  void keep(mlir::Value element, mlir::Value value, Scope &scope) const;
  /// Loads a kept element, at the scope's column.
  mlir::Value loadRow(mlir::Value element, const Scope &scope) const;
  /// Begins to copy the elements that are read to the row's memory.
  void fetch(ReadOp read, Scope &scope) const;
  /// The base of a scratch row.
  mlir::Value scratch(int64_t offset) const;

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const Nest &nest;
  const Schedule &schedule;
  /// The kernel's buffer that is the nest's first one.
  unsigned firstBuffer = 0;
  /// All vectors start at a multiple of this, plus a multiple of their width.
  int64_t columnStep = 0;
  /// The contraction's element of the scope, not yet rounded, if the nest runs over blocks of one.
  std::function<mlir::Value(Scope &)> tile;
  /// Memory of a GPU's block for the row's kept elements; null: these lie in the worker's scratch.
  mlir::Value rowMemory;
  /// Alignment of all places, in bytes.
  int64_t placeAlignment = 1;
};

// Memory, for the arithmetic.
mlir::Value compute(const Evaluator &e, ReadOp read, Scope &scope);
mlir::Value loadKept(const Evaluator &e, mlir::Value element, const Kept &kept, Scope &scope);
/// A place in every lane.
mlir::Value lanes(const Evaluator &e, const Place &place, Scope &scope);
bool isAligned(const Evaluator &e, const Place &place, const Scope &scope);
/// Returns the number of elements that a GPU can load at once from an index: 4 or 1.
int64_t alignmentOf(const Evaluator &e, const Place &place, const Scope &scope);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_EVALUATOR_H
