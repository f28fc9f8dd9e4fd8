// reprise: costs of schedules, computed directly from the definition, for tests
#ifndef REPRISE_TEST_PLANNING_FOOTPRINTDEFINITION_H
#define REPRISE_TEST_PLANNING_FOOTPRINTDEFINITION_H

#include "RandomCheckpoint.h"

#include <map>
#include <optional>
#include <set>

namespace reprise::checkpoint::test {

/// Measurement as Footprint.h defines it; each question is computed anew for each run.
class Definition {
public:
  Definition(const Case &given, const Schedule &schedule)
      : problem(given.problem), footprint(given.footprint), runs(schedule.runs),
        sources(schedule.sources) {
    for (int launch = 0; launch < footprint.numLaunches; ++launch)
      addSteps(launch);
  }

  Usage measure(int64_t budget) {
    Usage usage;
    std::vector<int64_t> bytes = findBytes();
    for (size_t step = 0; step < bytes.size(); ++step) {
      if (bytes[step] > usage.peak) {
        usage.peak = bytes[step];
        usage.peakLaunch = launchOfStep[step];
      }
      usage.excess += static_cast<double>(std::max<int64_t>(0, bytes[step] - budget));
    }
    for (const Schedule::Run &run : runs)
      usage.seconds += run.replay > 0 ? footprint.seconds[run.operation] : 0;
    auto own = launchOfStep.size() - static_cast<size_t>(footprint.numLaunches);
    usage.seconds += footprint.launchSeconds * static_cast<double>(own);
    usage.seconds += footprint.byteSeconds * static_cast<double>(countTraffic());
    return usage;
  }

private:
  struct Buffer {
    int run, result, first, last;
    int64_t bytes;
  };

  const Operation &opOf(int run) const { return problem.operations[runs[run].operation]; }
  int launchOf(int run) const { return footprint.launches[runs[run].operation]; }
  bool isView(int run) const { return launchOf(run) == kNoLaunch; }

  /// The runs with launches that read the buffer of the run's result, and whether as one.
  void findReaders(int run, int value, std::set<int> &readers) const {
    for (int other = 0; other < static_cast<int>(runs.size()); ++other)
      for (size_t o = 0; o < opOf(other).operands.size(); ++o) {
        bool reads = sources[runs[other].firstSource + o] == run &&
                     (value < 0 || opOf(other).operands[o] == value);
        if (!reads)
          continue;
        if (!isView(other))
          readers.insert(other);
        else if (o == 0)
          for (int i = 0; i < opOf(other).numResults; ++i)
            findReaders(other, opOf(other).firstResult + i, readers);
      }
  }

  /// Returns true for an elementwise replay whose only readers are unread views, or other such
  /// replays.
  bool isInVain(int run) const {
    if (runs[run].replay == 0 || isView(run) || opOf(run).kind != Kind::Elementwise)
      return false;
    std::set<int> readers;
    findReaders(run, -1, readers);
    return std::all_of(readers.begin(), readers.end(),
                       [&](int reader) { return isInVain(reader); });
  }

  /// Returns the launch of an elementwise replay that all its readers read from registers.
  std::optional<int> findJoined(int run) const {
    if (runs[run].replay == 0 || isView(run) || opOf(run).kind != Kind::Elementwise)
      return std::nullopt;
    std::set<int> readers, homes;
    findReaders(run, -1, readers);
    for (int reader : readers) {
      if (isInVain(reader))
        continue;
      Kind kind = opOf(reader).kind;
      bool fromRegisters = kind == Kind::Elementwise || kind == Kind::Reduction;
      std::optional<int> home =
          runs[reader].replay == 0 ? std::optional(launchOf(reader)) : findJoined(reader);
      if (!fromRegisters || !home)
        return std::nullopt;
      homes.insert(*home);
    }
    return homes.size() == 1 ? std::optional(*homes.begin()) : std::nullopt;
  }

  /// The first launch that needs the run.
  int timeOf(int run) const {
    if (runs[run].replay == 0 && !isView(run))
      return launchOf(run);
    int first = footprint.numLaunches - 1;
    for (int other = 0; other < static_cast<int>(runs.size()); ++other)
      for (size_t o = 0; o < opOf(other).operands.size(); ++o)
        if (sources[runs[other].firstSource + o] == run)
          first = std::min(first, timeOf(other));
    return first;
  }

  /// The steps of replays for the launch, and its own.
  void addSteps(int launch) {
    std::pair<int, int> previous = {kNoLaunch, 0};
    for (int run = 0; run < static_cast<int>(runs.size()); ++run) {
      bool isOwn = runs[run].replay == 0 || isView(run) || findJoined(run);
      if (isOwn || timeOf(run) != launch)
        continue;
      std::pair<int, int> own = {launchOf(run), runs[run].replay};
      if (own != previous)
        launchOfStep.push_back(launch);
      previous = own;
      stepOfReplay.push_back({run, static_cast<int>(launchOfStep.size()) - 1});
    }
    stepOfLaunch.push_back(static_cast<int>(launchOfStep.size()));
    launchOfStep.push_back(launch);
  }

  int stepOf(int run) const {
    for (auto [replay, step] : stepOfReplay)
      if (replay == run)
        return step;
    return stepOfLaunch[runs[run].replay == 0 ? launchOf(run) : *findJoined(run)];
  }
  int stepAt(int launch) const {
    return launch < footprint.numLaunches ? stepOfLaunch[launch]
                                          : static_cast<int>(launchOfStep.size());
  }

