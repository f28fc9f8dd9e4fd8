// reprise: random training programs of the dialect
#include "Generator.h"
#include "Learner.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Policy/Rules.h"

using namespace mlir;

namespace reprise::fuzz {

static constexpr int64_t kMostFlops = 400000;

Repertoire learnOps(MLIRContext *context, std::set<std::string> without) {
  Repertoire repertoire;
  for (const OpSpec &spec : allOps()) {
    if (spec.isTerminator || spec.hasOwnParent || spec.regions != 0 ||
        spec.name == PauseOp::getOperationName() || isBeyondPrograms(spec) ||
        without.count(spec.name.str()))
      continue;
    std::vector<Template> examples = Learner(context, 1).learn(spec);
    if (examples.empty())
      repertoire.unknown.push_back(spec.name.str());
    else
      repertoire.ops.push_back({&spec, std::move(examples)});
  }
  repertoire.without = std::move(without);
  return repertoire;
}

std::vector<const Known *> favouritesOf(const Repertoire &repertoire, uint64_t seed) {
  constexpr size_t count = 4;
  std::vector<const Known *> favourites;
  for (size_t i = 0; i < count; ++i)
    favourites.push_back(&repertoire.ops[(seed * count + i) % repertoire.ops.size()]);
  return favourites;
}

Generator::Generator(MLIRContext *context, const Repertoire &repertoire, uint64_t seed,
                     int64_t granule)
    : context(context), repertoire(repertoire), judge(context),
      random(seed * 0x2545f4914f6cdd1du + 1), builder(UnknownLoc::get(context), context),
      values(builder, random, granule), favourites(favouritesOf(repertoire, seed)) {}

OwningOpRef<ModuleOp> Generator::run() {
  module = ModuleOp::create(builder.getLoc());
  entry = addFunction("train", {});
  values.entry = &entry.getBody().front();
  builder.setInsertionPointToEnd(&entry.getBody().front());
  for (int64_t i = random.within(1, 3); i > 0; --i)
    values.pool.push_back(values.freshArgument(values.makeType()));
  emitItems(random.within(2, 6));
  if (random.chance(20) && !repertoire.without.count("reprise.pause"))
    emitPause();
  if (gradients == 0)
    emitGradient();
  returnResults();
  nameArguments();
  labelOps();
  if (random.chance(30))
    addPolicy();
  return std::move(module);
}

func::FuncOp Generator::addFunction(StringRef name, TypeRange inputs) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, name, builder.getFunctionType(inputs, {}));
  function.addEntryBlock();
  return function;
}

//===-- Ops -----------------------------------------------------------------------------------===//

void Generator::emitItems(int64_t count) {
  int64_t done = 0;
  for (int64_t tries = 4 * count; tries > 0 && done < count; --tries)
    done += emitItem();
}

bool Generator::emitItem() {
  int64_t kind = random.below(100);
  if (kind < 8 && gradientDepth > 0)
    return emitViewed();
  if (kind < 72 || depth >= 4)
    return emitOp();
  if (kind < 84)
    return emitNested(33);
  return kind < 95 ? emitGradient() : emitCall();
}

/// Well-formed and small, perhaps after changes that the dialect's messages suggest.
bool Generator::fits(Template &candidate) {
  auto isSmall = [](Type type) {
    int64_t elements = countElements(cast<ShapedType>(type).getShape());
    return elements > 0 && elements <= 2 * kMostElements;
  };
  for (int i = 0; i < 12 && llvm::all_of(candidate.operands, isSmall); ++i) {
    std::string message = judge.wellFormed(candidate);
    if (message.empty())
      return llvm::all_of(candidate.results, isSmall);
    candidate = repair(candidate, message, random, context);
  }
  return false;
}

