// reprise: loops of StableHLO with known trip counts; short loops are unrolled
#include "Loops.h"

#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// Counter of a loop.
struct Count {
  unsigned carry;
  int64_t first, step, trips;
};

/// Loops of fewer ops, all iterations together, are written out.
constexpr int64_t kWrittenOps = 512;

/// Returns the number of ops of a region, including those of called functions.
int64_t countOps(Region &region, int depth = 0) {
  int64_t count = 0;
  region.walk([&](Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    auto callee = call
                      ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr())
                      : func::FuncOp();
    count += callee && depth < 100 ? countOps(callee.getBody(), depth + 1) : 1;
  });
  return count;
}

std::optional<int64_t> sourceConstant(Value value) {
  Operation *op = value.getDefiningOp();
  auto dense = op && op->getName().getStringRef() == "stablehlo.constant"
                   ? op->getAttrOfType<DenseIntElementsAttr>("value")
                   : DenseIntElementsAttr();
  if (!dense || !dense.isSplat())
    return std::nullopt;
  return dense.getSplatValue<APInt>().getSExtValue();
}

/// Returns the addend of the body to a carry, if the body only adds to it.
std::optional<int64_t> stepOf(Block &body, unsigned carry) {
  Operation *add = body.getTerminator()->getOperand(carry).getDefiningOp();
  if (!add || add->getName().getStringRef() != "stablehlo.add")
    return std::nullopt;
  for (int i : {0, 1})
    if (add->getOperand(i) == body.getArgument(carry))
      return sourceConstant(add->getOperand(1 - i));
  return std::nullopt;
}

/// The other side of the comparison: a constant of the condition, or a carry that stays.
std::optional<int64_t> boundOf(Source &s, Value bound) {
  Block &body = s.op->getRegion(1).front();
  if (auto carry = dyn_cast<BlockArgument>(bound)) {
    unsigned i = carry.getArgNumber();
    if (carry.getOwner() != &s.op->getRegion(0).front() ||
        body.getTerminator()->getOperand(i) != body.getArgument(i))
      return std::nullopt;
    return constantInteger(s.operands[i]);
  }
  if (bound.getParentRegion() != &s.op->getRegion(0))
    return constantInteger(s.importer.values.lookup(bound));
  return sourceConstant(bound);
}

/// `while (carry < bound) carry += step`.
std::optional<Count> countOf(Source &s) {
  Block &condition = s.op->getRegion(0).front(), &body = s.op->getRegion(1).front();
  Operation *compare = condition.getTerminator()->getOperand(0).getDefiningOp();
  if (!compare || compare->getName().getStringRef() != "stablehlo.compare")
    return std::nullopt;
  auto direction = compare->getAttrOfType<StringAttr>("comparison_direction");
  auto carry = dyn_cast<BlockArgument>(compare->getOperand(0));
  if (!direction || direction.getValue() != "LT" || !carry || carry.getOwner() != &condition)
    return std::nullopt;
  unsigned i = carry.getArgNumber();
  std::optional<int64_t> first = constantInteger(s.operands[i]), step = stepOf(body, i),
                         bound = boundOf(s, compare->getOperand(1));
  if (!first || !step || !bound || *step < 1)
    return std::nullopt;
  int64_t distance = std::max<int64_t>(*bound - *first, 0);
  return Count{i, *first, *step, static_cast<int64_t>(llvm::divideCeil(distance, *step))};
}

Values writeOut(Source &s, const Count &count) {
  Values carries = s.operands;
  for (int64_t k = 0; k < count.trips; ++k) {
    carries[count.carry] =
        splatInteger(s.b(), typeOf(carries[count.carry]), count.first + k * count.step);
    carries = s.importer.importRegion(s.op->getRegion(1), carries);
  }
  return carries;
}

//===-- Loops that stay -----------------------------------------------------------------------===//

/// Builder of a loop from a source op. Unchanged carries become values from above, the counter a
/// slice.
class LoopBuilder {
public:
  LoopBuilder(Source &s, const Count &count) : s(s), b(s.b()), count(count) {}

  Values build() {
    findCarries();
    buildBody();
    splitStacks();
    return finish();
  }

private:
  void findCarries() {
    Block &source = s.op->getRegion(1).front();
    for (auto [i, value] : llvm::enumerate(source.getTerminator()->getOperands()))
      if (i != count.carry && value != source.getArgument(i))
        carries.push_back(i);
  }

