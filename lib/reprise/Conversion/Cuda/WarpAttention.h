// reprise: emits the common parts of the kernels of attention for the warps of a GPU
//
// A warp owns a few rows: queries, or keys if sums go over queries. The opposite rows, the others,
// come through shared memory, 32 or 64 at a time, for all warps of the block, and each lane
// computes the scores of one or two of them. The weights go through shared memory too: all lanes
// walk over 32 others in order, and each adds the terms of its columns of the depth to its sums. So
// a sum is one chain in a register, and scores are not in global memory.
#ifndef REPRISE_CONVERSION_CUDA_WARPATTENTION_H
#define REPRISE_CONVERSION_CUDA_WARPATTENTION_H

#include "AttentionScores.h"
#include "WarpPlan.h"

namespace reprise {

class WarpAttention : public AttentionScores {
public:
  /// A value per row of the warp.
  using PerRow = llvm::SmallVector<Value>;

  WarpAttention(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan,
                const AttentionBuffers &buffers);

protected:
  /// The rows of a head in an operand. Each row begins at a multiple of `aligned` elements.
  struct Rows {
    Value base;
    AttentionStrides strides;
    int64_t aligned;
    Value tile; ///< tile in shared memory with the current rows; null: rows are read in place
  };
  Rows rowsOf(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head);
  Value rowPointer(const Rows &rows, Value row);
  /// Returns the rows of the opposite operand in tile number `tile`.
  Rows othersOf(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head,
                int64_t tile);

  /// Group of 32 others: those from `first` on, which begin the current tile, plus `offset`.
  struct Others {
    Value first;
    int64_t offset;
  };
  Value firstOf(const Others &at) { return k.add(at.first, at.offset); }
  /// Returns the lane's other, clamped to the last.
  Value otherOf(const Others &at) {
    return k.min(k.add(firstOf(at), lane), k.i64(plan.others - 1));
  }
  /// Returns the number of others before `end`.
  Value countOf(const Others &at, Value end) {
    return clamp(k.sub(end, firstOf(at)), k.i64(0), k.i64(WarpPlan::lanes));
  }

  struct Factors {
    Rows own, others;
  };
  /// Σ_d own[d]·other[d] for the lane's other and each row of the warp, one product after the
  /// other.
  using Products = llvm::SmallVector<PerRow>;
  /// Iterates over the others from `low` to `high`, which all warps of the block agree on: `body`
  /// gets 32 of them, which lie in the tiles of `others`, and the products of `factors`.
  Carried
  overOthers(Value low, Value high, llvm::ArrayRef<Rows> others, llvm::ArrayRef<Factors> factors,
             mlir::ValueRange carried,
             llvm::function_ref<Carried(const Others &, const Products &, mlir::ValueRange)> body);

  /// Terms weights[row]·rows[other] for every column.
  struct Terms {
    PerRow weights; // weights of the lane's other
    Rows rows;
  };
  /// Range of the current 32 others, by their numbers.
  struct Range {
    Value begin, end;
  };
  /// Adds the terms of the first `count` others in order. An other is a term if `isTerm` of the
  /// lane and row holds, if it lies in `whole`, or if `isTerm` is empty. Sums are ordered by terms,
  /// rows, columns. All warps of the block call it together.
  Carried addTerms(llvm::ArrayRef<Terms> terms, const Others &at, Value count, const PerRow &isTerm,
                   const Range &whole, mlir::ValueRange sums);
  /// Return, of `count` keys, those that all queries of the warp see; of queries, those that see
  /// all keys of the warp.
  Range seenByAll(const Others &keys, Value count);
  Range seeingAll(const Others &queries, Value count);

  /// The words of the scores of the lane's key, or query, one per row. Where rows of scores begin
  /// with a block of Philox, four scores share one.
  PerRow drawForQueries(const HeadIndex &head, const Others &keys);
  PerRow drawForKeys(const HeadIndex &head, const Others &queries);

  /// Stores a row's columns, passed through `map`, to row-major [head, row, width], for the rows
  /// that no other warp has.
  void storeRows(unsigned result, mlir::ValueRange sums,
                 llvm::function_ref<Value(Value sum, size_t row)> map);
  /// Runs `body` for the existing rows, in the warp of the first part of the depth.
  void forRowsOnce(llvm::function_ref<void(size_t row)> body);

  const WarpPlan &plan;
  Value lane, part, headNumber;
  Value blockRow, lastRow; // first and last row of the block
  Value row0;              // first row of the warp
  PerRow own;              // rows of the warp
  PerRow depth;            // columns of the lane; columns beyond the last are the last

private:
  void fetch(const Rows &rows, Value first);
  Value otherPointer(const Rows &rows, Value first, Value number);
  /// Neighbours of a row from column `d` on.
  llvm::SmallVector<Value> readColumns(const Rows &rows, Value row, Value d, int64_t count);
  /// Reads the lane's columns of a row.
  llvm::SmallVector<Value> readOwnColumns(const Rows &rows, Value row);
  /// Adds up `body(d, number of columns, sums)` over `columns` columns.
  Carried overDepth(int64_t columns, Carried sums,
                    llvm::function_ref<Carried(Value, int64_t, mlir::ValueRange)> body);
  /// Computes each 32 others of a tile. Factors of one width share a loop.
  llvm::SmallVector<Products> products(llvm::ArrayRef<Factors> factors, Value first);
  Value column(size_t number);
  /// Returns whether no other warp has the row.
  Value isOwn(size_t row) { return less(k.sub(start, k.i64(1)), own[row]); }
  Value termBits(const PerRow &isTerm);
  Carried addFour(llvm::ArrayRef<Terms> terms, const Others &at, Value from, mlir::ValueRange sums);
  Carried addOne(llvm::ArrayRef<Terms> terms, const Others &at, Value from, Value bits,
                 mlir::ValueRange sums);

  Value memory, weights;
  Value start; // first row that no other warp has
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_WARPATTENTION_H
