// reprise: emits the common parts of the kernels of attention on the tensor cores of a GPU
#include "TensorAttention.h"

#include "../Lanes.h"
#include "../Polynomials.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise::cuda {

/// Sums over the depth of more elements need too many registers.
constexpr int64_t mostDepth = 128;

bool suitsTensorCores(const AttentionSpec &spec, Contractions contractions) {
  bool isHalf = spec.type.isBF16() || spec.type.isF16();
  return isHalf && contractions != Contractions::Exact &&
         std::max(spec.depth(), spec.valueDepth()) <= mostDepth &&
         spec.queries >= TensorAttention::warpRows && spec.keys >= TensorAttention::warpRows;
}

TensorAttention::TensorAttention(ThreadKernel &k, const AttentionSpec &spec,
                                 const AttentionBuffers &buffers, Rows rows, Operand firstOperand,
                                 Operand secondOperand)
    : AttentionScores(k, spec, buffers), core(k, spec.type),
      ownCount(rows == Rows::Queries ? spec.queries : spec.keys),
      otherCount(rows == Rows::Queries ? spec.keys : spec.queries),
      first(k, core, matrixOf(firstOperand), otherRows, paddedOf(firstOperand.strides.columns),
            /*stages=*/2),
      second(k, core, matrixOf(secondOperand), otherRows, paddedOf(secondOperand.strides.columns),
             /*stages=*/2),
      rows(rows), firstOperand(firstOperand), secondOperand(secondOperand) {
  findBlock();
  warpRow = k.add(blockRow, k.mul(k.div(k.numberInBlock(), 32), warpRows));
  for (int64_t half : {0, 1})
    own[half] = k.min(k.add(k.add(warpRow, core.group()), half * 8), k.i64(ownCount - 1));
  memory = k.shared(first.sharedBytes() + second.sharedBytes());
}

GlobalMatrix TensorAttention::matrixOf(const Operand &operand) const {
  const AttentionStrides &strides = operand.strides;
  return {{{otherCount, strides.row}}, {{strides.columns, strides.depth}}, alignmentOf(strides)};
}

/// Finds the block. Under a causal mask, blocks with more others start earlier, so that none of
/// them runs alone at the end.
void TensorAttention::findBlock() {
  int64_t blocks = llvm::divideCeil(ownCount, countBlockRows(k.threadCount()));
  int64_t heads = spec.batch * (rows == Rows::Queries ? spec.heads : spec.keyHeads);
  Value number = k.blockNumber(), ofHead;
  if (spec.causal) {
    headNumber = k.rem(number, heads);
    ofHead = k.div(number, heads);
    ofHead = rows == Rows::Queries ? k.sub(k.i64(blocks - 1), ofHead) : ofHead;
  } else {
    headNumber = k.div(number, blocks);
    ofHead = k.rem(number, blocks);
  }
  blockRow = k.mul(ofHead, countBlockRows(k.threadCount()));
}

/// Loads two neighbours of a row as a word, +0 beyond the depth.
Value TensorAttention::loadPair(const Operand &operand, Value base, Value row, Value column) {
  const AttentionStrides &strides = operand.strides;
  auto pair = VectorType::get({2}, spec.type);
  Value start = k.mul(row, strides.row), none = emitConstant(b, spec.type, 0);
  int64_t columns = strides.columns;
  int64_t whole = findCommonPower({alignmentOf(strides), strides.row, columns}, 2);
  if (strides.depth == 1 && whole == 2) {
    Value isThere = less(column, k.i64(columns));
    Value from = select(isThere, k.add(start, column), start);
    Value word =
        LLVM::BitcastOp::create(b, b.getI32Type(), emitLoad(b, spec.type, base, from, 2, 2));
    return select(isThere, word, arith::ConstantIntOp::create(b, 0, 32));
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < 2; ++i) {
    Value own = k.add(column, i), isThere = less(own, k.i64(columns));
    Value from = k.add(start, k.mul(select(isThere, own, k.i64(0)), strides.depth));
    elements.push_back(select(isThere, emitLoad(b, spec.type, base, from), none));
  }
  return LLVM::BitcastOp::create(b, b.getI32Type(),
                                 vector::FromElementsOp::create(b, pair, elements));
}

TensorAttention::Fragments TensorAttention::readOwn(const Operand &operand, const HeadIndex &head) {
  Value base = headBase(operand.buffer, spec.type, operand.strides, head);
  Fragments fragments;
  int64_t padded = paddedOf(operand.strides.columns);
  for (int64_t depth = 0; depth < padded; depth += TensorCore::depth) {
    TensorCore::Fragment &fragment = fragments.emplace_back();
    for (int64_t i = 0; i < 4; ++i) {
      Value column = k.add(k.mul(core.member(), 2), depth + i / 2 * 8);
      fragment[i] = loadPair(operand, base, own[i % 2], column);
    }
  }
  return fragments;
}

