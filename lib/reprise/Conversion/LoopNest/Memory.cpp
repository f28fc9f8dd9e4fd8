// reprise: emits the elements of a loop nest: indices, loads and stores
#include "../Lanes.h"
#include "Evaluator.h"
#include "InPlace.h"

#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise::nests {

//===-- Indices ----------------------------------------------------------------------------===//

static Value symbol(const Evaluator &e, Value index, Scope &scope) {
  for (const Scope *at = &scope; at; at = at->parent)
    if (auto found = at->symbols.find(index); found != at->symbols.end())
      return found->second;
  Value result;
  if (auto quotient = index.getDefiningOp<QuotientOp>()) {
    result = e.k.div(e.index(quotient.getPlace(), scope), quotient.getDivisor());
  } else {
    auto position = index.getDefiningOp<PositionOp>();
    Scope once = scope.scalar();
    Value wanted = emitCast(e.b, e.value(position.getElement(), once), e.b.getI64Type());
    result = arith::MaxSIOp::create(e.b, wanted, e.k.i64(0));
    result = arith::MinSIOp::create(e.b, result, e.k.i64(position.getSize() - 1));
  }
  scope.symbols[index] = result;
  return result;
}

/// Gives loops, from number `first` on, the digits of a row-major number over factors; the number
/// is below their product.
static void bindDigits(KernelBuilder &k, const Nest &nest, Scope &scope, Value number,
                       ArrayRef<int64_t> factors, size_t first) {
  int64_t above = Shape::product(factors);
  for (auto [i, stride] : llvm::enumerate(rowMajorStrides(factors))) {
    Value digit = number;
    if (above != factors[i] * stride)
      digit = k.rem(digit, factors[i] * stride);
    if (stride != 1)
      digit = k.div(i == 0 ? number : digit, stride);
    scope.symbols[nest.loop(first + i)] = digit;
  }
}

void Evaluator::bindRow(Scope &scope, Value outer, Value row) const {
  bindDigits(k, nest, scope, outer, nest.shape.outer, 0);
  bindDigits(k, nest, scope, row, nest.shape.rows, nest.shape.outer.size());
}

void Evaluator::bindColumn(Scope &scope, Value column) const {
  bindDigits(k, nest, scope, column, nest.shape.columns, nest.shape.firstColumn());
}

Value Evaluator::index(const Place &place, Scope &scope) const {
  Value result = k.i64(place.offset);
  for (auto [index, coefficient] : place.terms)
    result = k.add(result, k.mul(symbol(*this, index, scope), coefficient));
  return result;
}

/// The position that lanes have each for itself; null for other indices.
static PositionOp asMoving(const Nest &nest, Value index) {
  auto position = index.getDefiningOp<PositionOp>();
  return position && nest.levelOf(position.getElement()) >= Level::Column ? position : nullptr;
}

std::optional<int64_t> laneStep(const Nest &nest, const Place &place, const Scope &scope) {
  if (scope.width == 1)
    return 0;
  for (auto [index, coefficient] : place.terms)
    if (asMoving(nest, index))
      return std::nullopt;
  return place.coefficient(nest.innermost());
}

static Value vectorOf(ImplicitLocOpBuilder &b, ArrayRef<int64_t> numbers) {
  auto type = VectorType::get(static_cast<int64_t>(numbers.size()), b.getI64Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, numbers));
}

