// reprise: common parts of the kernels of attention and of its backward
#ifndef REPRISE_CONVERSION_CPU_ATTENTIONPARTS_H
#define REPRISE_CONVERSION_CPU_ATTENTIONPARTS_H

#include "../AttentionGeometry.h"
#include "../Lanes.h"
#include "AttentionPlan.h"
#include "ContractionEmit.h"

namespace reprise {

/// Matrix whose element (row, d) lies at base + row · rowStride + d. `masked`: reads beyond d =
/// columns are not allowed.
struct RowMatrix {
  mlir::Type type;
  mlir::Value base;
  int64_t rowStride, columns;
  bool masked;
};

/// Queries [first, last) of the strip at `i0`.
struct QueryRange {
  mlir::Value i0, first, last;
};

class AttentionMask;

/// Emits parts of one kernel. `Value`s without another type are i64.
class AttentionParts : public AttentionGeometry {
public:
  using Value = mlir::Value;
  using Triangle = TileRequest::Triangle;

  AttentionParts(KernelBuilder &k, const AttentionPlan &plan)
      : AttentionGeometry(k, plan.spec), plan(plan) {}

  const AttentionPlan &plan;

  Value workspace(int64_t offset) {
    return emitAddress(b, b.getI8Type(), k.workspace(), k.i64(offset));
  }
  /// The address of an element in the type of arithmetic.
  Value element(Value base, Value index) { return emitAddress(b, plan.compute, base, index); }
  mlir::Type vectorType() { return typeOfLanes(plan.compute, plan.width); }
  /// Returns a register of integers as wide as the type of arithmetic.
  mlir::Type indexType();
  /// `x` rounded up or down to a multiple of `c`.
  Value roundUp(Value x, int64_t c) { return k.mul(k.div(k.add(x, c - 1), c), c); }
  Value roundDown(Value x, int64_t c) { return k.mul(k.div(x, c), c); }

  Value compare(mlir::arith::CmpIPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, predicate, x, y);
  }
  /// Returns rows [0, count) from `from` on, for the tiles: in place if `direct`, otherwise copied
  /// to `to` in the type of arithmetic.
  RowMatrix rowsFor(Value from, const AttentionStrides &strides, Value count, Value to,
                    bool direct);
  /// Packs the queries [i0, i0 + count) of an operand whose head starts at `from`.
  void packQueries(Value from, const AttentionStrides &strides, Value i0, Value count, Value to);
  Value packedQueries(Value packed, const AttentionStrides &strides, Value column) {
    return element(packed, k.mul(k.div(column, plan.lanes), plan.packedElements(strides.columns)));
  }

  /// Products of the keys [lo, hi) with `lanes` packed queries, Σ_d rows[j, d] · queries[i, d]. Key
  /// j goes to to[(j − key0) · strip + column…]; some rows after hi and before lo may be written.
  void products(const RowMatrix &rows, Value packed, Value column, Value lo, Value hi, Value key0,
                Value to);
  /// Runs `body(row, rows)` over the tiles of [lo, hi): whole tiles, then a tile of `tail` rows for
  /// the rest. A negative `tail` runs single rows instead; 0 means that there is no rest.
  void forTiles(Value lo, Value hi, int64_t tail,
                llvm::function_ref<void(Value row, int64_t rows)> body);
  /// Runs `body(d, lanes)` over the tiles of `columns` columns.
  void forColumns(int64_t columns, llvm::function_ref<void(Value d, int64_t lanes)> body);
  /// A tile of results: `rows` rows of `to`, and columns [d, d + lanes).
  void tile(TileOperand left, const RowMatrix &right, Value firstTerm, Value count, int64_t rows,
            Value d, int64_t lanes, Value to, bool resume, Triangle triangle = Triangle::None);

  /// Computes chain number c of Σ_j weights[j, i] · right[j, d] over the keys that each query sees,
  /// for the queries [i0, i0 + count). Row i − i0 of `to` receives the chain of query i; some rows
  /// after them are written too. Element (j, i) of the weights lies at j · strip + i − i0. `mask`
  /// is null if there is none.
  void contractKeys(Value weights, const RowMatrix &right, Value i0, Value count, Value c, Value to,
                    AttentionMask *mask);
  /// Adds Σ_i weights[j, i] · right[i − i0, d], over the queries that see key j, to to[j, d].
  void contractQueries(Value weights, const RowMatrix &right, const QueryRange &queries, Value to,
                       AttentionMask *mask);

