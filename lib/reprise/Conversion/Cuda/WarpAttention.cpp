// reprise: emits the common parts of the kernels of attention for the warps of a GPU
#include "WarpAttention.h"

#include "OperandAccess.h"
#include "reprise/Target/Target.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

/// Columns that a thread goes through at a time.
constexpr int64_t depthStep = 4;

WarpAttention::WarpAttention(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan,
                             const AttentionBuffers &buffers)
    : AttentionScores(k, spec, buffers), plan(plan) {
  if (plan.sharedBytes() > 0)
    memory = k.shared(plan.sharedBytes());
  k.setBlocksTogether(WarpPlan::blocksTogether);
  Value thread = k.numberInBlock(), warp = k.div(thread, WarpPlan::lanes);
  lane = k.rem(thread, WarpPlan::lanes);
  if (plan.warpWeights > 0) {
    Value bytes = k.mul(warp, plan.weightBytes() / plan.warps);
    weights = emitAddress(b, b.getI8Type(), memory, k.add(bytes, plan.tiles * plan.tileBytes()));
  }
  part = k.rem(k.blockNumber(), plan.parts);
  Value block = k.div(k.blockNumber(), plan.parts);
  headNumber = k.div(block, plan.headBlocks);
  int64_t blockRows = plan.rows * plan.warps;
  blockRow = k.mul(k.rem(block, plan.headBlocks), blockRows);
  lastRow = k.min(k.add(blockRow, blockRows - 1), k.i64(plan.headRows - 1));
  // The last warp of a head has as many rows as others, so some of its rows also belong to other
  // warps.
  start = k.add(blockRow, k.mul(warp, plan.rows));
  row0 = plan.headRows % blockRows == 0 ? start : k.min(start, k.i64(plan.headRows - plan.rows));
  for (int64_t row = 0; row < plan.rows; ++row)
    own.push_back(k.add(row0, row));
  for (int64_t c = 0; c < plan.columns; ++c)
    depth.push_back(plan.hasWholeColumns() ? column(c) : k.min(column(c), k.i64(plan.width - 1)));
}

WarpAttention::Rows WarpAttention::rowsOf(unsigned buffer, const AttentionStrides &strides,
                                          const HeadIndex &head) {
  return {headBase(buffer, spec.type, strides, head), strides,
          findCommonPower({alignmentOf(strides), strides.row}, 16 / bytesOf(spec.type)), Value()};
}

WarpAttention::Rows WarpAttention::othersOf(unsigned buffer, const AttentionStrides &strides,
                                            const HeadIndex &head, int64_t tile) {
  Rows rows = rowsOf(buffer, strides, head);
  if (plan.tiles)
    rows.tile = emitAddress(b, b.getI8Type(), memory, k.i64(tile * plan.tileBytes()));
  return rows;
}

Value WarpAttention::rowPointer(const Rows &rows, Value row) {
  return emitAddress(b, spec.type, rows.base, k.mul(row, rows.strides.row));
}

/// Returns row `number` of the rows from `first` on.
Value WarpAttention::otherPointer(const Rows &rows, Value first, Value number) {
  if (rows.tile)
    return emitAddress(b, spec.type, rows.tile, k.mul(number, plan.pitch));
  return rowPointer(rows, k.min(k.add(first, number), k.i64(plan.others - 1)));
}

SmallVector<Value> WarpAttention::readColumns(const Rows &rows, Value row, Value d, int64_t count) {
  SmallVector<Value> result;
  if (count == 1 || (!rows.tile && rows.strides.depth != 1)) {
    for (int64_t u = 0; u < count; ++u) {
      Value at = k.add(d, u);
      result.push_back(
          emitLoadWide(b, spec.type, row, rows.tile ? at : k.mul(at, rows.strides.depth)));
    }
    return result;
  }
  int64_t aligned =
      findCommonPower({rows.tile ? 0 : rows.aligned, count}, widestAccess / plan.elementBytes);
  Value all = emitLoadWide(b, spec.type, row, d, count, aligned);
  for (int64_t u = 0; u < count; ++u)
    result.push_back(vector::ExtractOp::create(b, all, u));
  return result;
}

