// reprise: tests of run folders: replaced files, kept files, and files after a killed run
#include "reprise/Runtime/RunFolder.h"
#include "TestBundle.h"
#include "TestFolder.h"

#include "gtest/gtest.h"
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

class RunFolder : public ::testing::Test {
protected:
  OutputFolder output(const std::string &name, const std::vector<ArrayRef> &arrays) const {
    return describeOutput(folder.file(name), arrays);
  }
  Error write(const std::string &name, const std::vector<ArrayRef> &arrays) const {
    return writeRunFolder(output(name, arrays), arrays, {});
  }
  Error write(const std::string &name, float value = 1) const {
    return write(name, {{"a/b", DType::F32, {}, &value}});
  }
  /// Writes as a run does that reads `inputs`.
  std::string reading(const std::string &name, std::vector<std::string> inputs,
                      const std::string &inputDir = "") const {
    float value = 3;
    std::vector<ArrayRef> arrays = {{"a/b", DType::F32, {}, &value}};
    OutputFolder to = output(name, arrays);
    to.inputs = std::move(inputs);
    to.inputDir = inputDir;
    Error error = writeRunFolder(to, arrays, {});
    return error ? error.message() : "";
  }
  void put(const std::string &name, const std::string &text) const {
    std::ofstream(folder.file(name)) << text;
  }
  void make(const std::string &name) const { mkdir(folder.file(name).c_str(), 0777); }
  float valueIn(const std::string &name) const {
    std::string bytes = contents(folder.file(name));
    float value = -1;
    if (bytes.size() == 132)
      std::memcpy(&value, bytes.data() + 128, 4);
    return value;
  }
  std::string cannot(const std::string &name, const std::string &why) const {
    return "cannot write '" + folder.file(name) + "': " + why;
  }
  TemporaryFolder folder;
};

TEST_F(RunFolder, ReplacesAnOlderRunWhole) {
  float value = 0;
  ASSERT_FALSE(bool(write("out", {{"older", DType::F32, {}, &value}})));
  ASSERT_FALSE(bool(write("out/", 2)));
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  EXPECT_TRUE(contents(folder.file("out/older.npy")).empty());
  EXPECT_EQ(valueIn("out/a.b.npy"), 2);
}

TEST_F(RunFolder, FollowsALink) {
  ASSERT_FALSE(bool(write("out")));
  ASSERT_EQ(symlink("out", folder.file("link").c_str()), 0);
  ASSERT_FALSE(bool(write("link", 2)));
  struct stat status{};
  ASSERT_EQ(lstat(folder.file("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  EXPECT_EQ(valueIn("out/a.b.npy"), 2);
}

TEST_F(RunFolder, LeavesForeignFoldersAlone) {
  make("home");
  ASSERT_FALSE(bool(write("home"))) << "an empty folder is nobody's";
  make("mine");
  put("mine/data.npy", "dear");
  EXPECT_EQ(
      write("mine").message(),
      cannot("mine",
             "the folder holds 'data.npy' and no run.json: the folder is not the output of a run"));
  EXPECT_EQ(contents(folder.file("mine/data.npy")), "dear");
  put("mine/run.json", "{\"seed\": 1}");
  EXPECT_EQ(write("mine").message(),
            cannot("mine", "the folder is not the output of a run: cannot read '" +
                               folder.file("mine/run.json") +
                               "': expected an integer 'next_offset'"));
  put("file", "x");
  EXPECT_EQ(write("file").message(), cannot("file", "Not a directory"));
  EXPECT_EQ(write("none/out").message(), cannot("none/out", "No such file or directory"));
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"file", "home", "mine"}));
}

TEST_F(RunFolder, LeavesForeignFilesInARunAlone) {
  ASSERT_FALSE(bool(write("out")));
  put("out/data.npy", "dear");
  std::string why = "the folder holds 'data.npy', which is no result of its run";
  EXPECT_EQ(write("out", 2).message(), cannot("out", why));
  EXPECT_EQ(contents(folder.file("out/data.npy")), "dear");
  EXPECT_EQ(valueIn("out/a.b.npy"), 1);
  unlink(folder.file("out/data.npy").c_str());
  // A folder or a link may bear a result's name.
  unlink(folder.file("out/a.b.npy").c_str());
  make("out/a.b.npy");
  put("out/a.b.npy/letter.txt", "dear");
  why = "the folder holds 'a.b.npy', which is no result of its run";
  EXPECT_EQ(write("out", 2).message(), cannot("out", why));
  EXPECT_EQ(contents(folder.file("out/a.b.npy/letter.txt")), "dear");
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
}

