// reprise: emits the elements of a loop nest's nodes: indices, loads and stores
#include "../Lanes.h"
#include "Evaluator.h"
#include "InPlace.h"

#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise::nests {

//===-- Indices ----------------------------------------------------------------------------===//

Value Evaluator::symbol(unsigned number, Scope &scope) {
  for (const Scope *at = &scope; at; at = at->parent)
    if (auto found = at->symbols.find(number); found != at->symbols.end())
      return found->second;
  const Symbol &symbol = graph.symbols[number];
  Value result;
  if (symbol.kind == Symbol::Quotient) {
    result = k.div(index(symbol.numerator, scope), symbol.divisor);
  } else {
    assert(symbol.kind == Symbol::Indirect && "factors have values");
    Scope once = scope.scalar();
    Value wanted = emitCast(b, value(symbol.node, once), b.getI64Type());
    result = arith::MaxSIOp::create(b, wanted, k.i64(0));
    result = arith::MinSIOp::create(b, result, k.i64(symbol.size - 1));
  }
  scope.symbols[number] = result;
  return result;
}

/// Gives symbols, from `firstSymbol` on, the digits of a row-major number over factors; the number
/// is below their product.
static void bindDigits(KernelBuilder &k, Scope &scope, Value number, ArrayRef<int64_t> factors,
                       unsigned firstSymbol) {
  int64_t above = Shape::product(factors);
  for (auto [i, stride] : llvm::enumerate(rowMajorStrides(factors))) {
    Value digit = number;
    if (above != factors[i] * stride)
      digit = k.rem(digit, factors[i] * stride);
    if (stride != 1)
      digit = k.div(i == 0 ? number : digit, stride);
    scope.symbols[firstSymbol + i] = digit;
  }
}

void Evaluator::bindRow(Scope &scope, Value outer, Value row) {
  bindDigits(k, scope, outer, graph.shape.outer, 0);
  bindDigits(k, scope, row, graph.shape.rows, graph.shape.outer.size());
}

void Evaluator::bindColumn(Scope &scope, Value column) {
  const Shape &shape = graph.shape;
  bindDigits(k, scope, column, shape.columns, shape.outer.size() + shape.rows.size());
}

Value Evaluator::index(const Affine &affine, Scope &scope) {
  Value result = k.i64(affine.offset);
  for (auto [number, coefficient] : affine.terms)
    result = k.add(result, k.mul(symbol(number, scope), coefficient));
  return result;
}

std::optional<int64_t> laneStep(const Graph &graph, const Affine &affine, const Scope &scope) {
  if (scope.width == 1)
    return 0;
  for (auto [number, coefficient] : affine.terms) {
    const Symbol &symbol = graph.symbols[number];
    if (symbol.kind == Symbol::Indirect && graph.nodes[symbol.node].level >= Level::Column)
      return std::nullopt;
  }
  return affine.coefficient(graph.innermost());
}

static Value vectorOf(ImplicitLocOpBuilder &b, ArrayRef<int64_t> numbers) {
  auto type = VectorType::get(static_cast<int64_t>(numbers.size()), b.getI64Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, numbers));
}