TensorAttention::Sums
TensorAttention::overTiles(Value count, int64_t together, ValueRange carried,
                           llvm::function_ref<Others(Value)> find,
                           llvm::function_ref<Sums(const Others &, Value, ValueRange)> body) {
  struct Loaded {
    SmallVector<Value> first, second;
  };
  Value zero = k.i64(0), behind = emitAddress(b, b.getI8Type(), memory, k.i64(first.sharedBytes()));
  bool isInside = otherCount % otherRows == 0;
  // Gradients of scores are all stored if they are requested, so no tile is skipped.
  bool skips = spec.causal && !(rows == Rows::Queries && spec.isStored(3));
  auto start = [&](Value number, Value stage) -> Loaded {
    Others others = find(number);
    first.open(memory, headBase(firstOperand.buffer, spec.type, firstOperand.strides, others.head));
    second.open(behind,
                headBase(secondOperand.buffer, spec.type, secondOperand.strides, others.head));
    return {first.start(others.first, zero, stage, isInside),
            second.start(others.first, zero, stage, isInside)};
  };
  auto finish = [&](const Loaded &loaded, Value stage) {
    first.finish(loaded.first, stage);
    second.finish(loaded.second, stage);
  };
  finish(start(zero, zero), zero);
  Sums result =
      forLoop(k, zero, count, k.i64(1), carried, [&](Value number, ValueRange before) -> Sums {
        k.awaitCopies();
        k.barrier();
        Value next = k.add(number, 1), stage = k.rem(next, 2);
        Loaded loaded = start(k.min(next, k.sub(count, k.i64(1))), stage);
        Others others = find(number);
        auto meet = [&] {
          Sums sums(before);
          for (int64_t row = 0; row < otherRows; row += together)
            sums = body({others.head, k.add(others.first, row), row, together}, k.rem(number, 2),
                        sums);
          return sums;
        };
        Sums sums = skips ? where(b, seesSome(others.first), before, meet) : meet();
        finish(loaded, stage);
        return sums;
      });
  k.awaitCopies();
  return result;
}

TensorAttention::Sums TensorAttention::product(const Fragments &own, MatrixTile &tile,
                                               const Others &others, Value stage) {
  Sums sums(warpRows * others.rows / 32, number(0));
  for (auto [i, fragment] : llvm::enumerate(own)) {
    Fragments columns;
    for (int64_t row = 0; row < others.rows; row += TensorCore::rows)
      columns.push_back(
          tile.read(stage, k.i64(others.row + row), static_cast<int64_t>(i) * TensorCore::depth));
    sums = core.multiplyAll(fragment, columns, sums);
  }
  return sums;
}

TensorAttention::Sums TensorAttention::addProduct(ValueRange weights, MatrixTile &tile,
                                                  const Others &others, Value stage,
                                                  ValueRange before) {
  Sums sums(before);
  int64_t padded = paddedBy(sums);
  for (int64_t row = 0; row < others.rows; row += TensorCore::depth) {
    auto left = static_cast<size_t>(row / 2);
    TensorCore::Fragment rounded = core.round(weights.slice(left, 4), weights.slice(left + 4, 4));
    Fragments columns;
    for (int64_t depth = 0; depth < padded; depth += TensorCore::rows)
      columns.push_back(tile.readTurned(stage, others.row + row, depth));
    sums = core.multiplyAll(rounded, columns, sums);
  }
  return sums;
}

std::pair<Value, Value> TensorAttention::placeOf(int64_t score, Value firstOther) {
  Value mine = own[halfOf(score)], other = inside(otherOf(score, firstOther));
  return rows == Rows::Queries ? std::pair(mine, other) : std::pair(other, mine);
}

Value TensorAttention::isTerm(const HeadIndex &head, int64_t score, Value firstOther) {
  Value result;
  if (otherCount % otherRows != 0)
    result = less(otherOf(score, firstOther), k.i64(otherCount));
  if (!spec.causal && !spec.hasMask)
    return result;
  auto [query, key] = placeOf(score, firstOther);
  Value seen = sees(head, query, key);
  return result ? both(result, seen) : seen;
}

Value TensorAttention::hidesSome(const Others &others) {
  Value behind = k.add(others.first, others.rows), isBeyond = less(k.i64(otherCount), behind);
  if (!spec.causal)
    return isBeyond;
  if (rows == Rows::Queries) // the first query sees the fewest keys
    return less(visibleTo(warpRow), behind);
  Value hides = less(visibleTo(others.first), k.add(warpRow, warpRows));
  return arith::OrIOp::create(b, hides, isBeyond);
}

Value TensorAttention::seesSome(Value firstOther) {
  if (rows == Rows::Queries)
    return less(firstOther, visibleTo(k.add(warpRow, warpRows - 1)));
  return less(warpRow, visibleTo(k.add(firstOther, otherRows - 1)));
}

