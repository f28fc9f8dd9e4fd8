// reprise: emits what the kernels of attention for the warps of a GPU share
#include "WarpAttention.h"

#include "MatrixTile.h"
#include "reprise/Conversion/ContractionSpec.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

/// An element of each row of a warp: a loaded element of another row serves as many products, and
/// sums over the depth may take so many bytes of a thread's registers. Where a sum is several
/// chains, those that wait for others need registers, too.
constexpr int64_t mostRowBytes[] = {32, 16}, mostSumBytes[] = {256, 64};
/// Of a block; eight warps, or four where the shared memory of eight is more than a block has.
constexpr int64_t mostSharedBytes = 48 * 1024;
/// Columns that a thread goes through at a time.
constexpr int64_t depthStep = 4;

WarpPlan::WarpPlan(const AttentionSpec &spec, const Work &work)
    : headRows(work.rows), others(work.others),
      computeBytes(KernelBuilder::bytesOf(KernelBuilder::computeType(spec.type))) {
  bool hasChains = work.terms > chainLength;
  rows = std::clamp<int64_t>(headRows, 1, mostRowBytes[hasChains] / computeBytes);
  int64_t rowBlocks = llvm::divideCeil(headRows, rows);
  int64_t all = llvm::divideCeil(spec.depth, lanes);
  columns =
      work.sums
          ? std::clamp<int64_t>(mostSumBytes[hasChains] / (computeBytes * rows * work.sums), 1, all)
          : 0;
  parts = work.sums ? llvm::divideCeil(all, columns) : 1;
  warpWeights = rows * work.sums;
  // Lanes read 16 bytes each of rows that follow each other, from different banks.
  int64_t bytes = KernelBuilder::bytesOf(spec.type), unit = std::max<int64_t>(4, 16 / bytes);
  pitch = llvm::alignTo(spec.depth, unit) + 16 / bytes;
  tileBytes = lanes * pitch * bytes;
  for (tiles = work.operands;; tiles = 0) {
    for (warps = std::min<int64_t>(8, rowBlocks); warps > 4 && sharedBytes() > mostSharedBytes;)
      warps = 4;
    if (sharedBytes() <= mostSharedBytes)
      break;
  }
  headBlocks = llvm::divideCeil(rowBlocks, warps);
  blocks = work.heads * headBlocks * parts;
}

WarpAttention::WarpAttention(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan,
                             const AttentionBuffers &buffers)
    : AttentionScores(k, spec, buffers), plan(plan) {
  if (plan.sharedBytes() > 0)
    memory = k.shared(plan.sharedBytes());
  Value thread = k.numberInBlock(), warp = k.div(thread, WarpPlan::lanes);
  lane = k.rem(thread, WarpPlan::lanes);
  if (plan.warpWeights > 0) {
    Value bytes = k.mul(warp, plan.weightBytes() / plan.warps);
    weights = k.pointer(b.getI8Type(), memory, k.add(bytes, plan.tiles * plan.tileBytes));
  }
  part = k.rem(k.blockNumber(), plan.parts);
  Value block = k.div(k.blockNumber(), plan.parts), last = k.i64(plan.headRows - 1);
  headNumber = k.div(block, plan.headBlocks);
  int64_t blockRows = plan.rows * plan.warps;
  blockRow = k.mul(k.rem(block, plan.headBlocks), blockRows);
  lastRow = k.min(k.add(blockRow, blockRows - 1), last);
  row0 = k.add(blockRow, k.mul(warp, plan.rows));
  bool isWhole = plan.headRows % blockRows == 0;
  for (int64_t row = 0; row < plan.rows; ++row)
    own.push_back(isWhole ? k.add(row0, row) : k.min(k.add(row0, row), last));
  for (int64_t c = 0; c < plan.columns; ++c)
    depth.push_back(plan.parts * plan.columns * WarpPlan::lanes == spec.depth
                        ? column(c)
                        : k.min(column(c), k.i64(spec.depth - 1)));
}

WarpAttention::Rows WarpAttention::rowsOf(unsigned buffer, const AttentionStrides &strides,
                                          const HeadIndex &head) {
  return {
      headBase(buffer, spec.type, strides, head), strides,
      findCommonPower({alignmentOf(strides), strides.row}, 16 / KernelBuilder::bytesOf(spec.type)),
      Value()};
}

