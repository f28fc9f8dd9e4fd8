// reprise: tests of the agreement of processes of a run, over a wire between threads
#include "FakeWire.h"
#include "RunSteps.h"
#include "TestBundle.h"
#include "reprise/Runtime/ProgramGroup.h"
#include "reprise/Runtime/Session.h"

#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <thread>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

constexpr int64_t n = 64;

TEST(Ranks, AllHaveTheTextsOfAll) {
  FakeNet net(3);
  runRanks(net, [](Ranks &ranks) {
    for (int i = 0; i < 100; ++i) {
      std::string number = std::to_string(i);
      auto all = ranks.exchange(std::string(ranks.rank(), 'x') + number);
      ASSERT_TRUE(bool(all)) << all.message();
      EXPECT_EQ(*all, (std::vector<std::string>{number, "x" + number, "xx" + number}));
    }
  });
}

TEST(Ranks, TheFirstOneGathersTheTextsOfAll) {
  FakeNet net(3);
  runRanks(net, [](Ranks &ranks) {
    auto all = ranks.gather(std::string(ranks.rank() + 1, 'x'));
    ASSERT_TRUE(bool(all)) << all.message();
    using Texts = std::vector<std::string>;
    EXPECT_EQ(*all, ranks.isFirst() ? (Texts{"x", "xx", "xxx"}) : Texts());
  });
}

TEST(Ranks, TheFirstErrorIsThatOfAll) {
  FakeNet net(3);
  runRanks(net, [](Ranks &ranks) {
    EXPECT_FALSE(ranks.agree(Error::success()));
    std::string own = "error " + std::to_string(ranks.rank());
    Error agreed = ranks.agree(ranks.isFirst() ? Error::success() : Error::make(own));
    EXPECT_EQ(agreed.message(), "error 1");
  });
}

TEST(Ranks, ADifferenceIsNamed) {
  FakeNet net(3);
  runRanks(net, [](Ranks &ranks) {
    EXPECT_FALSE(ranks.checkAlike("m.rpb", {{"the seed", "7"}, {"the first step", "0"}}));
    std::string step = ranks.rank() == 2 ? "3" : "0";
    EXPECT_EQ(ranks.checkAlike("m.rpb", {{"the seed", "7"}, {"the first step", step}}).message(),
              "m.rpb: the first step is 0 in process 0, and 3 in process 2");
    Ranks::Facts more = {{"the seed", "7"}, {ranks.rank() == 1 ? "x" : "y", ""}};
    EXPECT_EQ(ranks.checkAlike("m.rpb", more).message(),
              "m.rpb: processes have different settings: y in process 0, x in process 1");
  });
}

/// Runs two processes and returns the text that ProgramGroupTest's train() returns; `endings`
/// receives the endings.
std::string trainApart(FakeNet &net, Bundle bundle, int64_t steps,
                       std::vector<Ranks::Ending> *endings = nullptr) {
  std::vector<std::string> results(net.size);
  if (endings)
    endings->resize(net.size);
  runRanks(net, [&](Ranks &ranks) {
    auto group = ProgramGroup::create(bundle, "m.rpb", 1, &ranks);
    Error error = group ? Error::success() : group.error();
    std::string &result = results[ranks.rank()];
    if (!error) {
      EXPECT_EQ((*group)->size(), 1u);
      Session session(**group);
      error = runSteps(session, steps);
      if (!error)
        result = hashText(*session.hash()) + " " + std::to_string(session.state().offset) + " " +
                 std::to_string(session.loss().value_or(-1));
    }
    if (error)
      result = error.message();
    Ranks::Ending ending = ranks.finish(error, 1);
    ranks.leave(ending);
    if (endings)
      (*endings)[ranks.rank()] = ending;
  });
  return results[0] == results[1] ? results[0] : results[0] + "; " + results[1];
}

