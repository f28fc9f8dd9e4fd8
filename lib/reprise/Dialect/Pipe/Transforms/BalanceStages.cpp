// reprise: joins units of a step into stages of equal time
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Order.h"
#include "StageProblem.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/StableSort.h"
#include "reprise/Support/Wording.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_BALANCESTAGESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

/// A schedule by its name, with the chunks that are wished for.
using Candidate = std::pair<std::string, int64_t>;

/// The step as stages under one schedule, simulated.
struct StagedSchedule {
  std::string name;
  pipeline::Schedule schedule;
  std::vector<std::pair<int, int>> units; ///< units of each stage: [first, end)
  pipeline::Pipeline pipeline;
  /// Seconds of replays in the backward pass, per stage and micro-batch.
  std::vector<double> replays;
  pipeline::Simulation simulation;
  bool fits = true;       ///< whether the estimate of the cut fits
  bool isRefused = false; ///< whether no cut of this schedule is left

  int chunks() const { return schedule.shape.chunks; }

  CutAttr describe(Builder &builder) const {
    SmallVector<int64_t> begins;
    for (auto [first, end] : units)
      begins.push_back(first);
    begins.push_back(units.back().second);
    CutState state = isRefused ? CutState::Refused : fits ? CutState::Fits : CutState::Exceeds;
    return CutAttr::get(builder.getContext(), builder.getStringAttr(name), chunks(),
                        builder.getDenseI64ArrayAttr(begins),
                        builder.getF64FloatAttr(simulation.makespan), state);
  }
};

/// Simulates a schedule, with replays that run while devices wait. Messages that skip stages may be
/// in flight for longer than two passes, so we try more buffers.
void simulate(StagedSchedule &staged) {
  stages::hideReplays(staged.replays, staged.schedule.shape.microbatches, staged.pipeline);
  for (int64_t buffers : {int64_t(2), staged.schedule.shape.microbatches}) {
    staged.pipeline.buffers = buffers;
    std::optional<pipeline::Defect> defect = pipeline::verify(staged.schedule, staged.pipeline);
    if (!defect) {
      staged.simulation = pipeline::simulate(staged.schedule, staged.pipeline);
      return;
    }
  }
}

struct BalanceStagesPass : impl::BalanceStagesPassBase<BalanceStagesPass> {
  BalanceStagesPass(BalanceStagesPassOptions options = {},
                    std::shared_ptr<const StageInputs> inputs = {})
      : Base(std::move(options)), inputs(std::move(inputs)) {}

  void runOnOperation() override {
    if (failed(prepare()))
      return signalPassFailure();
    ProgramOp step = getOperation();
    StageProblem problem(step, *inputs, checkpoint, replicas);
    SmallVector<Candidate> candidates = listCandidates(problem.countUnits());
    std::vector<StagedSchedule> found;
    for (const Candidate &candidate : candidates)
      if (failed(add(candidate, problem, found)))
        return signalPassFailure();
    if (found.empty())
      return;
    sortStably(found, isBetter);
    if (!keep)
      renumber(found.front().units);
    annotate(found);
  }

private:
  /// Makes devices of the built-in rates, unless devices were given.
  LogicalResult prepare() {
    if (inputs && !inputs->devices.empty())
      return success();
    FailureOr<CostModel> costs = CostModel::load({}, getOperation().getLoc());
    if (failed(costs))
      return failure();
    auto shared = std::make_shared<const CostModel>(std::move(*costs));
    StageInputs usual = inputs ? *inputs : StageInputs();
    usual.devices.assign(devices, {shared, std::nullopt, std::nullopt});
    inputs = std::make_shared<const StageInputs>(std::move(usual));
    return success();
  }

  /// Writes the cuts on the step, the best schedule first.
  void annotate(ArrayRef<StagedSchedule> found) {
    ProgramOp step = getOperation();
    Builder builder(step.getContext());
    const StagedSchedule &taken = found.front();
    if (countSweeps(step) != 2)
      return;
    SmallVector<Attribute> cuts;
    for (const StagedSchedule &staged : found)
      cuts.push_back(staged.describe(builder));
    step->setAttr(kCutsAttr, builder.getArrayAttr(cuts));
    step->setAttr(kTimingAttr, TimingAttr::get(step.getContext(), taken.schedule, taken.pipeline,
                                               taken.replays));
  }