WarpAttention::Rows WarpAttention::othersOf(unsigned buffer, const AttentionStrides &strides,
                                            const HeadIndex &head, int64_t tile) {
  Rows rows = rowsOf(buffer, strides, head);
  if (plan.tiles)
    rows.tile = k.pointer(b.getI8Type(), memory, k.i64(tile * plan.tileBytes));
  return rows;
}

Value WarpAttention::rowPointer(const Rows &rows, Value row) {
  return k.pointer(spec.type, rows.base, k.mul(row, rows.strides.row));
}

/// Row `number` of the 32 from `first` on.
Value WarpAttention::otherPointer(const Rows &rows, Value first, Value number) {
  if (rows.tile)
    return k.pointer(spec.type, rows.tile, k.mul(number, plan.pitch));
  return rowPointer(rows, k.min(k.add(first, number), k.i64(plan.others - 1)));
}

Value WarpAttention::readColumn(const Rows &rows, Value row, Value d) {
  return k.loadCompute(spec.type, row, rows.tile ? d : k.mul(d, rows.strides.depth));
}

SmallVector<Value> WarpAttention::readColumns(const Rows &rows, Value row, Value d, int64_t count) {
  SmallVector<Value> result;
  if (count == 1 || (!rows.tile && rows.strides.depth != 1)) {
    for (int64_t u = 0; u < count; ++u)
      result.push_back(readColumn(rows, row, k.add(d, u)));
    return result;
  }
  int64_t aligned = rows.tile ? count : findCommonPower({rows.aligned}, count);
  Value all = k.loadCompute(spec.type, row, d, count, aligned);
  for (int64_t u = 0; u < count; ++u)
    result.push_back(vector::ExtractOp::create(b, all, u));
  return result;
}

/// Threads of the block copy the rows from `first` on to their tile, neighbours together.
void WarpAttention::fetch(const Rows &rows, Value first) {
  int64_t bytes = KernelBuilder::bytesOf(spec.type);
  int64_t unit =
      rows.strides.depth == 1 ? findCommonPower({rows.aligned, spec.depth}, 16 / bytes) : 1;
  int64_t perRow = spec.depth / unit;
  k.forLoop(k.numberInBlock(), k.i64(WarpPlan::lanes * perRow), k.i64(plan.threads()),
            [&](Value number) {
              Value row = k.div(number, perRow), d = k.mul(k.rem(number, perRow), unit);
              Value other = k.min(k.add(first, row), k.i64(plan.others - 1));
              Value from = rowPointer(rows, other), at = k.mul(d, rows.strides.depth);
              Value to = k.pointer(spec.type, rows.tile, k.add(k.mul(row, plan.pitch), d));
              if (unit * bytes >= 4)
                k.copyAsync(to, k.pointer(spec.type, from, at), unit * bytes);
              else
                k.store(spec.type, k.load(spec.type, from, at, unit, unit), to, k.i64(0), unit);
            });
}

WarpAttention::Carried WarpAttention::overOthers(Value low, Value high, ArrayRef<Rows> others,
                                                 ValueRange carried, KernelBuilder::LoopBody body) {
  return k.forLoop(low, high, k.i64(WarpPlan::lanes), carried, [&](Value first, ValueRange before) {
    // Nobody reads what shared memory holds any more.
    k.barrier();
    if (plan.tiles) {
      for (const Rows &rows : others)
        fetch(rows, first);
      k.awaitCopies();
      k.barrier();
    }
    return body(first, before);
  });
}

Value WarpAttention::column(size_t number) {
  Value first = k.mul(part, plan.columns * WarpPlan::lanes);
  return k.add(k.add(first, static_cast<int64_t>(number) * WarpPlan::lanes), lane);
}