TEST(Ranks, TwoProcessesHaveTheBitsOfOne) {
  auto group = ProgramGroup::create(twoDeviceBundle(n), "m.rpb", 1);
  ASSERT_TRUE(bool(group)) << group.message();
  Session session(**group);
  ASSERT_FALSE(session.setState({3, 40, 0}));
  ASSERT_FALSE(session.start(5));
  for (int64_t i = 0; i < 5; ++i)
    ASSERT_FALSE(session.step());
  std::string expected = hashText(*session.hash()) + " " + std::to_string(session.state().offset) +
                         " " + std::to_string(session.loss().value_or(-1));
  EXPECT_EQ(hashText(*session.hash()), hashText(hashArrays(session.results())));
  FakeNet net(2);
  EXPECT_EQ(trainApart(net, twoDeviceBundle(n), 5), expected);
}

/// Each of the sends of a step is lost in turn.
TEST(Ranks, ALostMessageEndsAllOfThem) {
  for (int lost : {0, 1, 2, 3}) {
    FakeNet net(2);
    net.sendsUntilLoss = lost;
    std::vector<Ranks::Ending> endings;
    std::string results = trainApart(net, twoDeviceBundle(n), 5, &endings);
    EXPECT_EQ(endings[0].code, 1);
    EXPECT_EQ(endings[1].code, 1);
    EXPECT_FALSE(endings[1].error);
    std::string first = "a message is lost, or programs wait for each other: 'first' waits ";
    ASSERT_TRUE(endings[0].error) << results;
    EXPECT_NE(
        endings[0].error->find(first + "to receive from 'second' with tag 2, 'second' waits "),
        std::string::npos)
        << *endings[0].error;
  }
}

/// A process that computes for longer than the timeout is not lost.
TEST(Ranks, WhoComputesIsWaitedFor) {
  FakeNet net(3);
  runRanks(net, [](Ranks &ranks) {
    for (uint32_t slow = 0; slow < 3; ++slow) {
      if (ranks.rank() == slow)
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
      EXPECT_TRUE(bool(ranks.exchange("")));
    }
  });
}

TEST(Ranks, AFailureIsPrintedOnceAndEndsAllOfThem) {
  for (uint32_t failing : {0, 1, 2}) {
    FakeNet net(3);
    runRanks(net, [&](Ranks &ranks) {
      Error error = Error::make("the disk is full");
      if (ranks.rank() != failing) {
        auto all = ranks.exchange("");
        EXPECT_FALSE(bool(all));
        error = all.error();
      }
      Ranks::Ending ending = ranks.finish(error, ranks.rank() == failing ? 7 : 1);
      EXPECT_EQ(ending.code, 7);
      EXPECT_EQ(ending.error.value_or("nothing"), ranks.isFirst() ? "the disk is full" : "nothing");
      ranks.leave(ending);
    });
  }
}

/// The last texts of a step may be underway as another rank fails in the next step.
TEST(Ranks, AfterAFailedStepAllMayExchangeTexts) {
  for (uint32_t failing : {0, 1, 2}) {
    FakeNet net(3);
    runRanks(net, [&](Ranks &ranks) {
      EXPECT_TRUE(bool(ranks.exchange("")));
      Error error = Error::make("an index is out of range");
      if (ranks.rank() != failing)
        error = ranks.agree(Error::success());
      ASSERT_TRUE(ranks.endStep(error));
      EXPECT_EQ(error.message(), "an index is out of range");
      EXPECT_FALSE(ranks.agree(Error::success()));
      Ranks::Ending ending = ranks.finish(error, 1);
      EXPECT_EQ(bool(ending.error), ranks.isFirst());
      ranks.leave(ending);
    });
  }
}

/// A rank that has failed outside of a step takes part in no exchange.
TEST(Ranks, AfterAFailedStepARankMayBeGone) {
  FakeNet net(3);
  runRanks(net, [&](Ranks &ranks) {
    Error error = Error::make("no memory");
    if (ranks.rank() != 2) {
      error = ranks.agree(Error::success());
      EXPECT_FALSE(ranks.endStep(error));
    }
    Ranks::Ending ending = ranks.finish(error, 1);
    EXPECT_EQ(ending.error.value_or("nothing"), ranks.isFirst() ? "no memory" : "nothing");
    ranks.leave(ending);
  });
}

