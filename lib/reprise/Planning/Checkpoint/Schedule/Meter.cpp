// reprise: measures choices of saves and replays
#include "MeterState.h"

#include <limits>

using namespace reprise::checkpoint;

MeterState::MeterState(const Problem &problem, const Footprint &footprint)
    : problem(problem), tables(problem, footprint), firstSession(problem.values.size(), -1),
      newest(tables.ops.size(), -1), lastReads(tables.buffers.size()),
      stepOfLaunch(tables.numLaunches + 1), firstOwn(tables.numLaunches, -1) {}

/// Forgets the last schedule.
void MeterState::reset() {
  for (const Run &run : runs)
    newest[run.operation] = -1;
  for (int value : read)
    lastReads[value] = {};
  runs.clear();
  numReads = 0;
  numBuffers = static_cast<int>(tables.buffers.size());
  read.clear();
  for (int value : split)
    firstSession[value] = -1;
  split.clear();
  stack.clear();
  slots.clear();
  Slot slot;
  slot.time = tables.numLaunches - 1;
  slots.resize(tables.numFree, slot);
}

[[gnu::noinline]] bool MeterState::isFirst(const Operand &operand, int session) {
  int value = operand.value;
  if (firstSession[value] < 0) {
    firstSession[value] = session;
    split.push_back(value);
  }
  return firstSession[value] == session;
}

int MeterState::findReplay(unsigned operation, int number) const {
  int slot = newest[operation];
  while (slot >= 0 && slots[slot].number != number)
    slot = slots[slot].older;
  return slot;
}

MeterState::Read MeterState::resolve(const Operand &operand, int session) {
  const Op &definition = tables.ops[operand.definition];
  if (int number = numberFor(operand, session); number != kOriginal) {
    int slot = findReplay(operand.definition, number);
    int result = definition.isFree() ? 0 : operand.value - definition.firstResult;
    return {slot, slots[slot].buffer < 0 ? -1 : slots[slot].buffer + result};
  }
  if (definition.free >= 0)
    return {definition.free, slots[definition.free].buffer};
  return {-1, tables.buffers[operand.value].root};
}

void MeterState::emit(int operation, int slot, int session) {
  const Op &op = tables.ops[operation];
  bool isReplay = slot >= tables.numFree;
  int first = numReads;
  int begin = isReplay ? op.firstReplayed : op.firstOpen;
  int end = isReplay ? op.endReplayed : op.firstReplayed;
  numReads += end - begin;
  if (reads.size() < static_cast<size_t>(numReads))
    reads.resize(2 * static_cast<size_t>(numReads));
  for (int operand = begin; operand < end; ++operand)
    reads[first + operand - begin] = resolve(tables.operands[operand], session);
  if (op.handsOn && slot >= 0)
    slots[slot].buffer = reads[first].buffer;
  runs.push_back({operation, slot, first});
}

/// Runs a replay, and before it those that it reads. False if they become too many.
bool MeterState::make(int operation, int number, int session, int reader) {
  size_t most = ScheduleBuilder::kMostRuns * (tables.ops.size() + 1);
  stack.push_back({operation, number, tables.ops[operation].firstReplayed});
  while (!stack.empty()) {
    Frame &frame = stack.back();
    const Op &op = tables.ops[frame.operation];
    while (frame.nextOperand < op.endReplayed &&
           !isMissing(tables.operands[frame.nextOperand], session))
      ++frame.nextOperand;
    if (frame.nextOperand < op.endReplayed) {
      const Operand &operand = tables.operands[frame.nextOperand];
      int own = numberFor(operand, session);
      stack.push_back({static_cast<int>(operand.definition), own,
                       tables.ops[operand.definition].firstReplayed});
      continue;
    }
    Slot slot;
    slot.time = tables.numLaunches - 1;
    slot.number = frame.number;
    slot.older = newest[frame.operation];
    if (!op.isFree()) {
      slot.buffer = numBuffers;
      numBuffers += op.numResults;
    }
    int made = static_cast<int>(slots.size());
    slots.push_back(slot);
    emit(frame.operation, made, session);
    newest[frame.operation] = made;
    stack.pop_back();
    executions = reader + made + 1 - tables.numFree;
    if (static_cast<size_t>(executions) > most)
      return false;
  }
  return true;
}