WarpAttention::Carried
WarpAttention::overDepth(Carried sums,
                         llvm::function_ref<Carried(Value, int64_t, ValueRange)> body) {
  int64_t whole = spec.depth / depthStep * depthStep;
  if (whole) {
    sums = k.forLoop(k.i64(0), k.i64(whole), k.i64(depthStep), sums,
                     [&](Value d, ValueRange from) { return body(d, depthStep, from); });
    // The assembler would unroll all of it, load the warp's rows but once, and spill registers.
    MLIRContext *context = b.getContext();
    auto never = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
    std::prev(b.getInsertionPoint())
        ->setAttr("loop_annotation",
                  LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, never, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
  }
  for (int64_t d = whole; d < spec.depth; ++d)
    sums = body(k.i64(d), 1, sums);
  return sums;
}

SmallVector<WarpAttention::PerRow> WarpAttention::products(ArrayRef<Factors> factors, Value first) {
  SmallVector<PerRow> ownRows;
  SmallVector<Value> others;
  for (const Factors &factor : factors) {
    others.push_back(otherPointer(factor.others, first, lane));
    ownRows.emplace_back();
    for (Value row : own)
      ownRows.back().push_back(rowPointer(factor.own, row));
  }
  auto addColumns = [&](Value d, int64_t count, ValueRange before) {
    Carried next;
    for (auto [factor, rows, from] : llvm::zip_equal(factors, ownRows, others)) {
      SmallVector<Value> x = readColumns(factor.others, from, d, count);
      for (Value row : rows) {
        Value sum = before[next.size()];
        for (auto [left, right] : llvm::zip_equal(readColumns(factor.own, row, d, count), x))
          sum = math::FmaOp::create(b, left, right, sum);
        next.push_back(sum);
      }
    }
    return next;
  };
  Carried sums = overDepth(Carried(factors.size() * own.size(), number(0)), addColumns);
  SmallVector<PerRow> result;
  for (ArrayRef<Value> rest = sums; !rest.empty(); rest = rest.drop_front(own.size()))
    result.emplace_back(rest.take_front(own.size()));
  return result;
}

Value WarpAttention::termBits(const PerRow &isTerm) {
  Type i32 = b.getI32Type();
  Value bits = arith::ConstantIntOp::create(b, 0, 32);
  for (auto [row, holds] : llvm::enumerate(isTerm)) {
    Value bit = arith::ConstantIntOp::create(b, int64_t(1) << row, 32);
    Value none = arith::ConstantIntOp::create(b, 0, 32);
    bits = arith::OrIOp::create(b, i32, bits, select(holds, bit, none));
  }
  return bits;
}

Value WarpAttention::weightAt(size_t term, size_t row, Value other) {
  auto list = static_cast<int64_t>(term * own.size() + row);
  return k.add(other, list * WarpPlan::lanes);
}

/// Four others, all of them terms.
WarpAttention::Carried WarpAttention::addFour(ArrayRef<Terms> terms, Value first, Value from,
                                              ValueRange sums) {
  Carried next(sums);
  size_t at = 0;
  for (auto [number, term] : llvm::enumerate(terms)) {
    SmallVector<SmallVector<Value>> elements(4);
    for (int64_t u = 0; u < 4; ++u)
      for (Value d : depth)
        elements[u].push_back(
            readColumn(term.rows, otherPointer(term.rows, first, k.add(from, u)), d));
    for (size_t row = 0; row < own.size(); ++row, at += depth.size()) {
      Value four = k.load(compute, weights, weightAt(number, row, from), 4, 4);
      for (int64_t u = 0; u < 4; ++u) {
        Value weight = vector::ExtractOp::create(b, four, u);
        for (auto [c, element] : llvm::enumerate(elements[u]))
          next[at + c] = math::FmaOp::create(b, weight, element, next[at + c]);
      }
    }
  }
  return next;
}

WarpAttention::Carried WarpAttention::addOne(ArrayRef<Terms> terms, Value first, Value from,
                                             Value bits, ValueRange sums) {
  Carried next;
  Value word = bits ? k.broadcast(bits, from) : Value();
  for (auto [number, term] : llvm::enumerate(terms)) {
    Value pointer = otherPointer(term.rows, first, from);
    SmallVector<Value> elements;
    for (Value d : depth)
      elements.push_back(readColumn(term.rows, pointer, d));
    for (size_t row = 0; row < own.size(); ++row) {
      Value weight = k.load(compute, weights, weightAt(number, row, from)), holds;
      if (bits) {
        Value bit = arith::ConstantIntOp::create(b, int64_t(1) << row, 32);
        holds =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, word, bit),
                                  arith::ConstantIntOp::create(b, 0, 32));
      }
      for (Value element : elements) {
        Value old = sums[next.size()], sum = math::FmaOp::create(b, weight, element, old);
        next.push_back(holds ? select(holds, sum, old) : sum);
      }
    }
  }
  return next;
}

