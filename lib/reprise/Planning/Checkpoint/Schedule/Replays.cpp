// reprise: replays of chosen values, in the order in which the backward pass needs them
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

#include "reprise/Planning/Checkpoint/Labels/NearlyFree.h"

#include <algorithm>
#include <map>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

std::vector<int> reprise::checkpoint::findSessions(const Problem &problem) {
  std::vector<int> outermost(problem.containers.size()), result;
  for (size_t i = 1; i < problem.containers.size(); ++i) {
    int parent = problem.containers[i].parent;
    outermost[i] = parent == 0 ? static_cast<int>(i) : outermost[parent];
  }
  std::map<std::pair<int, int64_t>, int> sessions;
  for (const Operation &op : problem.operations) {
    auto unit = std::make_pair(outermost[op.container], op.order);
    result.push_back(sessions.emplace(unit, sessions.size()).first->second);
  }
  return result;
}

ScheduleBuilder::ScheduleBuilder(const Problem &problem)
    : problem(problem), sessionOf(findSessions(problem)), original(problem.operations.size()),
      replays(problem.operations.size()), firstSession(problem.values.size(), -1) {
  for (const Operation &op : problem.operations) {
    std::vector<int> operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      int value = op.operands[i];
      if (value == kAvailable || isFixed(problem, value))
        continue;
      if (readsBack(op, problem.operations[problem.values[value].operation]))
        operands.push_back(static_cast<int>(i));
    }
    backward.push_back(std::move(operands));
  }
  numbers.resize(sessionOf.empty() ? 0 : *std::max_element(sessionOf.begin(), sessionOf.end()) + 1);
}

/// The number that replays for one unit have.
int &ScheduleBuilder::numberOf(int session) {
  if (numbers[session] == 0)
    numbers[session] = next++;
  return numbers[session];
}

/// True if a reader in the backward pass takes the original. The first reader that asks decides
/// which session is the first.
bool ScheduleBuilder::readsOriginal(int value, int session) {
  Choice choice = (*choices)[value];
  if (isFixed(problem, value) || choice == Choice::Save)
    return true;
  if (choice != Choice::SaveThenReplay)
    return false;
  int &first = firstSession[value];
  first = first < 0 ? session : first;
  return first == session;
}

/// The run that a reader in the backward pass takes the value from; -1 if it must be made.
int ScheduleBuilder::findRun(int value, int session) {
  int operation = problem.values[value].operation;
  if (readsOriginal(value, session))
    return original[operation];
  int number = (*choices)[value] == Choice::ReplayPerUnit ? numbers[session] : shared;
  for (auto [own, run] : replays[operation])
    if (own == number)
      return run;
  return -1;
}

void ScheduleBuilder::emit(int operation, int replay, int reader, int session) {
  int run = static_cast<int>(result.runs.size());
  result.runs.push_back({operation, replay, reader, static_cast<int>(result.sources.size())});
  const Operation &op = problem.operations[operation];
  for (int operand : op.operands) {
    if (operand == kAvailable) {
      result.sources.push_back(-1);
      continue;
    }
    const Operation &definition = problem.operations[problem.values[operand].operation];
    bool isBack = replay > 0 || readsBack(op, definition);
    result.sources.push_back(isBack ? findRun(operand, session)
                                    : original[problem.values[operand].operation]);
  }
  if (replay > 0)
    replays[operation].push_back({replay, run});
  else
    original[operation] = run;
}

/// Runs the replay that defines the value, and before it those that it reads.
void ScheduleBuilder::make(int value, int session, int reader) {
  auto push = [&](int wanted) {
    bool isShared = (*choices)[wanted] != Choice::ReplayPerUnit;
    int number = isShared ? shared : numberOf(session);
    stack.push_back({problem.values[wanted].operation, number, 0});
  };
  push(value);
  while (!stack.empty() && result.isWhole) {
    Frame &frame = stack.back();
    const std::vector<int> &operands = problem.operations[frame.operation].operands;
    while (frame.nextOperand < static_cast<int>(operands.size()) &&
           (operands[frame.nextOperand] == kAvailable ||
            findRun(operands[frame.nextOperand], session) >= 0))
      ++frame.nextOperand;
    if (frame.nextOperand < static_cast<int>(operands.size())) {
      push(operands[frame.nextOperand]);
      continue;
    }
    Frame done = frame;
    stack.pop_back();
    emit(done.operation, done.number, reader, session);
    result.isWhole = result.runs.size() <= kMostRuns * problem.operations.size() + kMostRuns;
  }
}