TEST(Ranks, AFailureAtTheEndIsSeenByThoseWhoHaveEnded) {
  FakeNet net(2);
  runRanks(net, [](Ranks &ranks) {
    Error error = ranks.isFirst() ? Error::make("the pipe is closed") : Error::success();
    Ranks::Ending ending = ranks.finish(error, 1);
    EXPECT_EQ(ending.code, 1);
    EXPECT_EQ(bool(ending.error), ranks.isFirst());
    ranks.leave(ending);
  });
}

/// Rank 0 may be unreachable.
TEST(Ranks, WhoIsNotAnsweredPrintsItself) {
  FakeNet net(2);
  Patience patience;
  patience.ending = std::chrono::milliseconds(20);
  Ranks ranks(std::make_unique<FakeWire>(net, 1), patience);
  Ranks::Ending ending = ranks.finish(Error::make("the disk is full"), 1);
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.error.value_or("nothing"), "the disk is full");
}

TEST(Ranks, AProgramNeedsAProcess) {
  FakeNet net(3);
  EXPECT_EQ(trainApart(net, twoDeviceBundle(n), 1),
            "m.rpb: 3 processes run 2 programs: start one for each program, or one for all");
}

TEST(Ranks, DifferentBundlesAreRefused) {
  FakeNet net(2);
  runRanks(net, [](Ranks &ranks) {
    Bundle bundle = twoDeviceBundle(n);
    bundle.checksum = 16 + ranks.rank();
    EXPECT_EQ(ProgramGroup::create(std::move(bundle), "m.rpb", 1, &ranks).message(),
              "m.rpb: the checksum of the bundle is 0000000000000010 in process 0, and "
              "0000000000000011 in process 1");
  });
}

TEST(Ranks, ProcessesThatDoNotFitOnOneHostAreRefused) {
  Bundle bundle = tooLargeBundle(n);
  FakeNet net(2);
  runRanks(net, [&](Ranks &ranks) {
    std::string error = ProgramGroup::create(bundle, "m.rpb", 1, &ranks).message();
    EXPECT_EQ(error.find("m.rpb: a step of all programs needs "), 0u) << error;
  });
}

TEST(Ranks, ASignalOfOneIsToldToAll) {
  FakeNet net(2);
  runRanks(net, [](Ranks &ranks) {
    auto group = ProgramGroup::create(twoDeviceBundle(n), "m.rpb", 1, &ranks);
    ASSERT_TRUE(bool(group)) << group.message();
    Session session(**group);
    ASSERT_FALSE(session.start(2));
    ASSERT_FALSE(session.step());
    EXPECT_EQ(session.stopSignal(), 0);
    if (ranks.rank() == 1)
      session.requestStop(SIGTERM);
    ASSERT_FALSE(session.step());
    EXPECT_EQ(session.stopSignal(), SIGTERM);
  });
}

TEST(Ranks, OneFolderComesOut) {
  auto array = [](const char *name) { return RunInterface::Array{name, {}, DType::F32, {}}; };
  std::string path = std::filesystem::path(testing::TempDir()) / "ranks.out";
  std::filesystem::remove_all(path);
  for (bool isGood : {true, false}) {
    FakeNet net(2);
    runRanks(net, [&](Ranks &ranks) {
      float value = 1;
      OutputFolder folder{path, {"train", {}, {array("a"), array("b")}}, {}, ""};
      // The last one is a name that a file system refuses.
      std::string name = ranks.isFirst() ? "a" : isGood ? "b" : std::string(300, 'b');
      Error error = writeRunFolder(folder, {{name, DType::F32, {}, &value}}, {}, &ranks);
      EXPECT_EQ(bool(error), !isGood);
      if (error)
        EXPECT_EQ(error.message().find("cannot write '" + path + "/bbb"), 0u) << error.message();
    });
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"a.npy", "b.npy", "run.json"}));
  }
  std::filesystem::remove_all(path);
}