SmallVector<Value> WarpAttention::readOwnColumns(const Rows &rows, Value row) {
  if (plan.hasWholeColumns())
    return readColumns(rows, row, depth.front(), plan.columns);
  SmallVector<Value> result;
  for (Value d : depth)
    result.append(readColumns(rows, row, d, 1));
  return result;
}

/// Threads of the block copy the rows from `first` on to their tile, neighbours together.
void WarpAttention::fetch(const Rows &rows, Value first) {
  int64_t bytes = plan.elementBytes, columns = rows.strides.columns;
  int64_t unit = rows.strides.depth == 1 ? findCommonPower({rows.aligned, columns}, 16 / bytes) : 1;
  int64_t perRow = columns / unit;
  forLoop(k, k.numberInBlock(), k.i64(plan.tileRows() * perRow), k.i64(plan.threads()),
          [&](Value number) {
            Value row = k.div(number, perRow), d = k.mul(k.rem(number, perRow), unit);
            Value other = k.min(k.add(first, row), k.i64(plan.others - 1));
            Value from = rowPointer(rows, other), at = k.mul(d, rows.strides.depth);
            Value to = emitAddress(b, spec.type, rows.tile, k.add(k.mul(row, plan.pitch), d));
            if (unit * bytes >= 4)
              k.copyAsync(to, emitAddress(b, spec.type, from, at), unit * bytes);
            else
              emitStore(b, spec.type, emitLoad(b, spec.type, from, at, unit, unit), to, k.i64(0),
                        unit);
          });
}

Carried WarpAttention::overOthers(
    Value low, Value high, ArrayRef<Rows> others, ArrayRef<Factors> factors, ValueRange carried,
    llvm::function_ref<Carried(const Others &, const Products &, ValueRange)> body) {
  return forLoop(k, low, high, k.i64(plan.tileRows()), carried,
                 [&](Value first, ValueRange before) {
                   // No thread reads the old content of shared memory any more.
                   k.barrier();
                   if (plan.tiles) {
                     for (const Rows &rows : others)
                       fetch(rows, first);
                     k.awaitCopies();
                     k.barrier();
                   }
                   Carried sums(before);
                   for (auto [i, found] : llvm::enumerate(products(factors, first))) {
                     if (i > 0)
                       k.barrier();
                     sums = body({first, static_cast<int64_t>(i) * WarpPlan::lanes}, found, sums);
                   }
                   return sums;
                 });
}

/// Returns a column of the lane; a lane has neighbouring columns if every lane has as many.
Value WarpAttention::column(size_t number) {
  Value first = k.mul(part, plan.columns * WarpPlan::lanes);
  auto c = static_cast<int64_t>(number);
  if (plan.hasWholeColumns())
    return k.add(k.add(first, k.mul(lane, plan.columns)), c);
  return k.add(k.add(first, c * WarpPlan::lanes), lane);
}

