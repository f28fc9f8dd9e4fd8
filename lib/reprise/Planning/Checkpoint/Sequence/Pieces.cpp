// reprise: a step in pieces: what a sequence executes, and what each execution reads and stores
#include "Pieces.h"

#include "../Schedule/LiveRanges.h"

#include <algorithm>
#include <map>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;

static bool readsRegisters(const Operation &op) {
  return op.kind == Kind::Elementwise || op.kind == Kind::Reduction;
}

Pieces::Pieces(const Problem &problem, const Footprint &footprint, const LaunchLinks *links,
               bool mayOverride)
    : problem(problem), footprint(footprint), numLaunches(footprint.numLaunches),
      isOrdered(links == nullptr), pieces(footprint.numLaunches + 1),
      cellOf(problem.values.size(), -1), replayOf(problem.operations.size(), -1),
      mayOverride(mayOverride) {
  for (int launch = 0; launch <= numLaunches; ++launch)
    pieces[launch].launch = launch;
  findCells();
  findReadingLaunches();
  addLaunches();
  for (size_t i = 0; i < problem.operations.size(); ++i)
    if (isReplayable(static_cast<int>(i)))
      addReplay(static_cast<int>(i));
  addNeighbours(links);
  addReturned(links);
  findWaits(links);
  findPlain();
  std::map<int64_t, int> classes;
  for (Cell &cell : cells) {
    cell.sizeClass = classes.emplace(cell.bytes, static_cast<int>(classes.size())).first->second;
    if (static_cast<size_t>(cell.sizeClass) == sizes.size())
      sizes.push_back(cell.bytes);
  }
}

int Pieces::addCell(int value, int64_t bytes, int launch) {
  Cell cell;
  cell.value = value;
  cell.bytes = bytes;
  cell.launch = launch;
  cell.result = static_cast<int>(pieces[launch].results.size());
  pieces[launch].results.push_back({static_cast<int>(cells.size())});
  cells.push_back(cell);
  return static_cast<int>(cells.size()) - 1;
}

void Pieces::findCells() {
  std::vector<bool> isRead(problem.values.size());
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int operand : problem.operations[i].operands) {
      int root = footprint.launches[i] == kNoLaunch ? -1 : findRoot(problem, footprint, operand);
      if (root >= 0)
        isRead[root] = isRead[root] ||
                       footprint.launches[problem.values[root].operation] != footprint.launches[i];
    }
  for (size_t value = 0; value < problem.values.size(); ++value) {
    int operation = problem.values[value].operation, launch = footprint.launches[operation];
    bool makesAll = footprint.storesUnread(operation), leaves = footprint.lastOutside[value] >= 0;
    if (launch == kNoLaunch || !footprint.isStored[value] || !(isRead[value] || makesAll || leaves))
      continue;
    cellOf[value] = addCell(static_cast<int>(value), problem.values[value].bytes, launch);
    Label label = problem.values[value].label;
    cells.back().mustReplay =
        label == Label::MustRecompute || (label == Label::PreferRecompute && !mayOverride);
    Result &result = pieces[launch].results.back();
    result.takesPlaces = footprint.takesPlaces(problem, operation);
    result.makesAll = makesAll;
    result.isKnown = footprint.lastOutside[value] > launch;
  }
}

void Pieces::addLaunches() {
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    int launch = footprint.launches[i];
    if (launch == kNoLaunch)
      continue;
    pieces[launch].operations.push_back(static_cast<int>(i));
    pieces[launch].scratch += footprint.scratchOf(i);
    addReads(launch, static_cast<int>(i), nullptr);
  }
}

bool Pieces::mustSave(int value) const {
  Label label = problem.values[value].label;
  return isFixed(problem, value) || label == Label::MustSave ||
         (label == Label::PreferSave && !mayOverride);
}

/// Tells whether some choice moves the read, also through operations without a launch.
bool Pieces::isMoved(const Operation &reader, int value) const {
  if (value == kAvailable)
    return false;
  int operation = problem.values[value].operation;
  const Operation &definition = problem.operations[operation];
  if (!isFixed(problem, value) && mayReadReplay(problem, reader, definition))
    return true;
  return footprint.launches[operation] == kNoLaunch &&
         std::any_of(definition.operands.begin(), definition.operands.end(),
                     [&](int operand) { return isMoved(definition, operand); });
}