/// A place in every lane.
Value lanes(const Evaluator &e, const Place &place, Scope &scope) {
  Place fixed;
  fixed.offset = place.offset;
  Value moving;
  for (auto [index, coefficient] : place.terms) {
    PositionOp position = asMoving(e.nest, index);
    if (!position) {
      fixed.terms.push_back({index, coefficient});
      continue;
    }
    Value at = emitCast(e.b, e.value(position.getElement(), scope), e.b.getI64Type());
    Type type = at.getType();
    at = arith::MaxSIOp::create(e.b, at, emitConstant(e.b, type, 0));
    at = arith::MinSIOp::create(e.b, at, emitConstant(e.b, type, position.getSize() - 1));
    at = arith::MulIOp::create(e.b, at, emitConstant(e.b, type, coefficient));
    moving = moving ? arith::AddIOp::create(e.b, moving, at).getResult() : at;
  }
  SmallVector<int64_t> distances;
  for (int64_t lane = 0; lane < scope.width; ++lane)
    distances.push_back(lane * fixed.coefficient(e.nest.innermost()));
  Value result = arith::AddIOp::create(e.b, emitSplat(e.b, e.index(fixed, scope), scope.width),
                                       vectorOf(e.b, distances));
  return moving ? arith::AddIOp::create(e.b, result, moving).getResult() : result;
}

//===-- Memory -----------------------------------------------------------------------------===//

/// Elements in memory: 16-bit floats as integers, since vectors of them fare badly in masked
/// operations.
static Type storedType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (type.isF16() || type.isBF16())
    return IntegerType::get(type.getContext(), 16);
  return type;
}

/// The loaded value in the type of arithmetic.
static Value fromStored(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (type.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                 emitConstant(b, value.getType(), 0));
  if (storedType(type) == type)
    return value;
  return emitCast(b, arith::BitcastOp::create(b, shapedAs(value.getType(), type), value),
                  getComputeType(type));
}

/// The reverse; 16-bit floats are rounded already.
static Value toStored(ImplicitLocOpBuilder &b, Value value, Type type) {
  Type stored = storedType(type);
  if (type.isInteger(1))
    return arith::ExtUIOp::create(b, shapedAs(value.getType(), stored), value);
  if (type.isF16()) {
    value = arith::TruncFOp::create(b, shapedAs(value.getType(), type), value);
    return arith::BitcastOp::create(b, shapedAs(value.getType(), stored), value);
  }
  if (!type.isBF16())
    return value;
  Type i32 = shapedAs(value.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i32, value);
  bits = arith::ShRUIOp::create(b, bits, emitConstant(b, i32, 16));
  return arith::TruncIOp::create(b, shapedAs(value.getType(), stored), bits);
}

int64_t alignmentOf(const Evaluator &e, const Place &place, const Scope &scope) {
  return e.schedule.itemThreads && scope.width == 4 && isAligned(e, place, scope) ? 4 : 1;
}

/// True if a GPU may load the elements before any store, since no store writes to their place.
static bool isConstant(const Nest &nest, const Schedule &schedule, ReadOp read) {
  const BufferSlot &slot = nest.buffers[nest.kernel.numberOf(read.getBuffer())];
  return schedule.itemThreads && slot.kind == BufferSlot::Input &&
         !mayBeOverwritten(nest, schedule, slot.index);
}

Value loadMasked(ImplicitLocOpBuilder &b, Type type, Value base, Value index, const Scope &scope,
                 int64_t elements, bool isConstant) {
  Type stored = storedType(type), loaded = typeOfLanes(stored, scope.width);
  unsigned alignment = bytesOf(type) * elements;
  Value pointer = emitAddress(b, stored, base, index), value;
  if (scope.mask)
    value = LLVM::MaskedLoadOp::create(b, loaded, pointer, scope.mask, emitConstant(b, loaded, 0),
                                       alignment);
  else
    value = LLVM::LoadOp::create(b, loaded, pointer, alignment, /*isVolatile=*/false,
                                 /*isNonTemporal=*/false, isConstant);
  return fromStored(b, value, type);
}

void storeMasked(ImplicitLocOpBuilder &b, Type type, Value value, Value base, Value index,
                 const Scope &scope, int64_t elements) {
  unsigned alignment = bytesOf(type) * elements;
  value = toStored(b, value, type);
  Value pointer = emitAddress(b, storedType(type), base, index);
  if (scope.mask)
    LLVM::MaskedStoreOp::create(b, value, pointer, scope.mask, alignment);
  else
    LLVM::StoreOp::create(b, value, pointer, alignment);
}

