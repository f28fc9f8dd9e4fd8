// reprise: emits the kernel of one loop nest: items, rows and columns
#include "NestEmitter.h"

#include "reprise/Conversion/Emission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace reprise::nests {

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

void NestEmitter::emit() {
  Scope kernel;
  for (Value element : schedule.kernelNodes)
    evaluator.value(element, kernel);
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, k.begin(), k.end());
  Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k.begin(), k.i64(0));
  emitSingles(kernel, arith::AndIOp::create(b, first, any));
  if (schedule.items == 1) {
    // The range is empty or this item.
    ifThen(b, any, [&] { emitItem(k.i64(0), kernel); });
    return;
  }
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) { emitItem(item, kernel); });
}

void NestEmitter::emitThread(Value item, Value number, Value rowMemory, int64_t placeAlignment) {
  lane = number;
  evaluator.rowMemory = rowMemory;
  evaluator.placeAlignment = placeAlignment;
  // The last block has threads to spare. All 32 of a warp come this way, or none.
  int64_t beside = lane ? reductionLanes / schedule.itemThreads : 1;
  auto isBelow = [&](int64_t end) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, item, k.i64(end)).getResult();
  };
  ifThen(b, isBelow(llvm::alignTo(schedule.items, beside)), [&] {
    Scope kernel;
    for (Value element : schedule.kernelNodes)
      evaluator.value(element, kernel);
    Value thread = lane ? k.add(k.mul(item, schedule.itemThreads), lane) : item;
    emitSingles(kernel, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, k.i64(0)));
    // A warp's exchanges take all of it, so threads without an item go along with the last one.
    if (schedule.items % beside != 0)
      isOwn = isBelow(schedule.items);
    emitItem(isOwn ? k.min(item, k.i64(schedule.items - 1)) : item, kernel);
  });
}

void NestEmitter::emitBlock(const ContractionBlock &block, Type accumulator, unsigned firstBuffer) {
  evaluator.firstBuffer = firstBuffer;
  evaluator.columnStep = block.columnStep;
  evaluator.tile = [&](Scope &scope) {
    Value row = k.mul(k.sub(rowNumber, block.row0), block.ld);
    return loadMasked(b, accumulator, block.scratch, k.add(row, scope.column), scope);
  };
  Scope kernel;
  for (Value element : schedule.kernelNodes)
    evaluator.value(element, kernel);
  outerNumber = block.batch;
  firstColumn = block.column0;
  lastColumn = block.column1;
  forLoop(k, block.row0, block.row1, k.i64(1), [&](Value number) {
    Scope row = kernel.inner();
    rowNumber = number;
    evaluator.bindRow(row, outerNumber, rowNumber);
    emitRow(row);
  });
}

void NestEmitter::ifLeader(llvm::function_ref<void()> body) {
  if (!schedule.itemThreads)
    return body();
  Value number = lane ? lane : firstColumn;
  Value isLeader = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, k.i64(0));
  if (isOwn)
    isLeader = arith::AndIOp::create(b, isLeader, isOwn);
  ifThen(b, isLeader, body);
}

void NestEmitter::emitSingles(Scope &kernel, Value isFirst) {
  auto isSingle = [](StoreOp root) { return root.getWhat() == Stored::Single && root.getBuffer(); };
  if (llvm::none_of(nest.roots, isSingle))
    return;
  ifThen(b, isFirst, [&] {
    Scope scope = kernel.inner();
    SmallVector<std::pair<StoreOp, Value>> computed;
    for (StoreOp root : llvm::make_filter_range(nest.roots, isSingle))
      computed.push_back({root, evaluator.value(root.getElement(), scope)});
    for (auto &[root, value] : computed)
      evaluator.store(root, Place(), value, scope);
  });
}

void NestEmitter::emitItem(Value item, Scope &kernel) {
  const Shape &shape = nest.shape;
  int64_t rows = shape.rowCount(), columns = shape.columnCount();
  Value columnItem = schedule.columnItems == 1 ? k.i64(0) : k.rem(item, schedule.columnItems);
  Value rest = schedule.columnItems == 1 ? item : k.div(item, schedule.columnItems);
  rowBlock = schedule.rowItems == 1 ? k.i64(0) : k.rem(rest, schedule.rowItems);
  outerNumber = schedule.rowItems == 1 ? rest : k.div(rest, schedule.rowItems);
  if (shape.outerSize() == 1) {
    rowBlock = schedule.rowItems == 1 ? k.i64(0) : rest;
    outerNumber = k.i64(0);
    if (rows == 1 && schedule.columnItems != 1)
      columnItem = item;
  }
  firstColumn = k.mul(columnItem, schedule.columnsPerItem);
  lastColumn = k.min(k.add(firstColumn, schedule.columnsPerItem), k.i64(columns));
  firstRow = k.mul(rowBlock, schedule.rowsPerItem);
  Value lastRow = k.add(firstRow, schedule.rowsPerItem);
  if (rows % schedule.rowsPerItem != 0)
    lastRow = k.min(lastRow, k.i64(rows));
  auto emitOne = [&](Value number) {
    Scope row = kernel.inner();
    rowNumber = number;
    evaluator.bindRow(row, outerNumber, rowNumber);
    emitRow(row);
  };
  if (schedule.rowsPerItem == 1)
    emitOne(firstRow);
  else if (schedule.itemThreads == 1)
    sumRows(lastRow, emitOne);
  else {
    clearRowParts();
    forLoop(k, firstRow, lastRow, k.i64(1), emitOne);
  }
}