  /// Returns all candidates of `auto`, or the schedule that the user asks for.
  SmallVector<Candidate> listCandidates(int64_t units) {
    if (schedule != kAuto)
      return {{schedule, chunks}};
    if (countSweeps(getOperation()) != 2)
      return {{pipeline::kRuleOfAnySweeps, 1}};
    static constexpr int64_t kMostChunks = 4;
    SmallVector<Candidate> candidates;
    auto add = [&](const pipeline::Rule &rule, int64_t wished) {
      int64_t own = rule.fitChunks(static_cast<int>(wished));
      bool isPossible = keep ? own * devices == units : own * devices <= units;
      Candidate candidate{rule.name, own};
      if (isPossible && !llvm::is_contained(candidates, candidate))
        candidates.push_back(candidate);
    };
    for (const pipeline::Rule &rule : pipeline::getRules()) {
      add(rule, chunks);
      for (int64_t more = chunks + 1; chunks == 1 && rule.mostChunks == 0 && more <= kMostChunks;
           ++more)
        add(rule, more);
    }
    if (candidates.empty())
      candidates.push_back({pipeline::kUsualRule, 1});
    return candidates;
  }

  LogicalResult add(const Candidate &candidate, const StageProblem &problem,
                    std::vector<StagedSchedule> &found) {
    ProgramOp step = getOperation();
    FailureOr<Order> order = Order::find(step, candidate.first, devices, candidate.second);
    if (failed(order))
      return failure();
    int64_t stages = order->getShape().stages(), units = problem.countUnits();
    if (units < stages && keep)
      return success(); // a stage has no ops
    if (units < stages)
      return step.emitError() << "the forward pass can be cut into at most "
                              << amount(units, "stage") << ", got " << stages;
    FailureOr<pipeline::Schedule> made = order->make(step, problem.countMicrobatches());
    if (failed(made))
      return failure();
    StagedSchedule &staged = found.emplace_back();
    staged.name =
        candidate.first.empty() ? pipeline::usualRule(countSweeps(step)) : candidate.first;
    staged.schedule = std::move(*made);
    findCut(problem, staged);
    simulate(staged);
    return success();
  }

  /// Finds a cut. Devices whose programs did not fit get less work, until the cut is none of the
  /// refused cuts.
  void findCut(const StageProblem &problem, StagedSchedule &staged) {
    static constexpr int kMostRounds = 40;
    static constexpr double kLess = 0.95;
    SmallVector<double> rooms(devices, 1.0);
    SmallVector<const RefusedCut *> refused;
    for (const RefusedCut &cut : inputs->refused) {
      if (cut.schedule != staged.name || cut.chunks != staged.chunks())
        continue;
      refused.push_back(&cut);
      for (auto [room, own] : llvm::zip_equal(rooms, cut.rooms))
        room *= own < 1 ? std::min(own, kLess) : 1;
    }
    if (inputs->isForLeast)
      return findLeastCut(problem, refused, staged);
    staged.isRefused = refused.size() >= kMostRefused;
    for (int round = 0; round < kMostRounds; ++round) {
      cutWithin(problem, rooms, refused, staged);
      auto same = findSame(refused, staged.units);
      if (same == refused.end())
        return;
      for (auto [room, own] : llvm::zip_equal(rooms, (*same)->rooms))
        if (own < 1)
          room *= kLess;
    }
    staged.isRefused = true;
  }

  /// Finds another cut for the fewest bytes: first the loosened cuts, then cuts whose estimates are
  /// scaled by the real bytes of the programs of refused cuts.
  void findLeastCut(const StageProblem &problem, SmallVector<const RefusedCut *> refused,
                    StagedSchedule &staged) {
    static constexpr size_t kMostWeighed = 3;
    SmallVector<double> whole(devices, 1.0);
    bool mayWeigh = schedule != kAuto && refused.size() >= kMostRefused;
    cutWithin(problem, whole, refused, staged);
    staged.isRefused = refused.size() >= kMostRefused;
    if (!mayWeigh || refused.size() >= kMostRefused + kMostWeighed)
      return;
    stages::Problem numbers = problem.make(staged.schedule, whole);
    SmallVector<const RefusedCut *> smallestFirst = refused;
    sortStably(smallestFirst, [](const RefusedCut *a, const RefusedCut *b) {
      return *llvm::min_element(a->rooms) > *llvm::min_element(b->rooms);
    });
    for (const RefusedCut *cut : smallestFirst) {
      std::optional<stages::Split> split = weigh(numbers, *cut, staged.schedule.shape);
      if (!split || findSame(refused, listUnits(*split, problem.countUnits())) != refused.end())
        continue;
      takeCut(problem, numbers, *split, staged);
      staged.isRefused = false;
      return;
    }
  }