  /// Sets `count` elements, a multiple of the register's, to +0.
  void zero(Value to, Value count);
  /// Runs `chain(c, slot)` for each chain of a sum of `terms` terms, which leaves partial sums in
  /// slot number `slot`. Adds the partial sums in the neighbour tree, so that slot 0 receives the
  /// whole. A slot is `elements` elements, a multiple of the register's.
  void forChains(int64_t terms, Value slots, int64_t elements,
                 llvm::function_ref<void(Value c, Value slot)> chain);
  /// Rows [0, count) of `from`, each element passed through `map(value, row)`, to row-major `to`.
  void storeRows(Value from, Value count, int64_t columns, Value to,
                 llvm::function_ref<Value(Value value, Value row)> map);

private:
  void contractSeenKeys(Value weights, const RowMatrix &right, Value count, Value key0, Value terms,
                        Value to, AttentionMask &mask);
  void copyRow(Value from, const AttentionStrides &strides, Value to);
  void addSlots(Value slots, int64_t elements, Value from, Value count);
};

/// The bias of the scores.
class AttentionBias {
public:
  using Value = mlir::Value;
  AttentionBias(AttentionParts &parts, unsigned buffer) : parts(parts), buffer(buffer) {}

  /// Begins of the queries of one register, from `i` on, in the bias of a head. Queries beyond the
  /// last query read that of the last.
  struct Rows {
    Value base, offsets; // offsets: null if all queries share one row
  };
  Rows rows(const HeadIndex &head, Value i);
  /// Returns the bias of a key; keys beyond the last key read that of the last.
  Value at(const Rows &rows, Value key);

private:
  AttentionParts &parts;
  unsigned buffer;
};

/// Keys that the queries of a strip see by mask and causality: one word per key, whose bit r is
/// that of query i0 + r. Queries beyond the last query see the same keys as the last.
class AttentionMask {
public:
  using Value = mlir::Value;
  /// Makes the mask; `offset` is the position of `bytes(plan)` bytes in the workspace.
  AttentionMask(AttentionParts &parts, unsigned buffer, int64_t offset)
      : parts(parts), buffer(buffer), offset(offset) {}
  static int64_t bytes(const AttentionPlan &plan);

  void build(const HeadIndex &head, Value i0, Value count);
  /// Bounds of keys: all queries of the strip see the keys before `full`; no query sees keys from
  /// `limit` on.
  Value full, limit;

  /// Returns which queries of one register, from `column` on, see a key.
  Value sees(Value column, Value key);
  /// Returns whether query `row` of the strip sees a key.
  Value seesOne(Value row, Value key);
  /// Runs `all(lo, hi)` for the keys that each of the queries [row, row + rows) sees, and
  /// `single(query, lo, hi)` for the keys that only some see, in order for each query.
  void forSeenKeys(Value row, int64_t rows, llvm::function_ref<void(Value, Value)> all,
                   llvm::function_ref<void(Value, Value, Value)> single);
  /// Runs `body(lo, hi, from, to)` for keys [lo, hi) that the queries [from, to) see, within
  /// [first, last) of the strip; in order for each key.
  void forSeeingQueries(Value first, Value last,
                        llvm::function_ref<void(Value, Value, Value, Value)> body);

private:
  Value word(Value key);
  Value startOf(Value run);
  Value wordOf(Value run) { return word(startOf(run)); }
  void loadWords(const HeadIndex &head, Value i0, Value count);
  void addRow(Value from, Value bit);
  Value finishWord(Value key, Value i0, Value count);
  /// Runs `body(kind, begin, end)` for the longest stretches of runs in [begin, end) of one kind.
  void forStretches(Value begin, Value end, llvm::function_ref<Value(Value run)> kindOf,
                    llvm::function_ref<void(Value, Value, Value)> body);

  AttentionParts &parts;
  unsigned buffer;
  int64_t offset;
  // Words per key; starts of the runs of equal words, and the end of the last run.
  Value words, starts;
  Value runs;
};

/// The words of dropout for one register of queries.
class AttentionDropout {
public:
  using Value = mlir::Value;
  /// Makes the dropout; `firstBuffer` is the buffer of the stream.
  AttentionDropout(AttentionParts &parts, unsigned firstBuffer);

  /// The positions of (query i, key 0) for the queries from `i` on.
  Value rowPositions(const HeadIndex &head, Value i);
  /// The words of the keys `key` to `key` + 3, a multiple of 4, for each of the queries.
  std::array<Value, 4> words(Value rowPositions, Value key);
  /// Returns dropout(x) by the words.
  Value apply(Value words, Value x);

private:
  AttentionParts &parts;
  AttentionDraw draw;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_ATTENTIONPARTS_H