WarpAttention::Carried WarpAttention::addTerms(ArrayRef<Terms> terms, Value first, Value count,
                                               const PerRow &isTerm, const Range &whole,
                                               ValueRange sums) {
  if (sums.empty())
    return {};
  for (auto [number, term] : llvm::enumerate(terms))
    for (auto [row, weight] : llvm::enumerate(term.weights))
      k.store(compute, weight, weights, weightAt(number, row, lane));
  k.barrier();
  Value bits = isTerm.empty() ? Value() : termBits(isTerm), zero = k.i64(0);
  auto one = [&](Value from, ValueRange before) {
    return addOne(terms, first, from, bits, before);
  };
  auto down = [&](Value x) { return k.mul(k.div(x, 4), 4); };
  Value begin = down(k.add(whole.begin, 3)), end = max(begin, down(whole.end));
  Carried next = k.forLoop(zero, k.min(begin, count), k.i64(1), sums, one);
  next = k.forLoop(begin, end, k.i64(4), next, [&](Value from, ValueRange before) {
    return addFour(terms, first, from, before);
  });
  return k.forLoop(k.min(end, count), count, k.i64(1), next, one);
}

WarpAttention::Range WarpAttention::seenByAll(Value first, Value count) {
  Value zero = k.i64(0);
  if (spec.hasMask)
    return {zero, zero};
  return {zero, clamp(k.sub(visibleTo(own.front()), first), zero, count)};
}

WarpAttention::Range WarpAttention::seeingAll(Value first, Value count) {
  Value zero = k.i64(0);
  if (spec.hasMask)
    return {zero, zero};
  if (!spec.causal)
    return {zero, count};
  Value query = k.sub(own.back(), k.i64(spec.shift()));
  return {clamp(k.sub(query, first), zero, count), count};
}

/// A block of Philox is four keys. Of four rows the lane with the first of these keys draws for the
/// first, and so on: a transposition of their words.
WarpAttention::PerRow WarpAttention::drawForQueries(const HeadIndex &head, Value firstKey) {
  PerRow words;
  if (!hasWholeBlocks() || own.size() % 4 != 0) {
    for (Value query : own)
      words.push_back(word(head, query, otherOf(firstKey)));
    return words;
  }
  Value ofFour = k.rem(lane, 4), key = k.add(firstKey, k.sub(lane, ofFour));
  Value half = less(k.i64(1), ofFour), odd = less(k.i64(0), k.rem(ofFour, 2));
  for (int64_t row = 0; row < plan.rows; row += 4) {
    Value query = k.min(k.add(k.add(row0, row), ofFour), k.i64(plan.headRows - 1));
    Words drawn = drawBlock(k.add(draw.position(head, query), key));
    MutableArrayRef<Value> all(drawn);
    exchangeLists(all.take_front(2), all.take_back(2), half, 2);
    for (MutableArrayRef<Value> two : {all.take_front(2), all.take_back(2)})
      exchangeLists(two.take_front(1), two.take_back(1), odd, 1);
    words.append(drawn.begin(), drawn.end());
  }
  return words;
}

WarpAttention::PerRow WarpAttention::drawForKeys(const HeadIndex &head, Value firstQuery) {
  PerRow words;
  Value query = otherOf(firstQuery);
  if (!hasWholeBlocks() || own.size() % 4 != 0) {
    for (Value key : own)
      words.push_back(word(head, query, key));
    return words;
  }
  for (int64_t row = 0; row < plan.rows; row += 4) {
    Words drawn = drawBlock(k.add(draw.position(head, query), k.add(row0, row)));
    words.append(drawn.begin(), drawn.end());
  }
  return words;
}

Value WarpAttention::fold(Value x, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = WarpPlan::lanes / 2; distance; distance /= 2)
    x = combine(x, k.exchange(x, distance));
  return x;
}

void WarpAttention::storeRows(unsigned result, ValueRange sums,
                              llvm::function_ref<Value(Value, size_t)> map) {
  Value to = k.buffer(buffers.output(spec, result));
  Value head = k.mul(headNumber, plan.headRows);
  for (size_t row = 0; row < own.size(); ++row)
    k.ifThen(isRow(row), [&] {
      Value start = k.mul(k.add(head, own[row]), spec.depth);
      for (size_t c = 0; c < depth.size(); ++c)
        k.ifThen(less(column(c), k.i64(spec.depth)), [&] {
          Value value = map(sums[row * depth.size() + c], row);
          k.storeCompute(spec.type, value, to, k.add(start, depth[c]));
        });
    });
}

void WarpAttention::forRowsOnce(llvm::function_ref<void(size_t)> body) {
  auto rows = [&] {
    for (size_t row = 0; row < own.size(); ++row)
      k.ifThen(isRow(row), [&] { body(row); });
  };
  if (plan.parts == 1)
    return rows();
  k.ifThen(less(part, k.i64(1)), rows);
}

} // namespace reprise
