// reprise: the plan that follows the labels exactly, without a budget
#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"

#include "Units.h"
#include "reprise/Planning/Checkpoint/Labels/NearlyFree.h"

#include <set>
#include <tuple>
#include <unordered_set>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

/// The operations that share replays: those of one order in one container, within one body.
struct Session {
  int container;
  int64_t order;
  int body;
  bool operator<(const Session &other) const {
    return std::tie(container, order, body) < std::tie(other.container, other.order, other.body);
  }
};

/// Who reads a value: an operation of the program, or a replay.
struct Reader {
  Session session; // the reader's own unit, or the session that the replay belongs to
  int home;        // the container that the reader's operation is seen from
  bool isReplay;
};

/// For every value the outermost container in which it is an input of another unit, -1 for none: in
/// the root such a value is kept, in a block it is replayed once for all of the block's backward.
using Visibility = std::vector<int>;

/// Walks over the program and decides every read. A value that is kept for one reader is available
/// to all readers. So the first walk finds the visible values, and the second walk plans with them.
class Walk {
public:
  Walk(const Problem &problem, const Units &units, const std::vector<bool> &free,
       const std::set<Session> &replaying, const std::vector<bool> &never, Visibility &visibility,
       int firstReplay)
      : problem(problem), units(units), free(free), replaying(replaying), never(never),
        visibility(visibility), nextReplay(firstReplay), held(problem.values.size()),
        replayed(problem.values.size()), isInput(problem.values.size()),
        reasons(problem.values.size(), Reason::Label) {}

  Solution run();
  /// Values that were held as inputs of other units, which none of those read in the end.
  std::vector<int> findNeedlesslyKept() const {
    std::vector<int> result;
    for (size_t id = 0; id < held.size(); ++id)
      if (held[id] && reasons[id] == Reason::BlockInput && !isInput[id])
        result.push_back(static_cast<int>(id));
    return result;
  }

private:
  /// An execution that waits for its operands.
  struct Frame {
    int operation;
    Session session;
    std::vector<int> sources;
  };

  const Value &value(int id) const { return problem.values[id]; }
  const Operation &definition(int id) const { return problem.operations[value(id).operation]; }
  static bool asksToRecompute(Label label) {
    return label == Label::PreferRecompute || label == Label::MustRecompute;
  }

  int hold(int id, Reason reason) {
    held[id] = true;
    reasons[id] = reason;
    return 0;
  }
  int replayFor(int id, Session session) {
    replayed[id] = true;
    auto [found, isNew] = numbers.try_emplace(session, 0);
    if (isNew) {
      found->second = nextReplay++;
      sessions.push_back(session);
    }
    return found->second;
  }
  int findSource(int id, const Reader &reader);
  int findRecomputed(int id, const Reader &reader);
  bool isKept(int id) const { return visibility[id] == 0; }
  void showIn(int id, int container) {
    if (visibility[id] < 0 || units.holds(container, visibility[id]))
      visibility[id] = container;
  }
  bool keepsInputs(Session session) const {
    return replaying.count(session) != 0 || units.followsItsOwn(session.container, session.order);
  }
  /// True if a replay of the value would need replays of other values of its own unit: those serve
  /// that unit's backward only.
  bool needsInner(int id) const {
    const Operation &op = definition(id);
    for (int operand : op.operands)
      if (operand != kAvailable && asksToRecompute(value(operand).label) &&
          !value(operand).outlives && !isKept(operand) &&
          units.commonContainer(op.container, definition(operand).container) != 0)
        return true;
    return false;
  }
  void runReplay(int id, int number);
  void decide(Solution &solution) const;

  const Problem &problem;
  const Units &units;
  const std::vector<bool> &free;
  const std::set<Session> &replaying; // units with replays of their own values
  const std::vector<bool> &never;     // values that are not kept for other units
  Visibility &visibility;
  int nextReplay;
  std::map<Session, int> numbers;
  std::vector<Session> sessions;     // by number - firstReplay
  std::unordered_set<uint64_t> done; // replays that ran
  std::vector<bool> held, replayed, isInput;
  std::vector<Reason> reasons;
  std::vector<Execution> executions;
};

} // namespace

/// The replay number that a reader takes the value from, for a read of the backward pass.
int Walk::findSource(int id, const Reader &reader) {
  const Value &read = value(id);
  if (!definition(id).primal)
    return 0;
  if (read.outlives)
    return hold(id, Reason::Outlives);
  if (asksToRecompute(read.label))
    return findRecomputed(id, reader);
  bool isRemade = reader.isReplay && definition(id).remade;
  if (read.label == Label::None && (free[id] || isRemade))
    return replayFor(id, reader.session);
  return hold(id, read.label == Label::None ? Reason::Fastest : Reason::Label);
}