const Schedule &ScheduleBuilder::build(const std::vector<Choice> &wanted, int firstReplay) {
  choices = &wanted;
  shared = firstReplay;
  next = firstReplay + 1;
  result.runs.clear();
  result.sources.clear();
  result.isWhole = true;
  stack.clear();
  std::fill(numbers.begin(), numbers.end(), 0);
  std::fill(firstSession.begin(), firstSession.end(), -1);
  for (std::vector<std::pair<int, int>> &list : replays)
    list.clear();
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    int operation = static_cast<int>(i);
    for (int operand : backward[i]) {
      int value = problem.operations[i].operands[operand];
      if (findRun(value, sessionOf[i]) < 0)
        make(value, sessionOf[i], operation);
      if (!result.isWhole)
        return result;
    }
    emit(operation, 0, operation, sessionOf[i]);
  }
  return result;
}

namespace {
/// Flags per value: held for the backward pass, and replayed.
struct Reads {
  std::vector<bool> held, replayed;
};
} // namespace

static Reads findReads(const Problem &problem, const Schedule &schedule) {
  Reads reads{std::vector<bool>(problem.values.size()), std::vector<bool>(problem.values.size())};
  for (const Schedule::Run &run : schedule.runs) {
    const Operation &op = problem.operations[run.operation];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      int value = op.operands[i];
      if (value == kAvailable)
        continue;
      const Operation &definition = problem.operations[problem.values[value].operation];
      if (schedule.runs[schedule.sources[run.firstSource + i]].replay > 0)
        reads.replayed[value] = true;
      else if (definition.primal && (run.replay > 0 || mayReadReplay(problem, op, definition)))
        reads.held[value] = true;
    }
  }
  return reads;
}

static Reason explain(const Value &value, bool isHeld, bool isReplayed, bool isFree) {
  bool asksToSave = value.label == Label::MustSave || value.label == Label::PreferSave;
  bool isBoth = isHeld && isReplayed && !value.outlives;
  if (value.label != Label::None && asksToSave != isReplayed && !isBoth)
    return Reason::Label;
  if (value.outlives && !isReplayed)
    return Reason::Outlives;
  if (value.label == Label::None && (!isReplayed || isFree))
    return isReplayed ? Reason::NearlyFree : Reason::Fastest;
  return Reason::Budget;
}

Solution reprise::checkpoint::describe(const Problem &problem, const Schedule &schedule) {
  Solution solution;
  for (const Schedule::Run &run : schedule.runs) {
    Execution execution{run.operation, run.replay, {}, run.before, run.launch};
    for (size_t i = 0; i < problem.operations[run.operation].operands.size(); ++i) {
      int source = schedule.sources[run.firstSource + i];
      execution.sources.push_back(source < 0 ? 0 : schedule.runs[source].replay);
    }
    solution.executions.push_back(std::move(execution));
  }
  Reads reads = findReads(problem, schedule);
  std::vector<bool> free = findNearlyFree(problem);
  for (size_t id = 0; id < problem.values.size(); ++id) {
    const Value &value = problem.values[id];
    bool isSave = value.label == Label::MustSave || value.label == Label::PreferSave;
    if (!reads.replayed[id] && !reads.held[id]) {
      solution.decisions.push_back(Decision::NotNeeded);
      solution.reasons.push_back(value.label == Label::None ? Reason::NotRead : Reason::Moot);
      continue;
    }
    bool asLabelled = value.label == Label::None ? !value.outlives : isSave;
    solution.decisions.push_back(reads.replayed[id] ? Decision::Replayed
                                 : asLabelled       ? Decision::Saved
                                                    : Decision::Kept);
    solution.reasons.push_back(explain(value, reads.held[id], reads.replayed[id], free[id]));
  }
  return solution;
}
