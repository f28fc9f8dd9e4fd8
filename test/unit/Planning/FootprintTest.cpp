// reprise: tests of what schedules cost, against the definition, step by step
#include "RandomCheckpoint.h"

#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <set>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Measures as Footprint.h defines it, each question anew for each run.
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

  /// The launch in which an elementwise replay runs that all its readers take from registers.
  std::optional<int> findJoined(int run) const {
    if (runs[run].replay == 0 || isView(run) || opOf(run).kind != Kind::Elementwise)
      return std::nullopt;
    std::set<int> readers, homes;
    findReaders(run, -1, readers);
    for (int reader : readers) {
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
    int previous = kNoLaunch;
    for (int run = 0; run < static_cast<int>(runs.size()); ++run) {
      bool isOwn = runs[run].replay == 0 || isView(run) || findJoined(run);
      if (isOwn || timeOf(run) != launch)
        continue;
      if (launchOf(run) != previous)
        launchOfStep.push_back(launch);
      previous = launchOf(run);
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
        if (last > step)
          buffers.push_back({run, i, step, last, problem.values[value].bytes});
      }
    return buffers;
  }

  std::vector<int64_t> findBytes() const {
    std::vector<Buffer> buffers = findBuffers();
    std::vector<int64_t> bytes(launchOfStep.size());
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

  /// Of each size, as many results take a place as there are buffers that die.
  int64_t countShared(int step, const std::vector<Buffer> &buffers) const {
    std::map<int64_t, int> places, takers;
    for (const Buffer &buffer : buffers) {
      if (buffer.first == step && readsRegisters(buffer.run))
        ++takers[buffer.bytes];
      if (buffer.last == step && isReadFromRegisters(buffer))
        ++places[buffer.bytes];
    }
    int64_t shared = 0;
    for (auto [size, count] : takers)
      shared += size * std::min(count, places[size]);
    return shared;
  }

  bool readsRegisters(int run) const {
    return opOf(run).kind == Kind::Elementwise || opOf(run).kind == Kind::Reduction;
  }

  /// By some kernel of its last step.
  bool isReadFromRegisters(const Buffer &buffer) const {
    for (int run = 0; run < static_cast<int>(runs.size()); ++run)
      for (size_t o = 0; o < opOf(run).operands.size(); ++o)
        if (!isView(run) && stepOf(run) == buffer.last && readsRegisters(run) &&
            isOperand(run, o, buffer))
          return true;
    return false;
  }

  /// Whether the operand, through views, is this buffer.
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

TEST(Footprint, IsWhatItsDefinitionSays) {
  Random random(21);
  int differ = 0, rounds = problemCount(800);
  for (int round = 0; round < rounds; ++round) {
    Case given = makeCase(random, 18, 30, false);
    Scheduler scheduler(given.problem);
    Meter meter(given.problem, given.footprint);
    for (int again = 0; again < 3; ++again) {
      const Schedule &schedule = scheduler.schedule(pickChoices(random, given.problem));
      int64_t budget = 8 * pick(random, 40);
      Usage usage = meter.measure(schedule, budget);
      Usage expected = Definition(given, schedule).measure(budget);
      ASSERT_EQ(usage.peak, expected.peak) << "round " << round;
      ASSERT_EQ(usage.peakLaunch, expected.peakLaunch) << "round " << round;
      ASSERT_EQ(usage.excess, expected.excess) << "round " << round;
      ASSERT_EQ(usage.seconds, expected.seconds) << "round " << round;
      int64_t most = 0;
      for (int64_t bytes : meter.profile())
        most = std::max(most, bytes);
      ASSERT_EQ(most, usage.peak);
      differ += usage.excess > 0 && usage.seconds > 0;
    }
  }
  EXPECT_GT(differ, rounds / 3);
}

//===-- By hand -------------------------------------------------------------------------------===//

class FootprintByHand : public ::testing::Test {
protected:
  FootprintByHand() { given.problem.containers = {{-1}, {0}}; }

  /// The bytes at each launch; choices of the first values, the others are saved.
  std::vector<int64_t> profile(std::vector<Choice> choices = {}) {
    given.findTimes();
    choices.resize(given.problem.values.size(), Choice::Save);
    Scheduler scheduler(given.problem);
    Meter meter(given.problem, given.footprint);
    usage = meter.measure(scheduler.schedule(choices), 0);
    return meter.profile();
  }

  using Bytes = std::vector<int64_t>;
  Case given;
  Usage usage;
};

TEST_F(FootprintByHand, OperandsAndResultsLieSideBySide) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Contraction, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 20, 10}));
  EXPECT_EQ(usage.peak, 20);
  EXPECT_EQ(usage.peakLaunch, 1);
  EXPECT_EQ(usage.excess, 40);
  EXPECT_EQ(usage.seconds, 0);
}

TEST_F(FootprintByHand, ElementwiseResultsTakeTheirOperandsPlace) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 10, 10}));
  // Not one of another size, and not one that is still read.
  given.problem.values[a].bytes = 11;
  EXPECT_EQ(profile(), (Bytes{11, 21, 10}));
  given.problem.values[a].bytes = 10;
  given.footprint.lastOutside[a] = 2;
  EXPECT_EQ(profile(), (Bytes{10, 20, 20}));
}

TEST_F(FootprintByHand, OneOperandGivesOnePlace) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a, a}, 0, true, 10);
  int c = given.add(1, Kind::Elementwise, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b, c}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 20, 20}));
}