TEST_F(RunFolder, AnOlderRunJsonNamesNoResults) {
  ASSERT_FALSE(bool(write("out")));
  put("out/run.json", "{\"seed\": 5, \"next_offset\": 32, \"next_step\": 5}");
  put("out/other.npy", "dear");
  EXPECT_EQ(write("out", 2).message(),
            cannot("out", "the folder holds 'other.npy', which is no result of its run"));
  unlink(folder.file("out/other.npy").c_str());
  ASSERT_FALSE(bool(write("out", 2)));
  EXPECT_EQ(valueIn("out/a.b.npy"), 2);
}

TEST_F(RunFolder, NeverReplacesAnInput) {
  ASSERT_FALSE(bool(write("out")));
  std::string own = folder.file("out/a.b.npy");
  auto refusal = [&](const std::string &input) {
    return cannot("out", "the folder holds 'a.b.npy', which this run reads as '" + input + "'");
  };
  EXPECT_EQ(reading("out", {own}), refusal(own));
  std::string link = folder.file("link.npy"), hard = folder.file("hard.npy");
  ASSERT_EQ(symlink(own.c_str(), link.c_str()), 0);
  EXPECT_EQ(reading("out", {link}), refusal(link));
  ASSERT_EQ(::link(own.c_str(), hard.c_str()), 0);
  EXPECT_EQ(reading("out", {hard}), refusal(hard));
  ASSERT_EQ(symlink("out", folder.file("alias").c_str()), 0);
  EXPECT_NE(reading("out", {folder.file("alias/a.b.npy")}), "");
  EXPECT_EQ(valueIn("out/a.b.npy"), 1);
  // A link in the folder leads to the input, which the user would lose.
  unlink(own.c_str());
  ASSERT_EQ(symlink(hard.c_str(), own.c_str()), 0);
  EXPECT_EQ(reading("out", {hard}), refusal(hard));
}

TEST_F(RunFolder, TheNextStateTakesThePlaceOfTheState) {
  ASSERT_FALSE(bool(write("out")));
  std::string dir = folder.file("out");
  EXPECT_EQ(reading("out", {dir + "/a.b.npy"}, dir), "");
  EXPECT_EQ(valueIn("out/a.b.npy"), 3);
  // Another folder from which the run continues stays, even if its files lie here.
  make("from");
  std::string from = folder.file("from");
  ASSERT_EQ(symlink((dir + "/a.b.npy").c_str(), (from + "/a.b.npy").c_str()), 0);
  EXPECT_NE(reading("out", {from + "/a.b.npy"}, from), "");
}

//===--------------------------------------------------------------------------------------------===//
// Killed runs

TEST_F(RunFolder, LeftoversOfAKilledRunAreRemoved) {
  ASSERT_FALSE(bool(write("out")));
  make(".out.reprise-999999-0");
  put(".out.reprise-999999-0/a.npy", "x");
  put(".out.reprise-999999-0/w.npy.999999-0", "x");
  make(".out.reprise-999999-1.old");
  put(".out.reprise-999999-1.old/run.json", "x");
  // Nobody's leftovers.
  make(".out.reprise-999999-2");
  put(".out.reprise-999999-2/letter.txt", "dear");
  make(".out.reprise-kept");
  make(".other.reprise-999999-0");
  ASSERT_FALSE(bool(write("out", 2)));
  EXPECT_EQ(folder.entries(),
            (std::vector<std::string>{".other.reprise-999999-0", ".out.reprise-999999-2",
                                      ".out.reprise-kept", "out"}));
}

TEST_F(RunFolder, ARunThatStillWritesKeepsItsFolder) {
  make(".out.reprise-999999-0");
  int lock = open(folder.file(".out.reprise-999999-0").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  ASSERT_FALSE(bool(write("out")));
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{".out.reprise-999999-0", "out"}));
  close(lock);
  ASSERT_FALSE(bool(write("out")));
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
}

// Killed between the two renames of a file system that cannot exchange folders.
TEST_F(RunFolder, AFolderPutAsideComesBack) {
  ASSERT_FALSE(bool(write("out", 7)));
  make(".out.reprise-999999-0");
  ASSERT_EQ(rename(folder.file("out").c_str(), folder.file(".out.reprise-999999-0.old").c_str()),
            0);
  float value = 0;
  ASSERT_FALSE(bool(checkRunFolder(output("out", {{"a/b", DType::F32, {}, &value}}))));
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  EXPECT_EQ(valueIn("out/a.b.npy"), 7);
}

