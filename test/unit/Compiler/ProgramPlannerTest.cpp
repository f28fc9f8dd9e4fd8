// reprise: tests of the planners of steps and programs, on a small step
#include "../../../lib/reprise/Compiler/Planner/ProgramPlanner.h"
#include "../../../lib/reprise/Compiler/Planner/FormSequences.h"
#include "../../../lib/reprise/Compiler/Planner/Forms.h"
#include "../../../lib/reprise/Compiler/Planner/Packer.h"
#include "../../../lib/reprise/Compiler/Planner/Strategies.h"

#include "mlir/Parser/Parser.h"
#include "reprise/Dialect/Reprise/Transforms/ProgramOrder.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;

namespace {

/// Model of three layers of 256 rows, whose activations are large beside the weights.
constexpr const char *kModel = R"(
!x = tensor<256x32xf32>
!w = tensor<32x32xf32>
func.func private @loss(%x: !x, %a: !w, %b: !w, %c: !w) -> tensor<f32> {
  %0 = reprise.dot_general %x, %a contracting [1] x [0] : (!x, !w) -> !x
  %1 = reprise.tanh %0 : !x
  %2 = reprise.dot_general %1, %b contracting [1] x [0] : (!x, !w) -> !x
  %3 = reprise.tanh %2 : !x
  %4 = reprise.dot_general %3, %c contracting [1] x [0] : (!x, !w) -> !x
  %5 = reprise.mul %4, %4 : !x
  %6 = reprise.mean %5 dims [0, 1] : (!x) -> tensor<f32>
  return %6 : tensor<f32>
}
func.func @train(%x: !x {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>},
    %a: !w {reprise.role = "parameter", reprise.name = "a", reprise.init = #reprise.normal<0.0, 1.0>},
    %b: !w {reprise.role = "parameter", reprise.name = "b", reprise.init = #reprise.normal<0.0, 1.0>},
    %c: !w {reprise.role = "parameter", reprise.name = "c", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<f32> {reprise.name = "loss"}, !w {reprise.name = "gradient/a"}, !w {reprise.name = "gradient/b"},
        !w {reprise.name = "gradient/c"}) {
  %r:4 = reprise.value_and_grad @loss(%x, %a, %b, %c) wrt [1, 2, 3]
    : (!x, !w, !w, !w) -> (tensor<f32>, !w, !w, !w)
  return %r#0, %r#1, %r#2, %r#3 : tensor<f32>, !w, !w, !w
}
)";

class ProgramPlannerTest : public ::testing::Test {
protected:
  ProgramPlannerTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    options.threads = 2;
    module = parseSourceString<ModuleOp>(kModel, &context);
    EXPECT_TRUE(module && succeeded(runPhases(*module, Phase::Autodiff, options.phases)));
    step = *module->getOps<ProgramOp>().begin();
    EXPECT_TRUE(succeeded(LaunchFacts::load("cpu", module->getLoc(), facts)));
    costs = *loadCosts(*module, options);
    planner = std::make_unique<ProgramPlanner>(step, options, facts, *costs);
    EXPECT_TRUE(succeeded(planner->start()));
  }

  std::optional<BudgetOutcome> plan(int64_t budget) {
    FailureOr<std::optional<BudgetOutcome>> found = planner->plan(budget);
    EXPECT_TRUE(succeeded(found));
    return *found;
  }

  MLIRContext context;
  CompileOptions options;
  OwningOpRef<ModuleOp> module;
  ProgramOp step;
  std::shared_ptr<LaunchFacts> facts;
  std::optional<CostModel> costs;
  std::unique_ptr<ProgramPlanner> planner;
};

/// Kept values cost something, too, but no value is replayed.
TEST_F(ProgramPlannerTest, WhatFitsAnywayCostsNoMoreThanWithoutABudget) {
  std::optional<BudgetOutcome> found = plan(*planner->findSaveAllBytes());
  ASSERT_TRUE(found);
  EXPECT_LE(found->plan.seconds, planner->followed().seconds);
  EXPECT_GE(found->plan.seconds, found->bound);
  EXPECT_LE(found->plan.bytes(), found->budget);
}

TEST_F(ProgramPlannerTest, ASmallerBudgetCostsReplays) {
  int64_t budget = planner->followed().bytes() * 8 / 10;
  std::optional<BudgetOutcome> found = plan(budget);
  ASSERT_TRUE(found);
  EXPECT_LE(found->plan.bytes(), budget);
  EXPECT_GT(found->plan.seconds, 0);
  EXPECT_LE(found->bound, found->plan.seconds);
  bool isReplayed = llvm::is_contained(found->plan.choices, Choice::Replay) ||
                    llvm::is_contained(found->plan.choices, Choice::ReplayPerUnit);
  EXPECT_TRUE(isReplayed || !found->plan.executions.empty());
  std::optional<BudgetOutcome> more = plan(budget * 11 / 10);
  ASSERT_TRUE(more);
  EXPECT_LE(more->plan.seconds, found->plan.seconds);
}

TEST_F(ProgramPlannerTest, AnyPlanFitsWhereTheCheapestDoes) {
  for (int64_t percent : {120, 90, 75, 60, 45, 30, 1}) {
    int64_t budget = planner->followed().bytes() * percent / 100;
    ProgramPlanner fresh(step, options, facts, *costs);
    ASSERT_TRUE(succeeded(fresh.start()));
    FailureOr<std::optional<BudgetOutcome>> cheapest = fresh.plan(budget);
    ASSERT_TRUE(succeeded(cheapest));
    FailureOr<std::optional<int64_t>> fitting = planner->findFitting(budget);
    ASSERT_TRUE(succeeded(fitting));
    ASSERT_EQ(fitting->has_value(), cheapest->has_value()) << percent;
    if (*fitting)
      EXPECT_LE(**fitting, budget);
  }
}

TEST_F(ProgramPlannerTest, TheSmallestIsMetWhenAskedFor) {
  ASSERT_FALSE(plan(1));
  int64_t smallest = planner->smallestBytes();
  EXPECT_LT(smallest, planner->followed().bytes());
  FailureOr<std::optional<int64_t>> found = planner->findFitting(smallest);
  ASSERT_TRUE(succeeded(found) && *found);
  EXPECT_LE(**found, smallest);
}

TEST_F(ProgramPlannerTest, AFormIsPackedAsLabelledAndWithAllSaved) {
  PlanSearch search(step, options, facts, *costs);
  FailureOr<FormSearch *> added = addForm(search, copyAlone(step), {}, search.forms);
  ASSERT_TRUE(succeeded(added));
  FormSearch &alone = **added;
  EXPECT_GT(alone.step.base, 0);
  EXPECT_EQ(alone.step.added, 0);
  EXPECT_TRUE(wantsSequences(alone.step));
  ASSERT_TRUE(succeeded(packFollowed(alone)));
  EXPECT_EQ(alone.followed().bytes(), planner->followed().bytes());
  FailureOr<int64_t> all = packSaveAll(alone.step, search.context);
  ASSERT_TRUE(succeeded(all));
  EXPECT_GE(*all, alone.followed().bytes());
  int64_t budget = alone.followed().bytes() * 8 / 10;
  ASSERT_TRUE(succeeded(searchWithin(alone, budget)) && succeeded(packSmaller(alone)));
  EXPECT_LT(leastBytes(alone), alone.followed().bytes());
  EXPECT_GT(findLeastSeconds(alone.step, search.findRoom(budget), search.context), 0);
  EXPECT_GT(findProvedArena(alone.step, 1, search.context), 1);
}

/// Packed plans compete for every budget until the search forgets them.
TEST_F(ProgramPlannerTest, FormsAndStrategiesFillASearch) {
  PlanSearch search(step, options, facts, *costs);
  FailureOr<FormSearch *> plain = addForm(search, copyAlone(step), {}, search.forms);
  ASSERT_TRUE(succeeded(plain) && succeeded(packFollowed(**plain)) && succeeded(addForms(search)));
  EXPECT_EQ(search.numCompeting, search.forms.size());
  int64_t budget = search.followed().bytes() * 8 / 10;
  EXPECT_FALSE(findBest(search, budget));
  for (const Strategy &strategy : listStrategies())
    EXPECT_TRUE(succeeded(strategy.run(search, budget))) << strategy.name.str();
  const StepPlan *best = findBest(search, budget);
  ASSERT_TRUE(best);
  EXPECT_LE(findSmallest(search).first->bytes(), best->bytes());
  EXPECT_FALSE(isEnough(search, budget));
  search.takesAny = true;
  EXPECT_TRUE(isEnough(search, budget));
  forget(search);
  EXPECT_FALSE(findBest(search, budget));
  EXPECT_EQ(listPlans(search).size(), 1u);
}

/// A sequence packs as the count of its executions says.
TEST_F(ProgramPlannerTest, ASequenceTakesWhatItSays) {
  PlanSearch search(step, options, facts, *costs);
  FailureOr<FormSearch *> plain = addForm(search, copyAlone(step), {}, search.forms);
  ASSERT_TRUE(succeeded(plain) && succeeded(packFollowed(**plain)));
  int64_t budget = search.followed().bytes() * 7 / 10;
  ASSERT_TRUE(succeeded(searchWithin(**plain, budget)) &&
              succeeded(searchSequences(search, budget)));
  ASSERT_FALSE(search.ordered.empty());
  const StepPlan &packed = search.ordered.front().packed.front();
  EXPECT_FALSE(packed.executions.empty());
  EXPECT_TRUE(packed.choices.empty());
  EXPECT_NEAR(packed.arena, packed.peak, packed.peak / 50);
  EXPECT_TRUE(packed.isReordered);
}

/// Ops move only behind what they read from.
TEST_F(ProgramPlannerTest, OrdersOfOpsAreChecked) {
  exec::LaunchNumbers numbers = exec::numberLaunches(step, facts->getTarget());
  checkpoint::LaunchOrder launches;
  for (int launch = 0; launch < numbers.count; ++launch)
    launches.push_back(launch);
  OpOrder order = findOpOrder(step, numbers, launches);
  EXPECT_TRUE(isPossible(step, order));
  std::reverse(order.begin(), order.end());
  EXPECT_FALSE(isPossible(step, order));
}

} // namespace
