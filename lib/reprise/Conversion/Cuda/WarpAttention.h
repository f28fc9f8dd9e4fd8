// reprise: emits what the kernels of attention for the warps of a GPU share
//
// A warp has a few rows of its own: queries, or keys where sums go over queries. The rows that
// these meet, the others, come through shared memory, 32 at a time, for all warps of the block, and
// each lane computes the scores of one of them. What it makes of these goes through shared memory,
// too: the lanes go through the 32 in order, and each adds the terms of its columns of the depth to
// its sums. So a sum is one chain in a register, and a score is in no global memory.
#ifndef REPRISE_CONVERSION_CUDA_WARPATTENTION_H
#define REPRISE_CONVERSION_CUDA_WARPATTENTION_H

#include "AttentionScores.h"

namespace reprise {

/// Who does what.
struct WarpPlan {
  static constexpr int64_t lanes = 32;

  struct Work {
    int64_t heads, rows; ///< rows of each head
    int64_t others;      ///< of the head that the rows meet
    int64_t terms;       ///< of each sum
    int64_t sums;        ///< per row and column
    int64_t operands;    ///< whose rows the others are
  };
  WarpPlan(const AttentionSpec &spec, const Work &work);

  EmittedCommand describe(llvm::StringRef name, llvm::SmallVector<BufferSlot> buffers) const {
    EmittedCommand command{name.str(), blocks, std::move(buffers)};
    command.itemThreads = command.blockThreads = threads();
    return command;
  }
  int64_t threads() const { return warps * lanes; }
  int64_t weightBytes() const { return warps * warpWeights * lanes * computeBytes; }
  int64_t sharedBytes() const { return tiles * tileBytes + weightBytes(); }

  int64_t headRows, others;
  int64_t rows;        // of a warp
  int64_t warps;       // of a block
  int64_t blocks;      // of all
  int64_t headBlocks;  // of a head, for each part of the depth
  int64_t columns;     // of a lane
  int64_t parts;       // of the depth, which different blocks have
  int64_t warpWeights; // of each other row
  int64_t tiles;       // operands in shared memory; 0 where they do not fit
  int64_t pitch;       // elements from row to row of a tile
  int64_t tileBytes, computeBytes;
};

class WarpAttention : public AttentionScores {
public:
  using Carried = KernelBuilder::Carried;
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
    Value tile; ///< of shared memory, which has 32 of them; none: they are read where they are
  };
  Rows rowsOf(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head);
  Value rowPointer(const Rows &rows, Value row);
  /// Others, in tile number `tile`.
  Rows othersOf(unsigned buffer, const AttentionStrides &strides, const HeadIndex &head,
                int64_t tile);

  /// Goes through the others from `low` to `high`, which all warps of the block agree on, 32 at a
  /// time: `body` has those from its first argument on, which lie in the tiles of `others`.
  Carried overOthers(Value low, Value high, llvm::ArrayRef<Rows> others, mlir::ValueRange carried,
                     KernelBuilder::LoopBody body);
  /// The lane's one of the others from `first` on, or the last one there is.
  Value otherOf(Value first) { return k.min(k.add(first, lane), k.i64(plan.others - 1)); }

  /// Σ_d own[d]·other[d] for the lane's one of the others from `first` on, and all rows of the
  /// warp.
  struct Factors {
    Rows own, others;
  };
  /// One product after the other, per row.
  llvm::SmallVector<PerRow> products(llvm::ArrayRef<Factors> factors, Value first);

  /// weights[row]·rows[other] for every column.
  struct Terms {
    PerRow weights; // those of the lane's other
    Rows rows;
  };
  /// Some of the 32 others at hand, by their numbers.
  struct Range {
    Value begin, end;
  };
  /// Adds the terms of the others [first, first + count) in order, where `isTerm` of the lane and
  /// row holds; all do if it is empty, and those of `whole`. Sums are by terms, rows, columns. All
  /// warps of the block come here at once.
  Carried addTerms(llvm::ArrayRef<Terms> terms, Value first, Value count, const PerRow &isTerm,
                   const Range &whole, mlir::ValueRange sums);

  /// Of the keys from `first` on, those that all queries of the warp see; of the queries, those
  /// that see all of its keys.
  Range seenByAll(Value first, Value count);
  Range seeingAll(Value first, Value count);

  /// The words of the scores of the lane's key, or query, from `first` on, one per row. Where rows
  /// of scores begin with a block of Philox, four scores share one.
  PerRow drawForQueries(const HeadIndex &head, Value firstKey);
  PerRow drawForKeys(const HeadIndex &head, Value firstQuery);

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
  Value blockRow, lastRow; // the first and the last row of the block
  Value row0;              // the first row of the warp
  PerRow own;              // its rows; the last one stands for those that there are not
  PerRow depth;            // the lane's columns; the last one stands for those that there are not

private:
  void fetch(const Rows &rows, Value first);
  Value otherPointer(const Rows &rows, Value first, Value number);
  /// Neighbours of a row from column `d` on.
  llvm::SmallVector<Value> readColumns(const Rows &rows, Value row, Value d, int64_t count);
  Value readColumn(const Rows &rows, Value row, Value d);
  /// Adds up `body(d, number of columns, sums)` over the depth.
  Carried overDepth(Carried sums,
                    llvm::function_ref<Carried(Value, int64_t, mlir::ValueRange)> body);
  Value column(size_t number);
  Value isRow(size_t row) {
    return less(k.add(row0, static_cast<int64_t>(row)), k.i64(plan.headRows));
  }
  Value termBits(const PerRow &isTerm);
  /// In the weights of the warp.
  Value weightAt(size_t term, size_t row, Value other);
  Carried addFour(llvm::ArrayRef<Terms> terms, Value first, Value from, mlir::ValueRange sums);
  Carried addOne(llvm::ArrayRef<Terms> terms, Value first, Value from, Value bits,
                 mlir::ValueRange sums);

  Value memory, weights;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_WARPATTENTION_H