/// Each process writes its rows into the same file.
TEST(Ranks, RowsOfSeveralProcessesAreOneArray) {
  std::vector<float> w(9);
  std::iota(w.begin(), w.end(), 1.f);
  TemporaryFolder folder;
  std::string one = folder.file("one"), all = folder.file("all");
  auto train = [&](ProgramGroup &group, const std::string &from, const std::string &to) {
    Session session(group);
    EXPECT_FALSE(from.empty() ? session.giveValue({"w", DType::F32, {3, 3}, w.data()})
                              : session.giveFolder(from));
    EXPECT_FALSE(session.start(2));
    EXPECT_FALSE(session.step());
    EXPECT_FALSE(session.step());
    OutputFolder output = session.outputFolder(to);
    output.inputDir = from;
    EXPECT_FALSE(writeRunFolder(output, session.results(), session.state(), group.ranks()));
    return hashText(*session.hash());
  };
  for (std::string from : {std::string(), one}) {
    auto group = ProgramGroup::create(stackBundle(3), "m.rpb", 1);
    ASSERT_TRUE(bool(group)) << group.message();
    std::string expected = train(**group, from, one + "2");
    FakeNet net(2);
    runRanks(net, [&](Ranks &ranks) {
      auto group = ProgramGroup::create(sharedStackBundle(3), "m.rpb", 1, &ranks);
      ASSERT_TRUE(bool(group)) << group.message();
      EXPECT_EQ(train(**group, from, all), expected);
    });
    for (std::string file : {"/w.npy", "/run.json"})
      EXPECT_EQ(contents(all + file), contents(one + "2" + file)) << file;
    if (from.empty())
      std::filesystem::rename(one + "2", one);
  }
}

/// Wire that makes progress only when it is called, by one thread at a time.
class LazyWire : public FakeWire {
public:
  struct Calls {
    std::atomic<int> progress{0};
    std::atomic<bool> isIn{false}, haveMet{false};
  };
  LazyWire(FakeNet &net, Calls &calls) : FakeWire(net, 0), calls(calls) {}
  Error start(Transfer &) override {
    visit();
    return Error::success();
  }
  Expected<bool> test(Transfer &) override {
    visit();
    return calls.progress > 3;
  }
  void progress() override {
    visit();
    ++calls.progress;
  }

private:
  void visit() {
    calls.haveMet = calls.haveMet || calls.isIn.exchange(true);
    std::this_thread::yield();
    calls.isIn = false;
  }
  Calls &calls;
};

TEST(Ranks, TransfersGoOnWhileAProgramComputes) {
  FakeNet net(1);
  LazyWire::Calls calls;
  std::unique_ptr<Wire> wire = makeBackgroundWire(std::make_unique<LazyWire>(net, calls));
  for (int round = 0; round < 2; ++round) {
    calls.progress = 0;
    Transfer transfer;
    ASSERT_FALSE(wire->start(transfer));
    while (calls.progress <= 3) // no test of the transfer
      std::this_thread::yield();
    EXPECT_TRUE(*wire->test(transfer));
    int before = calls.progress;
    std::this_thread::sleep_for(std::chrono::milliseconds(round == 0 ? 200 : 10));
    EXPECT_EQ(calls.progress, before) << "nothing is in flight";
  }
  EXPECT_FALSE(calls.haveMet);
}

TEST(Ranks, MpirunIsKnownByItsEnvironment) {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"})
    unsetenv(name);
  EXPECT_FALSE(findLaunch());
  setenv("PMI_RANK", "1", 1);
  EXPECT_FALSE(findLaunch());
  setenv("PMI_SIZE", "4", 1);
  ASSERT_TRUE(findLaunch());
  EXPECT_EQ(findLaunch()->size, 4u);
  setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "three", 1);
  EXPECT_EQ(findLaunch()->rank, 1u);
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  EXPECT_EQ(findLaunch()->rank, 2u);
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"})
    unsetenv(name);
}

} // namespace