Carried WarpAttention::overDepth(int64_t columns, Carried sums,
                                 llvm::function_ref<Carried(Value, int64_t, ValueRange)> body) {
  int64_t whole = columns / depthStep * depthStep;
  if (whole) {
    sums = forLoop(k, k.i64(0), k.i64(whole), k.i64(depthStep), sums,
                   [&](Value d, ValueRange from) { return body(d, depthStep, from); });
    // Without this attribute the assembler would unroll the loop, load the warp's rows only once,
    // and spill registers.
    MLIRContext *context = b.getContext();
    auto never = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
    std::prev(b.getInsertionPoint())
        ->setAttr("loop_annotation",
                  LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, never, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
  }
  for (int64_t d = whole; d < columns; ++d)
    sums = body(k.i64(d), 1, sums);
  return sums;
}

SmallVector<WarpAttention::Products> WarpAttention::products(ArrayRef<Factors> factors,
                                                             Value first) {
  auto columnsOf = [](const Factors &factor) { return factor.own.strides.columns; };
  int64_t columns = columnsOf(factors.front());
  if (llvm::any_of(factors, [&](const Factors &each) { return columnsOf(each) != columns; })) {
    SmallVector<Products> result(plan.perLane);
    for (const Factors &factor : factors)
      for (auto [all, found] : llvm::zip_equal(result, products(factor, first)))
        all.append(found);
    return result;
  }
  SmallVector<PerRow> ownRows, others;
  for (const Factors &factor : factors) {
    others.emplace_back();
    for (int64_t i = 0; i < plan.perLane; ++i)
      others.back().push_back(otherPointer(factor.others, first, k.add(lane, i * WarpPlan::lanes)));
    ownRows.emplace_back();
    for (Value row : own)
      ownRows.back().push_back(rowPointer(factor.own, row));
  }
  // Sums are by factors, rows, others.
  auto addColumns = [&](Value d, int64_t count, ValueRange before) {
    Carried next;
    for (auto [factor, rows, from] : llvm::zip_equal(factors, ownRows, others)) {
      SmallVector<SmallVector<Value>> elements;
      for (Value other : from)
        elements.push_back(readColumns(factor.others, other, d, count));
      for (Value row : rows) {
        SmallVector<Value> left = readColumns(factor.own, row, d, count);
        for (const SmallVector<Value> &right : elements) {
          Value sum = before[next.size()];
          for (auto [x, y] : llvm::zip_equal(left, right))
            sum = math::FmaOp::create(b, x, y, sum);
          next.push_back(sum);
        }
      }
    }
    return next;
  };
  size_t count = factors.size() * own.size() * plan.perLane;
  Carried sums = overDepth(columns, Carried(count, number(0)), addColumns);
  SmallVector<Products> result(plan.perLane, Products(factors.size()));
  for (size_t i = 0; i < count; ++i)
    result[i % plan.perLane][i / plan.perLane / own.size()].push_back(sums[i]);
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

/// The place of another's weight in list number `list` of the warp's weights: term by term, row by
/// row.
static Value weightAt(ThreadKernel &k, size_t list, Value other) {
  return k.add(other, static_cast<int64_t>(list) * WarpPlan::lanes);
}

/// Adds four others, all of which are terms.
Carried WarpAttention::addFour(ArrayRef<Terms> terms, const Others &at, Value from,
                               ValueRange sums) {
  Carried next(sums);
  size_t first = 0;
  for (auto [number, term] : llvm::enumerate(terms)) {
    SmallVector<SmallVector<Value>> elements;
    for (int64_t u = 0; u < 4; ++u) {
      Value other = k.add(k.add(from, at.offset), u);
      elements.push_back(readOwnColumns(term.rows, otherPointer(term.rows, at.first, other)));
    }
    for (size_t row = 0; row < own.size(); ++row, first += depth.size()) {
      Value four = emitLoad(b, compute, weights, weightAt(k, number * own.size() + row, from), 4,
                            std::min<int64_t>(4, widestAccess / plan.computeBytes));
      for (int64_t u = 0; u < 4; ++u) {
        Value weight = vector::ExtractOp::create(b, four, u);
        for (auto [c, element] : llvm::enumerate(elements[u]))
          next[first + c] = math::FmaOp::create(b, weight, element, next[first + c]);
      }
    }
  }
  return next;
}

Carried WarpAttention::addOne(ArrayRef<Terms> terms, const Others &at, Value from, Value bits,
                              ValueRange sums) {
  Carried next;
  Value word = bits ? k.broadcast(bits, from) : Value();
  for (auto [number, term] : llvm::enumerate(terms)) {
    SmallVector<Value> elements =
        readOwnColumns(term.rows, otherPointer(term.rows, at.first, k.add(from, at.offset)));
    for (size_t row = 0; row < own.size(); ++row) {
      Value weight = emitLoad(b, compute, weights, weightAt(k, number * own.size() + row, from)),
            holds;
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

Carried WarpAttention::addTerms(ArrayRef<Terms> terms, const Others &at, Value count,
                                const PerRow &isTerm, const Range &whole, ValueRange sums) {
  if (sums.empty())
    return {};
  for (auto [number, term] : llvm::enumerate(terms))
    for (auto [row, weight] : llvm::enumerate(term.weights))
      emitStore(b, compute, weight, weights, weightAt(k, number * own.size() + row, lane));
  k.barrier();
  Value bits = isTerm.empty() ? Value() : termBits(isTerm), zero = k.i64(0);
  auto one = [&](Value from, ValueRange before) { return addOne(terms, at, from, bits, before); };
  auto down = [&](Value x) { return k.mul(k.div(x, 4), 4); };
  Value begin = down(k.add(whole.begin, 3)), end = max(begin, down(whole.end));
  Carried next = forLoop(k, zero, k.min(begin, count), k.i64(1), sums, one);
  next = forLoop(k, begin, end, k.i64(4), next,
                 [&](Value from, ValueRange before) { return addFour(terms, at, from, before); });
  return forLoop(k, k.min(end, count), count, k.i64(1), next, one);
}

WarpAttention::Range WarpAttention::seenByAll(const Others &keys, Value count) {
  Value zero = k.i64(0);
  if (spec.hasMask)
    return {zero, zero};
  return {zero, clamp(k.sub(visibleTo(own.front()), firstOf(keys)), zero, count)};
}

WarpAttention::Range WarpAttention::seeingAll(const Others &queries, Value count) {
  Value zero = k.i64(0);
  if (spec.hasMask)
    return {zero, zero};
  if (!spec.causal)
    return {zero, count};
  Value query = k.sub(own.back(), k.i64(spec.shift()));
  return {clamp(k.sub(query, firstOf(queries)), zero, count), count};
}

/// A block of Philox is four keys. Of four rows the lane with the first of these keys draws for the
/// first, and so on: a transposition of their words.
WarpAttention::PerRow WarpAttention::drawForQueries(const HeadIndex &head, const Others &keys) {
  PerRow words;
  if (!hasWholeBlocks() || own.size() % 4 != 0) {
    for (Value query : own)
      words.push_back(word(head, query, otherOf(keys)));
    return words;
  }
  Value ofFour = k.rem(lane, 4), key = k.add(firstOf(keys), k.sub(lane, ofFour));
  Value half = less(k.i64(1), ofFour), odd = less(k.i64(0), k.rem(ofFour, 2));
  for (int64_t row = 0; row < plan.rows; row += 4) {
    Value query = k.add(k.add(row0, row), ofFour);
    Words drawn = drawBlock(k.add(draw.position(head, query), key));
    transpose(drawn, half, odd, 1);
    words.append(drawn.begin(), drawn.end());
  }
  return words;
}

WarpAttention::PerRow WarpAttention::drawForKeys(const HeadIndex &head, const Others &queries) {
  PerRow words;
  Value query = otherOf(queries);
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

void WarpAttention::storeRows(unsigned result, ValueRange sums,
                              llvm::function_ref<Value(Value, size_t)> map) {
  Value to = k.buffer(buffers.output(spec, result));
  Value head = k.mul(headNumber, plan.headRows);
  auto type = VectorType::get({plan.columns}, compute);
  int64_t aligned =
      findCommonPower({plan.columns}, std::max<int64_t>(1, spec.alignment / plan.elementBytes));
  for (size_t row = 0; row < own.size(); ++row)
    ifThen(b, isOwn(row), [&] {
      Value start = k.mul(k.add(head, own[row]), plan.width);
      Carried values;
      for (Value sum : sums.slice(row * depth.size(), depth.size()))
        values.push_back(map(sum, row));
      if (plan.hasWholeColumns()) {
        Value all = vector::FromElementsOp::create(b, type, values);
        emitStoreRounded(b, spec.type, all, to, k.add(start, depth.front()), aligned);
        return;
      }
      for (size_t c = 0; c < depth.size(); ++c)
        ifThen(b, less(column(c), k.i64(plan.width)),
               [&] { emitStoreRounded(b, spec.type, values[c], to, k.add(start, depth[c])); });
    });
}

void WarpAttention::forRowsOnce(llvm::function_ref<void(size_t)> body) {
  auto rows = [&] {
    for (size_t row = 0; row < own.size(); ++row)
      ifThen(b, isOwn(row), [&] { body(row); });
  };
  if (plan.parts == 1)
    return rows();
  ifThen(b, less(part, k.i64(1)), rows);
}

} // namespace reprise
