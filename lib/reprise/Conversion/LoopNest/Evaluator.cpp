// reprise: emits the elements of a loop nest's nodes: arithmetic
#include "Evaluator.h"

#include "reprise/Conversion/Elementary.h"
#include "reprise/Conversion/Emission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace reprise::nests {

Scope Scope::inner() const {
  Scope scope;
  scope.parent = this;
  scope.width = width;
  scope.mask = mask;
  scope.pass = pass;
  scope.column = column;
  scope.stretch = stretch;
  return scope;
}

Scope Scope::scalar() const {
  Scope scope = inner();
  scope.width = 1;
  scope.mask = nullptr;
  return scope;
}

/// The type of a node's values in a scope.
static Type typeIn(Type elementType, const Scope &scope) {
  return typeOfLanes(getComputeType(elementType), scope.width);
}

static Value computeConstant(ImplicitLocOpBuilder &b, const Node &node, const Scope &scope) {
  Type type = getComputeType(node.type);
  TypedAttr attribute;
  if (auto number = dyn_cast<FloatAttr>(node.value)) {
    APFloat wide = number.getValue();
    bool loses;
    wide.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    attribute = b.getFloatAttr(type, wide);
  } else {
    attribute = b.getIntegerAttr(type, cast<IntegerAttr>(node.value).getValue());
  }
  if (scope.width != 1)
    attribute = DenseElementsAttr::get(VectorType::get(scope.width, type), Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

Value Evaluator::value(int number, Scope &scope) {
  for (const Scope *at = &scope; at; at = at->parent) {
    auto found = at->nodes.find(number);
    if (found != at->nodes.end() && at->width == scope.width)
      return found->second;
    auto splat = at->splats.find(number);
    if (splat != at->splats.end() && at->width == scope.width)
      return splat->second;
    if (found == at->nodes.end() || at->width != 1)
      continue;
    return scope.splats[number] = emitSplat(b, found->second, scope.width);
  }
  if (scope.width != 1 && graph.nodes[number].level < Level::Column) {
    Scope once = scope.scalar();
    Value scalar = value(number, once);
    return scope.splats[number] = emitSplat(b, scalar, scope.width);
  }
  Value result = compute(number, scope);
  scope.nodes[number] = result;
  return result;
}

Value Evaluator::compute(int number, Scope &scope) {
  const Node &node = graph.nodes[number];
  auto kept = schedule.kept.find(number);
  if (kept != schedule.kept.end() && node.level >= Level::Column && kept->second.pass < scope.pass)
    return loadKept(number, kept->second, scope);
  switch (node.kind) {
  case Node::Constant:
    return computeConstant(b, node, scope);
  case Node::Load:
    return computeLoad(node, scope);
  case Node::Index:
    return computeIndex(node, scope);
  case Node::Compute:
    return computeArithmetic(node, scope);
  case Node::Draw:
    return computeDraw(node, scope);
  case Node::Choice:
    return computeChoice(node, scope);
  case Node::Sequence:
    return computeSequence(node, scope);
  case Node::Fold:
    return computeFold(node, scope);
  case Node::Tile:
    return emitRoundTo(b, tile(scope), node.type); // the rounding of the contraction;
  case Node::Reduce:
    break;
  }
  llvm_unreachable("a reduction is over before its result is asked for");
}

Value Evaluator::computeArithmetic(const Node &node, Scope &scope) {
  SmallVector<Value> operands;
  for (int operand : node.operands)
    operands.push_back(value(operand, scope));
  return emitRoundTo(b, cast<EmissionOpInterface>(node.op).emitElement(b, operands), node.type);
}

Value Evaluator::computeIndex(const Node &node, Scope &scope) {
  // Numbers below 2^31 convert faster.
  int64_t highest = node.index.offset;
  for (auto [symbol, coefficient] : node.index.terms)
    highest += coefficient * (graph.symbols[symbol].size - 1);
  bool isSmall = highest <= INT32_MAX && !node.type.isInteger(64);
  std::optional<int64_t> step = laneStep(graph, node.index, scope);
  Value result;
  if (scope.width == 1 || !step) {
    result = scope.width == 1 ? index(node.index, scope) : lanes(node.index, scope);
    if (isSmall)
      result = emitCast(b, result, b.getI32Type());
  } else {
    Value first = index(node.index, scope);
    Type type = isSmall ? b.getI32Type() : b.getI64Type();
    if (isSmall)
      first = arith::TruncIOp::create(b, type, first);
    auto vector = VectorType::get(scope.width, type);
    SmallVector<Attribute> distances;
    for (int64_t lane = 0; lane < scope.width; ++lane)
      distances.push_back(b.getIntegerAttr(type, lane * *step));
    Value distance = arith::ConstantOp::create(b, DenseElementsAttr::get(vector, distances));
    result = arith::AddIOp::create(b, emitSplat(b, first, scope.width), distance);
  }
  result = emitCast(b, result, node.type);
  return emitCast(b, result, getComputeType(node.type));
}

bool Evaluator::isAligned(const Affine &affine, const Scope &scope) const {
  unsigned lane = graph.innermost();
  // A vector starts at a multiple of its width after the start of a stretch.
  if (schedule.inRuns || affine.offset % 4 != 0 || columnStep % 4 != 0 ||
      (scope.stretch && scope.stretch->first % 4 != 0))
    return false;
  return llvm::all_of(affine.terms, [&](auto term) {
    return term.second % 4 == 0 || (term.first == lane && term.second == 1);
  });
}

Value Evaluator::computeDraw(const Node &node, Scope &scope) {
  auto random = cast<RandomOpInterface>(node.op);
  Scope once = scope.scalar();
  DrawPosition position;
  position.stream = value(node.operands[0], once);
  position.seed = value(node.operands[1], once);
  position.width = scope.width;
  Value global = index(node.index, scope);
  size_t next = 3;
  // Positions in a stream are numbers of 64 bits.
  auto addWide = [&](Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); };
  position.aligned = isAligned(node.index, scope);
  position.words = schedule.itemThreads ? WordWidth::Narrow : WordWidth::Wide;
  if (random.getOriginOperand()) {
    position.aligned = false;
    for (int64_t stride : rowMajorStrides(random.getDrawnGlobalShape()))
      global = addWide(
          global, b.createOrFold<arith::MulIOp>(value(node.operands[next++], once), k.i64(stride)));
  }
  position.first = addWide(value(node.operands[2], once), global);
  position.step = laneStep(graph, node.index, scope).value_or(0);
  Value operand = next < node.operands.size() ? value(node.operands[next], scope) : Value();
  return emitRoundTo(b, emitDraw(b, random, position, operand), node.type);
}

//===-- Choices ----------------------------------------------------------------------------===//

/// Whether a condition holds, if that is known now.
static std::optional<bool> decide(const Graph &graph, const Condition &condition,
                                  const Scope &scope) {
  if (condition.index.isConstant() && condition.multiple == 1)
    return condition.lower <= condition.index.offset && condition.index.offset < condition.upper;
  if (!scope.stretch || !condition.index.coefficient(graph.innermost()))
    return std::nullopt;
  // The stretch lies on one side of each bound.
  int64_t first = scope.stretch->first + condition.index.offset;
  return condition.lower <= first && first < condition.upper;
}

/// Tests a condition of a nest's place `at`.
static Value test(KernelBuilder &k, const Condition &condition, Value at) {
  ImplicitLocOpBuilder &b = k.b;
  Value distance = k.sub(at, k.i64(condition.lower));
  // As a number without sign, what lies below is above everything.
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, distance,
                                       k.i64(condition.upper - condition.lower));
  if (condition.multiple == 1)
    return inside;
  Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      k.rem(distance, condition.multiple), k.i64(0));
  return arith::AndIOp::create(b, inside, whole);
}