  std::vector<Buffer> findBuffers() const {
    std::vector<Buffer> buffers;
    for (int run = 0; run < static_cast<int>(runs.size()); ++run)
      for (int i = 0; i < opOf(run).numResults && !isView(run); ++i) {
        int value = opOf(run).firstResult + i, step = stepOf(run), last = step;
        bool isOriginal = runs[run].replay == 0;
        if (isOriginal && !footprint.isStored[value])
          continue;
        if (isOriginal && footprint.lastOutside[value] >= 0)
          last = std::max(last, stepAt(footprint.lastOutside[value]));
        std::set<int> readers;
        findReaders(run, value, readers);
        for (int reader : readers)
          last = std::max(last, stepOf(reader));
        if (last > step || footprint.storesUnread(runs[run].operation))
          buffers.push_back({run, i, step, last, problem.values[value].bytes});
      }
    return buffers;
  }

  std::vector<int64_t> findBytes() const {
    std::vector<Buffer> buffers = findBuffers();
    std::vector<int64_t> bytes(launchOfStep.size());
    for (int run = 0; run < static_cast<int>(runs.size()); ++run)
      if (!isView(run))
        bytes[stepOf(run)] += footprint.scratchOf(runs[run].operation);
    for (int step = 0; step < static_cast<int>(bytes.size()); ++step) {
      for (const Buffer &buffer : buffers)
        bytes[step] += buffer.first <= step && step <= buffer.last ? buffer.bytes : 0;
      for (const Neighbour &other : footprint.neighbours)
        bytes[step] += stepAt(other.first) <= step && step <= stepAt(other.last) ? other.bytes : 0;
    }
    for (int step = 0; step < static_cast<int>(bytes.size()); ++step)
      bytes[step] -= countShared(step, buffers);
    return bytes;
  }

  /// Returns whether a choice may make the run read another value.
  bool isMoved(int run, size_t operand) const {
    int value = opOf(run).operands[operand], source = sources[runs[run].firstSource + operand];
    if (value == kAvailable)
      return false;
    const Operation &maker = problem.operations[problem.values[value].operation];
    if (!isFixed(problem, value) && readsBack(opOf(run), maker))
      return true;
    for (size_t o = 0; isView(source) && o < opOf(source).operands.size(); ++o)
      if (isMoved(source, o))
        return true;
    return false;
  }

  /// Bytes that are stored or loaded for some choice only, buffer by buffer.
  int64_t countTraffic() const {
    int64_t bytes = 0;
    for (const Buffer &buffer : findBuffers()) {
      if (buffer.last == buffer.first)
        continue;
      bool isOriginal = runs[buffer.run].replay == 0;
      int value = opOf(buffer.run).firstResult + buffer.result;
      bool isStored = isOriginal && footprint.lastOutside[value] > launchOf(buffer.run);
      for (int step = buffer.first + 1; step < static_cast<int>(launchOfStep.size()); ++step) {
        bool isUsual = false, isExtra = false;
        for (int run = 0; run < static_cast<int>(runs.size()); ++run)
          for (size_t o = 0; o < opOf(run).operands.size(); ++o) {
            if (isView(run) || stepOf(run) != step || !isOperand(run, o, buffer))
              continue;
            Kind kind = opOf(run).kind;
            bool fromMemory = kind != Kind::Elementwise && kind != Kind::Reduction;
            bool inAnyCase = fromMemory || opOf(buffer.run).kind != Kind::Elementwise;
            bool isFixedRead = runs[run].replay == 0 && !isMoved(run, o);
            isStored |= isOriginal && isFixedRead;
            bool isOwn = runs[run].replay == 0 && (inAnyCase || isFixedRead);
            (isOwn ? isUsual : isExtra) = true;
          }
        bytes += isExtra && !isUsual ? buffer.bytes : 0;
      }
      bytes += isStored ? 0 : buffer.bytes;
    }
    return bytes;
  }

  /// Returns the bytes of results that share buffers: for each size, the smaller number of new
  /// results and of dying buffers.
  int64_t countShared(int step, const std::vector<Buffer> &buffers) const {
    std::map<int64_t, int> places, takers;
    for (const Buffer &buffer : buffers) {
      if (buffer.last == buffer.first)
        continue;
      if (buffer.first == step && footprint.takesPlaces(problem, runs[buffer.run].operation))
        ++takers[buffer.bytes];
      if (buffer.last == step && isReadFromRegisters(buffer))
        ++places[buffer.bytes];
    }
    int64_t shared = 0;
    for (auto [size, count] : takers)
      shared += size * std::min(count, places[size]);
    return shared;
  }

  /// Returns true if a kernel of the buffer's last step reads it from registers.
  bool isReadFromRegisters(const Buffer &buffer) const {
    for (int run = 0; run < static_cast<int>(runs.size()); ++run)
      for (size_t o = 0; o < opOf(run).operands.size(); ++o)
        if (!isView(run) && stepOf(run) == buffer.last &&
            footprint.takesPlaces(problem, runs[run].operation) && isOperand(run, o, buffer))
          return true;
    return false;
  }

  /// Returns whether the operand, through views, is this buffer.
  bool isOperand(int run, size_t operand, const Buffer &buffer) const {
    int source = sources[runs[run].firstSource + operand];
    if (source < 0)
      return false;
    if (isView(source))
      return !opOf(source).operands.empty() && isOperand(source, 0, buffer);
    return source == buffer.run &&
           opOf(run).operands[operand] == opOf(source).firstResult + buffer.result;
  }

  const Problem &problem;
  const Footprint &footprint;
  const std::vector<Schedule::Run> &runs;
  const std::vector<int> &sources;
  std::vector<int> launchOfStep, stepOfLaunch;
  std::vector<std::pair<int, int>> stepOfReplay;
};

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_FOOTPRINTDEFINITION_H