SmallVector<Value> Generator::operandsOf(const Template &candidate) {
  OperationName name(candidate.spec->name, context);
  auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
  bool passive =
      !name.hasInterface<DifferentiableOpInterface>() && llvm::any_of(candidate.results, isFloat);
  SmallVector<Value> operands;
  for (RankedTensorType type : candidate.operands)
    operands.push_back(values.obtain(type, !passive || !isFloat(type)));
  return operands;
}

bool Generator::emitOp() {
  const Known &known = random.chance(40) ? *random.pick(favourites) : random.pick(repertoire.ops);
  for (int i = 0; i < 10; ++i) {
    const Template &example = random.pick(known.examples);
    Template candidate = values.resized(example);
    if (!fits(candidate))
      candidate = mutate(candidate, random, context);
    if (!fits(candidate))
      candidate = i < 5 ? mutate(example, random, context) : example;
    if (!fits(candidate))
      continue;
    SmallVector<Value> operands = operandsOf(candidate);
    Operation *op = Judge::create(builder, candidate, operands);
    auto cost = dyn_cast<CostOpInterface>(op);
    if (cost && cost.getFlops() > kMostFlops) {
      op->erase();
      continue;
    }
    values.add(op, llvm::any_of(operands, [&](Value v) { return values.isActive(v); }));
    return true;
  }
  return false;
}

/// Emits a pause with late inputs, which no other op may read, and early values.
void Generator::emitPause() {
  SmallVector<Value> early, late;
  for (int64_t i = random.below(4); i > 0; --i)
    early.push_back(random.pickLate(values.pool));
  for (int64_t i = random.within(1, 2); i > 0; --i)
    late.push_back(values.freshArgument(values.makeType()));
  lateInputs.insert_range(late);
  PauseOp pause = PauseOp::create(builder, TypeRange(ValueRange(late)), early, late, /*replay=*/0);
  llvm::append_range(values.pool, pause.getResults());
}

//===-- The entry -----------------------------------------------------------------------------===//

/// Returns values without readers, and some others, which may become the next values of arguments.
void Generator::returnResults() {
  SmallVector<Value> results;
  for (Value value : llvm::reverse(values.pool))
    if (results.size() < 10 && !isa<BlockArgument>(value) &&
        random.chance(value.use_empty() ? 90 : 15))
      results.push_back(value);
  SmallVector<Attribute> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(builder.getStringAttr("r" + std::to_string(i)));
  size_t arguments = entry.getBody().getNumArguments();
  for (size_t i = 0; i < arguments; ++i) {
    Value argument = entry.getBody().getArgument(i);
    if (lateInputs.contains(argument) || !random.chance(25))
      continue;
    results.push_back(values.obtain(cast<RankedTensorType>(argument.getType())));
    names.push_back(builder.getStringAttr("a" + std::to_string(i)));
  }
  func::ReturnOp::create(builder, results);
  entry.setType(
      builder.getFunctionType(entry.getBody().getArgumentTypes(), TypeRange(ValueRange(results))));
  for (auto [i, name] : llvm::enumerate(names))
    entry.setResultAttr(i, EntrySignature::kName, name);
}

static Attribute makeInit(Type element, Random &random) {
  Builder b(element.getContext());
  auto number = [&](double value) { return b.getF64FloatAttr(value); };
  MLIRContext *context = element.getContext();
  int64_t kind = random.below(10);
  if (element.isInteger(1))
    return FillInitAttr::get(context, number(random.below(2)));
  if (isa<IntegerType>(element))
    return kind < 8 ? UniformIntInitAttr::get(context, 0, random.within(1, 9))
                    : UniformIntInitAttr::get(context, -1000000, 1000000);
  if (kind < 6)
    return NormalInitAttr::get(context, number(0), number(1));
  if (kind < 9)
    return UniformInitAttr::get(context, number(kind == 8 ? 0.5 : -1.0), number(2));
  return FillInitAttr::get(context, number(random.within(-4, 4) * 0.5));
}

