// reprise: emits the elements of a loop nest: arithmetic
#include "Evaluator.h"

#include "reprise/Conversion/Elementary.h"
#include "reprise/Conversion/Emission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

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

/// The type of an element's values in a scope.
static Type typeIn(Type elementType, const Scope &scope) {
  return typeOfLanes(getComputeType(elementType), scope.width);
}

static Value compute(const Evaluator &e, ConstantOp op, Scope &scope) {
  Attribute value = cast<DenseElementsAttr>(op.getValue()).getSplatValue<Attribute>();
  Type type = getComputeType(typeOf(op));
  TypedAttr attribute;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat wide = number.getValue();
    bool loses;
    wide.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    attribute = e.b.getFloatAttr(type, wide);
  } else {
    attribute = e.b.getIntegerAttr(type, cast<IntegerAttr>(value).getValue());
  }
  if (scope.width != 1)
    attribute = DenseElementsAttr::get(VectorType::get(scope.width, type), Attribute(attribute));
  return arith::ConstantOp::create(e.b, attribute);
}

static Value compute(const Evaluator &e, EmissionOpInterface op, Scope &scope) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(e.value(operand, scope));
  return emitRoundTo(e.b, op.emitElement(e.b, operands), typeOf(op->getResult(0)));
}

/// The size of an index's range.
static int64_t sizeOf(const Nest &nest, Value index) {
  if (auto position = index.getDefiningOp<PositionOp>())
    return position.getSize();
  if (auto quotient = index.getDefiningOp<QuotientOp>())
    return quotient.getSize();
  if (std::optional<size_t> loop = nest.loopNumber(index))
    return nest.shape.factors()[*loop];
  auto step = cast<BlockArgument>(index);
  return cast<SequenceOp>(step.getOwner()->getParentOp()).getSizes()[step.getArgNumber()];
}

static Value compute(const Evaluator &e, NumberOp number, Scope &scope) {
  Place place = number.getPlace();
  Type elementType = typeOf(number);
  // Numbers below 2^31 convert faster.
  int64_t highest = place.offset;
  for (auto [index, coefficient] : place.terms)
    highest += coefficient * (sizeOf(e.nest, index) - 1);
  bool isSmall = highest <= INT32_MAX && !elementType.isInteger(64);
  std::optional<int64_t> step = laneStep(e.nest, place, scope);
  Value result;
  if (scope.width == 1 || !step) {
    result = scope.width == 1 ? e.index(place, scope) : lanes(e, place, scope);
    if (isSmall)
      result = emitCast(e.b, result, e.b.getI32Type());
  } else {
    Value first = e.index(place, scope);
    Type type = isSmall ? e.b.getI32Type() : e.b.getI64Type();
    if (isSmall)
      first = arith::TruncIOp::create(e.b, type, first);
    auto vector = VectorType::get(scope.width, type);
    SmallVector<Attribute> distances;
    for (int64_t lane = 0; lane < scope.width; ++lane)
      distances.push_back(e.b.getIntegerAttr(type, lane * *step));
    Value distance = arith::ConstantOp::create(e.b, DenseElementsAttr::get(vector, distances));
    result = arith::AddIOp::create(e.b, emitSplat(e.b, first, scope.width), distance);
  }
  result = emitCast(e.b, result, elementType);
  return emitCast(e.b, result, getComputeType(elementType));
}

bool isAligned(const Evaluator &e, const Place &place, const Scope &scope) {
  // A vector starts at a multiple of its width after the start of a stretch.
  if (e.schedule.inRuns || place.offset % 4 != 0 || e.columnStep % 4 != 0 ||
      (scope.stretch && scope.stretch->first % 4 != 0))
    return false;
  return llvm::all_of(place.terms, [&](auto term) {
    return term.second % 4 == 0 || (term.first == e.nest.innermost() && term.second == 1);
  });
}