/// Tells whether a read behind an operand may take a replay. A replay may read replays. A view that
/// is no replay itself runs once, so that all its readers take one item: only one launch may read
/// it then.
bool Pieces::mayMove(int reader, int operand, bool isReplay) const {
  for (int value = operand;;) {
    int maker = problem.values[value].operation;
    bool isBack =
        isReplay || mayReadReplay(problem, problem.operations[reader], problem.operations[maker]);
    if (footprint.launches[maker] != kNoLaunch)
      return isBack && !mustSave(value);
    if (isBack ? !problem.operations[maker].primal || mustSave(value) : readingLaunch[value] < 0)
      return false;
    isReplay |= isBack;
    reader = maker;
    value = problem.operations[maker].operands[0];
  }
}

/// Describes how an operation reads the cell behind an operand.
Pieces::Read Pieces::describeRead(int operation, int operand, bool isOriginal) const {
  const Operation &op = problem.operations[operation];
  int root = findRoot(problem, footprint, operand);
  bool isFixedRead = isOriginal && !isMoved(op, operand);
  Read read{cellOf[root]};
  read.mayMove = mayMove(operation, operand, !isOriginal);
  read.fromRegisters = readsRegisters(op);
  read.takesPlace = footprint.takesPlaces(problem, operation);
  read.isUsual =
      isOriginal && (isFixedRead || !readsRegisters(op) ||
                     problem.operations[problem.values[root].operation].kind != Kind::Elementwise);
  return read;
}

/// Finds for each value of a view the one launch that reads it, also through other views.
void Pieces::findReadingLaunches() {
  readingLaunch.assign(problem.values.size(), kUnread);
  for (size_t i = problem.operations.size(); i-- > 0;) {
    int launch = footprint.launches[i];
    const Operation &op = problem.operations[i];
    if (launch == kNoLaunch)
      for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
        launch = launch == kNoLaunch ? readingLaunch[value] : kApart;
    for (int operand : op.operands)
      if (operand != kAvailable && launch != kUnread)
        readingLaunch[operand] =
            readingLaunch[operand] == kUnread || readingLaunch[operand] == launch ? launch : kApart;
  }
}

/// Adds what the operation reads of cells that other pieces make. `isOwn` marks the operations of a
/// replay; it is null for a launch.
void Pieces::addReads(int piece, int operation, const std::vector<bool> *isOwn) {
  for (int operand : problem.operations[operation].operands) {
    int root = findRoot(problem, footprint, operand);
    if (root < 0 || cellOf[root] < 0)
      continue;
    int maker = problem.values[root].operation;
    if (isOwn ? (*isOwn)[maker] : footprint.launches[maker] == footprint.launches[operation])
      continue;
    Read read = describeRead(operation, operand, isOwn == nullptr);
    if (!isOwn && !isMoved(problem.operations[operation], operand))
      pieces[footprint.launches[maker]].results[cells[read.cell].result].isKnown = true;
    auto &reads = pieces[piece].reads;
    auto known = std::find_if(reads.begin(), reads.end(),
                              [&](const Read &other) { return other.cell == read.cell; });
    if (known == reads.end()) {
      reads.push_back(read);
      continue;
    }
    known->mayMove &= read.mayMove;
    known->fromRegisters &= read.fromRegisters;
    known->takesPlace |= read.takesPlace;
    known->isUsual |= read.isUsual;
  }
}

bool Pieces::isReplayable(int operation) const {
  const Operation &op = problem.operations[operation];
  if (!op.primal || footprint.launches[operation] == kNoLaunch)
    return false;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    if (cellOf[value] >= 0 && !mustSave(value))
      return true;
  return false;
}

/// Returns the operations that make the results of `operation` from cells, ascending; none if one
/// of them cannot run again.
std::vector<int> Pieces::collectOwn(int operation) const {
  std::vector<int> own{operation};
  for (size_t i = 0; i < own.size(); ++i)
    for (int operand : problem.operations[own[i]].operands) {
      int root = findRoot(problem, footprint, operand);
      if (root < 0 || cellOf[root] >= 0)
        continue;
      int maker = problem.values[root].operation;
      if (footprint.launches[maker] != footprint.launches[operation])
        continue; // it is no cell because it lies outside of the arena
      if (!problem.operations[maker].primal)
        return {};
      if (std::find(own.begin(), own.end(), maker) == own.end())
        own.push_back(maker);
    }
  std::sort(own.begin(), own.end());
  return own;
}

