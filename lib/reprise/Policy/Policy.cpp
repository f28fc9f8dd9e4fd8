// reprise: the built-in policies and how labels of several sources compose.
#include "reprise/Policy/Policy.h"

using namespace mlir;

namespace reprise {

static Policy uniform(const char *name, const char *summary, Label label) {
  return {name, summary, [label](Operation *) { return std::optional(label); }, nullptr};
}

static std::optional<Label> labelDots(Operation *op) {
  // Attention is two contractions around a softmax.
  bool contracts = isa<ContractionOpInterface, ConvolutionOpInterface, AttentionOpInterface>(op);
  return contracts ? Label::prefer_save : Label::prefer_recompute;
}

PolicyRegistry &PolicyRegistry::get() {
  static PolicyRegistry registry = [] {
    PolicyRegistry made;
    made.add(uniform("save-all", "keep all that the backward pass reads", Label::prefer_save));
    made.add(uniform("recompute-all", "keep the inputs of blocks, compute the rest again",
                     Label::prefer_recompute));
    made.add({"dots-saveable",
              "keep contractions, convolutions and attention, compute the rest again", labelDots,
              nullptr});
    return made;
  }();
  return registry;
}

bool PolicyRegistry::add(Policy policy) {
  std::string name = policy.name;
  return policies.emplace(std::move(name), std::move(policy)).second;
}

const Policy *PolicyRegistry::find(StringRef name) const {
  auto found = policies.find(std::string_view(name));
  return found == policies.end() ? nullptr : &found->second;
}

std::vector<std::string> PolicyRegistry::names() const {
  std::vector<std::string> result;
  for (const auto &entry : policies)
    result.push_back(entry.first);
  return result;
}

std::optional<Label> getIntrinsicLabel(Operation *op) {
  if (isa<ElementwiseOpInterface>(op) || op->getNumOperands() == 0)
    return std::nullopt;
  bool fromFloats = isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  bool discrete = llvm::any_of(op->getResultTypes(),
                               [](Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); });
  return fromFloats && discrete ? std::optional(Label::prefer_save) : std::nullopt;
}

bool isMust(Label label) {
  return label == Label::must_save || label == Label::must_recompute ||
         label == Label::must_offload;
}

bool asksToSave(Label label) { return label == Label::must_save || label == Label::prefer_save; }

bool asksToRecompute(Label label) {
  return label == Label::must_recompute || label == Label::prefer_recompute;
}

const LabelSource *resolveLabels(ArrayRef<LabelSource> sources,
                                 std::optional<std::pair<LabelSource, LabelSource>> &clash) {
  const LabelSource *must = nullptr;
  for (const LabelSource &source : sources) {
    if (!isMust(source.label))
      continue;
    if (must && must->label != source.label) {
      clash.emplace(*must, source);
      return nullptr;
    }
    if (!must)
      must = &source;
  }
  if (must)
    return must;
  return sources.empty() ? nullptr : &sources.front();
}

} // namespace reprise
