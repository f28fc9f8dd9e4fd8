// reprise: emits what the kernels of attention for the warps of a GPU share
//
// A warp has a few rows of its own: queries, or keys where sums go over queries. The rows that
// these meet, the others, are dealt out to the lanes, 32 at a time, and each lane computes the
// scores of its row. Then the lanes go through the 32 rows in order, and each adds the terms of its
// columns of the depth to its sums. So a sum is one chain in its register, and a score is in no
// memory.
#ifndef REPRISE_CONVERSION_CUDA_WARPATTENTION_H
#define REPRISE_CONVERSION_CUDA_WARPATTENTION_H

#include "AttentionScores.h"

namespace reprise {

/// Who does what.
struct WarpPlan {
  static constexpr int64_t lanes = 32;

  /// For so many rows in each of so many heads, and so many sums per row and column.
  WarpPlan(const AttentionSpec &spec, int64_t heads, int64_t headRows, int64_t sums);

  int64_t headRows;
  int64_t rows;      // of a warp
  int64_t rowBlocks; // of a head
  int64_t columns;   // of a lane
  int64_t parts;     // of the depth, which different warps have
  int64_t items;
};

class WarpAttention : public AttentionScores {
public:
  using Carried = KernelBuilder::Carried;
  /// A value per row of the warp.
  using PerRow = llvm::SmallVector<Value>;

  WarpAttention(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan,
                const AttentionBuffers &buffers);

protected:
  /// The rows of a head in an operand.
  struct Rows {
    mlir::Type type;
    Value base;
    AttentionStrides strides;
  };
  Rows rowsOf(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head);
  Value rowPointer(const Rows &rows, Value row);

  /// Runs `body` in the warps that have an item, which it finds in `headNumber`, `own`, and so on.
  void forItem(llvm::function_ref<void()> body);

  /// Σ_d own[d]·other[d] for one row of `others` and all rows of the warp.
  struct Factors {
    Rows own, others;
  };
  /// One product after the other, per row.
  llvm::SmallVector<PerRow> products(llvm::ArrayRef<Factors> factors, Value other);

  /// weights[row]·rows[other] for every column.
  struct Terms {
    PerRow weights; // those of the lane's row
    Rows rows;
  };
  /// Adds the terms of the others [first, first + count) of the lanes from 0 on, in order, where
  /// `isTerm` of the lane and row holds; all do if it is empty. Sums are by terms, rows, columns.
  Carried addTerms(llvm::ArrayRef<Terms> terms, Value first, Value count, const PerRow &isTerm,
                   mlir::ValueRange sums);

  /// The butterfly over all lanes.
  Value fold(Value x, llvm::function_ref<Value(Value, Value)> combine);

  /// Stores a row's columns, passed through `map`, to row-major [head, row, depth], for the rows
  /// that there are.
  void storeRows(unsigned result, mlir::ValueRange sums,
                 llvm::function_ref<Value(Value sum, size_t row)> map);
  /// Runs `body` for the rows that there are, in the warp of the first part of the depth.
  void forRowsOnce(llvm::function_ref<void(size_t row)> body);

  const WarpPlan &plan;
  Value lane, part, headNumber;
  Value row0;   // the first row of the warp
  PerRow own;   // its rows; the last one stands for those that there are not
  PerRow depth; // the lane's columns; the last one stands for those that there are not

private:
  /// Adds up `body(d, sums)` over the depth.
  Carried overDepth(Carried sums, KernelBuilder::LoopBody body);
  Value column(size_t number);
  Value isRow(size_t row) {
    return less(k.add(row0, static_cast<int64_t>(row)), k.i64(plan.headRows));
  }
  Value termBits(const PerRow &isTerm);
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_WARPATTENTION_H
