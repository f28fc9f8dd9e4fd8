// reprise: all that is known of one device program while its plans are searched
#include "PlanSearch.h"

using namespace mlir;
using namespace reprise;

PlanSearch::PlanSearch(ProgramOp program, const CompileOptions &options,
                       std::shared_ptr<LaunchFacts> facts, const CostModel &costs)
    : program(program), context(options, std::move(facts), costs) {}

FailureOr<FormSearch *> reprise::addForm(PlanSearch &search, OwningOpRef<ModuleOp> module,
                                         StepPlan shape, std::deque<FormSearch> &list) {
  std::optional<double> plainSeconds;
  if (!search.forms.empty())
    plainSeconds = search.stepSeconds();
  FailureOr<FormedStep> step =
      survey(std::move(module), std::move(shape), search.context, plainSeconds);
  if (failed(step))
    return failure();
  return &list.emplace_back(std::move(*step), search.context);
}

std::vector<const FormSearch *> reprise::listSearches(const PlanSearch &search) {
  std::vector<const FormSearch *> searches;
  for (const std::deque<FormSearch> *list : {&search.forms, &search.ordered, &search.offloading})
    for (const FormSearch &form : *list)
      searches.push_back(&form);
  return searches;
}

std::vector<const StepPlan *> reprise::listPlans(const PlanSearch &search) {
  std::vector<const StepPlan *> plans;
  for (const FormSearch *form : listSearches(search))
    for (const StepPlan &plan : form->packed)
      plans.push_back(&plan);
  return plans;
}

const StepPlan *reprise::findBest(const PlanSearch &search, int64_t budget) {
  const StepPlan *best = nullptr;
  for (const StepPlan *plan : listPlans(search))
    if (plan->bytes() <= budget && (!best || plan->cost() < best->cost()))
      best = plan;
  return best;
}

std::pair<const StepPlan *, const FormSearch *> reprise::findSmallest(const PlanSearch &search) {
  std::pair<const StepPlan *, const FormSearch *> smallest = {&search.followed(), &search.plain()};
  for (const FormSearch *form : listSearches(search))
    for (const StepPlan &plan : form->packed)
      if (plan.bytes() < smallest.first->bytes())
        smallest = {&plan, form};
  return smallest;
}

bool reprise::isEnough(const PlanSearch &search, int64_t budget) {
  return (search.takesAny || search.context.isOver()) && findBest(search, budget);
}

bool reprise::isTruncated(const PlanSearch &search) {
  return llvm::any_of(listSearches(search),
                      [](const FormSearch *form) { return form->isTruncated; });
}

std::vector<const FormedStep *> reprise::listBounding(const PlanSearch &search) {
  std::vector<const FormedStep *> steps;
  for (const FormedStep &step : search.relaxed)
    steps.push_back(&step);
  if (steps.empty())
    for (const FormSearch &form : search.forms)
      steps.push_back(&form.step);
  return steps;
}

void reprise::forget(PlanSearch &search) {
  search.isUnrolledLast |= search.forms.size() > search.numCompeting;
  while (search.forms.size() > search.numCompeting)
    search.forms.pop_back();
  search.ordered.clear();
  search.offloading.clear();
  while (search.relaxed.size() > search.numCompeting)
    search.relaxed.pop_back();
  search.hasSmallestOrdered = false;
  for (FormSearch &form : search.forms)
    forget(form, /*keepsFollowed=*/&form == &search.plain());
}
