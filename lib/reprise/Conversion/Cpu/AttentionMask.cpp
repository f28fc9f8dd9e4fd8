// reprise: emits the effect of bias and mask on the scores of attention
#include "AttentionParts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace reprise {

//===-- Bias ----------------------------------------------------------------------------------===//

AttentionBias::Rows AttentionBias::rows(const HeadIndex &head, Value i) {
  ImplicitLocOpBuilder &b = parts.b;
  const AttentionSpec &spec = parts.spec;
  Rows rows{parts.headBase(buffer, parts.plan.compute, spec.bias, head), {}};
  if (!spec.bias.row)
    return rows;
  SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(0, parts.plan.width));
  auto type = VectorType::get(parts.plan.width, b.getI64Type());
  Value steps =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int64_t>(lanes)));
  Value queries = arith::AddIOp::create(b, emitSplat(b, i, parts.plan.width), steps);
  queries = arith::MinSIOp::create(b, queries, emitConstant(b, type, spec.queries - 1));
  rows.offsets = arith::MulIOp::create(b, queries, emitConstant(b, type, spec.bias.row));
  return rows;
}

Value AttentionBias::at(const Rows &rows, Value key) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  Type type = parts.plan.compute;
  int64_t width = parts.plan.width;
  Value last = k.min(key, k.i64(parts.spec.keys - 1));
  Value base = emitAddress(b, type, rows.base, k.mul(last, parts.spec.bias.depth));
  if (!rows.offsets)
    return emitSplat(b, emitLoad(b, type, base, k.i64(0)), width);
  auto pointers = VectorType::get(width, base.getType());
  Value addresses =
      LLVM::GEPOp::create(b, pointers, type, base, ArrayRef<LLVM::GEPArg>{rows.offsets});
  Value all = emitConstant(b, VectorType::get(width, b.getI1Type()), 1);
  Type vector = parts.vectorType();
  return LLVM::masked_gather::create(b, vector, addresses, all, emitConstant(b, vector, 0),
                                     static_cast<uint32_t>(bytesOf(type)));
}

//===-- Mask ----------------------------------------------------------------------------------===//

/// Words, of whole groups of four keys; then the starts of runs.
static int64_t wordCount(const AttentionPlan &plan) {
  return static_cast<int64_t>(llvm::alignTo(plan.spec.keys, 8));
}

int64_t AttentionMask::bytes(const AttentionPlan &plan) {
  return (2 * wordCount(plan) + 1) * static_cast<int64_t>(sizeof(int64_t));
}

Value AttentionMask::word(Value key) { return emitLoad(parts.b, parts.b.getI64Type(), words, key); }
Value AttentionMask::startOf(Value run) {
  return emitLoad(parts.b, parts.b.getI64Type(), starts, run);
}

/// Combines the keys of one query into the words, by a bitwise or, as the given bit.
void AttentionMask::addRow(Value from, Value bit) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  int64_t keys = parts.spec.keys, stride = parts.spec.mask.depth, width = 8;
  auto add = [&](int64_t lo, int64_t hi, int64_t step) {
    forLoop(k, k.i64(lo), k.i64(hi), k.i64(step), [&](Value key) {
      Type type = typeOfLanes(b.getI64Type(), step);
      Value seen = emitLoad(b, b.getI8Type(), from, k.mul(key, stride), step);
      seen =
          arith::ShLIOp::create(b, arith::ExtUIOp::create(b, type, seen), emitSplat(b, bit, step));
      Value old = emitLoad(b, b.getI64Type(), words, key, step);
      emitStore(b, b.getI64Type(), arith::OrIOp::create(b, old, seen), words, key);
    });
  };
  int64_t whole = stride == 1 ? keys / width * width : 0;
  if (whole)
    add(0, whole, width);
  if (whole < keys)
    add(whole, keys, 1);
}

void AttentionMask::loadWords(const HeadIndex &head, Value i0, Value count) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  const AttentionStrides &strides = parts.spec.mask;
  Type i64 = b.getI64Type();
  Value base = parts.headBase(buffer, b.getI8Type(), strides, head);
  bool shared = strides.row == 0;
  forLoop(k, k.i64(0), k.i64(wordCount(parts.plan)), k.i64(1),
          [&](Value key) { emitStore(b, i64, k.i64(0), words, key); });
  if (!shared)
    return forLoop(k, k.i64(0), count, k.i64(1), [&](Value row) {
      addRow(emitAddress(b, b.getI8Type(), base, k.mul(k.add(i0, row), strides.row)), row);
    });
  forLoop(k, k.i64(0), k.i64(parts.spec.keys), k.i64(1), [&](Value key) {
    Value seen = emitLoad(b, b.getI8Type(), base, k.mul(key, strides.depth));
    emitStore(b, i64, k.sub(k.i64(0), arith::ExtUIOp::create(b, i64, seen)), words, key);
  });
}