int Walk::findRecomputed(int id, const Reader &reader) {
  const Operation &op = definition(id);
  bool must = value(id).label == Label::MustRecompute || never[id];
  if (units.outermost(reader.home) != units.outermost(op.container))
    isInput[id] = true;
  if (isKept(id))
    return hold(id, Reason::BlockInput);
  int shared = units.commonContainer(reader.home, op.container);
  Session session = reader.session;
  if (shared != 0) {
    if (shared != reader.home)
      showIn(id, shared);
    if (visibility[id] > 0 && units.holds(visibility[id], shared))
      shared = visibility[id];
    if (!must && units.isLastBefore(shared, op.order, session.order))
      return hold(id, Reason::LastUnit);
    // A replay that reached into its producer's unit stays in the session that asked for it.
    if (units.holds(shared, session.container))
      session.container = shared;
    return replayFor(id, session);
  }
  session.container = units.outermost(session.container);
  if (!must && (reader.isReplay || keepsInputs(session) || needsInner(id))) {
    showIn(id, 0);
    return hold(id, Reason::BlockInput);
  }
  return replayFor(id, session);
}

/// Runs the replay that defines the value, and before it what it reads.
void Walk::runReplay(int id, int number) {
  int firstReplay = nextReplay - static_cast<int>(sessions.size());
  auto key = [](int operation, int replay) {
    return (uint64_t(operation) << 32) | uint32_t(replay);
  };
  std::vector<Frame> stack;
  auto push = [&](int value, int replay) {
    int operation = problem.values[value].operation;
    if (done.insert(key(operation, replay)).second)
      stack.push_back({operation, sessions[replay - firstReplay], {}});
  };
  push(id, number);
  while (!stack.empty()) {
    Frame &frame = stack.back();
    const Operation &op = problem.operations[frame.operation];
    if (frame.sources.size() == op.operands.size()) {
      executions.push_back({frame.operation, numbers.at(frame.session), std::move(frame.sources)});
      stack.pop_back();
      continue;
    }
    int operand = op.operands[frame.sources.size()];
    int container = frame.session.container;
    int home = units.holds(container, op.container) ? container : units.outermost(op.container);
    int source = operand == kAvailable ? 0 : findSource(operand, {frame.session, home, true});
    frame.sources.push_back(source);
    if (source != 0)
      push(operand, source);
  }
}

Solution Walk::run() {
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    Execution original{static_cast<int>(i), 0, {}};
    for (int operand : op.operands) {
      int source = 0;
      if (operand != kAvailable && readsBack(op, definition(operand)))
        source = findSource(operand, {{op.container, op.order, op.body}, op.container, false});
      original.sources.push_back(source);
      if (source != 0)
        runReplay(operand, source);
    }
    executions.push_back(std::move(original));
  }
  Solution solution;
  decide(solution);
  solution.executions = std::move(executions);
  return solution;
}

void Walk::decide(Solution &solution) const {
  for (size_t id = 0; id < problem.values.size(); ++id) {
    Label label = problem.values[id].label;
    Decision decision = Decision::NotNeeded;
    Reason reason = label == Label::None ? Reason::NotRead : Reason::Moot;
    if (replayed[id]) {
      decision = Decision::Replayed;
      reason = held[id] ? reasons[id] : label == Label::None ? Reason::NearlyFree : Reason::Label;
    } else if (held[id]) {
      bool asLabelled =
          !asksToRecompute(label) && (label != Label::None || reasons[id] == Reason::Fastest);
      decision = asLabelled ? Decision::Saved : Decision::Kept;
      reason = asLabelled && label != Label::None ? Reason::Label : reasons[id];
    }
    solution.decisions.push_back(decision);
    solution.reasons.push_back(reason);
  }
}

/// Units whose backward asks for values of their own container again.
static std::set<Session> findReplaying(const Problem &problem, const Units &units) {
  std::set<Session> result;
  for (const Operation &op : problem.operations)
    for (int operand : op.operands) {
      if (operand == kAvailable)
        continue;
      const Value &value = problem.values[operand];
      const Operation &definition = problem.operations[value.operation];
      bool must = value.label == Label::MustRecompute;
      if (value.outlives || !readsBack(op, definition) || !definition.primal ||
          (!must && value.label != Label::PreferRecompute))
        continue;
      int shared = units.commonContainer(op.container, definition.container);
      if (shared != 0 && (must || !units.isLastBefore(shared, definition.order, op.order)))
        result.insert({units.outermost(op.container), op.order, op.body});
    }
  return result;
}

Solution reprise::checkpoint::followLabels(const Problem &problem, int firstReplay) {
  Units units(problem);
  std::vector<bool> free = findNearlyFree(problem);
  std::set<Session> replaying = findReplaying(problem, units);
  std::vector<bool> never(problem.values.size());
  while (true) {
    Visibility visibility(problem.values.size(), -1);
    Walk(problem, units, free, replaying, never, visibility, firstReplay).run();
    Walk walk(problem, units, free, replaying, never, visibility, firstReplay);
    Solution solution = walk.run();
    // Keeping one input may save the replay that read another one.
    std::vector<int> needless = walk.findNeedlesslyKept();
    if (needless.empty())
      return solution;
    for (int id : needless)
      never[id] = true;
  }
}