static Value compute(const Evaluator &e, DrawOp draw, Scope &scope) {
  Place place = draw.getPlace();
  Scope once = scope.scalar();
  DrawPosition position;
  position.stream = e.value(draw.getStream(), once);
  position.seed = e.value(draw.getSeed(), once);
  position.width = scope.width;
  Value global = e.index(place, scope);
  // Positions in a stream are numbers of 64 bits.
  auto addWide = [&](Value x, Value y) { return e.b.createOrFold<arith::AddIOp>(x, y); };
  position.aligned = isAligned(e, place, scope) && !draw.getGlobal();
  position.words = e.schedule.itemThreads ? WordWidth::Narrow : WordWidth::Wide;
  if (draw.getGlobal())
    for (auto [start, stride] :
         llvm::zip_equal(draw.getOrigin(), rowMajorStrides(*draw.getGlobal())))
      global =
          addWide(global, e.b.createOrFold<arith::MulIOp>(e.value(start, once), e.k.i64(stride)));
  position.first = addWide(e.value(draw.getOffset(), once), global);
  position.step = laneStep(e.nest, place, scope).value_or(0);
  Value operand = draw.getElement() ? e.value(draw.getElement(), scope) : Value();
  return emitRoundTo(e.b, emitDraw(e.b, draw.getOp(), position, operand), typeOf(draw));
}

//===-- Choices ----------------------------------------------------------------------------===//

/// Returns whether the chosen element is the inner one; none if this is known at run time only.
static std::optional<bool> decide(const Nest &nest, ChooseOp choose, const Scope &scope) {
  Place place = choose.getPlace();
  auto isInside = [&](int64_t at) {
    return static_cast<int64_t>(choose.getLower()) <= at &&
           at < static_cast<int64_t>(choose.getUpper());
  };
  if (place.isConstant() && choose.getStep() == 1)
    return isInside(place.offset);
  if (!scope.stretch || !place.coefficient(nest.innermost()))
    return std::nullopt;
  // The stretch lies on one side of each bound.
  return isInside(scope.stretch->first + place.offset);
}

/// Tests whether the element is the inner one at the place `at`.
static Value test(KernelBuilder &k, ChooseOp choose, Value at) {
  ImplicitLocOpBuilder &b = k.b;
  auto lower = static_cast<int64_t>(choose.getLower());
  Value distance = k.sub(at, k.i64(lower));
  // As a number without sign, what lies below is above everything.
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, distance,
                                       k.i64(static_cast<int64_t>(choose.getUpper()) - lower));
  if (choose.getStep() == 1)
    return inside;
  Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      k.rem(distance, choose.getStep()), k.i64(0));
  return arith::AndIOp::create(b, inside, whole);
}

static Value compute(const Evaluator &e, ChooseOp choose, Scope &scope) {
  if (std::optional<bool> inside = decide(e.nest, choose, scope))
    return e.value(*inside ? choose.getInside() : choose.getOutside(), scope);
  Value condition = test(e.k, choose, e.index(choose.getPlace(), scope));
  auto branch = scf::IfOp::create(e.b, TypeRange{typeIn(typeOf(choose), scope)}, condition, true);
  for (auto [block, operand] : {std::pair(branch.thenBlock(), Value(choose.getInside())),
                                std::pair(branch.elseBlock(), Value(choose.getOutside()))}) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(block);
    Scope inner = scope.inner();
    scf::YieldOp::create(e.b, e.value(operand, inner));
  }
  return branch.getResult(0);
}

//===-- Reductions -------------------------------------------------------------------------===//

Value finishReduction(ImplicitLocOpBuilder &b, std::optional<uint64_t> over, Type type,
                      Value value) {
  if (over)
    value = arith::DivFOp::create(b, value,
                                  emitConstant(b, value.getType(), static_cast<double>(*over)));
  return emitRoundTo(b, value, type);
}

static Value compute(const Evaluator &e, SequenceOp sequence, Scope &scope) {
  ReductionKind kind = kindOf(sequence.getFold());
  // At most one block of the canonical order: one chain.
  Scope inner = scope.inner();
  Block &steps = sequence.getBody().front();
  std::function<Value(unsigned, Value)> run = [&](unsigned step, Value sum) {
    if (step == steps.getNumArguments()) {
      Scope element = inner.inner();
      return emitCombine(e.b, kind, sum, e.value(sequence.getElement(), element));
    }
    auto result = forLoop(e.k, e.k.i64(0), e.k.i64(sequence.getSizes()[step]), e.k.i64(1), sum,
                          [&](Value i, ValueRange carried) {
                            inner.symbols[steps.getArgument(step)] = i;
                            return Carried{run(step + 1, carried[0])};
                          });
    return result[0];
  };
  Type type = typeOf(sequence);
  Value sum = run(0, emitIdentity(e.b, kind, typeIn(type, scope)));
  return finishReduction(e.b, sequence.getOver(), type, sum);
}

