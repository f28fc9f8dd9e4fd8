// reprise: what a schedule of replays costs, in bytes of memory and in seconds
#include "reprise/Planning/Checkpoint/Footprint.h"

#include <algorithm>
#include <limits>

using namespace reprise::checkpoint;

/// Replays stand before the first launch that needs them, which may be that of a later original:
/// launches are not in program order. Readers come after what they read, so one sweep from the end
/// sees all readers of a run.
void Meter::orderSteps(const Schedule &schedule) {
  size_t launches = footprint.numLaunches;
  times.assign(schedule.runs.size(), static_cast<int>(launches) - 1);
  starts.assign(launches + 2, 0);
  for (size_t i = schedule.runs.size(); i-- > 0;) {
    const Schedule::Run &run = schedule.runs[i];
    if (int own = footprint.launches[run.operation]; run.replay == 0 && own != kNoLaunch)
      times[i] = own;
    ++starts[times[i] + 1];
    for (size_t operand = 0; operand < problem.operations[run.operation].operands.size(); ++operand)
      if (int source = schedule.sources[run.firstSource + operand]; source >= 0)
        times[source] = std::min(times[source], times[i]);
  }
  for (size_t i = 1; i < starts.size(); ++i)
    starts[i] += starts[i - 1];
  order.resize(schedule.runs.size());
  next.assign(starts.begin(), starts.end() - 1);
  for (size_t run = 0; run < schedule.runs.size(); ++run)
    order[next[times[run]]++] = static_cast<int>(run);
}

namespace {
// Of readers: none yet, several launches, or one that needs the value in memory.
constexpr int kUnread = -1, kApart = -2;
} // namespace

/// Again from the end; see orderSteps.
void Meter::joinReaders(const Schedule &schedule) {
  joined.assign(schedule.runs.size(), kUnread);
  for (size_t i = schedule.runs.size(); i-- > 0;) {
    const Schedule::Run &run = schedule.runs[i];
    const Operation &op = problem.operations[run.operation];
    bool isFree = footprint.launches[run.operation] == kNoLaunch;
    bool mayJoin = isFree || op.kind == Kind::Elementwise;
    int home = run.replay == 0 && !isFree ? footprint.launches[run.operation]
               : mayJoin                  ? joined[i]
                                          : kApart;
    if (home == kUnread)
      continue; // what nobody reads runs nowhere
    bool fromMemory = !isFree && op.kind != Kind::Elementwise && op.kind != Kind::Reduction;
    for (size_t operand = 0; operand < op.operands.size(); ++operand) {
      int source = schedule.sources[run.firstSource + operand];
      if (source < 0)
        continue;
      int &reader = joined[source];
      reader = fromMemory || (reader != kUnread && reader != home) ? kApart : home;
    }
    if (!isFree && (run.replay == 0 || op.kind != Kind::Elementwise))
      joined[i] = kApart;
  }
}

void Meter::numberSteps(const Schedule &schedule) {
  size_t launches = footprint.numLaunches;
  steps.assign(schedule.runs.size(), -1);
  stepOfLaunch.assign(launches + 1, 0);
  launchOfStep.clear();
  for (size_t launch = 0; launch < launches; ++launch) {
    int previous = kNoLaunch;
    for (int at = starts[launch]; at < starts[launch + 1]; ++at) {
      const Schedule::Run &run = schedule.runs[order[at]];
      int own = footprint.launches[run.operation];
      if (run.replay == 0 || own == kNoLaunch || joined[order[at]] >= 0)
        continue;
      if (own != previous)
        launchOfStep.push_back(static_cast<int>(launch));
      previous = own;
      steps[order[at]] = static_cast<int>(launchOfStep.size()) - 1;
    }
    launchOfStep.push_back(static_cast<int>(launch));
    stepOfLaunch[launch] = static_cast<int>(launchOfStep.size()) - 1;
  }
  stepOfLaunch[launches] = static_cast<int>(launchOfStep.size());
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const Schedule::Run &run = schedule.runs[i];
    int own = footprint.launches[run.operation];
    if (own != kNoLaunch && run.replay == 0)
      steps[i] = stepOfLaunch[own];
    else if (own != kNoLaunch && joined[i] >= 0)
      steps[i] = stepOfLaunch[joined[i]];
  }
}

int Meter::bufferOf(const Schedule &schedule, const Schedule::Run &run, size_t operand) const {
  int source = schedule.sources[run.firstSource + operand];
  if (source < 0)
    return -1;
  int value = problem.operations[run.operation].operands[operand];
  const Operation &definition = problem.operations[problem.values[value].operation];
  return bufferOfResult[firstBuffer[source] + value - definition.firstResult];
}

