// reprise: a strategy that sends values to the memory of the host
#include "Offloads.h"
#include "Strategies.h"

using namespace mlir;
using namespace reprise;

/// The capacity is what the link moves to the host during the forward pass, about a third of the
/// step; the same bytes come back during the backward pass.
LogicalResult reprise::searchOffloads(PlanSearch &search, int64_t budget) {
  const PlanContext &context = search.context;
  auto capacity =
      static_cast<int64_t>(context.costs.getRates().hostLink * search.stepSeconds() / 3);
  if (capacity == 0 || context.isLate())
    return success();
  const StepPlan *best = findBest(search, budget), *from = best;
  if (!from)
    from = findSmallest(search).first;
  auto isOfForm = [&](const FormSearch &form) {
    return llvm::any_of(form.packed, [&](const StepPlan &plan) { return &plan == from; });
  };
  auto form = llvm::find_if(search.forms, isOfForm);
  if (form == search.forms.end())
    return success();
  SmallVector<int64_t> values = listOffloads(form->step, from, best != nullptr, capacity, context);
  if (values.empty())
    return success();
  StepPlan shape = form->step.shape;
  FailureOr<OwningOpRef<ModuleOp>> module = applyOffloads(search, shape, values);
  if (failed(module))
    return failure();
  FailureOr<FormSearch *> added =
      addForm(search, std::move(*module), std::move(shape), search.offloading);
  if (failed(added) || failed(searchWithin(**added, budget)))
    return failure();
  return findBest(search, budget) ? success() : packSmaller(**added);
}