/// Returns whether the folder holds one complete run: 64 arrays with the value of run.json's step.
static bool isWhole(const std::string &path, int64_t &step) {
  Expected<std::optional<RunRecord>> record = readRunRecord(path);
  if (!record || !*record)
    return false;
  step = (*record)->state.step;
  for (int i = 0; i < 64; ++i) {
    std::string bytes = contents(path + "/a" + std::to_string(i) + ".npy");
    float value = -1;
    if (bytes.size() != 128 + 4000)
      return false;
    std::memcpy(&value, bytes.data() + bytes.size() - 4, 4);
    if (value != float(step))
      return false;
  }
  return true;
}

TEST_F(RunFolder, KillingAtAnyTimeLosesNeitherOldNorNew) {
  int64_t newest = -1;
  for (int round = 0; round < 60; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
      std::vector<float> data(1000);
      std::vector<ArrayRef> arrays;
      for (int i = 0; i < 64; ++i)
        arrays.push_back({"a" + std::to_string(i), DType::F32, {1000}, data.data()});
      for (int64_t step = newest + 1;; ++step) {
        std::fill(data.begin(), data.end(), float(step));
        if (writeRunFolder(output("out", arrays), arrays, {0, 0, step}))
          _exit(1);
        if (step == newest + 1 && ::write(ready[1], "", 1) != 1)
          _exit(1);
      }
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(unsigned(round * 211 % 5000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(ready[0]);
    close(ready[1]);
    ASSERT_TRUE(WIFSIGNALED(status));
    int64_t step = -1;
    ASSERT_TRUE(isWhole(folder.file("out"), step)) << "round " << round;
    EXPECT_GT(step, newest) << "what was told to be written is there";
    newest = step;
  }
  float value = 0;
  ASSERT_FALSE(bool(write("out", {{"a", DType::F32, {}, &value}})));
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"}) << "all leftovers are gone";
}

//===--------------------------------------------------------------------------------------------===//
// Names, full disks and signals

TEST_F(RunFolder, RefusesNamesThatMeet) {
  float value = 0;
  Error error = write("out", {{"a/b", DType::F32, {}, &value}, {"a.b", DType::F32, {}, &value}});
  EXPECT_EQ(error.message(), "cannot write '" + folder.file("out") +
                                 "': results 'a/b' and 'a.b' have the same file name 'a.b.npy'");
}

TEST_F(RunFolder, NamesStayInTheFolder) {
  float value = 0;
  std::string longest(NAME_MAX - 4, 'n');
  ASSERT_FALSE(bool(write("out", {{"../up", DType::F32, {}, &value},
                                  {"/abs", DType::F32, {}, &value},
                                  {"..", DType::F32, {}, &value},
                                  {longest, DType::F32, {}, &value}})));
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"out"}));
  Error error = checkRunFolder(output("out", {{longest + "n", DType::F32, {}, &value}}));
  EXPECT_EQ(error.message(), "cannot write '" + folder.file("out") + "': the name of result '" +
                                 longest + "n' is too long for a file");
}

/// Runs `work` in a child and returns its wait status.
template <typename Work> int inChild(Work work) {
  pid_t child = fork();
  if (child == 0)
    _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(RunFolder, AFullDiskLeavesTheOldRun) {
  ASSERT_FALSE(bool(write("out")));
  std::string before = contents(folder.file("out/a.b.npy"));
  int status = inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::vector<float> data(10000);
    Error error = write("out", {{"big", DType::F32, {10000}, data.data()}});
    std::string expected = "cannot write '" + folder.file("out/big.npy") + "': File too large";
    return error && error.message() == expected ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  EXPECT_EQ(contents(folder.file("out/a.b.npy")), before);
}

TEST_F(RunFolder, ASignalWaitsForTheCleaning) {
  ASSERT_FALSE(bool(write("out")));
  std::string before = contents(folder.file("out/a.b.npy"));
  int status = inChild([&] {
    // Blocked while a folder is written, and deadly afterwards.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    signal(SIGINT, SIG_DFL);
    pid_t self = getpid();
    if (fork() == 0) {
      usleep(3000); // during the writing
      for (int i = 0; i < 1000; ++i) {
        kill(self, SIGINT);
        usleep(1000);
      }
      _exit(0);
    }
    std::vector<float> data(1 << 22);
    for (;;)
      if (Error error = write("out", {{"big", DType::F32, {1 << 22}, data.data()}}))
        return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  // Either run, whole.
  if (contents(folder.file("out/big.npy")).empty())
    EXPECT_EQ(contents(folder.file("out/a.b.npy")), before);
  else
    EXPECT_TRUE(contents(folder.file("out/a.b.npy")).empty());
}

} // namespace
