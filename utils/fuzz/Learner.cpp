// reprise: learning of the types that an op accepts
#include "Learner.h"

using namespace mlir;

namespace reprise::fuzz {

/// Equal for examples that differ in sizes and numbers only.
static std::string structureOf(const Template &of) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto describe = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    stream << tensor.getRank() << tensor.getElementType() << ' ';
  };
  llvm::for_each(of.operands, describe);
  llvm::for_each(of.results, describe);
  for (NamedAttribute attribute : of.attributes) {
    stream << attribute.getName().getValue();
    if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()))
      stream << array.size();
    else if (isa<StringAttr, ElementsAttr>(attribute.getValue()))
      continue;
    else
      stream << attribute.getValue();
  }
  return text;
}

template <typename Map> static const auto &pickFrom(const Map &map, Random &random) {
  return std::next(map.begin(), random.below(map.size()))->second;
}

Template Learner::propose(const OpSpec &spec) {
  if (failures.empty() || random.chance(10))
    return makeTemplate(spec, random, context);
  if (!examples.empty() && random.chance(60))
    return mutate(pickFrom(examples, random), random, context);
  // A new kind of message comes late in the dialect's checks, or is of no use.
  const Failure &failure = random.pickLate(failures);
  if (random.chance(40))
    return repair(failure.candidate, failure.message, random, context);
  return mutate(failure.candidate, random, context);
}

static bool isEmpty(Type type) { return cast<RankedTensorType>(type).getNumElements() == 0; }

/// Returns the reason why the candidate is no example of a new structure; empty if it is one.
std::string Learner::examine(Template &candidate) {
  std::string message = judge.wellFormed(candidate);
  if (!message.empty())
    return message;
  if (llvm::any_of(candidate.results, isEmpty))
    return "empty";
  if (examples.count(structureOf(candidate)))
    return "known";
  return judge.importable(candidate);
}

/// Keeps an example. There is room for some examples, and all are equally likely to stay.
void Learner::keep(const Template &candidate) {
  examples.emplace(structureOf(candidate), candidate);
  if (examples.size() > kExamples)
    examples.erase(std::next(examples.begin(), random.below(examples.size())));
}

/// Keeps one failure of each kind; a new one sometimes replaces it.
void Learner::remember(const Template &candidate, const std::string &message) {
  auto [found, isNew] = kinds.try_emplace(kindOf(message), failures.size());
  if (isNew)
    failures.push_back({candidate, message});
  else if (random.chance(5))
    failures[found->second] = {candidate, message};
}

std::vector<Template> Learner::learn(const OpSpec &spec) {
  failures.clear();
  kinds.clear();
  examples.clear();
  int end = kMostTries;
  for (int i = 0; i < end; ++i) {
    Template candidate = propose(spec);
    std::string message = examine(candidate);
    if (!message.empty()) {
      remember(candidate, message);
      continue;
    }
    if (examples.empty())
      end = i + kTries;
    keep(candidate);
  }
  std::vector<Template> found;
  for (auto &[structure, example] : examples)
    found.push_back(example);
  return found;
}

} // namespace reprise::fuzz
