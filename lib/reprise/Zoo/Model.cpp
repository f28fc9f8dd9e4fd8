// reprise: the models of the zoo by name, their arguments, and one forward pass
#include "Model.h"

#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace reprise::zoo {

//===-- Arguments -----------------------------------------------------------------------------===//

void ModelBuilder::integers(StringRef name, ArrayRef<int64_t> shape, int64_t low, int64_t high) {
  model.inputs.push_back(
      {name.str(), RankedTensorType::get(shape, g.b.getI32Type()), integerInit(g.b, low, high)});
}

void ModelBuilder::input(StringRef name, ArrayRef<int64_t> shape) {
  model.inputs.push_back(
      {name.str(), RankedTensorType::get(shape, g.b.getF32Type()), normalInit(g.b, 1.0)});
}

void ModelBuilder::addText(const Options &options) {
  tokens("tokens", {options.batch, options.seq}, options.vocab);
  tokens("labels", {options.batch, options.seq}, options.vocab);
}

void ModelBuilder::addImages(const Options &options) {
  input("image", {options.batch, 3, options.image, options.image});
}

//===-- One forward pass ----------------------------------------------------------------------===//

Value Forward::use(Role role, const std::string &name, ArrayRef<int64_t> shape, Attribute init) {
  LoopOp loop = getLoop(loopBody);
  SmallVector<int64_t> own(shape);
  if (loop)
    own.insert(own.begin(), loop.getTrip());
  Value &value = values[name];
  if (!value && declare)
    value = declare(role, {name, RankedTensorType::get(own, g.b.getF32Type()), init});
  return loop ? addSlice(loop, value) : value;
}

Value Forward::layer(const Twine &name, llvm::function_ref<Value()> body) {
  g.scope(name);
  ImplicitLocOpBuilder &b = g.b;
  Location location = b.getLoc();
  size_t firstStatistic = statistics.size(), firstPenalty = penalties.size();
  Region region;
  SmallVector<Value> yielded;
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    yielded.push_back(body());
    for (Statistic &statistic : MutableArrayRef(statistics).drop_front(firstStatistic))
      yielded.push_back(statistic.batch);
    llvm::append_range(yielded, ArrayRef(penalties).drop_front(firstPenalty));
    b.setLoc(location);
    YieldOp::create(b, yielded);
  }
  TypeRange types(yielded);
  Operation *op = checkpointLayers ? CheckpointOp::create(b, types, StringAttr()).getOperation()
                                   : BlockOp::create(b, types).getOperation();
  op->getRegion(0).takeBody(region);
  // Other values that leave the pass become results of the op.
  auto result = std::next(op->result_begin());
  for (Statistic &statistic : MutableArrayRef(statistics).drop_front(firstStatistic))
    statistic.batch = *result++;
  for (Value &penalty : MutableArrayRef(penalties).drop_front(firstPenalty))
    penalty = *result++;
  return op->getResult(0);
}

/// Adds the parameters and states, which a pass on a scratch function finds.
static void collectArguments(MLIRContext &context, Model &model, const Options &options) {
  Location unknown = UnknownLoc::get(&context);
  OwningOpRef<func::FuncOp> scratch =
      func::FuncOp::create(unknown, "scratch", FunctionType::get(&context, {}, {}));
  Block *body = scratch->addEntryBlock();
  Values values;
  for (const Tensor &input : model.inputs)
    values[input.name] = body->addArgument(input.type, unknown);
  Forward f(OpBuilder::atBlockEnd(body), options, values);
  f.declare = [&](Role role, const Tensor &tensor) {
    (role == Role::State ? model.states : model.parameters).push_back(tensor);
    return body->addArgument(tensor.type, unknown);
  };
  model.logits(f);
}

//===-- Models by name ------------------------------------------------------------------------===//

static std::string checkHeads(const Options &options) {
  if (options.heads < 0 || options.width % options.numHeads() != 0)
    return "expected a width that the heads divide, got " + std::to_string(options.width) +
           " and " + std::to_string(options.numHeads());
  return "";
}