/// Returns the bytes of values that a replay stores although they are no results of its piece.
int64_t Pieces::findUnreadBytes(int operation, bool hasResults) const {
  const Operation &op = problem.operations[operation];
  int64_t bytes = 0;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    if (footprint.storesUnread(operation) && !(hasResults && cellOf[value] >= 0))
      bytes += problem.values[value].bytes;
  return bytes;
}

void Pieces::addReplay(int operation) {
  std::vector<int> own = collectOwn(operation);
  if (own.empty())
    return;
  std::vector<bool> isOwn(problem.operations.size());
  for (int each : own)
    isOwn[each] = true;
  auto number = static_cast<int>(pieces.size());
  Piece &piece = pieces.emplace_back();
  piece.launch = footprint.launches[operation];
  piece.isElementwise = true;
  for (int each : own) {
    piece.seconds += footprint.seconds[each];
    piece.scratch += footprint.scratchOf(each) + findUnreadBytes(each, each == operation);
    piece.isElementwise &= problem.operations[each].kind == Kind::Elementwise;
    addReads(number, each, &isOwn);
  }
  piece.operations = std::move(own);
  replayOf[operation] = number;
  const Operation &op = problem.operations[operation];
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
    if (cellOf[value] < 0)
      continue;
    cells[cellOf[value]].replay = mustSave(value) ? -1 : number;
    piece.results.push_back({cellOf[value], footprint.takesPlaces(problem, operation),
                             footprint.storesUnread(operation), false});
  }
}

void Pieces::addNeighbours(const LaunchLinks *links) {
  for (size_t i = 0; i < footprint.neighbours.size(); ++i) {
    const Neighbour &other = footprint.neighbours[i];
    int cell = addCell(-1, other.bytes, std::min(other.first, numLaunches));
    pieces[cells[cell].launch].results.back().isKnown = true;
    for (int reader : links ? links->neighbourReaders[i] : std::vector<int>{other.last})
      if (reader != other.first)
        pieces[std::min(reader, numLaunches)].reads.push_back({cell, false, false, false, true});
  }
}

/// Adds reads by launches outside of the problem, and by the end of the step.
void Pieces::addReturned(const LaunchLinks *links) {
  for (size_t value = 0; value < problem.values.size(); ++value) {
    if (cellOf[value] < 0 || footprint.lastOutside[value] < 0)
      continue;
    for (int reader :
         links ? links->outside[value] : std::vector<int>{footprint.lastOutside[value]})
      pieces[std::min(reader, numLaunches)].reads.push_back(
          {cellOf[value], false, false, false, true});
  }
}

void Pieces::findWaits(const LaunchLinks *links) {
  for (auto *lists : {&overwriters, &overwritten})
    lists->resize(numLaunches + 1);
  for (int launch = 0; links && launch < numLaunches; ++launch)
    for (int next : links->next[launch]) {
      const std::vector<Read> &reads = pieces[next].reads;
      if (std::any_of(reads.begin(), reads.end(),
                      [&](const Read &read) { return cells[read.cell].launch == launch; }))
        continue;
      overwriters[launch].push_back(next);
      overwritten[next].push_back(launch);
    }
}

void Pieces::findPlain() {
  std::vector<bool> isReplayed(numLaunches);
  isPlain = footprint.launchSeconds == 0 && footprint.byteSeconds == 0;
  for (size_t i = 0; isPlain && i < pieces.size(); ++i) {
    const Piece &piece = pieces[i];
    bool isOwn = isReplay(static_cast<int>(i));
    isPlain = !(isOwn && (piece.isElementwise || isReplayed[piece.launch])) &&
              std::all_of(piece.results.begin(), piece.results.end(), [&](const Result &result) {
                return !result.takesPlaces && result.makesAll;
              });
    if (isOwn)
      isReplayed[piece.launch] = true;
  }
}