TensorAttention::Sums TensorAttention::scores(Sums products, const HeadIndex &head,
                                              const Others &others) {
  if (!isProduct())
    for (auto [i, product] : llvm::enumerate(products)) {
      auto [query, key] = placeOf(static_cast<int64_t>(i), others.first);
      product = score(product, head, query, key);
    }
  auto hide = [&] {
    Sums found;
    for (auto [i, score] : llvm::enumerate(products))
      found.push_back(
          select(isTerm(head, static_cast<int64_t>(i), others.first), score, infinity()));
    return found;
  };
  if (!mayHide())
    return products;
  // Most tiles have no hidden scores.
  return spec.hasMask ? hide() : where(b, hidesSome(others), products, hide);
}

/// Returns a power: the exponent is added to that of 2^rest, in [0.7, 1.42). At -127 the rest is 0,
/// and the sum +0.
Value TensorAttention::power(Value score, Value base) {
  Lanes l(b, score);
  Value x = l.fma(score, l.f(unit() * log2e), l.neg(base));
  x = arith::MaximumFOp::create(b, x, l.f(-l.format.bias()));
  Value shift = l.f(l.format.integerShift()), shifted = l.add(x, shift);
  Value rest = l.sub(x, l.sub(shifted, shift));
  Value power = l.fma(l.hornerOf(emission::f32::coarsePowerOfTwo, rest), rest, l.f(1));
  return l.fromBits(
      l.addBits(l.toBits(power), l.shiftLeft(l.toBits(shifted), l.format.mantissaBits())));
}

/// Draws for queries. A Philox block is four keys, which two lanes hold: one lane draws for the
/// first row, the other for the second.
TensorAttention::Words TensorAttention::drawForQueries(const HeadIndex &head, int64_t score,
                                                       Value firstKey) {
  Words words;
  if (!hasWholeBlocks()) {
    for (int64_t i = 0; i < 4; ++i)
      words[i] = word(head, own[halfOf(i)], inside(otherOf(score + i, firstKey)));
    return words;
  }
  Value isOdd = less(k.i64(0), k.rem(core.member(), 2));
  Value row = select(isOdd, own[1], own[0]);
  Value block = k.add(firstKey, k.add(k.mul(k.div(core.member(), 2), 4), score / 4 * 8));
  words = drawBlock(k.add(draw.position(head, row), block));
  MutableArrayRef<Value> all(words);
  exchangeLists(all.take_front(2), all.take_back(2), isOdd, 1);
  return words;
}

/// Draws for keys. A Philox block is four keys of one query, which four lanes hold. The lane with
/// the i-th key draws for the i-th of four scores; a transposition distributes the words.
TensorAttention::Words TensorAttention::drawForKeys(const HeadIndex &head, int64_t score,
                                                    Value firstQuery) {
  Words words;
  if (!hasWholeBlocks()) {
    for (int64_t i = 0; i < 4; ++i)
      words[i] = word(head, inside(otherOf(score + i, firstQuery)), own[halfOf(i)]);
    return words;
  }
  Value ofFour = k.rem(core.group(), 4), half = k.div(ofFour, 2), odd = k.rem(ofFour, 2);
  Value query = inside(k.add(otherOf(score, firstQuery), odd));
  Value key = k.add(k.add(warpRow, k.sub(core.group(), ofFour)), k.mul(half, 8));
  words = drawBlock(k.add(draw.position(head, query), key));
  transpose(words, less(k.i64(0), half), less(k.i64(0), odd), 4);
  return words;
}

void TensorAttention::forOwn(llvm::function_ref<void(int64_t)> body) {
  for (int64_t half : {0, 1})
    ifThen(b, less(k.add(k.add(warpRow, core.group()), half * 8), k.i64(ownCount)),
           [&] { body(half); });
}

void TensorAttention::storeOwn(unsigned result, int64_t columns, ValueRange sums,
                               llvm::function_ref<Value(Value, int64_t)> map) {
  Value to = k.buffer(buffers.output(spec, result)), head = k.mul(headNumber, ownCount);
  auto storeAt = [&](Value start, Value column, Value value, int64_t aligned) {
    ifThen(b, less(column, k.i64(columns)),
           [&] { emitStoreRounded(b, spec.type, value, to, k.add(start, column), aligned); });
  };
  auto pair = VectorType::get({2}, compute);
  forOwn([&](int64_t half) {
    Value start = k.mul(k.add(head, own[half]), columns);
    for (int64_t depth = 0; depth < paddedBy(sums); depth += TensorCore::columns) {
      Value column = k.add(k.mul(core.member(), 2), depth);
      ValueRange found = sums.slice(depth / 2 + half * 2, 2);
      Value left = map(found[0], half), right = map(found[1], half);
      if (columns % 2 == 0) {
        storeAt(start, column, vector::FromElementsOp::create(b, pair, ValueRange{left, right}), 2);
        continue;
      }
      storeAt(start, column, left, 1);
      storeAt(start, k.add(column, 1), right, 1);
    }
  });
}

} // namespace reprise::cuda
