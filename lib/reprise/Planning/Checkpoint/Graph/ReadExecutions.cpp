// reprise: executions of a graph as plans and as sequences
#include "ReadExecutions.h"

#include "../Sequence/SequenceMoves.h"
#include "../Sequence/Shift.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Moves the launches to the order of the first executions.
static void arrangeLaunches(Sequence &sequence, const Executions &executions) {
  std::vector<bool> ran(sequence.size());
  int place = 0;
  Shift shift;
  for (int launch : executions) {
    if (ran[launch])
      continue;
    ran[launch] = true;
    if (sequence.steps[launch].place != place) {
      weigh(sequence, launch, place, shift);
      apply(sequence, shift);
    }
    ++place;
  }
}

Sequence reprise::checkpoint::readExecutions(const Pieces &pieces, const Executions &executions,
                                             int64_t budget) {
  Sequence sequence(pieces, budget);
  arrangeLaunches(sequence, executions);
  std::vector<int> latest(pieces.cells.size(), -1); // items
  std::vector<bool> ran(pieces.numLaunches);
  for (int place = 0; place < static_cast<int>(executions.size()); ++place) {
    int operation = executions[place], exec = operation;
    if (ran[operation]) {
      std::vector<int> sources;
      int piece = pieces.replayOf[operation];
      for (const Pieces::Read &read : pieces.pieces[piece].reads)
        sources.push_back(latest[read.cell]);
      exec = insert(sequence, piece, place, sources, /*appends=*/false);
    } else {
      const std::vector<Pieces::Read> &reads = pieces.pieces[operation].reads;
      for (size_t read = 0; read < reads.size(); ++read)
        sequence.moveReader({exec, static_cast<int>(read)}, latest[reads[read].cell]);
    }
    ran[operation] = true;
    const std::vector<Pieces::Result> &results = sequence.pieceOf(exec).results;
    for (size_t result = 0; result < results.size(); ++result)
      latest[results[result].cell] = sequence.execs[exec].firstItem + static_cast<int>(result);
  }
  return sequence;
}

void reprise::checkpoint::prune(Sequence &sequence) {
  static constexpr int kRounds = 4;
  auto isDearer = [&](int a, int b) {
    double costA = sequence.pieceOf(a).seconds, costB = sequence.pieceOf(b).seconds;
    return costA != costB ? costA > costB : sequence.placeOf(a) < sequence.placeOf(b);
  };
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    std::vector<int> replays;
    for (int exec = 0; exec < static_cast<int>(sequence.execs.size()); ++exec)
      if (sequence.isReplay(exec) && sequence.exists(exec))
        replays.push_back(exec);
    std::sort(replays.begin(), replays.end(), isDearer);
    for (int exec : replays) {
      if (!canRemove(sequence, exec))
        continue;
      Removed removed = remove(sequence, exec);
      if (sequence.excess() > 0)
        restore(sequence, removed);
      else
        changed = true;
    }
  }
}

/// Marks executions that are originals, or that such executions read.
static std::vector<bool> findRead(const Problem &problem, const Executions &executions) {
  std::vector<int> latest(problem.operations.size(), -1);
  std::vector<std::vector<int>> sources(executions.size());
  std::vector<bool> isRead(executions.size());
  for (size_t i = 0; i < executions.size(); ++i) {
    for (int operand : problem.operations[executions[i]].operands)
      sources[i].push_back(latest[problem.values[operand].operation]);
    isRead[i] = latest[executions[i]] < 0;
    latest[executions[i]] = static_cast<int>(i);
  }
  for (size_t i = executions.size(); i-- > 0;)
    for (int source : sources[i])
      if (isRead[i])
        isRead[source] = true;
  return isRead;
}

SequencePlan reprise::checkpoint::toPlan(const Problem &problem, const Executions &executions) {
  SequencePlan plan;
  std::vector<bool> isRead = findRead(problem, executions);
  std::vector<int> count(problem.operations.size()); // executions so far
  size_t placed = 0;                                 // replays whose place is known
  for (size_t i = 0; i < executions.size(); ++i) {
    int operation = executions[i];
    if (!isRead[i])
      continue;
    Execution execution{operation, count[operation]++, {}};
    bool isPlain = execution.replay == 0;
    for (int operand : problem.operations[operation].operands) {
      execution.sources.push_back(count[problem.values[operand].operation] - 1);
      isPlain &= execution.sources.back() == 0;
    }
    if (execution.replay == 0) {
      plan.order.push_back(operation);
      for (; placed < plan.executions.size(); ++placed)
        if (Execution &replay = plan.executions[placed]; replay.replay > 0)
          replay.before = replay.launch = operation;
    }
    if (!isPlain)
      plan.executions.push_back(std::move(execution));
  }
  return plan;
}