  /// Returns the cut whose fullest device needs the fewest bytes, if estimates are wrong by the
  /// same factors as those of the refused cut.
  std::optional<stages::Split> weigh(const stages::Problem &numbers, const RefusedCut &cut,
                                     const pipeline::Shape &shape) const {
    stages::Loads loads(numbers);
    std::vector<double> estimates(devices);
    for (auto [stage, range] : llvm::enumerate(cut.units)) {
      auto number = static_cast<int>(stage);
      estimates[shape.rankOf(number)] += loads.get(range.first, range.second, number).taken;
    }
    return stages::balance(static_cast<int>(numbers.units.size()), shape.stages(),
                           [&](int first, int last, int stage) {
                             int rank = shape.rankOf(stage);
                             double whole = std::max(1.0, estimates[rank]) * cut.rooms[rank];
                             return loads.get(first, last, stage).taken / whole;
                           });
  }

  using Units = std::vector<std::pair<int, int>>;

  static ArrayRef<const RefusedCut *>::iterator findSame(ArrayRef<const RefusedCut *> refused,
                                                         const Units &units) {
    return llvm::find_if(refused, [&](const RefusedCut *cut) { return cut->units == units; });
  }

  static Units listUnits(const stages::Split &split, int64_t units) {
    Units list;
    for (int first : split.begins) {
      if (!list.empty())
        list.back().second = first;
      list.push_back({first, static_cast<int>(units)});
    }
    return list;
  }

  /// Cuts within rooms. Bytes are estimates, so if no cut fits, looser cuts are tried, fuller ones
  /// first.
  static void cutWithin(const StageProblem &problem, ArrayRef<double> rooms,
                        ArrayRef<const RefusedCut *> refused, StagedSchedule &staged) {
    stages::Problem numbers = problem.make(staged.schedule, rooms);
    std::optional<stages::Split> split = stages::balance(numbers);
    staged.fits = split.has_value();
    std::vector<stages::Split> looser = split ? std::vector{*split} : stages::loosen(numbers);
    for (size_t i = std::min<size_t>(refused.size(), looser.size() - 1); i < looser.size(); ++i) {
      split = looser[i];
      if (findSame(refused, listUnits(*split, problem.countUnits())) == refused.end())
        break;
    }
    takeCut(problem, numbers, *split, staged);
  }

  static void takeCut(const StageProblem &problem, const stages::Problem &numbers,
                      const stages::Split &split, StagedSchedule &staged) {
    staged.units = listUnits(split, problem.countUnits());
    staged.pipeline = stages::makePipeline(numbers, split);
    stages::Loads loads(numbers);
    staged.replays.clear();
    for (auto [stage, range] : llvm::enumerate(staged.units))
      staged.replays.push_back(
          loads.get(range.first, range.second, static_cast<int>(stage)).replay);
  }

  /// Compares two schedules: a schedule that fits is better, then the faster one, then the one with
  /// fewer bytes.
  static bool isBetter(const StagedSchedule &a, const StagedSchedule &b) {
    if (a.isRefused != b.isRefused)
      return b.isRefused;
    if (a.fits != b.fits)
      return a.fits;
    double tolerance = 1e-9 * std::max(a.simulation.makespan, b.simulation.makespan);
    if (std::abs(a.simulation.makespan - b.simulation.makespan) > tolerance)
      return a.simulation.makespan < b.simulation.makespan;
    auto findPeak = [](const StagedSchedule &staged) {
      const std::vector<int64_t> &peaks = staged.simulation.peaks;
      return peaks.empty() ? 0 : *llvm::max_element(peaks);
    };
    return findPeak(a) < findPeak(b);
  }

  void renumber(ArrayRef<std::pair<int, int>> stages) {
    Builder builder(&getContext());
    SmallVector<int64_t> stageOf;
    for (auto [stage, range] : llvm::enumerate(stages))
      stageOf.append(range.second - range.first, static_cast<int64_t>(stage));
    for (Operation &op : getOperation().getBody().front())
      if (auto unit = dyn_cast_or_null<IntegerAttr>(op.getDiscardableAttr(kStageAttr)))
        op.setDiscardableAttr(kStageAttr, builder.getI64IntegerAttr(stageOf[unit.getInt()]));
  }

  static constexpr size_t kMostRefused = 3; // loosened cuts
  std::shared_ptr<const StageInputs> inputs;
};

} // namespace

std::unique_ptr<Pass> createBalanceStagesPass(BalanceStagesPassOptions options,
                                              std::shared_ptr<const StageInputs> inputs) {
  return std::make_unique<BalanceStagesPass>(std::move(options), std::move(inputs));
}

} // namespace reprise::pipe