TEST_F(FootprintByHand, ResultsTakeAnyPlaceInTheirStep) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 30);
  given.add(1, Kind::Elementwise, {a}, 0, true, 1);
  int c = given.add(1, Kind::Reduction, {b}, 0, true, 10);
  given.add(2, Kind::Contraction, {c}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{40, 40, 10}));
  // But not of what is read from memory.
  given.problem.operations[2].kind = Kind::Other;
  EXPECT_EQ(profile(), (Bytes{40, 50, 10}));
}

TEST_F(FootprintByHand, RegistersTakeNoBytes) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 100);
  int c = given.add(1, Kind::Elementwise, {b}, 0, true, 100);
  given.add(1, Kind::Reduction, {c}, 0, true, 1);
  EXPECT_EQ(profile(), (Bytes{10, 10}));
}

TEST_F(FootprintByHand, ViewsKeepWhatTheyView) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int view = given.add(kNoLaunch, Kind::View, {a}, 0, true, 10);
  int again = given.add(kNoLaunch, Kind::View, {view}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(2, Kind::Contraction, {again}, 0, true, 10);
  EXPECT_EQ(profile(), (Bytes{10, 10, 10}));
}

TEST_F(FootprintByHand, ReturnedAndOutsideValues) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Contraction, {kAvailable}, 0, true, 100);
  given.add(2, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.add(3, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.footprint.lastOutside[a] = 4;
  given.footprint.lastOutside[b] = 2;
  EXPECT_EQ(profile(), (Bytes{10, 110, 110, 10}));
  given.footprint.isStored[a] = false;
  EXPECT_EQ(profile(), (Bytes{0, 100, 100, 0}));
}

TEST_F(FootprintByHand, Neighbours) {
  given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(2, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.footprint.neighbours = {{0, 1, 5}, {1, 3, 7}};
  EXPECT_EQ(profile(), (Bytes{5, 12, 7}));
}

TEST_F(FootprintByHand, ElementwiseReplaysJoinTheirReader) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 10);
  given.add(2, Kind::Contraction, {b}, 0, true, 1);
  given.add(3, Kind::Elementwise, {b}, 1, false, 1);
  EXPECT_EQ(profile(), (Bytes{10, 10, 10, 10}));
  // The replay reads in launch 3 what is kept for it, and is never stored.
  EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 20, 20, 10}));
  EXPECT_EQ(usage.seconds, 1);
  // A contraction reads memory: beside its operand.
  given.problem.operations.back().kind = Kind::Contraction;
  given.problem.values[b].bytes = 20;
  EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 30, 30, 30}));
}

TEST_F(FootprintByHand, ReplaysOfSeveralLaunchesAreStored) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 20);
  given.add(2, Kind::Contraction, {b}, 0, true, 1);
  given.add(3, Kind::Elementwise, {b}, 1, false, 1);
  given.add(4, Kind::Elementwise, {b}, 1, false, 1);
  EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 30, 30, 30, 20}));
}

TEST_F(FootprintByHand, ReplaysOfOneLaunchAreOneStep) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 100);
  int c = given.add(1, Kind::Reduction, {b}, 0, true, 1);
  given.add(2, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.add(3, Kind::Contraction, {c}, 1, false, 1);
  std::vector<Choice> choices = {Choice::Save, Choice::Replay, Choice::Replay};
  EXPECT_EQ(profile(choices), (Bytes{10, 10, 10, 11}));
  EXPECT_EQ(usage.seconds, 2);
  // In launches of their own the first writes what the second reads.
  given.footprint.launches[c] = 2;
  EXPECT_EQ(profile(choices), (Bytes{10, 110, 110, 110}));
}

TEST_F(FootprintByHand, ViewsThatNobodyReadsAreNoReaders) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  int b = given.add(1, Kind::Elementwise, {a}, 0, true, 20);
  given.add(2, Kind::Elementwise, {b}, 1, false, 1);
  for (bool before : {false, true}) {
    Case kept = given;
    int view = given.add(kNoLaunch, Kind::View, {b}, 1, false, 20);
    if (before) {
      // The view comes first.
      std::swap(given.problem.operations[2], given.problem.operations[3]);
      std::swap(given.footprint.launches[2], given.footprint.launches[3]);
      std::swap(given.problem.values[view - 1], given.problem.values[view]);
      std::swap(given.problem.operations[2].firstResult, given.problem.operations[3].firstResult);
      std::swap(given.problem.values[view - 1].operation, given.problem.values[view].operation);
    }
    EXPECT_EQ(profile({Choice::Save, Choice::Replay}), (Bytes{10, 10, 10})) << before;
    given = kept;
  }
}

TEST_F(FootprintByHand, ReplaysRunForTheFirstLaunchThatNeedsThem) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 1);
  // The first one in program order is a view that is read late, the second one comes later too.
  int view = given.add(kNoLaunch, Kind::View, {a}, 1, false, 10);
  given.add(4, Kind::Contraction, {a}, 1, false, 1);
  given.add(2, Kind::Contraction, {a}, 1, false, 1);
  given.add(5, Kind::Contraction, {view}, 1, false, 1);
  given.add(3, Kind::Contraction, {kAvailable}, 1, false, 1);
  EXPECT_EQ(profile({Choice::Replay}), (Bytes{0, 0, 10, 10, 10, 10}));
}

TEST_F(FootprintByHand, OperationsWithoutResults) {
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Elementwise, {a}, 0, true, 0, 0);
  EXPECT_EQ(profile(), (Bytes{10, 10}));
}

} // namespace
