// reprise: how a block of threads brings tiles of a matrix into shared memory for tensor cores
#ifndef REPRISE_CONVERSION_CUDA_MATRIXTILE_H
#define REPRISE_CONVERSION_CUDA_MATRIXTILE_H

#include "TensorCore.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Elements.h"

namespace reprise {

/// An operand in global memory: the element (row, term) of row-major indices of dimensions.
struct GlobalMatrix {
  llvm::SmallVector<FreeDim> rows, terms;
  /// The address of its first element is a multiple of so many elements, at least 1.
  int64_t aligned = 1;
};

/// The largest power of two that divides all, at most `most`.
int64_t findCommonPower(llvm::ArrayRef<int64_t> numbers, int64_t most);

/// Tiles of `rows` × `terms`, in stages. In shared memory lines go along what is dense in global
/// memory. Elements beyond the matrix are +0. Eight lines that matrices are read from lie in
/// different banks: lines have a gap behind them, or each eight elements trade places with others
/// of their line (xor of their numbers).
class MatrixTile {
public:
  using Value = mlir::Value;

  /// `rows` and `terms` are multiples of 16, or `terms` of the core's depth.
  MatrixTile(ThreadKernel &k, TensorCore &core, const GlobalMatrix &matrix, int64_t rows,
             int64_t terms, int64_t stages);

  /// Whether the copies of threads can bring tiles of such a matrix, without registers.
  static bool isCopied(const GlobalMatrix &matrix, mlir::Type type);
  /// Of all stages.
  int64_t sharedBytes() const;
  /// Before anything else: shared memory, and the matrix.
  void open(Value shared, Value global);

  /// Begins to bring the tile of that first row and term. `isInside` says that all its rows are
  /// there. What copies cannot do on their own is loaded now and returned, for finish().
  llvm::SmallVector<Value> start(Value row, Value term, Value stage, bool isInside = false);
  void finish(llvm::ArrayRef<Value> loaded, Value stage);

  /// 16 rows and core.depth() terms.
  TensorCore::Fragment read(TensorCore::Side side, Value stage, Value row, int64_t term);
  /// The same of the transposed matrix, of 16-bit floats, as second operand: 16 terms and 16 rows.
  TensorCore::Fragment readTurned(Value stage, int64_t row, int64_t term);

private:
  int64_t lines() const { return alongTerms ? rows : terms; }
  int64_t lineLength() const { return alongTerms ? terms : rows; }
  int64_t pitch() const;
  int64_t unitsOf(int64_t number) const;
  int64_t unitsPerThread() const;
  bool isCopied() const { return unit * bytesOf(type) >= 4; }
  /// Of unit `number` of this thread: its line, and where it begins there.
  std::pair<Value, Value> placeOf(int64_t number);
  Value sharedIndex(int64_t number, Value stage);
  bool isSwizzled() const;
  /// The element of a line from shared memory's first on; eight lines from one on have swizzles of
  /// their own, `line` gives which.
  Value indexOf(Value firstLine, Value line, Value column);
  TensorCore::Fragment readLines(TensorCore::Side side, Value stage, Value firstLine,
                                 Value firstColumn, bool isByRows);
  /// Runs `body` if the tile has that unit of this thread.
  void ifThere(int64_t number, llvm::function_ref<void()> body);
  struct Source {
    Value address, isInside; ///< null: it always is
  };
  Source findSource(int64_t number, Value row, Value term, bool isInside);
  Value limit(Value index, int64_t count, Value &inside);

  ThreadKernel &k;
  mlir::ImplicitLocOpBuilder &b;
  TensorCore &core;
  GlobalMatrix matrix;
  int64_t rows, terms, stages;
  mlir::Type type;
  bool alongTerms;
  int64_t unit; ///< neighbours that a thread moves at once
  Value shared, global;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_MATRIXTILE_H
