// reprise: tests of reprise-run as a user meets it: flags, output, exit codes
#include "TestBundle.h"
#include "reprise/Runtime/Npy.h"

#include "gtest/gtest.h"
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

class Tool : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(bool(writeBundle(trainingBundle(16), file("m.rpb")))); }
  std::string file(const std::string &name) const { return folder.file(name); }

  /// Starts reprise-run with its output in files "stdout" and "stderr".
  pid_t start(std::vector<std::string> words, const std::string &out = "") {
    pid_t child = fork();
    if (child != 0)
      return child;
    auto open = [&](const std::string &path, int descriptor) {
      dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), descriptor);
    };
    open(out.empty() ? file("stdout") : out, STDOUT_FILENO);
    open(file("stderr"), STDERR_FILENO);
    // A shell's background job ignores interrupts, and so would we.
    signal(SIGINT, SIG_DFL);
    words.insert(words.begin(), REPRISE_RUN);
    std::vector<char *> pointers;
    for (std::string &word : words)
      pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(REPRISE_RUN, pointers.data());
    _exit(127);
  }
  int wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  /// Exit code; `words` follow the bundle's name.
  int run(std::vector<std::string> words, const std::string &out = "") {
    words.insert(words.begin(), file("m.rpb"));
    return wait(start(words, out));
  }
  std::string out() const { return contents(file("stdout")); }
  /// The error without its prefix.
  std::string error() const {
    std::string text = contents(file("stderr")), prefix = "reprise-run: error: ";
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    return text.substr(prefix.size());
  }
  std::string field(const std::string &name) const {
    std::string text = out();
    size_t at = text.find("\"" + name + "\": ");
    if (at == std::string::npos)
      return "missing";
    at += name.size() + 4;
    size_t end = text[at] == '[' ? text.find(']', at) + 1 : text.find_first_of(",}", at);
    return text.substr(at, end - at);
  }
  TemporaryFolder folder;
};

TEST_F(Tool, PrintsJson) {
  ASSERT_EQ(run({"--seed=3", "--offset=4", "--steps=2", "--json"}), 0) << error();
  EXPECT_EQ(contents(file("stderr")), "") << "quiet in a pipe";
  EXPECT_EQ(field("loss"), "[75, 62.5]");
  EXPECT_EQ(field("hash").size(), 18u);
  EXPECT_EQ(field("next_offset"), "20");
  EXPECT_EQ(field("commands"), "4");
  EXPECT_EQ(field("arena_bytes"), "136");
  EXPECT_EQ(field("workspace_bytes"), "128");
  EXPECT_EQ(field("persistent_bytes"), "152");
  EXPECT_EQ(field("threads"), "2");
  EXPECT_EQ(field("device"), "\"cpu\"");
  EXPECT_NE(field("step_seconds").find(", "), std::string::npos);
  EXPECT_GT(std::stoull(field("peak_rss_bytes")), 100000u);
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr", "stdout"}));
}

TEST_F(Tool, PrintsText) {
  ASSERT_EQ(run({}), 0) << error();
  EXPECT_NE(out().find("loss              0\n"), std::string::npos) << out();
  EXPECT_NE(out().find("next offset       8\n"), std::string::npos) << out();
}

TEST_F(Tool, GoesOnFromAFolder) {
  ASSERT_EQ(run({"--seed", "3", "--steps", "6", "--json", "--output-dir=" + file("six")}), 0);
  std::string hash = field("hash");
  ASSERT_EQ(run({"--seed=3", "--steps=3", "--threads=1", "--output-dir=" + file("run")}), 0);
  ASSERT_EQ(run({"--steps=3", "--json", "--threads=5", "--input-dir=" + file("run"),
                 "--output-dir=" + file("run")}),
            0);
  EXPECT_EQ(field("hash"), hash);
  EXPECT_EQ(field("threads"), "5");
  EXPECT_EQ(field("workspace_bytes"), "320");
  for (const char *name : {"loss.npy", "w.npy", "sum.npy", "run.json"})
    EXPECT_EQ(contents(file("run/") + name), contents(file("six/") + name)) << name;
}

TEST_F(Tool, WritesTraceAndProfile) {
  ASSERT_EQ(run({"--steps=2", "--trace=" + file("t.json"), "--profile-out=" + file("p.json")}), 0)
      << error();
  EXPECT_NE(contents(file("t.json")).find("\"name\": \"advance\""), std::string::npos);
  std::string profile = contents(file("p.json"));
  EXPECT_NE(profile.find("\"steps\": 2"), std::string::npos);
  EXPECT_NE(profile.find("\"launch\": \"advance\", \"ops\": [{\"op\": \"advance\", \"kind\": "
                         "\"elementwise\", \"dtype\": \"f32\", \"flops\": 4, \"signature\": "
                         "\"0123456789abcdef\"}]"),
            std::string::npos);
}

TEST_F(Tool, WrongUsageIsTwo) {
  EXPECT_EQ(wait(start({})), 2);
  EXPECT_EQ(error().substr(0, 16), "no bundle given\n");
  for (const char *word : {"--steps=0", "--steps=x", "--steps=3x", "--threads=0", "--seed=",
                           "--seed=99999999999999999999", "--device=tpu", "--input=x", "--input==f",
                           "--input=x=", "--bogus", "--json=1", "--trace", "other.rpb", "-h", "-j"})
    EXPECT_EQ(run({word}), 2) << word;
  EXPECT_EQ(wait(start({"--help"})), 0);
  EXPECT_EQ(out().substr(0, 6), "usage:");
}