Value Evaluator::computeChoice(const Node &node, Scope &scope) {
  if (std::optional<bool> inside = decide(graph, *node.condition, scope))
    return value(node.operands[*inside ? 0 : 1], scope);
  Value condition = test(k, *node.condition, index(node.condition->index, scope));
  auto branch = scf::IfOp::create(b, TypeRange{typeIn(node.type, scope)}, condition, true);
  for (auto [block, operand] : {std::pair(branch.thenBlock(), node.operands[0]),
                                std::pair(branch.elseBlock(), node.operands[1])}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Scope inner = scope.inner();
    scf::YieldOp::create(b, value(operand, inner));
  }
  return branch.getResult(0);
}

//===-- Reductions -------------------------------------------------------------------------===//

Value finishReduction(ImplicitLocOpBuilder &b, const Node &node, Value value) {
  if (isa<MeanOp>(node.op)) {
    int64_t count = getReductionInfo(cast<ReductionOpInterface>(node.op), {}).reduced;
    value = arith::DivFOp::create(b, value,
                                  emitConstant(b, value.getType(), static_cast<double>(count)));
  }
  return emitRoundTo(b, value, node.type);
}

Value Evaluator::computeSequence(const Node &node, Scope &scope) {
  ReductionKind kind = cast<ReductionOpInterface>(node.op).getReductionKind();
  // At most one block of the canonical order: one chain.
  Scope inner = scope.inner();
  std::function<Value(ArrayRef<unsigned>, Value)> run = [&](ArrayRef<unsigned> symbols, Value sum) {
    if (symbols.empty()) {
      Scope element = inner.inner();
      return emitCombine(b, kind, sum, value(node.operands[0], element));
    }
    auto result = forLoop(k, k.i64(0), k.i64(graph.symbols[symbols[0]].size), k.i64(1), sum,
                          [&](Value i, ValueRange carried) {
                            inner.symbols[symbols[0]] = i;
                            return Carried{run(symbols.drop_front(), carried[0])};
                          });
    return result[0];
  };
  Value sum = run(node.symbols, emitIdentity(b, kind, typeIn(node.type, scope)));
  return finishReduction(b, node, sum);
}