static Value compute(const Evaluator &e, MeetOp op, Scope &scope) {
  ReductionKind kind = kindOf(op.getFold());
  Type type = getComputeType(typeOf(op));
  Place place = op.getPlace();
  auto stride = static_cast<int64_t>(op.getStride());
  Value base = e.buffer(op.getBuffer()), first = e.index(place, scope);
  int64_t aligned = stride % 4 == 0 ? alignmentOf(e, place, scope) : 1;
  auto placeOf = [&](Value part) { return e.k.add(first, e.k.mul(part, stride)); };
  auto fold = [&](Value part, int64_t distance, int64_t count) {
    SmallVector<Value> sums;
    for (int64_t i = 0; i < count; ++i) {
      Value at = e.k.add(placeOf(part), e.k.i64(i * distance * stride));
      sums.push_back(loadMasked(e.b, type, base, at, scope, aligned));
    }
    for (int64_t step = 1; step < count; step *= 2)
      for (int64_t i = 0; i + step < count; i += 2 * step)
        sums[i] = emitCombine(e.b, kind, sums[i], sums[i + step]);
    return sums[0];
  };
  auto meet = [&](Value part, int64_t distance, int64_t count) {
    Value sum = fold(part, distance, count);
    storeMasked(e.b, type, sum, base, placeOf(part), scope, aligned);
  };
  // Level by level: part i takes in part i + distance. A thread has several levels of neighbours in
  // registers, so that many parts are on their way at once.
  int64_t most = !e.schedule.itemThreads ? 2 : scope.width == 1 ? 32 : 8;
  int64_t distance = 1, left = op.getParts();
  for (; left > most; distance *= most, left = llvm::divideCeil(left, most)) {
    int64_t whole = left / most, rest = left % most;
    forLoop(e.k, e.k.i64(0), e.k.i64(whole), e.k.i64(1),
            [&](Value number) { meet(e.k.mul(number, most * distance), distance, most); });
    if (rest > 1)
      meet(e.k.i64(whole * most * distance), distance, rest);
  }
  return finishReduction(e.b, op.getOver(), typeOf(op), fold(e.k.i64(0), distance, left));
}

//===-- Elements ---------------------------------------------------------------------------===//

static Value compute(const Evaluator &e, Operation *op, Scope &scope) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      // The rounding is that of the contraction.
      .Case([&](TileOp op) { return emitRoundTo(e.b, e.tile(scope), typeOf(op)); })
      .Case<ReadOp, NumberOp, DrawOp, ChooseOp, SequenceOp, MeetOp, ConstantOp,
            EmissionOpInterface>([&](auto typed) { return compute(e, typed, scope); });
}

Value Evaluator::value(Value element, Scope &scope) const {
  for (const Scope *at = &scope; at; at = at->parent) {
    auto found = at->nodes.find(element);
    if (found != at->nodes.end() && at->width == scope.width)
      return found->second;
    auto splat = at->splats.find(element);
    if (splat != at->splats.end() && at->width == scope.width)
      return splat->second;
    if (found == at->nodes.end() || at->width != 1)
      continue;
    return scope.splats[element] = emitSplat(b, found->second, scope.width);
  }
  if (scope.width != 1 && nest.levelOf(element) < Level::Column) {
    Scope once = scope.scalar();
    Value scalar = value(element, once);
    return scope.splats[element] = emitSplat(b, scalar, scope.width);
  }
  Value result;
  auto kept = schedule.kept.find(element);
  if (kept != schedule.kept.end() && nest.levelOf(element) >= Level::Column &&
      kept->second.pass < scope.pass)
    result = loadKept(*this, element, kept->second, scope);
  else
    result = compute(*this, element.getDefiningOp(), scope);
  scope.nodes[element] = result;
  return result;
}

} // namespace reprise::nests
