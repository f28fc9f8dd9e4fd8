// reprise: plans of the bodies of a step's loops
#include "BodyPlans.h"

#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Planning/Checkpoint/Bound/Bound.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::Problem;

namespace {
/// Bytes of the neighbour between two bodies, as a multiple of the bytes of stacks.
constexpr int64_t kBeside = 4;

/// A scope of bodies that hand rows to each other. Values have the bytes of whole stacks.
struct Bodies {
  Problem problem;
  checkpoint::Footprint footprint;
  int64_t stackBytes = 0; ///< bytes of all values that another body reads
};
} // namespace

/// Counts the bytes of the values that bodies read from other bodies.
static int64_t countStackBytes(const Problem &problem) {
  std::vector<bool> crosses(problem.values.size());
  for (const checkpoint::Problem::Operation &op : problem.operations)
    for (int operand : op.operands)
      if (operand != checkpoint::kAvailable)
        crosses[operand] = crosses[operand] ||
                           problem.operations[problem.values[operand].operation].body != op.body;
  int64_t bytes = 0;
  for (auto [value, isStack] : llvm::zip(problem.values, crosses))
    bytes += isStack ? value.bytes : 0;
  return bytes;
}

static Bodies findBodies(const PlanningScope &scope, ProgramOp step, LaunchFacts &facts,
                         const CostModel &costs) {
  Bodies bodies;
  bodies.problem = scope.problem;
  for (checkpoint::Problem::Value &value : bodies.problem.values)
    value.bytes *= countExecutions(scope.ops[value.operation]);
  bodies.footprint = findBodyFootprint(scope, step, facts, costs);
  bodies.stackBytes = countStackBytes(bodies.problem);
  // The neighbours make the launches between bodies the highest ones, so that only values that
  // cross from body to body count, and not those that a body reads while it runs.
  for (int between = 1; between < bodies.footprint.numLaunches; between += 2)
    bodies.footprint.neighbours.push_back({between - 1, between, kBeside * bodies.stackBytes});
  return bodies;
}

/// Chooses by the price of a byte at which `bytes` of stacks are kept. Views are always replayed,
/// because a stack of views would be a copy.
static std::vector<Choice> choose(const Bodies &bodies, int64_t bytes) {
  std::vector<checkpoint::PricedPlan> plans = findPricedPlans(
      bodies.problem, bodies.footprint, bytes + kBeside * bodies.stackBytes, /*launches=*/1);
  std::vector<Choice> choices(bodies.problem.values.size(), Choice::Save);
  if (!plans.empty())
    choices = plans.back().choices;
  for (auto [choice, value] : llvm::zip(choices, bodies.problem.values))
    if (bodies.footprint.launches[value.operation] == checkpoint::kNoLaunch)
      choice = Choice::Replay;
  return choices;
}

std::vector<BodyPlan> reprise::findBodyPlans(ProgramOp step, LaunchFacts &facts,
                                             const CostModel &costs) {
  static constexpr int64_t parts = 16;
  std::vector<Bodies> scopes;
  for (const PlanningScope &scope : findBodyScopes(step))
    scopes.push_back(findBodies(scope, step, facts, costs));
  std::vector<BodyPlan> plans;
  if (llvm::none_of(scopes, [](const Bodies &bodies) { return bodies.stackBytes > 0; }))
    return plans;
  for (int64_t part : {12, 10, 8, 6, 5, 4, 3, 2, 1}) {
    BodyPlan plan;
    for (const Bodies &bodies : scopes)
      plan.push_back(choose(bodies, bodies.stackBytes / parts * part));
    if (!llvm::is_contained(plans, plan))
      plans.push_back(std::move(plan));
  }
  plans.emplace_back();
  return plans;
}
