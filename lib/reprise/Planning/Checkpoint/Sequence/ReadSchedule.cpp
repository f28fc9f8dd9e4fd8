// reprise: a schedule of choices as a sequence
#include "Executions.h"
#include "SequenceMoves.h"

#include <algorithm>
#include <map>
#include <set>

using namespace reprise::checkpoint;

namespace {

/// Inserts the replays of a schedule from first to last, and lets readers take them.
class ScheduleReader {
public:
  ScheduleReader(const Pieces &pieces, const Schedule &schedule, int64_t budget)
      : pieces(pieces), problem(pieces.problem), schedule(schedule), sequence(pieces, budget) {}

  Sequence read() {
    findTimes();
    std::vector<std::vector<size_t>> runsBefore(pieces.numLaunches);
    for (size_t run = 0; run < schedule.runs.size(); ++run)
      if (schedule.runs[run].replay > 0 && pieces.replayOf[schedule.runs[run].operation] >= 0)
        runsBefore[times[run]].push_back(run);
    for (const std::vector<size_t> &runs : runsBefore)
      for (size_t run : runs)
        insert(run);
    connect();
    return std::move(sequence);
  }

private:
  using Key = std::pair<int, int>; // operation and replay

  int launchOf(size_t run) const { return pieces.footprint.launches[schedule.runs[run].operation]; }
  const Problem::Operation &op(size_t run) const {
    return problem.operations[schedule.runs[run].operation];
  }
  int sourceOf(size_t run, size_t operand) const {
    return schedule.sources[schedule.runs[run].firstSource + operand];
  }
  void findTimes();
  std::pair<int, int> findRead(size_t run, size_t operand) const;
  std::pair<int, int> findItem(size_t run, size_t operand) const;
  std::vector<size_t> findRuns(size_t run) const;
  void insert(size_t run);
  void connect();

  const Pieces &pieces;
  const Problem &problem;
  const Schedule &schedule;
  Sequence sequence;
  std::vector<int> times; // per run: the first launch that needs it
  std::map<Key, int> execs;
};

} // namespace

void ScheduleReader::findTimes() {
  times.assign(schedule.runs.size(), pieces.numLaunches - 1);
  for (size_t run = schedule.runs.size(); run-- > 0;) {
    const Schedule::Run &own = schedule.runs[run];
    if (own.replay == 0 && launchOf(run) != kNoLaunch)
      times[run] = launchOf(run);
    for (size_t operand = 0; operand < op(run).operands.size(); ++operand)
      if (int source = sourceOf(run, operand); source >= 0)
        times[source] = std::min(times[source], times[run]);
  }
}

/// Returns the value that a run reads behind an operand, and the run that makes it; -1 for none.
std::pair<int, int> ScheduleReader::findRead(size_t run, size_t operand) const {
  int value = op(run).operands[operand], source = sourceOf(run, operand);
  while (source >= 0 && launchOf(source) == kNoLaunch) {
    bool hasOperand = !op(source).operands.empty();
    value = hasOperand ? op(source).operands[0] : kAvailable;
    source = hasOperand ? sourceOf(source, 0) : -1;
  }
  return {value, source};
}

/// Returns the cell that a run reads behind an operand, and the item that it takes; -1 for none.
std::pair<int, int> ScheduleReader::findItem(size_t run, size_t operand) const {
  auto [value, source] = findRead(run, operand);
  if (source < 0 || pieces.cellOf[value] < 0)
    return {-1, -1};
  int cell = pieces.cellOf[value];
  auto found = execs.find({schedule.runs[source].operation, schedule.runs[source].replay});
  if (schedule.runs[source].replay == 0 || found == execs.end())
    return {cell, sequence.execs[pieces.cells[cell].launch].firstItem + pieces.cells[cell].result};
  const Sequence::Exec &exec = sequence.execs[found->second];
  const auto &results = pieces.pieces[exec.piece].results;
  for (size_t result = 0; result < results.size(); ++result)
    if (results[result].cell == cell)
      return {cell, exec.firstItem + static_cast<int>(result)};
  return {-1, -1};
}