void Generator::nameArguments() {
  static constexpr StringLiteral roles[] = {"input", "parameter", "state"};
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    entry.setArgAttr(i, EntrySignature::kName, builder.getStringAttr("a" + std::to_string(i)));
    StringRef role = lateInputs.contains(argument) ? roles[0] : random.pick(roles);
    entry.setArgAttr(i, EntrySignature::kRole, builder.getStringAttr(role));
    entry.setArgAttr(i, EntrySignature::kInit,
                     makeInit(getElementTypeOrSelf(argument.getType()), random));
  }
}

/// Chooses a label. A MUST on a name could contradict one on the named op, and a MUST on a view one
/// on its memory. Results of loops have no label.
static Label chooseLabel(Operation *op, llvm::DenseMap<Operation *, Label> &musts, int saved,
                         Random &random) {
  static constexpr Label recompute[] = {Label::must_recompute, Label::prefer_recompute};
  static constexpr Label any[] = {Label::must_save, Label::prefer_save, Label::prefer_recompute,
                                  Label::must_recompute, Label::prefer_offload};
  Label label = random.chance(saved) ? random.pick(any) : random.pick(recompute);
  Operation *maker = findMaker(op);
  bool isApart = isa<NameOp>(op) || !maker || maker->getNumRegions() != 0 || isa<BroadcastOp>(op);
  if (isa<NameOp>(op) || (isa<ViewOpInterface>(op) && isMust(label) && isApart))
    return random.chance(50) ? Label::prefer_save : Label::prefer_recompute;
  if (!isMust(label))
    return label;
  return musts.try_emplace(maker, label).first->second;
}

void Generator::labelOps() {
  static constexpr int rates[] = {0, 10, 40, 90};
  labelMemories();
  llvm::DenseMap<Operation *, Label> musts; ///< by the op that computes the memory
  module->walk([&](Operation *op) {
    auto own = op->getAttrOfType<LabelAttr>("reprise.label");
    if (own && isMust(own.getValue()))
      musts[findMaker(op)] = own.getValue();
  });
  int rate = random.pick(rates), saved = random.chance(50) ? 0 : 50;
  module->walk([&](Operation *op) {
    bool hasValue = isa_and_nonnull<RepriseDialect>(op->getDialect()) && op->getNumResults() != 0 &&
                    op->getNumRegions() == 0 && !op->getParentOfType<CustomVjpOp>();
    if (hasValue && !op->hasAttr("reprise.label") && random.chance(rate))
      op->setAttr("reprise.label", LabelAttr::get(context, chooseLabel(op, musts, saved, random)));
  });
}

/// Rules that match by chance, or not at all. A must could contradict one on an op, and a rule that
/// counts could split the iterations of a loop.
void Generator::addPolicy() {
  bool hasLoops = module->walk([](LoopOp) { return WalkResult::interrupt(); }).wasInterrupted();
  static constexpr Label labels[] = {Label::prefer_save, Label::prefer_recompute};
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  auto policy = PolicyOp::create(b, builder.getLoc(), b.getStringAttr("p"), StringAttr());
  b.setInsertionPointToEnd(&policy.getBody().emplaceBlock());
  for (int64_t i = random.within(1, 3); i > 0; --i) {
    NamedAttrList match;
    if (random.chance(50))
      match.append("kind", b.getStringAttr(random.pick(opKindNames())));
    if (random.chance(50))
      match.append("bytes", b.getStringAttr(">=" + std::to_string(random.below(64))));
    if (match.empty())
      match.append("op", b.getStringAttr("*"));
    if (!hasLoops && random.chance(50))
      match.append("every", b.getI64IntegerAttr(random.within(1, 3)));
    RuleOp::create(b, builder.getLoc(), LabelAttr::get(context, random.pick(labels)),
                   match.getDictionary(context), StringAttr());
  }
  if (random.chance(30))
    RuleOp::create(b, builder.getLoc(), LabelAttr(), DictionaryAttr(),
                   b.getStringAttr(random.pick(PolicyRegistry().names())));
}

} // namespace reprise::fuzz
