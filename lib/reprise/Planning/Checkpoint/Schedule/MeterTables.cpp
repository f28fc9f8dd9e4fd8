// reprise: what no choice changes of a problem and the step around it, laid out to be read often
#include "MeterTables.h"

#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

using namespace reprise::checkpoint;
using Operation = Problem::Operation;
using Value = Problem::Value;
using Tables = MeterTables;

Tables::MeterTables(const Problem &problem, const Footprint &footprint)
    : numLaunches(footprint.numLaunches), sessions(findSessions(problem)),
      seconds(footprint.seconds), scratch(footprint.scratch),
      launchSeconds(footprint.launchSeconds), byteSeconds(footprint.byteSeconds),
      placesOf(numLaunches) {
  scratch.resize(problem.operations.size());
  std::map<int64_t, int> classes;
  for (const Value &value : problem.values)
    classes.emplace(value.bytes, 0);
  for (auto &[bytes, own] : classes) {
    own = static_cast<int>(sizes.size());
    sizes.push_back(bytes);
  }
  for (const Value &value : problem.values) {
    makesAll.push_back(footprint.storesUnread(value.operation));
    mayVanish.push_back(problem.operations[value.operation].kind == Kind::Elementwise);
    int launch = footprint.launches[value.operation];
    buffers.push_back({launch, launch, classes.at(value.bytes)});
  }
  addOperations(problem, footprint);
  addOperands(problem);
  addReads(problem, footprint);
  findDying(problem);
  addBytes(footprint);
  addPlaces();
}

void Tables::addOperations(const Problem &problem, const Footprint &footprint) {
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    Op entry;
    entry.launch = footprint.launches[i];
    entry.firstResult = op.firstResult;
    entry.numResults = op.numResults;
    entry.isElementwise = op.kind == Kind::Elementwise;
    entry.readsRegisters = entry.isElementwise || op.kind == Kind::Reduction;
    entry.makesAll = footprint.storesUnread(i);
    entry.takesPlaces = footprint.takesPlaces(problem, i);
    entry.handsOn = entry.isFree() && !op.operands.empty() && op.operands[0] != kAvailable;
    ops.push_back(entry);
  }
}

/// True if the reader may read a replay of the value.
static bool mayMove(const Problem &problem, const Operation &reader, int value) {
  return !isFixed(problem, value) &&
         readsBack(reader, problem.operations[problem.values[value].operation]);
}

/// An original is open that may read a replay, or what is open and has no launch.
void Tables::addOperands(const Problem &problem) {
  for (size_t i = 0; i < ops.size(); ++i) {
    const Operation &op = problem.operations[i];
    auto definitionOf = [&](int value) {
      return static_cast<unsigned>(problem.values[value].operation);
    };
    auto isOpen = [&](int value) {
      return value != kAvailable &&
             (mayMove(problem, op, value) || ops[definitionOf(value)].free >= 0);
    };
    bool opens = std::any_of(op.operands.begin(), op.operands.end(), isOpen);
    ops[i].firstOpen = static_cast<int>(operands.size());
    for (int value : op.operands)
      if (opens && value != kAvailable && (ops[i].isFree() || isOpen(value)))
        operands.push_back({value, definitionOf(value), mayMove(problem, op, value)});
    ops[i].firstReplayed = static_cast<int>(operands.size());
    for (int value : op.operands)
      if (op.primal && value != kAvailable)
        operands.push_back({value, definitionOf(value), !isFixed(problem, value)});
    ops[i].endReplayed = static_cast<int>(operands.size());
    if (opens)
      open.push_back(static_cast<int>(i));
    if (opens && ops[i].isFree())
      ops[i].free = numFree++;
  }
}

/// Finds the buffer of each value, and the last launch that reads it whatever is chosen.
void Tables::addReads(const Problem &problem, const Footprint &footprint) {
  loads.clear();
  for (size_t i = 0; i < ops.size(); ++i) {
    const Op &op = ops[i];
    const Operation &reader = problem.operations[i];
    int handed = op.handsOn ? buffers[reader.operands[0]].root : -1;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      Buffer &buffer = buffers[value];
      buffer.takesPlaces = op.takesPlaces;
      buffer.root = op.isFree() ? handed : footprint.isStored[value] ? value : -1;
      buffer.last = std::max(buffer.last, footprint.lastOutside[value]);
    }
    forEachRead(problem, i, [&](Buffer &buffer) {
      buffer.last = std::max(buffer.last, op.launch);
      loads.push_back({op.launch, buffer.root});
    });
  }
  std::sort(loads.begin(), loads.end());
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
}

/// Calls back with the buffers that the original reads whatever is chosen.
template <typename Visit>
void Tables::forEachRead(const Problem &problem, size_t operation, Visit visit) {
  const Operation &reader = problem.operations[operation];
  if (ops[operation].isFree())
    return;
  for (int value : reader.operands) {
    bool isOpen = value == kAvailable || mayMove(problem, reader, value) ||
                  ops[problem.values[value].operation].free >= 0;
    if (!isOpen && buffers[value].root >= 0)
      visit(buffers[buffers[value].root]);
  }
}

/// Most kernels that read from registers have read an element for the last time when they store the
/// one in its place.
void Tables::findDying(const Problem &problem) {
  for (size_t i = 0; i < ops.size(); ++i) {
    const Op &op = ops[i];
    if (!op.takesPlaces)
      continue;
    forEachRead(problem, i, [&](Buffer &buffer) {
      if (buffer.last != op.launch || !buffer.isAlive() || buffer.dies)
        return;
      buffer.dies = true;
      ++placesOf[op.launch][buffer.sizeClass].dying;
    });
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      if (buffers[value].root == value && buffers[value].isAlive())
        ++placesOf[op.launch][buffers[value].sizeClass].made;
  }
}

void Tables::addBytes(const Footprint &footprint) {
  during.assign(numLaunches + 2, 0);
  before = during;
  auto add = [&](int first, int last, int64_t bytes) {
    int end = std::min(last, numLaunches) + 1;
    during[first] += bytes;
    during[end] -= bytes;
    before[first + 1] += bytes;
    before[end] -= bytes;
  };
  for (size_t value = 0; value < buffers.size(); ++value)
    if (buffers[value].root == static_cast<int>(value) &&
        (buffers[value].isAlive() || makesAll[value]))
      add(buffers[value].first, buffers[value].last, sizes[buffers[value].sizeClass]);
  for (size_t i = 0; i < ops.size(); ++i)
    if (!ops[i].isFree())
      add(ops[i].launch, ops[i].launch, scratch[i]);
  for (const Neighbour &other : footprint.neighbours)
    add(other.first, other.last, other.bytes);
  for (int launch = 0; launch <= numLaunches; ++launch) {
    during[launch + 1] += during[launch];
    before[launch + 1] += before[launch];
  }
}

void Tables::addPlaces() {
  firstPlaces.clear();
  places.clear();
  for (int launch = 0; launch < numLaunches; ++launch) {
    firstPlaces.push_back(static_cast<int>(places.size()));
    for (auto &[own, entry] : placesOf[launch]) {
      places.push_back({own, entry.dying, entry.made});
      during[launch] -= sizes[own] * places.back().shared();
    }
    placesOf[launch].clear();
  }
  firstPlaces.push_back(static_cast<int>(places.size()));
}