/// An affine function in every lane.
Value Evaluator::lanes(const Affine &affine, Scope &scope) {
  Affine fixed = affine;
  Value moving;
  for (auto [number, coefficient] : affine.terms) {
    const Symbol &symbol = graph.symbols[number];
    if (symbol.kind != Symbol::Indirect || graph.nodes[symbol.node].level < Level::Column)
      continue;
    fixed = fixed.substitute(number, Affine());
    Value at = emitCast(b, value(symbol.node, scope), b.getI64Type());
    Type type = at.getType();
    at = arith::MaxSIOp::create(b, at, emitConstant(b, type, 0));
    at = arith::MinSIOp::create(b, at, emitConstant(b, type, symbol.size - 1));
    at = arith::MulIOp::create(b, at, emitConstant(b, type, coefficient));
    moving = moving ? arith::AddIOp::create(b, moving, at).getResult() : at;
  }
  SmallVector<int64_t> distances;
  for (int64_t lane = 0; lane < scope.width; ++lane)
    distances.push_back(lane * fixed.coefficient(graph.innermost()));
  Value result = arith::AddIOp::create(b, emitSplat(b, index(fixed, scope), scope.width),
                                       vectorOf(b, distances));
  return moving ? arith::AddIOp::create(b, result, moving).getResult() : result;
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

int64_t Evaluator::alignmentOf(const Affine &affine, const Scope &scope) const {
  return schedule.itemThreads && scope.width == 4 && isAligned(affine, scope) ? 4 : 1;
}

/// Whether a GPU may load the elements ahead of any store, since none is to the same place.
static bool isConstant(const Graph &graph, const Schedule &schedule, const Node &load) {
  const BufferSlot &slot = graph.buffers[load.buffer];
  return schedule.itemThreads && slot.kind == BufferSlot::Input &&
         !mayBeOverwritten(graph, schedule, slot.index);
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

Value Evaluator::computeLoad(const Node &node, Scope &scope) {
  Value base = buffer(node.buffer);
  std::optional<int64_t> step = laneStep(graph, node.index, scope);
  if (scope.width == 1 || step == 1)
    return loadMasked(b, node.type, base, index(node.index, scope), scope,
                      alignmentOf(node.index, scope), isConstant(graph, schedule, node));
  if (step == 0) {
    Scope once = scope.scalar();
    Value element = loadMasked(b, node.type, base, index(node.index, once), once, 1,
                               isConstant(graph, schedule, node));
    return emitSplat(b, element, scope.width);
  }
  return gather(b, node.type, base, lanes(node.index, scope), scope);
}

void Evaluator::store(const Root &root, const Affine &position, Value value, Scope &scope) {
  Type type = graph.nodes[root.node].type;
  storeMasked(b, type, value, buffer(root.buffer), index(position, scope), scope,
              alignmentOf(position, scope));
}

Value Evaluator::scratch(int64_t offset) {
  return emitAddress(b, b.getI8Type(), k.workspace(), k.i64(offset));
}

/// Scratch of a worker holds the type of arithmetic, a row's memory that of the node.
std::pair<Value, Type> Evaluator::keptRow(int number) {
  int64_t offset = schedule.kept.find(number)->second.offset;
  Type type = graph.nodes[number].type;
  if (!rowMemory)
    return {scratch(offset), getComputeType(type)};
  return {emitAddress(b, b.getI8Type(), rowMemory, k.i64(offset)), type};
}

void Evaluator::keep(int number, Value value, Scope &scope) {
  auto [row, type] = keptRow(number);
  storeMasked(b, type, value, row, scope.column, scope, rowMemory ? scope.width : 1);
}

Value Evaluator::loadRow(int number, const Scope &scope) {
  auto [row, type] = keptRow(number);
  return loadMasked(b, type, row, scope.column, scope, rowMemory ? scope.width : 1);
}

/// Copies are of 4, 8 or 16 bytes, from a multiple of that. What is not goes through registers.
void Evaluator::fetch(int number, Scope &scope) {
  const Node &node = graph.nodes[number];
  auto [row, type] = keptRow(number);
  int64_t aligned = alignmentOf(node.index, scope);
  int64_t bytes = scope.width * bytesOf(type);
  if (aligned < scope.width || placeAlignment % bytes != 0 || bytes < 4 || bytes > 16)
    return keep(number, computeLoad(node, scope), scope);
  Type stored = storedType(type);
  Value from = emitAddress(b, stored, buffer(node.buffer), index(node.index, scope));
  k.copyAsync(emitAddress(b, stored, row, scope.column), from, bytes);
}

Value Evaluator::loadKept(int number, const Kept &kept, Scope &scope) {
  if (kept.root < 0)
    return loadRow(number, scope);
  return loadMasked(b, graph.nodes[number].type, buffer(graph.roots[kept.root].buffer),
                    index(graph.position(), scope), scope, alignmentOf(graph.position(), scope));
}

} // namespace reprise::nests