/// One buffer per result that may be stored; what has no launch hands on its operand's.
void Meter::findBuffers(const Schedule &schedule) {
  buffers.clear();
  bufferOfResult.clear();
  firstBuffer.clear();
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const Schedule::Run &run = schedule.runs[i];
    const Operation &op = problem.operations[run.operation];
    firstBuffer.push_back(static_cast<int>(bufferOfResult.size()));
    if (footprint.launches[run.operation] == kNoLaunch) {
      int handed =
          op.operands.empty() || op.operands[0] == kAvailable ? -1 : bufferOf(schedule, run, 0);
      bufferOfResult.insert(bufferOfResult.end(), op.numResults, handed);
      continue;
    }
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
      if (run.replay == 0 && !footprint.isStored[value]) {
        bufferOfResult.push_back(-1);
        continue;
      }
      int last = steps[i];
      if (run.replay == 0 && footprint.lastOutside[value] >= 0)
        last = std::max(last, stepOfLaunch[footprint.lastOutside[value]]);
      bufferOfResult.push_back(static_cast<int>(buffers.size()));
      buffers.push_back({steps[i], last, problem.values[value].bytes});
    }
  }
}

void Meter::findLives(const Schedule &schedule) {
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    if (steps[i] < 0)
      continue;
    const Schedule::Run &run = schedule.runs[i];
    for (size_t operand = 0; operand < problem.operations[run.operation].operands.size(); ++operand)
      if (int buffer = bufferOf(schedule, run, operand); buffer >= 0)
        buffers[buffer].last = std::max(buffers[buffer].last, steps[i]);
  }
}

void Meter::addUp(const Schedule &schedule) {
  size_t numSteps = launchOfStep.size();
  bytes.assign(numSteps + 1, 0);
  auto add = [&](int first, int last, int64_t amount) {
    bytes[first] += amount;
    bytes[std::min<size_t>(last + 1, numSteps)] -= amount;
  };
  for (const Buffer &buffer : buffers)
    if (buffer.last > buffer.first)
      add(buffer.first, buffer.last, buffer.bytes);
  for (const Neighbour &other : footprint.neighbours)
    add(stepOfLaunch[other.first], stepOfLaunch[other.last], other.bytes);
  for (size_t step = 1; step < numSteps; ++step)
    bytes[step] += bytes[step - 1];
  shareDying(schedule);
}

/// Kernels that read from registers: they have read an element for the last time when they store
/// the one in its place.
static bool readsRegisters(const Operation &op) {
  return op.kind == Kind::Elementwise || op.kind == Kind::Reduction;
}

/// Per step, the buffers that its kernels read for the last time, as linked lists.
void Meter::findDying(const Schedule &schedule) {
  dyingAt.assign(launchOfStep.size(), -1);
  nextDying.assign(buffers.size(), kAlive);
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const Schedule::Run &run = schedule.runs[i];
    const Operation &op = problem.operations[run.operation];
    if (steps[i] < 0 || !readsRegisters(op))
      continue;
    for (size_t operand = 0; operand < op.operands.size(); ++operand) {
      int buffer = bufferOf(schedule, run, operand);
      if (buffer < 0 || nextDying[buffer] != kAlive || buffers[buffer].last != steps[i] ||
          buffers[buffer].first == steps[i])
        continue;
      nextDying[buffer] = dyingAt[steps[i]];
      dyingAt[steps[i]] = buffer;
    }
  }
}

/// A result takes the place of a buffer of its size that dies in its step.
void Meter::shareDying(const Schedule &schedule) {
  findDying(schedule);
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    const Operation &op = problem.operations[schedule.runs[i].operation];
    if (steps[i] < 0 || !readsRegisters(op))
      continue;
    for (int result = 0; result < op.numResults; ++result) {
      int made = bufferOfResult[firstBuffer[i] + result];
      if (made < 0 || buffers[made].last == buffers[made].first)
        continue;
      for (int *dying = &dyingAt[steps[i]]; *dying >= 0; dying = &nextDying[*dying])
        if (buffers[*dying].bytes == buffers[made].bytes) {
          bytes[steps[i]] -= buffers[made].bytes;
          *dying = nextDying[*dying];
          break;
        }
    }
  }
}

Usage Meter::measure(const Schedule &schedule, int64_t budget) {
  if (!schedule.isWhole) {
    Usage endless;
    endless.peak = INT64_MAX;
    endless.excess = endless.seconds = std::numeric_limits<double>::infinity();
    launchBytes.assign(footprint.numLaunches, 0);
    return endless;
  }
  orderSteps(schedule);
  joinReaders(schedule);
  numberSteps(schedule);
  findBuffers(schedule);
  findLives(schedule);
  addUp(schedule);
  Usage usage;
  launchBytes.assign(footprint.numLaunches, 0);
  for (size_t step = 0; step < launchOfStep.size(); ++step) {
    int64_t &most = launchBytes[launchOfStep[step]];
    most = std::max(most, bytes[step]);
    if (bytes[step] > usage.peak) {
      usage.peak = bytes[step];
      usage.peakLaunch = launchOfStep[step];
    }
    usage.excess += static_cast<double>(std::max<int64_t>(0, bytes[step] - budget));
  }
  for (const Schedule::Run &run : schedule.runs)
    if (run.replay > 0)
      usage.seconds += footprint.seconds[run.operation];
  return usage;
}
