// reprise: emits what the kernels of attention for the warps of a GPU share
#include "WarpAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {

/// An element of each row of a warp: a loaded element of another row serves as many products. More
/// need registers that sums also want, which may take `mostSumBytes` of a thread's.
constexpr int64_t mostRowBytes = 16, mostSumBytes = 64;
/// Columns that a thread goes through at a time.
constexpr int64_t depthStep = 4;

WarpPlan::WarpPlan(const AttentionSpec &spec, int64_t heads, int64_t headRows, int64_t sums)
    : headRows(headRows) {
  int64_t bytes = KernelBuilder::bytesOf(KernelBuilder::computeType(spec.type));
  rows = std::clamp<int64_t>(headRows, 1, mostRowBytes / bytes);
  rowBlocks = llvm::divideCeil(headRows, rows);
  int64_t all = llvm::divideCeil(spec.depth, lanes);
  columns = sums ? std::min(all, mostSumBytes / (bytes * rows * sums)) : 0;
  parts = sums ? llvm::divideCeil(all, columns) : 1;
  items = heads * rowBlocks * parts;
}

WarpAttention::WarpAttention(ThreadKernel &k, const AttentionSpec &spec, const WarpPlan &plan,
                             const AttentionBuffers &buffers)
    : AttentionScores(k, spec, buffers), plan(plan) {}

WarpAttention::Rows WarpAttention::rowsOf(unsigned buffer, const AttentionStrides &strides,
                                          const HeadIndex &head) {
  return {spec.type, headBase(buffer, spec.type, strides, head), strides};
}

Value WarpAttention::rowPointer(const Rows &rows, Value row) {
  return k.pointer(rows.type, rows.base, k.mul(row, rows.strides.row));
}

void WarpAttention::forItem(llvm::function_ref<void()> body) {
  Value thread = k.threadNumber();
  lane = k.rem(thread, WarpPlan::lanes);
  Value item = k.div(thread, WarpPlan::lanes);
  k.ifThen(less(item, k.i64(plan.items)), [&] {
    part = k.rem(item, plan.parts);
    Value block = k.div(item, plan.parts);
    headNumber = k.div(block, plan.rowBlocks);
    row0 = k.mul(k.rem(block, plan.rowBlocks), plan.rows);
    for (int64_t row = 0; row < plan.rows; ++row)
      own.push_back(k.min(k.add(row0, row), k.i64(plan.headRows - 1)));
    for (int64_t c = 0; c < plan.columns; ++c)
      depth.push_back(k.min(column(c), k.i64(spec.depth - 1)));
    body();
  });
}

Value WarpAttention::column(size_t number) {
  Value first = k.mul(part, plan.columns * WarpPlan::lanes);
  return k.add(k.add(first, static_cast<int64_t>(number) * WarpPlan::lanes), lane);
}

WarpAttention::Carried WarpAttention::overDepth(Carried sums, KernelBuilder::LoopBody body) {
  int64_t whole = spec.depth / depthStep * depthStep;
  if (whole) {
    sums = k.forLoop(k.i64(0), k.i64(whole), k.i64(depthStep), sums, [&](Value d, ValueRange from) {
      Carried next(from);
      for (int64_t u = 0; u < depthStep; ++u)
        next = body(k.add(d, u), next);
      return next;
    });
    // The assembler would unroll all of it, load the warp's rows but once, and spill registers.
    MLIRContext *context = b.getContext();
    auto never = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
    std::prev(b.getInsertionPoint())
        ->setAttr("loop_annotation",
                  LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, never, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
  }
  for (int64_t d = whole; d < spec.depth; ++d)
    sums = body(k.i64(d), sums);
  return sums;
}

SmallVector<WarpAttention::PerRow> WarpAttention::products(ArrayRef<Factors> factors, Value other) {
  SmallVector<PerRow> ownRows;
  SmallVector<Value> others;
  for (const Factors &factor : factors) {
    others.push_back(rowPointer(factor.others, other));
    ownRows.emplace_back();
    for (Value row : own)
      ownRows.back().push_back(rowPointer(factor.own, row));
  }
  auto addColumn = [&](Value d, ValueRange before) {
    Carried next;
    for (auto [factor, rows, from] : llvm::zip_equal(factors, ownRows, others)) {
      Value x = k.loadCompute(factor.others.type, from, k.mul(d, factor.others.strides.depth));
      for (Value row : rows) {
        Value y = k.loadCompute(factor.own.type, row, k.mul(d, factor.own.strides.depth));
        next.push_back(math::FmaOp::create(b, y, x, before[next.size()]));
      }
    }
    return next;
  };
  Carried sums = overDepth(Carried(factors.size() * own.size(), number(0)), addColumn);
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

WarpAttention::Carried WarpAttention::addTerms(ArrayRef<Terms> terms, Value first, Value count,
                                               const PerRow &isTerm, ValueRange sums) {
  if (sums.empty())
    return {};
  Value bits = isTerm.empty() ? Value() : termBits(isTerm);
  return k.forLoop(k.i64(0), count, k.i64(1), sums, [&](Value from, ValueRange before) {
    Carried next;
    Value word = bits ? k.broadcast(bits, from) : Value();
    for (const Terms &term : terms) {
      Value pointer = rowPointer(term.rows, k.add(first, from));
      SmallVector<Value> elements;
      for (Value d : depth)
        elements.push_back(
            k.loadCompute(term.rows.type, pointer, k.mul(d, term.rows.strides.depth)));
      for (auto [row, weight] : llvm::enumerate(term.weights)) {
        Value ofRow = k.broadcast(weight, from), holds;
        if (bits) {
          Value bit = arith::ConstantIntOp::create(b, int64_t(1) << row, 32);
          holds = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                        arith::AndIOp::create(b, word, bit),
                                        arith::ConstantIntOp::create(b, 0, 32));
        }
        for (Value element : elements) {
          Value old = before[next.size()];
          Value sum = math::FmaOp::create(b, ofRow, element, old);
          next.push_back(holds ? select(holds, sum, old) : sum);
        }
      }
    }
    return next;
  });
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