static Value gather(ImplicitLocOpBuilder &b, Type type, Value base, Value indices,
                    const Scope &scope) {
  Type stored = storedType(type);
  auto pointers = VectorType::get(scope.width, base.getType());
  Value pointer = LLVM::GEPOp::create(b, pointers, stored, base, ArrayRef<LLVM::GEPArg>{indices});
  Type loaded = VectorType::get(scope.width, stored);
  Value mask = scope.mask;
  if (!mask)
    mask = emitConstant(b, VectorType::get(scope.width, b.getI1Type()), 1);
  Value value = LLVM::masked_gather::create(b, loaded, pointer, mask, emitConstant(b, loaded, 0),
                                            bytesOf(type));
  return fromStored(b, value, type);
}

Value compute(const Evaluator &e, ReadOp read, Scope &scope) {
  Value base = e.buffer(read.getBuffer());
  Place place = read.getPlace();
  Type type = typeOf(read);
  std::optional<int64_t> step = laneStep(e.nest, place, scope);
  if (scope.width == 1 || step == 1)
    return loadMasked(e.b, type, base, e.index(place, scope), scope, alignmentOf(e, place, scope),
                      isConstant(e.nest, e.schedule, read));
  if (step == 0) {
    Scope once = scope.scalar();
    Value element = loadMasked(e.b, type, base, e.index(place, once), once, 1,
                               isConstant(e.nest, e.schedule, read));
    return emitSplat(e.b, element, scope.width);
  }
  return gather(e.b, type, base, lanes(e, place, scope), scope);
}

void Evaluator::store(StoreOp root, const Place &place, Value value, Scope &scope) const {
  storeMasked(b, typeOf(root.getElement()), value, buffer(root.getBuffer()), index(place, scope),
              scope, alignmentOf(*this, place, scope));
}

Value Evaluator::scratch(int64_t offset) const {
  return emitAddress(b, b.getI8Type(), k.workspace(), k.i64(offset));
}

/// Scratch of a worker holds the type of arithmetic, a row's memory that of the element.
static std::pair<Value, Type> keptRow(const Evaluator &e, Value element) {
  int64_t offset = e.schedule.kept.find(element)->second.offset;
  Type type = typeOf(element);
  if (!e.rowMemory)
    return {e.scratch(offset), getComputeType(type)};
  return {emitAddress(e.b, e.b.getI8Type(), e.rowMemory, e.k.i64(offset)), type};
}

void Evaluator::keep(Value element, Value value, Scope &scope) const {
  auto [row, type] = keptRow(*this, element);
  storeMasked(b, type, value, row, scope.column, scope, rowMemory ? scope.width : 1);
}

Value Evaluator::loadRow(Value element, const Scope &scope) const {
  auto [row, type] = keptRow(*this, element);
  return loadMasked(b, type, row, scope.column, scope, rowMemory ? scope.width : 1);
}

/// Copies are of 4, 8 or 16 bytes, from a multiple of that. What is not goes through registers.
void Evaluator::fetch(ReadOp read, Scope &scope) const {
  Place place = read.getPlace();
  auto [row, type] = keptRow(*this, read);
  int64_t aligned = alignmentOf(*this, place, scope);
  int64_t bytes = scope.width * bytesOf(type);
  if (aligned < scope.width || placeAlignment % bytes != 0 || bytes < 4 || bytes > 16)
    return keep(read, compute(*this, read, scope), scope);
  Type stored = storedType(type);
  Value from = emitAddress(b, stored, buffer(read.getBuffer()), index(place, scope));
  k.copyAsync(emitAddress(b, stored, row, scope.column), from, bytes);
}

Value loadKept(const Evaluator &e, Value element, const Kept &kept, Scope &scope) {
  if (!kept.root)
    return e.loadRow(element, scope);
  return loadMasked(e.b, typeOf(element), e.buffer(StoreOp(kept.root).getBuffer()),
                    e.index(e.nest.position(), scope), scope,
                    alignmentOf(e, e.nest.position(), scope));
}

} // namespace reprise::nests
