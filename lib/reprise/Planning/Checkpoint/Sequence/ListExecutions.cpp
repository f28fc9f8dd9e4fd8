// reprise: a sequence as executions of operations
#include "../Schedule/LiveRanges.h"
#include "Executions.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace reprise::checkpoint;

namespace {

/// Writes executions step by step. Replays of one step have one number, so that they share a
/// kernel. A view of a replay has the number of that replay.
class Lister {
public:
  explicit Lister(const Sequence &sequence)
      : sequence(sequence), pieces(*sequence.pieces), problem(pieces.problem),
        numbers(sequence.execs.size()) {}

  std::vector<Execution> list();

private:
  void findBehind();
  void dropUnread();
  void addReplay(int exec, int number);
  void addOriginals(int launch);
  int findSource(int exec, int reader, int operand, const std::vector<int> &own, int number);
  int addViews(int reader, int value, int number, bool isReplay);
  int launchOf(int value) const {
    return pieces.footprint.launches[problem.values[value].operation];
  }
  void add(Execution execution) {
    if (done.insert({execution.operation, execution.replay}).second)
      result.push_back(std::move(execution));
  }

  const Sequence &sequence;
  const Pieces &pieces;
  const Problem &problem;
  // The operation and the launch before which replays of the step stand, and those of each place.
  int before = -1, launch = -1;
  std::vector<std::pair<int, int>> behind;
  std::vector<int> numbers; // per execution
  std::set<std::pair<int, int>> done;
  std::vector<Execution> result;
};

} // namespace

/// Adds the views between a reader and the cell behind a value, which has the number. A view that
/// the reader reads back is replayed, another one reads the replay itself. Returns the number of
/// the value's own operation.
int Lister::addViews(int reader, int value, int number, bool isReplay) {
  if (number == 0 || launchOf(value) != kNoLaunch)
    return number;
  int operation = problem.values[value].operation;
  const Problem::Operation &op = problem.operations[operation];
  isReplay |= mayReadReplay(problem, problem.operations[reader], op);
  int own = isReplay ? number : 0;
  Execution view{operation, own, std::vector<int>(op.operands.size()), before, launch};
  view.sources[0] = addViews(operation, op.operands[0], number, isReplay);
  add(std::move(view));
  return own;
}

/// Returns the replay that an operation of an execution reads for an operand. `own` has the
/// operations of a replay, which have the number.
int Lister::findSource(int exec, int reader, int operand, const std::vector<int> &own, int number) {
  int root = operand == kAvailable ? -1 : findRoot(problem, pieces.footprint, operand);
  if (root < 0)
    return 0;
  if (std::find(own.begin(), own.end(), problem.values[root].operation) != own.end())
    return addViews(reader, operand, number, true);
  const std::vector<Pieces::Read> &reads = sequence.pieceOf(exec).reads;
  for (size_t read = 0; read < reads.size(); ++read)
    if (reads[read].cell == pieces.cellOf[root])
      return addViews(reader, operand,
                      numbers[sequence.items[sequence.execs[exec].sources[read]].exec], number > 0);
  return 0;
}

void Lister::addReplay(int exec, int number) {
  numbers[exec] = number;
  const std::vector<int> &own = sequence.pieceOf(exec).operations;
  for (int operation : own) {
    // Two pieces of one step share what both compute on the way.
    if (done.count({operation, number}))
      continue;
    Execution replay{operation, number, {}, before, launch};
    for (int operand : problem.operations[operation].operands)
      replay.sources.push_back(findSource(exec, operation, operand, own, number));
    add(std::move(replay));
  }
}

/// Adds the originals of a launch that read replays.
void Lister::addOriginals(int launch) {
  for (int operation : pieces.pieces[launch].operations) {
    Execution original{operation, 0, {}};
    for (int operand : problem.operations[operation].operands)
      original.sources.push_back(findSource(launch, operation, operand, {}, 0));
    if (std::any_of(original.sources.begin(), original.sources.end(),
                    [](int source) { return source != 0; }))
      add(std::move(original));
  }
}

/// Finds for each place the first operation of the next launch that is part of the problem, and the
/// next launch of all.
void Lister::findBehind() {
  behind.resize(sequence.order.size());
  std::pair<int, int> next(-1, -1);
  for (size_t place = behind.size() - 1; place-- > 0;) {
    const Sequence::Step &step = sequence.steps[sequence.order[place]];
    const std::vector<int> &own = pieces.pieces[step.launch].operations;
    if (!step.isReplay)
      next = {own.empty() ? next.first : own.front(), step.launch};
    behind[place] = next;
  }
}

/// Drops replays that nothing reads, because their readers share what another piece computes.
void Lister::dropUnread() {
  std::set<std::pair<int, int>> isRead;
  std::vector<Execution> kept;
  for (; !result.empty(); result.pop_back()) {
    Execution &execution = result.back();
    if (execution.replay > 0 && !isRead.count({execution.operation, execution.replay}))
      continue;
    const std::vector<int> &operands = problem.operations[execution.operation].operands;
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i] != kAvailable)
        isRead.insert({problem.values[operands[i]].operation, execution.sources[i]});
    kept.push_back(std::move(execution));
  }
  result.assign(kept.rbegin(), kept.rend());
}

std::vector<Execution> Lister::list() {
  findBehind();
  for (int place = 0; place < sequence.size(); ++place) {
    const Sequence::Step &step = sequence.steps[sequence.order[place]];
    std::tie(before, launch) = behind[place];
    for (int exec : step.execs)
      if (sequence.isReplay(exec))
        addReplay(exec, /*number=*/place + 1);
    if (!step.isReplay)
      addOriginals(step.launch);
  }
  dropUnread();
  return std::move(result);
}

std::vector<Execution> reprise::checkpoint::listExecutions(const Sequence &sequence) {
  return Lister(sequence).list();
}

LaunchOrder reprise::checkpoint::listLaunches(const Sequence &sequence) {
  LaunchOrder launches;
  for (int place = 0; place < sequence.size(); ++place)
    if (const Sequence::Step &step = sequence.steps[sequence.order[place]]; !step.isReplay)
      launches.push_back(step.launch);
  return launches;
}