static std::string checkLlama(const Options &options) {
  if (std::string wrong = checkHeads(options); !wrong.empty())
    return wrong;
  if (options.width / options.numHeads() % 2 != 0)
    return "expected heads of an even width, got " + std::to_string(options.width) + " and " +
           std::to_string(options.numHeads());
  return "";
}

static std::string checkVit(const Options &options) {
  if (std::string wrong = checkHeads(options); !wrong.empty())
    return wrong;
  int64_t grid = std::lround(std::sqrt(static_cast<double>(options.seq)));
  if (grid * grid != options.seq || options.image % grid != 0)
    return "expected a square number of patches whose root divides the image, got " +
           std::to_string(options.seq) + " and " + std::to_string(options.image);
  return "";
}

static std::string checkResnet(const Options &options) {
  int64_t last = llvm::divideCeil(options.image, 32);
  if (options.batch * last * last == 1)
    return "expected more than one value per channel in the last stage: use a larger batch or "
           "image";
  return "";
}

static std::string checkUnet(const Options &options) {
  if (options.layers > 16 || options.image % (int64_t{1} << options.layers) != 0)
    return "expected an image that can be halved once per layer, got " +
           std::to_string(options.image) + " and " + std::to_string(options.layers) + " layers";
  return "";
}

static std::string checkNothing(const Options &) { return ""; }

namespace {
struct Entry {
  StringRef name;
  Model (*build)(MLIRContext &, const Options &);
  std::string (*check)(const Options &);
  /// Dimensions that may differ from the defaults of Options.
  int64_t layers = Options().layers, width = Options().width, seq = Options().seq;
};
} // namespace

static constexpr int64_t patches = 64;
static const Entry entries[] = {
    {"bert", buildBert, checkHeads},
    {"gpt2", buildGpt2, checkHeads},
    {"llama", buildLlama, checkLlama},
    {"lstm", buildLstm, checkNothing},
    {"mlp", buildMlp, checkNothing},
    {"moe", buildMoe, checkHeads},
    {"resnet18", buildResnet18, checkResnet},
    {"resnet50", buildResnet50, checkResnet},
    {"unet", buildUnet, checkUnet, 3, 32},
    {"vit", buildVit, checkVit, Options().layers, Options().width, patches},
};

static const Entry *find(StringRef model) {
  return llvm::find_if(entries, [&](const Entry &e) { return e.name == model; });
}

std::vector<std::string> modelNames() {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name.str());
  return names;
}

Options defaultOptions(StringRef model) {
  const Entry *entry = find(model);
  Options options;
  options.layers = entry->layers;
  options.width = entry->width;
  options.seq = entry->seq;
  return options;
}

std::string checkOptions(StringRef model, const Options &options) {
  // The other models have layers of several shapes, or values that leave layers other than through
  // the result.
  static constexpr StringRef looped[] = {"bert", "gpt2", "llama", "lstm", "vit"};
  if (options.loopLayers && !llvm::is_contained(looped, model))
    return "expected --loop with one of " + llvm::join(ArrayRef(looped), ", ");
  for (int64_t size : {options.layers, options.width, options.vocab, options.batch, options.seq,
                       options.image, options.classes})
    if (size < 1 || size > (int64_t{1} << 31))
      return "expected sizes from 1 to 2^31";
  if (options.layers > (int64_t{1} << 16))
    return "expected at most 65536 layers";
  if (!(options.dropout >= 0.0 && options.dropout < 1.0))
    return "expected a dropout rate in [0, 1)";
  if (!(options.clipNorm >= 0.0 && options.clipNorm <= std::numeric_limits<float>::max()))
    return "expected a norm of gradients of at least 0";
  return find(model)->check(options);
}

OwningOpRef<ModuleOp> buildModel(MLIRContext &context, StringRef name, const Options &options) {
  context.loadDialect<RepriseDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context), name);
  Model model = find(name)->build(context, options);
  collectArguments(context, model, options);
  addEntries(*module, model, options);
  return module;
}

} // namespace reprise::zoo
