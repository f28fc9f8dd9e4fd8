// reprise: writes labels as attributes of ops
#include "MemoryLabels.h"

#include "Plan.h"

using namespace mlir;
using namespace reprise;

/// Replaces a PREFER of an offload that is impossible; a MUST is an error then.
LogicalResult LabelWriter::honour(OpResult value, unsigned iteration, LabelSource &label) {
  bool must = label.label == Label::must_offload;
  if (!must && label.label != Label::prefer_offload)
    return success();
  Operation *mover = memories.findMover(value, iteration);
  StringRef obstacle = findOffloadObstacle(mover, unroll);
  if (obstacle.empty())
    return success();
  if (must)
    return mover->emitError("cannot honour 'must_offload' from ")
           << label.rule.getValue() << ": " << obstacle;
  if (remarked.insert({mover, label.rule}).second)
    mover->emitRemark("'prefer_offload' from ")
        << label.rule.getValue() << " becomes 'prefer_save': " << obstacle;
  label.label = Label::prefer_save;
  return success();
}

/// Returns the labels of an op in one iteration of the loops around it, as its attributes.
FailureOr<DictionaryAttr> LabelWriter::describe(Operation *op, unsigned iteration) {
  ChosenLabels chosen = table.find(op)->second[iteration];
  Builder builder(op->getContext());
  NamedAttrList attributes;
  SmallVector<Attribute> labels, rules;
  bool any = false;
  for (auto [result, label] : llvm::zip(op->getOpResults(), chosen.ofResults)) {
    if (label && failed(honour(result, iteration, *label)))
      return failure();
    any |= label.has_value();
    labels.push_back(label ? Attribute(LabelAttr::get(builder.getContext(), label->label))
                           : builder.getUnitAttr());
    rules.push_back(label ? label->rule : builder.getStringAttr(""));
  }
  if (any) {
    attributes.set(kResultLabelsAttr, builder.getArrayAttr(labels));
    attributes.set(kResultRulesAttr, builder.getArrayAttr(rules));
  }
  if (chosen.ofOp) {
    if (failed(honour(op->getResult(0), iteration, *chosen.ofOp)))
      return failure();
    attributes.set(kLabelAttr, LabelAttr::get(builder.getContext(), chosen.ofOp->label));
    attributes.set(kRuleAttr, chosen.ofOp->rule);
  }
  return attributes.getDictionary(builder.getContext());
}

static bool haveSameLabels(Attribute one, Attribute other) {
  auto first = cast<DictionaryAttr>(one), second = cast<DictionaryAttr>(other);
  return first.get(kLabelAttr) == second.get(kLabelAttr) &&
         first.get(kResultLabelsAttr) == second.get(kResultLabelsAttr);
}

LogicalResult LabelWriter::reportSplit(Operation *op, ArrayRef<Attribute> iterations) {
  auto describe = [&](size_t i) {
    auto own = cast<DictionaryAttr>(iterations[i]);
    auto label = own.getAs<LabelAttr>(kLabelAttr);
    std::string text = "iteration " + std::to_string(i) + " has ";
    return label ? text + "'" + stringifyLabel(label.getValue()).str() + "' from " +
                       own.getAs<StringAttr>(kRuleAttr).str()
                 : text + "no label";
  };
  const Attribute *other = llvm::find_if(
      iterations, [&](Attribute own) { return !haveSameLabels(own, iterations.front()); });
  return op->emitError("expected one label in all iterations of a loop, but ")
         << describe(0) << " and " << describe(other - iterations.begin())
         << "; with --unroll each iteration has its own";
}

LogicalResult LabelWriter::write(Operation *op) {
  SmallVector<Attribute> iterations;
  for (unsigned i = 0; i < table.find(op)->second.size(); ++i) {
    FailureOr<DictionaryAttr> own = describe(op, i);
    if (failed(own))
      return failure();
    iterations.push_back(*own);
  }
  bool isSplit = llvm::any_of(
      iterations, [&](Attribute own) { return !haveSameLabels(own, iterations.front()); });
  if (isSplit && !unroll)
    return reportSplit(op, iterations);
  op->removeDiscardableAttr(kLabelAttr);
  if (isSplit)
    op->setDiscardableAttr(kIterationsAttr, ArrayAttr::get(op->getContext(), iterations));
  else
    for (NamedAttribute attribute : cast<DictionaryAttr>(iterations.front()))
      op->setDiscardableAttr(attribute.getName(), attribute.getValue());
  return success();
}