/// The word of a key with causality, and with the last query's bit for all that follow.
Value AttentionMask::finishWord(Value key, Value i0, Value count) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  Value own = word(key), all = k.i64(-1);
  if (parts.spec.causal) {
    Value first = k.sub(k.sub(key, k.i64(parts.spec.shift())), i0);
    Value later = arith::ShLIOp::create(b, all, parts.clamp(first, k.i64(0), k.i64(63)));
    own = arith::AndIOp::create(b, own, later);
  }
  Value rest = arith::ShLIOp::create(b, all, count);
  Value last = arith::ShRUIOp::create(b, own, k.add(count, -1));
  last = k.sub(k.i64(0), arith::AndIOp::create(b, last, k.i64(1)));
  Value inside = arith::AndIOp::create(b, own, arith::XOrIOp::create(b, rest, all));
  return arith::OrIOp::create(b, inside, arith::AndIOp::create(b, rest, last));
}

void AttentionMask::build(const HeadIndex &head, Value i0, Value count) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  Type i64 = b.getI64Type();
  words = parts.workspace(offset);
  starts = emitAddress(b, i64, words, k.i64(wordCount(parts.plan)));
  loadWords(head, i0, count);
  // Carried are the number of runs, the previous word (different from the first word), `full` and
  // `limit`.
  Value first = arith::XOrIOp::create(b, finishWord(k.i64(0), i0, count), k.i64(-1));
  Carried carried{k.i64(0), first, k.i64(parts.spec.keys), k.i64(0)};
  carried = forLoop(
      k, k.i64(0), k.i64(parts.spec.keys), k.i64(1), carried, [&](Value key, ValueRange before) {
        Value own = finishWord(key, i0, count);
        emitStore(b, i64, own, words, key);
        emitStore(b, i64, key, starts, before[0]);
        Value isNew = parts.compare(arith::CmpIPredicate::ne, own, before[1]);
        Value runs = k.add(before[0], arith::ExtUIOp::create(b, i64, isNew));
        Value notAll = parts.compare(arith::CmpIPredicate::ne, own, k.i64(-1));
        Value full = arith::SelectOp::create(b, notAll, k.min(before[2], key), before[2]);
        Value any = parts.compare(arith::CmpIPredicate::ne, own, k.i64(0));
        Value limit = arith::SelectOp::create(b, any, k.add(key, 1), before[3]);
        return Carried{runs, own, full, limit};
      });
  runs = carried[0], full = carried[2], limit = carried[3];
  emitStore(b, i64, k.i64(parts.spec.keys), starts, runs);
}

Value AttentionMask::sees(Value column, Value key) {
  ImplicitLocOpBuilder &b = parts.b;
  auto type = cast<VectorType>(parts.indexType());
  unsigned bits = type.getElementTypeBitWidth();
  SmallVector<APInt> lanes;
  for (int64_t lane = 0; lane < parts.plan.width; ++lane)
    lanes.push_back(APInt::getOneBitSet(bits, lane));
  Value own = arith::ShRUIOp::create(b, word(key), column);
  if (bits < 64)
    own = arith::TruncIOp::create(b, type.getElementType(), own);
  Value lane = arith::ConstantOp::create(b, DenseElementsAttr::get(type, lanes));
  Value seen = arith::AndIOp::create(b, emitSplat(b, own, parts.plan.width), lane);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, seen, emitConstant(b, type, 0));
}

Value AttentionMask::seesOne(Value row, Value key) {
  return arith::TruncIOp::create(parts.b, parts.b.getI1Type(),
                                 arith::ShRUIOp::create(parts.b, word(key), row));
}

/// Replaces a number, from `start` on, by the next number while `holds` is true; returns the last
/// number.
static Value whileLoop(ImplicitLocOpBuilder &b, Value start, llvm::function_ref<Value(Value)> holds,
                       llvm::function_ref<Value(Value)> next) {
  Type type = start.getType();
  auto loop = scf::WhileOp::create(b, TypeRange{type}, ValueRange{start});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {type}, {b.getLoc()});
  scf::ConditionOp::create(b, holds(before->getArgument(0)), before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, {type}, {b.getLoc()});
  scf::YieldOp::create(b, next(after->getArgument(0)));
  return loop.getResult(0);
}