void NestEmitter::meetOthers() {
  if (lane && schedule.itemThreads * schedule.width > reductionLanes)
    k.meetWarp();
}

/// Each warp brings what it reads itself, so there is nothing to wait for but its own copies.
void NestEmitter::fetchRow(Scope &row) {
  if (schedule.fetched.empty())
    return;
  std::pair<int64_t, int64_t> all(0, nest.shape.columnCount());
  Columns columns{firstColumn, lastColumn, schedule.width, 1, true, beforePasses, all};
  emitVectors(columns, row, {}, [&](Scope &scope, ValueRange, int64_t) {
    for (Value element : schedule.fetched)
      evaluator.fetch(element.getDefiningOp<ReadOp>(), scope);
    return Carried();
  });
  k.awaitCopies();
}

void NestEmitter::emitRow(Scope &row) {
  fetchRow(row);
  for (size_t pass = 0; pass < schedule.passes.size(); ++pass)
    emitPass(pass, row);
  SmallVector<std::pair<StoreOp, Value>> computed;
  for (StoreOp root : nest.roots)
    if (root.getWhat() == Stored::Rows && root.getBuffer())
      computed.push_back({root, evaluator.value(root.getElement(), row)});
  if (computed.empty())
    return;
  ifLeader([&] {
    for (auto &[root, value] : computed)
      evaluator.store(root, nest.rowPosition(), value, row);
  });
}

void NestEmitter::emitPass(int number, Scope &row) {
  const Pass &pass = schedule.passes[number];
  meetOthers();
  for (Value element : pass.rowNodes)
    evaluator.value(element, row);
  SmallVector<Value> operands = laneOperands(pass);
  auto stores = [&](Scope &scope) { emitStores(number, scope); };
  auto nothing = [](Scope &) {};
  if (operands.empty()) {
    emitElements(number, row);
  } else if (!pass.staged) {
    emitLaneReductions(number, row, stores,
                       [&](int i, Scope &scope) { return evaluator.value(operands[i], scope); });
  } else {
    emitElements(number, row);
    meetOthers();
    emitLaneReductions(number, row, nothing,
                       [&](int i, Scope &scope) { return evaluator.loadRow(operands[i], scope); });
  }
}

void NestEmitter::emitElements(int number, Scope &row) {
  const Pass &pass = schedule.passes[number];
  bool stores = llvm::any_of(pass.roots, [](StoreOp root) { return root.getBuffer() != nullptr; });
  if (!stores && pass.kept.empty())
    return;
  for (auto [low, high] : llvm::zip(schedule.stretches, llvm::drop_begin(schedule.stretches))) {
    Value first = firstColumn, last = lastColumn;
    if (schedule.stretches.size() > 2) {
      // The item may lie beside the stretch.
      first = b.createOrFold<arith::MaxSIOp>(first, k.i64(low));
      last = b.createOrFold<arith::MaxSIOp>(first, k.min(last, k.i64(high)));
    }
    int64_t width = schedule.width;
    bool whole = low % width == 0 && high % width == 0 && evaluator.columnStep % width == 0;
    Columns columns{first, last, width, 1, whole, number, std::pair(low, high)};
    auto store = [&](Scope &scope, ValueRange, int64_t) {
      emitStores(number, scope);
      return Carried();
    };
    if (schedule.inRuns)
      emitRuns(columns, row, store);
    else
      emitVectors(columns, row, {}, store);
  }
}

void NestEmitter::emitRuns(const Columns &columns, Scope &row, VectorBody body) {
  int64_t size = nest.shape.columns.back();
  Value end = k.div(k.add(columns.high, size - 1), size);
  forLoop(k, k.div(columns.low, size), end, k.i64(1), [&](Value number) {
    Columns run = columns;
    Value low = k.mul(number, size);
    run.low = b.createOrFold<arith::MaxSIOp>(columns.low, low);
    run.high = k.min(columns.high, k.add(low, size));
    run.whole = false;
    emitVectors(run, row, {}, body);
  });
}