bool MeterState::schedule() {
  for (int reader : tables.open) {
    const Op &op = tables.ops[reader];
    int session = tables.sessions[reader];
    for (int i = op.firstOpen; i < op.firstReplayed; ++i) {
      const Operand &operand = tables.operands[i];
      if (isMissing(operand, session) &&
          !make(static_cast<int>(operand.definition), numberFor(operand, session), session, reader))
        return false;
    }
    emit(reader, op.free, session);
  }
  executions = static_cast<int>(tables.ops.size() + slots.size()) - tables.numFree;
  return true;
}

/// Replays stand before the first launch that needs them, which may be that of a later original:
/// launches are not in program order. Readers come after what they read, so one sweep from the end
/// sees all readers of a run.
void MeterState::findPlaces() {
  for (size_t i = runs.size(); i-- > 0;) {
    Run &run = runs[i];
    const Op &op = tables.ops[run.operation];
    bool mayJoin = op.isFree() || op.isElementwise;
    int time = run.slot < 0 ? op.launch : slots[run.slot].time;
    int home = run.slot < 0 ? op.launch : mayJoin ? slots[run.slot].joined : kApart;
    bool fromMemory = !op.isFree() && !op.readsRegisters;
    for (int at = run.firstRead, end = endOfReads(i); at < end; ++at) {
      if (reads[at].slot < 0)
        continue;
      Slot &source = slots[reads[at].slot];
      source.time = std::min(source.time, time);
      // What nobody reads runs nowhere.
      if (home != kUnread)
        source.joined =
            fromMemory || (source.joined != kUnread && source.joined != home) ? kApart : home;
    }
    if (!isReplay(run) || op.isFree() || (op.isElementwise && home >= 0))
      continue;
    slots[run.slot].joined = kApart;
    run.nextOwn = firstOwn[time];
    firstOwn[time] = static_cast<int>(i);
  }
}

void MeterState::numberSteps() {
  launchOfStep.clear();
  for (int launch = 0; launch < tables.numLaunches; ++launch) {
    std::pair<int, int> previous = {kNoLaunch, 0};
    for (int at = firstOwn[launch]; at >= 0; at = runs[at].nextOwn) {
      std::pair<int, int> own = {tables.ops[runs[at].operation].launch,
                                 slots[runs[at].slot].number};
      if (own != previous)
        launchOfStep.push_back(-1);
      previous = own;
      runs[at].step = numSteps() - 1;
    }
    firstOwn[launch] = -1;
    stepOfLaunch[launch] = numSteps();
    launchOfStep.push_back(launch);
  }
  stepOfLaunch[tables.numLaunches] = numSteps();
}

void MeterState::findLastReads() {
  if (lastReads.size() < static_cast<size_t>(numBuffers))
    lastReads.resize(numBuffers);
  for (size_t i = 0; i < runs.size(); ++i) {
    Run &run = runs[i];
    const Op &op = tables.ops[run.operation];
    if (op.isFree())
      continue;
    if (run.step < 0)
      run.step = stepOfLaunch[isReplay(run) ? slots[run.slot].joined : op.launch];
    if (isReplay(run))
      for (int result = 0; result < op.numResults; ++result)
        lastReads[slots[run.slot].buffer + result] = {run.step, false};
    for (int at = run.firstRead, end = endOfReads(i); at < end; ++at) {
      int buffer = reads[at].buffer;
      if (buffer < 0)
        continue;
      LastRead &last = lastReads[buffer];
      if (last.step < 0)
        read.push_back(buffer);
      if (run.step > last.step)
        last = {run.step, op.takesPlaces};
      else
        last.dies |= run.step == last.step && op.takesPlaces;
    }
  }
}

/// Places that buffers of a size have or may take in a step, to be changed.
MeterState::Places &MeterState::placesAt(int step, int sizeClass) {
  for (int at = firstChange[step]; at >= 0; at = placeChanges[at].next)
    if (placeChanges[at].after.sizeClass == sizeClass)
      return placeChanges[at].after;
  Places known{sizeClass};
  if (int launch = launchOfStep[step]; launch >= 0)
    for (int at = tables.firstPlaces[launch]; at < tables.firstPlaces[launch + 1]; ++at)
      if (tables.places[at].sizeClass == sizeClass)
        known = tables.places[at];
  placeChanges.push_back({known, known, firstChange[step]});
  firstChange[step] = static_cast<int>(placeChanges.size()) - 1;
  return placeChanges.back().after;
}