void AttentionMask::forStretches(Value begin, Value end, llvm::function_ref<Value(Value)> kindOf,
                                 llvm::function_ref<void(Value, Value, Value)> body) {
  ImplicitLocOpBuilder &b = parts.b;
  KernelBuilder &k = parts.k;
  auto isBelow = [&](Value run) { return parts.compare(arith::CmpIPredicate::slt, run, end); };
  whileLoop(b, begin, isBelow, [&](Value run) {
    Value kind = kindOf(run);
    // No entry stands behind the last run, so the read is clamped.
    auto goesOn = [&](Value next) {
      Value inside = k.min(next, k.add(end, -1));
      Value same = parts.compare(arith::CmpIPredicate::eq, kindOf(inside), kind);
      return arith::AndIOp::create(b, isBelow(next), same).getResult();
    };
    Value stop = whileLoop(b, k.add(run, 1), goesOn, [&](Value next) { return k.add(next, 1); });
    body(kind, run, stop);
    return stop;
  });
}

void AttentionMask::forSeenKeys(Value row, int64_t rows, llvm::function_ref<void(Value, Value)> all,
                                llvm::function_ref<void(Value, Value, Value)> single) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  auto bitsOf = [&](Value run, Value row, int64_t rows) -> Value {
    Value bits = arith::ShRUIOp::create(b, wordOf(run), row);
    return arith::AndIOp::create(b, bits, k.i64((int64_t(1) << rows) - 1));
  };
  auto is = [&](Value x, Value y) { return parts.compare(arith::CmpIPredicate::eq, x, y); };
  Value none = k.i64(0), each = k.i64((int64_t(1) << rows) - 1), some = k.i64(1);
  auto kindOf = [&](Value run) -> Value {
    Value bits = bitsOf(run, row, rows);
    Value isPlain = arith::OrIOp::create(b, is(bits, none), is(bits, each));
    return arith::SelectOp::create(b, isPlain, bits, some);
  };
  forStretches(none, runs, kindOf, [&](Value kind, Value begin, Value end) {
    auto singly = [&] {
      forLoop(k, row, k.add(row, rows), k.i64(1), [&](Value query) {
        auto bitOf = [&](Value run) { return bitsOf(run, query, 1); };
        forStretches(begin, end, bitOf, [&](Value bit, Value begin, Value end) {
          ifThen(b, is(bit, k.i64(1)), [&] { single(query, startOf(begin), startOf(end)); });
        });
      });
    };
    ifThen(
        b, is(kind, each), [&] { all(startOf(begin), startOf(end)); },
        [&] { ifThen(b, is(kind, some), singly); });
  });
}

void AttentionMask::forSeeingQueries(Value first, Value last,
                                     llvm::function_ref<void(Value, Value, Value, Value)> body) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = parts.b;
  Value all = k.i64(-1);
  Value inside =
      arith::AndIOp::create(b, arith::ShLIOp::create(b, all, first),
                            arith::XOrIOp::create(b, arith::ShLIOp::create(b, all, last), all));
  auto kindOf = [&](Value run) -> Value { return arith::AndIOp::create(b, wordOf(run), inside); };
  auto is = [&](Value x, Value y) { return parts.compare(arith::CmpIPredicate::eq, x, y); };
  forStretches(k.i64(0), runs, kindOf, [&](Value bits, Value begin, Value end) {
    Value lo = startOf(begin), hi = startOf(end);
    ifThen(
        b, is(bits, inside), [&] { body(lo, hi, first, last); },
        [&] {
          auto isLeft = [&](Value left) {
            return parts.compare(arith::CmpIPredicate::ne, left, k.i64(0));
          };
          whileLoop(b, bits, isLeft, [&](Value left) {
            Value from = math::CountTrailingZerosOp::create(b, left);
            Value ahead = arith::XOrIOp::create(b, arith::ShRUIOp::create(b, left, from), all);
            Value to = k.add(from, math::CountTrailingZerosOp::create(b, ahead));
            body(lo, hi, from, to);
            return arith::AndIOp::create(b, left, arith::ShLIOp::create(b, all, to)).getResult();
          });
        });
  });
}

} // namespace reprise
