// reprise: the forms that a plan may give a device program, as a table
#include "Forms.h"

#include "Offloads.h"
#include "mlir/IR/Diagnostics.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/Transforms/DeferGradient.h"
#include "reprise/Dialect/Reprise/Transforms/SliceHead.h"
#include "reprise/Support/Parallel.h"

using namespace mlir;
using namespace reprise;

/// Most ops of an unrolled program that competes for every budget.
static constexpr int64_t kMostUnrolled = 16384;
/// Part of the arena that a change must concern to be worth a form.
static constexpr int64_t kWorthwhile = 16;

/// Adds the program in the form of `shape`; returns null if the program cannot have this form.
static FailureOr<FormSearch *> applyAndAdd(PlanSearch &search, StepPlan shape) {
  OwningOpRef<ModuleOp> module = copyAlone(search.program);
  {
    QuietThread ignored(*search.program.getContext());
    if (failed(applyForm(getAlone(*module), shape)))
      return static_cast<FormSearch *>(nullptr);
  }
  return addForm(search, std::move(module), std::move(shape), search.forms);
}

/// Adds a form for each plan of the bodies of loops.
static LogicalResult addBodies(PlanSearch &search) {
  if (!hasLoops(search.plain().step))
    return success();
  const PlanContext &context = search.context;
  for (BodyPlan &bodies : findBodyPlans(search.program, *context.facts, context.costs)) {
    StepPlan shape;
    shape.form.insert(checkpoint::Form::BodiesRecomputed);
    shape.bodies = std::move(bodies);
    if (failed(applyAndAdd(search, std::move(shape))))
      return failure();
  }
  return success();
}

/// Adds `form` changed by one more step, if the change concerns enough bytes; `change` returns
/// them.
static LogicalResult addChanged(PlanSearch &search, const FormedStep &form, checkpoint::Form kind,
                                llvm::function_ref<int64_t(ProgramOp)> change) {
  StepPlan shape = form.shape;
  shape.form.insert(kind);
  OwningOpRef<ModuleOp> changed = copyAlone(form.get());
  if (change(getAlone(*changed)) < search.followed().arena / kWorthwhile)
    return success();
  return addForm(search, std::move(changed), std::move(shape), search.forms);
}

/// Adds `form` with its largest gradient deferred, if that gradient is large enough.
static LogicalResult addDeferredOf(PlanSearch &search, const FormedStep &form) {
  return addChanged(search, form, checkpoint::Form::Deferred, deferGradient);
}

static LogicalResult addDeferred(PlanSearch &search) {
  for (size_t i = 0, count = search.forms.size(); i < count; ++i)
    if (failed(addDeferredOf(search, search.forms[i].step)))
      return failure();
  return success();
}

/// Adds each form without a deferred gradient with its widest contraction in slices of rows, if the
/// target computes slices as fast as the whole.
static LogicalResult addSliced(PlanSearch &search) {
  if (!search.context.facts->getTarget().getCapabilities().continuesSums)
    return success();
  auto slice = [](ProgramOp step) { return sliceHead(step); };
  for (size_t i = 0, count = search.forms.size(); i < count; ++i) {
    const FormedStep &form = search.forms[i].step;
    if (!form.shape.form.count(checkpoint::Form::Deferred) &&
        failed(addChanged(search, form, checkpoint::Form::Sliced, slice)))
      return failure();
  }
  return success();
}

LogicalResult reprise::addUnrolled(PlanSearch &search) {
  StepPlan shape;
  shape.form.insert(checkpoint::Form::Unrolled);
  FailureOr<FormSearch *> unrolled = applyAndAdd(search, std::move(shape));
  if (failed(unrolled) || !*unrolled)
    return unrolled;
  return addDeferredOf(search, (*unrolled)->step);
}

/// Adds the program with unrolled loops, if it has few enough ops to compete.
static LogicalResult addShortUnrolled(PlanSearch &search) {
  if (!hasLoops(search.plain().step))
    return success();
  double ops = 0; // of all iterations
  search.program.walk([&](Operation *op) { ops += static_cast<double>(countExecutions(op)); });
  search.isUnrolledLast = ops > kMostUnrolled;
  return search.isUnrolledLast ? success() : addUnrolled(search);
}

LogicalResult reprise::addRelaxed(PlanSearch &search) {
  if (search.context.costs.getRates().hostLink == 0)
    return success();
  for (size_t i = search.relaxed.size(); i < search.forms.size(); ++i) {
    FailureOr<FormedStep> relaxed = relaxOffloads(search, search.forms[i].step);
    if (failed(relaxed))
      return failure();
    search.relaxed.push_back(std::move(*relaxed));
  }
  return success();
}

llvm::ArrayRef<FormKind> reprise::listForms() {
  static constexpr FormKind kinds[] = {{"bodies", addBodies},
                                       {"deferred gradient", addDeferred},
                                       {"unrolled loops", addShortUnrolled},
                                       {"slices of rows", addSliced},
                                       {"offloads, for bounds", addRelaxed}};
  return kinds;
}

LogicalResult reprise::addForms(PlanSearch &search) {
  if (search.context.isLate() || std::exchange(search.hasForms, true))
    return success();
  for (const FormKind &kind : listForms())
    if (failed(kind.add(search)))
      return failure();
  search.numCompeting = search.forms.size();
  return success();
}