/// The buffer of a value that may live longer than the tables say.
void MeterState::addOriginal(int value) {
  const MeterTables::Buffer &buffer = tables.buffers[value];
  int made = stepOfLaunch[buffer.first], usual = stepOfLaunch[buffer.last];
  auto [last, dies] = lastReads[value];
  if (last < usual || last == made || (last == usual && (buffer.dies || !dies)))
    return;
  if (dies)
    ++placesAt(last, buffer.sizeClass).dying;
  if (last == usual)
    return;
  if (buffer.dies)
    --placesAt(usual, buffer.sizeClass).dying;
  if (!buffer.isAlive() && buffer.takesPlaces)
    ++placesAt(made, buffer.sizeClass).made;
  // What a kernel stores anyway is counted where it is made.
  bool isCounted = buffer.isAlive() || tables.makesAll[value];
  addBytes(isCounted ? usual + 1 : made, last, tables.sizes[buffer.sizeClass]);
}

void MeterState::addReplay(const Run &run) {
  const Op &op = tables.ops[run.operation];
  addBytes(run.step, run.step, tables.scratch[run.operation]);
  for (int result = 0; result < op.numResults; ++result) {
    int sizeClass = tables.buffers[op.firstResult + result].sizeClass;
    auto [last, dies] = lastReads[slots[run.slot].buffer + result];
    if (last == run.step) {
      if (op.makesAll)
        addBytes(run.step, run.step, tables.sizes[sizeClass]);
      continue;
    }
    addBytes(run.step, last, tables.sizes[sizeClass]);
    if (op.takesPlaces)
      ++placesAt(run.step, sizeClass).made;
    if (dies)
      ++placesAt(last, sizeClass).dying;
  }
}

/// Bytes of results that take places, beyond those that the tables know of.
int64_t MeterState::findSpared(int step) const {
  int64_t bytes = 0;
  for (int at = firstChange[step]; at >= 0; at = placeChanges[at].next) {
    const auto &[before, after, next] = placeChanges[at];
    bytes += tables.sizes[after.sizeClass] * (after.shared() - before.shared());
  }
  return bytes;
}

Usage MeterState::addUp(int64_t budget) {
  Usage usage;
  int64_t open = 0;
  int step = 0;
  for (int launch = 0; launch < tables.numLaunches; ++launch)
    for (; step <= stepOfLaunch[launch]; ++step) {
      open += changes[step];
      bool isOwn = step < stepOfLaunch[launch];
      int64_t bytes = open + (isOwn ? tables.before : tables.during)[launch] - findSpared(step);
      profile[launch] = std::max(profile[launch], bytes);
      if (bytes > usage.peak) {
        usage.peak = bytes;
        usage.peakLaunch = launch;
      }
      usage.excess += static_cast<double>(std::max<int64_t>(0, bytes - budget));
    }
  for (const Run &run : runs)
    if (isReplay(run))
      usage.seconds += tables.seconds[run.operation];
  return usage;
}

Usage MeterState::measure(const std::vector<Choice> &wanted, int64_t budget) {
  choices = &wanted;
  reset();
  profile.assign(tables.numLaunches, 0);
  Usage usage;
  if (!schedule()) {
    usage.peak = INT64_MAX;
    usage.excess = usage.seconds = std::numeric_limits<double>::infinity();
    usage.executions = executions;
    return usage;
  }
  findPlaces();
  numberSteps();
  findLastReads();
  changes.assign(numSteps() + 1, 0);
  firstChange.assign(numSteps(), -1);
  placeChanges.clear();
  for (int value : read)
    addOriginal(value);
  for (const Run &run : runs)
    if (isReplay(run) && !tables.ops[run.operation].isFree())
      addReplay(run);
  usage = addUp(budget);
  usage.seconds += tables.launchSeconds * (numSteps() - tables.numLaunches);
  if (tables.byteSeconds > 0)
    usage.seconds += tables.byteSeconds * static_cast<double>(countTraffic(*this));
  usage.executions = executions;
  return usage;
}

Meter::Meter(const Problem &problem, const Footprint &footprint)
    : state(std::make_unique<MeterState>(problem, footprint)) {}
Meter::~Meter() = default;
Usage Meter::measure(const std::vector<Choice> &choices, int64_t budget) {
  return state->measure(choices, budget);
}
const std::vector<int64_t> &Meter::profile() const { return state->profile; }