  void buildBody() {
    Location location = b.getLoc();
    Block &block = body.region.emplaceBlock();
    Values arguments = s.operands;
    for (unsigned carry : carries)
      arguments[carry] = block.addArgument(s.operands[carry].getType(), location);
    Type counter = s.operands[count.carry].getType();
    arguments[count.carry] = block.addArgument(counter, location);
    body.trips = count.trips;
    body.xs.push_back(counts(counter));
    if (count.first == 0 && count.step == 1)
      body.counter = arguments[count.carry];
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&block);
    body.level = s.importer.openRegions.size();
    s.importer.openRegions.push_back(&body.region);
    s.importer.loops.push_back(&body);
    Values results = s.importer.importRegion(s.op->getRegion(1), arguments);
    s.importer.loops.pop_back();
    s.importer.openRegions.pop_back();
    for (unsigned carry : carries)
      next.push_back(results[carry]);
    b.setLoc(location);
  }

  /// Returns first + k · step, one per iteration.
  Value counts(Type scalar) {
    auto type = RankedTensorType::get({count.trips}, getElementTypeOrSelf(scalar));
    Value numbers = countFrom(b, count.trips, type.getElementType());
    numbers = MulOp::create(b, type, numbers, splatInteger(b, type, count.step));
    return AddOp::create(b, type, numbers, splatInteger(b, type, count.first));
  }

  /// Returns whether a carry only receives a row in each iteration, so that it is a stack of rows.
  bool isStack(unsigned i) {
    auto update = next[i].getDefiningOp<DynamicUpdateOp>();
    BlockArgument carry = body.region.front().getArgument(i);
    return update && body.rowWrites.contains(update) && update.getOperand() == carry &&
           carry.hasOneUse() && update->use_empty();
  }

  void splitStacks() {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&body.region.front());
    Values yielded;
    for (auto [i, carry] : llvm::enumerate(carries)) {
      if (!isStack(i)) {
        kept.push_back(i);
        yielded.push_back(next[i]);
        continue;
      }
      auto update = next[i].getDefiningOp<DynamicUpdateOp>();
      Value row = update.getUpdate();
      rows.push_back(reshape(b, row, typeOf(row).getShape().drop_front()));
      stacked.push_back(i);
      update.erase();
    }
    yielded.append(rows);
    YieldOp::create(b, yielded);
  }

  Values finish() {
    Values inits, results = s.operands;
    SmallVector<Type> types;
    for (unsigned i : kept) {
      inits.push_back(s.operands[carries[i]]);
      types.push_back(inits.back().getType());
    }
    for (unsigned i : stacked)
      types.push_back(s.operands[carries[i]].getType());
    auto loop = LoopOp::create(b, count.trips, inits, body.xs, types);
    Block &from = body.region.front(), &to = loop.getBlock();
    unsigned made = 0;
    for (unsigned i : kept)
      from.getArgument(i).replaceAllUsesWith(to.getArgument(made++));
    for (BlockArgument slice : from.getArguments().drop_front(carries.size()))
      slice.replaceAllUsesWith(to.getArgument(made++));
    to.getOperations().splice(to.end(), from.getOperations());
    for (auto [i, value] : llvm::zip(kept, loop.getLastCarries()))
      results[carries[i]] = value;
    for (auto [i, value] : llvm::zip(stacked, loop.getStacks()))
      results[carries[i]] = value;
    results[count.carry] =
        splatInteger(b, typeOf(s.operands[count.carry]), count.first + count.trips * count.step);
    return results;
  }

  Source &s;
  Builder &b;
  Count count;
  LoopBody body;
  SmallVector<unsigned> carries;       ///< carries of the source
  SmallVector<unsigned> kept, stacked; ///< indices into `carries`
  Values next, rows;
};

} // namespace

static bool isWhole(Source &s) {
  TypeRange types = s.op->getOperandTypes();
  auto carries = [&](Region &region) { return TypeRange(region.getArgumentTypes()) == types; };
  return llvm::all_of(s.op->getRegions(), carries) && s.op->getResultTypes() == types &&
         s.op->getRegion(0).front().back().getNumOperands() == 1 &&
         s.op->getRegion(1).front().back().getOperandTypes() == types;
}

Values importWhile(Source &s) {
  if (!isWhole(s))
    return s.refuse("has an unknown form");
  std::optional<Count> count = countOf(s);
  if (!count)
    return s.refuse("runs an unknown number of times");
  if (count->trips == 0)
    return s.operands;
  int64_t ops = countOps(s.op->getRegion(1));
  if (count->trips == 1 || count->trips <= kWrittenOps / std::max<int64_t>(ops, 1))
    return writeOut(s, *count);
  return LoopBuilder(s, *count).build();
}

/// The innermost loop, if the window is row `counter` of something with a row per iteration.
static LoopBody *findRowLoop(Importer &importer, ArrayRef<Value> starts, ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> sizes) {
  LoopBody *body = importer.loops.empty() ? nullptr : importer.loops.back();
  bool isRow = body && body->counter && !starts.empty() && starts[0] == body->counter &&
               sizes[0] == 1 && shape[0] == body->trips && shape.drop_front() == sizes.drop_front();
  return isRow ? body : nullptr;
}

Value readRow(Importer &importer, Value value, ArrayRef<Value> starts, ArrayRef<int64_t> sizes) {
  LoopBody *body = findRowLoop(importer, starts, typeOf(value).getShape(), sizes);
  if (!body)
    return {};
  for (Region *region : ArrayRef(importer.openRegions).drop_front(body->level))
    if (region->isAncestor(value.getParentRegion()))
      return {};
  body->xs.push_back(value);
  return body->region.front().addArgument(typeOf(value).clone(sizes.drop_front()), value.getLoc());
}

void noteRowWrite(Importer &importer, DynamicUpdateOp update, ArrayRef<Value> starts) {
  ArrayRef<int64_t> sizes = typeOf(update.getUpdate()).getShape();
  if (LoopBody *body = findRowLoop(importer, starts, update.getType().getShape(), sizes))
    body->rowWrites.insert(update);
}

} // namespace reprise::stablehlo