void NestEmitter::bindColumn(Scope &scope, Value column) {
  scope.column = k.sub(column, firstColumn);
  evaluator.bindColumn(scope, column);
}

/// The lanes of a vector that are among the `left` ones.
static Value emitMask(ImplicitLocOpBuilder &b, int64_t width, Value left) {
  auto type = VectorType::get(width, b.getI32Type());
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, width));
  Value lanes =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  left = b.createOrFold<arith::TruncIOp>(b.getI32Type(), left);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanes, emitSplat(b, left, width));
}

Carried NestEmitter::emitStep(const Columns &columns, Value column, Value left, Scope &row,
                              ValueRange carried, VectorBody body) {
  SmallVector<Scope> scopes;
  for (int64_t number = 0; number < columns.count; ++number) {
    int64_t before = number * (columns.distance ? columns.distance : columns.width);
    Value here = left ? k.sub(left, k.i64(before)) : Value();
    std::optional<int64_t> known = here ? constantOf(here) : std::nullopt;
    if (known && *known <= 0)
      break;
    Scope scope = row.inner();
    scope.width = columns.width;
    // A single element is no vector. (LLVM 22 stores too much for a truncated vector under a
    // constant mask of one lane.)
    if (known == 1)
      scope.width = 1;
    else if (here && (!known || *known < columns.width))
      scope.mask = emitMask(b, columns.width, here);
    scope.pass = columns.pass;
    if (schedule.width > 1)
      scope.stretch = columns.stretch;
    bindColumn(scope, k.add(column, before));
    scopes.push_back(std::move(scope));
  }
  // What threads read for several vectors is on its way before the first one is stored.
  for (Scope &scope : scopes)
    if (columns.distance && columns.pass != beforePasses)
      for (Value element : schedule.passes[columns.pass].loads)
        evaluator.value(element, scope);
  Carried current(carried);
  for (auto [number, scope] : llvm::enumerate(scopes))
    current = body(scope, current, number);
  return current;
}

Carried NestEmitter::emitVectors(const Columns &columns, Scope &row, ValueRange carried,
                                 VectorBody body) {
  if (lane)
    return emitShare(columns, row, carried, body);
  if (schedule.itemThreads)
    return emitStep(columns, columns.low, Value(), row, carried, body);
  int64_t step = columns.width * columns.count;
  std::optional<int64_t> low = constantOf(columns.low), high = constantOf(columns.high);
  Value end = columns.high;
  if (low && high)
    end = k.i64(*low + std::max<int64_t>(*high - *low, 0) / step * step);
  else if (!columns.whole)
    end = k.add(columns.low,
                arith::AndIOp::create(b, k.sub(columns.high, columns.low), k.i64(-step)));
  Carried result =
      forLoop(k, columns.low, end, k.i64(step), carried, [&](Value column, ValueRange carried) {
        return emitStep(columns, column, Value(), row, carried, body);
      });
  bool always = low && high && *low < *high && (*high - *low) % step != 0;
  if (columns.whole || (low && high && !always))
    return result;
  Value left = k.sub(columns.high, end);
  if (always)
    return emitStep(columns, end, left, row, result, body);
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, columns.high);
  auto branch = scf::IfOp::create(b, ValueRange(result).getTypes(), any, !result.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Carried rest = emitStep(columns, end, left, row, result, body);
  if (result.empty())
    return result;
  scf::YieldOp::create(b, rest);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, result);
  return Carried(branch.getResults());
}

void NestEmitter::emitStores(int number, Scope &scope) {
  const Pass &pass = schedule.passes[number];
  // All that is read is read before anything is written: an output may lie where an input lay.
  SmallVector<Value> kept, stored;
  for (Value element : pass.kept)
    kept.push_back(evaluator.value(element, scope));
  for (StoreOp root : pass.roots)
    stored.push_back(root.getBuffer() ? evaluator.value(root.getElement(), scope) : Value());
  for (auto [element, value] : llvm::zip_equal(pass.kept, kept))
    evaluator.keep(element, value, scope);
  for (auto [given, made] : llvm::zip_equal(pass.roots, stored)) {
    StoreOp root = given;
    Value value = made;
    if (root.getWhat() == Stored::RowParts)
      accumulateRow(root, value, scope);
    if (root.getWhat() != Stored::Elements || !value)
      continue;
    // A thread may have an item for company only.
    auto store = [&] { evaluator.store(root, nest.position(), value, scope); };
    isOwn ? ifThen(b, isOwn, store) : store();
  }
}

} // namespace reprise::nests
