// reprise: the models of the zoo by name, and their arguments
#include "Model.h"

using namespace mlir;

namespace reprise::zoo {

void ModelBuilder::tokens(StringRef name, ArrayRef<int64_t> shape, int64_t count) {
  model.inputs.push_back({name.str(), RankedTensorType::get(shape, builder.getI32Type()),
                          UniformIntInitAttr::get(builder.getContext(), 0, count)});
}

void ModelBuilder::input(StringRef name, ArrayRef<int64_t> shape) {
  model.inputs.push_back({name.str(), RankedTensorType::get(shape, builder.getF32Type()),
                          NormalInitAttr::get(builder.getContext(), builder.getF64FloatAttr(0),
                                              builder.getF64FloatAttr(1))});
}

void ModelBuilder::normal(const Twine &name, ArrayRef<int64_t> shape, double std) {
  model.parameters.push_back({name.str(), RankedTensorType::get(shape, builder.getF32Type()),
                              NormalInitAttr::get(builder.getContext(), builder.getF64FloatAttr(0),
                                                  builder.getF64FloatAttr(std))});
}

void ModelBuilder::fill(const Twine &name, ArrayRef<int64_t> shape, double value) {
  model.parameters.push_back(
      {name.str(), RankedTensorType::get(shape, builder.getF32Type()),
       FillInitAttr::get(builder.getContext(), builder.getF64FloatAttr(value))});
}

namespace {
struct Entry {
  StringRef name;
  Model (*build)(MLIRContext &, const Options &);
};
} // namespace

static constexpr Entry entries[] = {{"gpt2", buildGpt2}, {"mlp", buildMlp}};

std::vector<std::string> modelNames() {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name.str());
  return names;
}

std::string checkOptions(StringRef model, const Options &options) {
  for (int64_t size :
       {options.layers, options.width, options.vocab, options.batch, options.seq, options.classes})
    if (size < 1 || size > (int64_t{1} << 31))
      return "expected sizes from 1 to 2^31";
  if (options.layers > (int64_t{1} << 16))
    return "expected at most 65536 layers";
  if (options.heads < 0 || options.width % options.numHeads() != 0)
    return "expected a width that the heads divide, got " + std::to_string(options.width) +
           " and " + std::to_string(options.numHeads());
  if (!(options.dropout >= 0.0 && options.dropout < 1.0))
    return "expected a dropout rate in [0, 1)";
  return "";
}

OwningOpRef<ModuleOp> buildModel(MLIRContext &context, StringRef model, const Options &options) {
  context.loadDialect<RepriseDialect, func::FuncDialect>();
  const Entry *entry = llvm::find_if(entries, [&](const Entry &e) { return e.name == model; });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context), model);
  addEntries(*module, entry->build(context, options), options);
  return module;
}

} // namespace reprise::zoo