/// Returns the run, and those that make what it reads inside its launch, which may have numbers of
/// their own.
std::vector<size_t> ScheduleReader::findRuns(size_t run) const {
  std::vector<size_t> found{run};
  for (size_t i = 0; i < found.size(); ++i)
    for (size_t operand = 0; operand < op(found[i]).operands.size(); ++operand) {
      auto [value, source] = findRead(found[i], operand);
      bool isInside = source >= 0 && pieces.cellOf[value] < 0 && launchOf(source) == launchOf(run);
      if (isInside && std::find(found.begin(), found.end(), source) == found.end())
        found.push_back(source);
    }
  return found;
}

/// Adds the replay that the run is. What its runs read of other pieces is what its piece reads.
void ScheduleReader::insert(size_t run) {
  const Schedule::Run &own = schedule.runs[run];
  int number = pieces.replayOf[own.operation];
  const Pieces::Piece &piece = pieces.pieces[number];
  std::vector<int> sources;
  for (const Pieces::Read &read : piece.reads) {
    const Pieces::Cell &cell = pieces.cells[read.cell];
    sources.push_back(sequence.execs[cell.launch].firstItem + cell.result);
  }
  for (size_t inside : findRuns(run))
    for (size_t operand = 0; operand < op(inside).operands.size(); ++operand) {
      auto [cell, item] = findItem(inside, operand);
      for (size_t read = 0; cell >= 0 && read < sources.size(); ++read)
        if (piece.reads[read].cell == cell)
          sources[read] = item;
    }
  int place = sequence.steps[times[run]].place;
  bool isLate =
      sequence.steps[piece.launch].place < place && mayRunBefore(sequence, piece.launch, place - 1);
  for (int source : sources)
    isLate &= sequence.placeOf(sequence.items[source].exec) < place;
  if (!isLate)
    return; // the launch reads what it makes itself, or what was overwritten
  int before = place > 0 ? sequence.order[place - 1] : -1;
  bool appends = before >= 0 && sequence.steps[before].isReplay &&
                 sequence.steps[before].launch == piece.launch;
  for (size_t read = 0; appends && read < sources.size(); ++read)
    appends = piece.reads[read].fromRegisters ||
              sequence.execs[sequence.items[sources[read]].exec].step != before;
  for (size_t i = 0; appends && i < sequence.steps[before].execs.size(); ++i)
    appends = sequence.execs[sequence.steps[before].execs[i]].piece != number;
  execs[{own.operation, own.replay}] =
      reprise::checkpoint::insert(sequence, number, place, sources, appends);
}

/// Lets the launch of an original read what the original reads. A launch reads one item of a cell,
/// so it takes the original if its operations do not agree.
void ScheduleReader::connect() {
  std::map<std::pair<int, int>, std::set<int>> wanted; // items, by launch and cell
  for (size_t run = 0; run < schedule.runs.size(); ++run)
    for (size_t operand = 0; operand < op(run).operands.size(); ++operand)
      if (schedule.runs[run].replay == 0 && launchOf(run) != kNoLaunch)
        if (auto [cell, item] = findItem(run, operand); cell >= 0)
          wanted[{launchOf(run), cell}].insert(item);
  for (auto &[key, items] : wanted) {
    auto [launch, cell] = key;
    const std::vector<Pieces::Read> &reads = pieces.pieces[launch].reads;
    for (size_t read = 0; read < reads.size(); ++read)
      if (int item = *items.begin();
          items.size() == 1 && reads[read].cell == cell && reads[read].mayMove &&
          sequence.placeOf(sequence.items[item].exec) < sequence.steps[launch].place)
        sequence.moveReader({launch, static_cast<int>(read)}, item);
  }
}

Sequence reprise::checkpoint::readSchedule(const Pieces &pieces, const Schedule &schedule,
                                           int64_t budget) {
  Sequence sequence = ScheduleReader(pieces, schedule, budget).read();
  settle(sequence);
  return sequence;
}