TEST_F(Tool, FilesDoNotMeet) {
  auto message = [&](std::vector<std::string> words) {
    EXPECT_EQ(run(words), 2);
    return error().substr(0, error().find('\n'));
  };
  std::string out = file("out"), same = folder.path + "/./out";
  EXPECT_EQ(message({"--trace=" + out, "--profile-out=" + same}), "'" + out + "' is written twice");
  EXPECT_EQ(message({"--trace=" + out, "--output-dir=" + same}), "'" + out + "' is written twice");
  EXPECT_EQ(message({"--trace=" + file("m.rpb")}), "'" + file("m.rpb") + "' is read and written");
  EXPECT_EQ(message({"--input", "x=a.npy", "--input", "x=b.npy"}), "argument 'x' is given twice");
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr", "stdout"}));
  EXPECT_EQ(run({"--trace=/dev/null", "--profile-out=/dev/null"}), 0);
}

TEST_F(Tool, BadInputIsOne) {
  auto message = [&](std::vector<std::string> words) {
    EXPECT_EQ(run(words), 1);
    return error();
  };
  EXPECT_EQ(message({"--device=cuda"}),
            file("m.rpb") + ": this build runs bundles on the cpu only\n");
  EXPECT_EQ(message({"--offset=6"}), "the offset 6 is no multiple of 4\n");
  EXPECT_EQ(message({"--input", "y=" + file("y.npy")}),
            file("m.rpb") + ": there is no argument 'y' to be given\n");
  EXPECT_EQ(message({"--input", "x=" + file("y.npy")}),
            "cannot read '" + file("y.npy") + "': No such file or directory\n");
  EXPECT_EQ(message({"--output-dir=" + file("none/out")}),
            "cannot write '" + file("none/out") + "': No such file or directory\n");
  EXPECT_EQ(message({"--trace=" + file("none/t")}),
            "cannot write '" + file("none/t") + "': No such file or directory\n");
  EXPECT_EQ(message({"--trace=" + folder.path}),
            "cannot write '" + folder.path + "': Is a directory\n");
  EXPECT_EQ(wait(start({file("none.rpb")})), 1);
  EXPECT_EQ(wait(start({file("stdout")})), 1);
  EXPECT_EQ(wait(start({"/dev/zero"})), 1);
  EXPECT_EQ(error(), "cannot read '/dev/zero': it is longer than 256 MiB and no regular file\n");
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr", "stdout"}));
}

TEST_F(Tool, FullDiskIsOne) {
  EXPECT_EQ(run({}, "/dev/full"), 1);
  EXPECT_EQ(error(), "cannot write to standard output: No space left on device\n");
  EXPECT_EQ(run({"--profile-out=/dev/full"}), 1);
  EXPECT_EQ(error(), "cannot write '/dev/full': No space left on device\n");
}

TEST_F(Tool, AFileSizeLimitIsAFullDisk) {
  rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = {0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  // Standard error is a file as well, and stays empty.
  EXPECT_EQ(run({"--output-dir=" + file("out")}, "/dev/null"), 1);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr"}));
}

TEST_F(Tool, AnInterruptLeavesNothingHalfWritten) {
  ASSERT_EQ(run({"--output-dir=" + file("out")}), 0);
  std::string before = contents(file("out/run.json"));
  pid_t child = start({file("m.rpb"), "--steps=2000000000", "--trace=" + file("t.json"),
                       "--output-dir=" + file("out")});
  usleep(200000);
  kill(child, SIGINT);
  EXPECT_EQ(wait(child), 1);
  EXPECT_EQ(error().substr(0, 18), "interrupted after ");
  EXPECT_EQ(contents(file("out/run.json")), before);
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "out", "stderr", "stdout"}));
}

TEST_F(Tool, ChecksIndicesOnRequest) {
  Bundle bundle = emptyBundle();
  bundle.arguments = {{"table", Role::Parameter, DType::F32, {3}, -1, 12, false},
                      {"tokens", Role::Input, DType::I64, {2}, -1, 16, false}};
  Command gather = command(Gather, 2, {argument(0, 12), argument(1, 16)}, {arena(0, 8)});
  gather.indexChecks = {{1, DType::I64, 2, 2, "tokens"}};
  bundle.programs[0] = {"step", {gather}, 8};
  ASSERT_FALSE(bool(writeBundle(bundle, file("m.rpb"))));
  float table[3] = {1, 2, 3};
  int64_t tokens[4] = {0, 1, 2, 0};
  ASSERT_FALSE(bool(writeNpy(file("table.npy"), {"table", DType::F32, {3}, table})));
  ASSERT_FALSE(bool(writeNpy(file("tokens.npy"), {"tokens", DType::I64, {2, 2}, tokens})));
  std::vector<std::string> words = {"--steps=2", "--input", "table=" + file("table.npy"), "--input",
                                    "tokens=" + file("tokens.npy")};
  EXPECT_EQ(run(words), 0);
  words.push_back("--check-indices");
  EXPECT_EQ(run(words), 1);
  EXPECT_EQ(error(), file("m.rpb") +
                         ": step 1, command 0: indices of tokens outside [0, 2): 1 of 2, "
                         "the first is 2 at position 0\n");
}

} // namespace
