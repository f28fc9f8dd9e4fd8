// reprise: loads of matrix tiles into shared memory by a block of threads, for tensor cores
#ifndef REPRISE_CONVERSION_CUDA_MATRIXTILE_H
#define REPRISE_CONVERSION_CUDA_MATRIXTILE_H

#include "TensorCore.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Elements.h"

namespace reprise {

/// Operand in global memory: the element (row, term) of row-major indices of dimensions.
struct GlobalMatrix {
  llvm::SmallVector<FreeDim> rows, terms;
  /// Alignment, in elements, of the address of its first element; at least 1.
  int64_t aligned = 1;

  /// Access by the threads of a block: along terms or along rows, and the neighbours that a thread
  /// moves at once.
  struct Access {
    bool alongTerms;
    int64_t unit;
  };
  Access chooseAccess(mlir::Type type) const;
};

/// The largest power of two that divides all, at most `most`.
int64_t findCommonPower(llvm::ArrayRef<int64_t> numbers, int64_t most);

/// Tiles of `rows` × `terms`, in stages. In shared memory lines run along the dimension that is
/// dense in global memory. Elements beyond the matrix are +0. Eight lines that matrices are loaded
/// from lie in different banks: lines are padded, or groups of eight elements are permuted in their
/// line (xor of their numbers).
class MatrixTile {
public:
  using Value = mlir::Value;

  /// `rows` and `terms` are multiples of 16.
  MatrixTile(ThreadKernel &k, TensorCore &core, const GlobalMatrix &matrix, int64_t rows,
             int64_t terms, int64_t stages);

  /// Returns whether asynchronous copies can load tiles of such a matrix, without registers.
  static bool isCopied(const GlobalMatrix &matrix, mlir::Type type);
  /// Returns the bytes of all stages.
  int64_t sharedBytes() const;
  /// Sets shared memory and the matrix; must be called first.
  void open(Value shared, Value global);

  /// Begins to load the tile with this first row and term. `isInside` promises that all its rows
  /// exist. Elements that copies cannot load are loaded now and returned, for finish().
  llvm::SmallVector<Value> start(Value row, Value term, Value stage, bool isInside = false);
  void finish(llvm::ArrayRef<Value> loaded, Value stage);

  /// Reads 16 rows and 16 terms as second operand.
  TensorCore::Fragment read(Value stage, Value row, int64_t term);
  /// Reads from the transposed matrix of 16-bit floats as second operand: 16 terms and 16 rows.
  TensorCore::Fragment readTurned(Value stage, int64_t row, int64_t term);

private:
  int64_t lines() const { return alongTerms ? rows : terms; }
  int64_t lineLength() const { return alongTerms ? terms : rows; }
  int64_t pitch() const;
  int64_t unitsOf(int64_t number) const;
  int64_t unitsPerThread() const;
  bool isCopied() const { return unit * bytesOf(type) >= 4; }
  /// Returns the line of unit `number` of this thread, and its begin in the line.
  std::pair<Value, Value> placeOf(int64_t number);
  Value sharedIndex(int64_t number, Value stage);
  bool isSwizzled() const;
  /// Returns the index of an element of a line, from the start of shared memory. Eight lines from a
  /// first line on have different swizzles, by `line`.
  Value indexOf(Value firstLine, Value line, Value column);
  TensorCore::Fragment readLines(Value stage, Value firstLine, Value firstColumn, bool isByRows);
  /// Runs `body` if the tile has that unit of this thread.
  void ifThere(int64_t number, llvm::function_ref<void()> body);
  struct Source {
    Value address, isInside; ///< null if it is always inside
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