Value Evaluator::computeFold(const Node &node, Scope &scope) {
  ReductionKind kind = cast<ReductionOpInterface>(node.op).getReductionKind();
  Type type = getComputeType(node.type);
  Value base = buffer(node.buffer), first = index(node.index, scope);
  int64_t aligned = node.stride % 4 == 0 ? alignmentOf(node.index, scope) : 1;
  auto placeOf = [&](Value part) { return k.add(first, k.mul(part, node.stride)); };
  auto fold = [&](Value part, int64_t distance, int64_t count) {
    SmallVector<Value> sums;
    for (int64_t i = 0; i < count; ++i) {
      Value at = k.add(placeOf(part), k.i64(i * distance * node.stride));
      sums.push_back(loadMasked(b, type, base, at, scope, aligned));
    }
    for (int64_t step = 1; step < count; step *= 2)
      for (int64_t i = 0; i + step < count; i += 2 * step)
        sums[i] = emitCombine(b, kind, sums[i], sums[i + step]);
    return sums[0];
  };
  auto meet = [&](Value part, int64_t distance, int64_t count) {
    Value sum = fold(part, distance, count);
    storeMasked(b, type, sum, base, placeOf(part), scope, aligned);
  };
  // Level by level: part i takes in part i + distance. A thread has several levels of neighbours in
  // registers, so that many parts are on their way at once.
  int64_t most = !schedule.itemThreads ? 2 : scope.width == 1 ? 32 : 8;
  int64_t distance = 1, left = node.parts;
  for (; left > most; distance *= most, left = llvm::divideCeil(left, most)) {
    int64_t whole = left / most, rest = left % most;
    forLoop(k, k.i64(0), k.i64(whole), k.i64(1),
            [&](Value number) { meet(k.mul(number, most * distance), distance, most); });
    if (rest > 1)
      meet(k.i64(whole * most * distance), distance, rest);
  }
  return finishReduction(b, node, fold(k.i64(0), distance, left));
}

} // namespace reprise::nests
