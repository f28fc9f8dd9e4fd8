// reprise: tests of reprise-run from the command line: flags, output, exit codes
#include "TestBundle.h"
#include "reprise/Runtime/RunFolder.h"
#include "reprise/Support/Wording.h"

#include "gtest/gtest.h"
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
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
  EXPECT_EQ(field("commands"), "5");
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
  EXPECT_NE(contents(file("t.json")).find("\"name\": \"live bytes\", \"ph\": \"C\""),
            std::string::npos);
  std::string profile = contents(file("p.json"));
  EXPECT_NE(profile.find("\"steps\": 2"), std::string::npos);
  EXPECT_NE(profile.find("\"launch\": \"advance\", \"ops\": [{\"op\": \"advance\", \"kind\": "
                         "\"elementwise\", \"dtype\": \"f32\", \"flops\": 4, \"signature\": "
                         "\"0123456789abcdef\"}]"),
            std::string::npos);
}

TEST_F(Tool, WrongUsageIsTwo) {
  EXPECT_EQ(wait(start({})), 2);
  EXPECT_EQ(error(), "expected BUNDLE.rpb: reprise-run BUNDLE.rpb [options]\n");
  for (const char *word :
       {"--steps=0", "--steps=x", "--steps=3x", "--threads=0",
        "--seed=", "--seed=99999999999999999999", "--device=tpu", "--input=x", "--input==f",
        "--input=x=", "--bogus", "--json=1", "--trace", "other.rpb", "-j", "--help=x"})
    EXPECT_EQ(run({word}), 2) << word;
  EXPECT_EQ(wait(start({"--help"})), 0);
  EXPECT_EQ(out().substr(0, 12), "reprise-run:");
}

TEST_F(Tool, FilesDoNotMeet) {
  auto message = [&](std::vector<std::string> words) {
    EXPECT_EQ(run(words), 2);
    return error().substr(0, error().find('\n'));
  };
  std::string out = file("out"), same = folder.path + "/./out";
  EXPECT_EQ(message({"--trace=" + out, "--profile-out=" + same}),
            "'" + out + "' is named by two outputs");
  EXPECT_EQ(message({"--trace=" + out, "--output-dir=" + same}),
            "'" + out + "' is named by two outputs");
  EXPECT_EQ(message({"--trace=" + file("m.rpb")}),
            "'" + file("m.rpb") + "' is an input and an output");
  EXPECT_EQ(message({"--input", "x=a.npy", "--input", "x=b.npy"}), "argument 'x' is given twice");
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr", "stdout"}));
  EXPECT_EQ(run({"--trace=/dev/null", "--profile-out=/dev/null"}), 0);
}

TEST_F(Tool, BadInputIsOne) {
  auto message = [&](std::vector<std::string> words) {
    EXPECT_EQ(run(words), 1);
    return error();
  };
  // The bundle is for a CPU, so that --device=cuda fails with and without a driver.
  std::string refused = message({"--device=cuda"});
  EXPECT_TRUE(refused.find(": no CUDA driver: ") != std::string::npos ||
              refused.find(" runs here") != std::string::npos)
      << refused;
  EXPECT_EQ(message({"--offset=6"}), "the offset 6 is no multiple of 4\n");
  EXPECT_EQ(message({"--input", "y=" + file("y.npy")}),
            file("m.rpb") + ": the step takes no argument 'y'\n");
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
  EXPECT_EQ(error(), "cannot read '/dev/zero': longer than 256 MiB and no regular file\n");
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr", "stdout"}));
}

TEST_F(Tool, FullDiskIsOne) {
  EXPECT_EQ(run({}, "/dev/full"), 1);
  EXPECT_EQ(error(), "cannot write to standard output: No space left on device\n");
  EXPECT_EQ(run({"--profile-out=/dev/full"}), 1);
  EXPECT_EQ(error(), "cannot write '/dev/full': No space left on device\n");
}

TEST_F(Tool, AFileSizeLimitIsAFullDisk) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer itself writes a file when a program starts";
#endif
#endif
  rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = {0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  // Standard error is a file as well, and stays empty.
  EXPECT_EQ(run({"--output-dir=" + file("out")}, "/dev/null"), 1);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"m.rpb", "stderr"}));
}

TEST_F(Tool, AnInterruptWritesTheLastWholeStep) {
  ASSERT_EQ(run({"--steps=20", "--seed=3", "--output-dir=" + file("twenty")}), 0);
  for (int signal : {SIGINT, SIGTERM}) {
    ASSERT_EQ(run({"--seed=3", "--output-dir=" + file("out")}), 0);
    pid_t child =
        start({file("m.rpb"), "--seed=3", "--steps=2000000000", "--trace=" + file("t.json"),
               "--log=" + file("l.csv"), "--output-dir=" + file("out")});
    while (contents(file("l.csv")).size() < 40)
      usleep(1000);
    kill(child, signal);
    EXPECT_EQ(wait(child), -signal) << "as a run that the signal ended";
    Expected<std::optional<RunRecord>> record = readRunRecord(file("out"));
    ASSERT_TRUE(record && *record) << record.message();
    std::string step = std::to_string((*record)->state.step);
    EXPECT_EQ(error(), "stopped after " + reprise::amount((*record)->state.step, "step") +
                           "; results are in '" + file("out") + "', --input-dir=" + file("out") +
                           " goes on\n");
    // The steps again, without an interrupt.
    ASSERT_EQ(run({"--seed=3", "--steps=" + step, "--log=" + file("again.csv"),
                   "--output-dir=" + file("again")}),
              0);
    for (const char *name : {"loss.npy", "w.npy", "sum.npy", "run.json"})
      EXPECT_EQ(contents(file("out/") + name), contents(file("again/") + name)) << name;
    EXPECT_EQ(contents(file("l.csv")), contents(file("again.csv")));
    unlink(file("l.csv").c_str());
  }
  EXPECT_EQ(folder.entries(), (std::vector<std::string>{"again", "again.csv", "m.rpb", "out",
                                                        "stderr", "stdout", "twenty"}));
}

TEST_F(Tool, AnInterruptBeforeTheFirstStepLeavesTheOldRun) {
  ASSERT_EQ(run({"--output-dir=" + file("out")}), 0);
  std::string before = contents(file("out/run.json"));
  // Interrupted from the start.
  ASSERT_EQ(mkfifo(file("b.rpb").c_str(), 0600), 0);
  pid_t child = start({file("b.rpb"), "--steps=2000000000", "--output-dir=" + file("out")});
  std::ofstream pipe(file("b.rpb"), std::ios::binary);
  kill(child, SIGINT);
  usleep(20000);
  pipe << contents(file("m.rpb"));
  pipe.close();
  EXPECT_EQ(wait(child), -SIGINT);
  EXPECT_EQ(error(), "stopped before the first step; nothing is written\n");
  EXPECT_EQ(contents(file("out/run.json")), before);
}

TEST_F(Tool, SavesOnTheWay) {
  ASSERT_EQ(run({"--seed=3", "--steps=4", "--output-dir=" + file("four")}), 0);
  pid_t child = start({file("m.rpb"), "--seed=3", "--steps=2000000000", "--save-every=4",
                       "--output-dir=" + file("out")});
  while (contents(file("out/run.json")).empty())
    usleep(1000);
  kill(child, SIGKILL);
  EXPECT_EQ(wait(child), -SIGKILL);
  Expected<std::optional<RunRecord>> record = readRunRecord(file("out"));
  ASSERT_TRUE(record && *record) << record.message();
  int64_t step = (*record)->state.step;
  EXPECT_EQ(step % 4, 0);
  ASSERT_EQ(run({"--seed=3", "--steps=" + std::to_string(step), "--output-dir=" + file("again")}),
            0);
  for (const char *name : {"loss.npy", "w.npy", "sum.npy", "run.json"})
    EXPECT_EQ(contents(file("out/") + name), contents(file("again/") + name)) << name;
  EXPECT_EQ(run({"--save-every=2"}), 2);
  EXPECT_EQ(error().substr(0, error().find('\n')), "--save-every needs --output-dir");
}

TEST_F(Tool, LogsLosses) {
  std::string log = file("l.csv");
  ASSERT_EQ(run({"--seed=3", "--steps=2", "--log=" + log, "--output-dir=" + file("out")}), 0);
  EXPECT_EQ(contents(log), "step,loss\n0,75\n1,62.5\n");
  // A killed run may have logged more than it saved; its last line may be incomplete.
  std::ofstream(log, std::ios::app) << "2,1\n3,4";
  ASSERT_EQ(run({"--input-dir=" + file("out"), "--log=" + log}), 0) << error();
  EXPECT_EQ(contents(log), "step,loss\n0,75\n1,62.5\n2,81.25\n");
  ASSERT_EQ(run({"--seed=3", "--steps=2", "--log=" + file("l.jsonl")}), 0);
  EXPECT_EQ(contents(file("l.jsonl")),
            "{\"step\": 0, \"loss\": 75}\n{\"step\": 1, \"loss\": 62.5}\n");
  EXPECT_EQ(run({"--log=" + file("l.txt")}), 2);
  EXPECT_EQ(run({"--log=" + file("m.rpb") + ".csv", "--input", "x=" + file("m.rpb") + ".csv"}), 2);
  EXPECT_EQ(run({"--log=" + file("out/l.csv"), "--output-dir=" + file("out")}), 2);
  EXPECT_EQ(error().substr(0, error().find('\n')),
            "'" + file("out/l.csv") + "' lies in the output folder, which is replaced as a whole");
  std::ofstream(file("data.csv")) << "a,b\n1,2\n";
  EXPECT_EQ(run({"--log=" + file("data.csv")}), 1);
  EXPECT_EQ(error(),
            "cannot write '" + file("data.csv") + "': the file exists and is not a log of steps\n");
  EXPECT_EQ(contents(file("data.csv")), "a,b\n1,2\n");
  ASSERT_EQ(link(file("data.csv").c_str(), file("x.npy").c_str()), 0);
  EXPECT_EQ(run({"--log=" + file("data.csv"), "--input", "x=" + file("x.npy")}), 2);
}

TEST_F(Tool, KeepsInputsThatLieInTheOutputFolder) {
  ASSERT_EQ(run({"--output-dir=" + file("out")}), 0);
  std::string before = contents(file("out/w.npy"));
  EXPECT_EQ(run({"--input", "w=" + file("out/w.npy"), "--output-dir=" + file("out")}), 1);
  EXPECT_EQ(error(), "cannot write '" + file("out") +
                         "': the folder holds 'w.npy', which this run reads as '" +
                         file("out/w.npy") + "'\n");
  EXPECT_EQ(contents(file("out/w.npy")), before);
  EXPECT_EQ(run({"--trace=" + file("out/w.npy"), "--input-dir=" + file("out")}), 1);
  EXPECT_EQ(contents(file("out/w.npy")), before);
}

TEST_F(Tool, NeverStartsAfresh) {
  auto message = [&](std::vector<std::string> words) {
    words.push_back("--input-dir=" + file("out"));
    EXPECT_EQ(run(words), 1);
    return error();
  };
  std::string cannot = "cannot continue from '" + file("out") + "': ";
  ASSERT_EQ(mkdir(file("out").c_str(), 0777), 0);
  EXPECT_EQ(message({}), cannot + "the folder holds neither run.json nor an argument\n");
  ASSERT_EQ(run({"--output-dir=" + file("out")}), 0);
  unlink(file("out/w.npy").c_str());
  EXPECT_EQ(message({}), cannot + "the output of entry 'train' has no parameter 'w'\n");
  std::ofstream(file("out/run.json")) << "{\"seed\": 5, \"next_offset\": 32, \"next_step\": 5}";
  EXPECT_EQ(message({}), cannot + "the folder has no parameter 'w'\n");
  std::vector<float> w(16);
  ASSERT_FALSE(bool(writeNpy(file("w.npy"), {"w", DType::F32, {16}, w.data()})));
  EXPECT_EQ(run({"--input-dir=" + file("out"), "--input", "w=" + file("w.npy")}), 0) << error();
}

TEST_F(Tool, RefusesTheFolderOfAnotherModel) {
  Bundle other = trainingBundle(16);
  other.arguments.push_back({"v", Role::Parameter, DType::F32, {2}, -1, 8, true});
  ASSERT_FALSE(bool(writeBundle(other, file("o.rpb"))));
  EXPECT_EQ(wait(start({file("o.rpb"), "--output-dir=" + file("out")})), 0);
  EXPECT_EQ(run({"--input-dir=" + file("out")}), 1);
  EXPECT_EQ(error(), "cannot continue from '" + file("out") +
                         "': the folder is from another model, with parameter 'v'\n");
  // Another entry of the model may need fewer arguments.
  other = trainingBundle(16);
  other.entry = "forward";
  ASSERT_FALSE(bool(writeBundle(other, file("f.rpb"))));
  EXPECT_EQ(wait(start({file("f.rpb"), "--input-dir=" + file("out")})), 0);
}

TEST_F(Tool, ReadsTheBundleFromStandardInput) {
  ASSERT_EQ(run({"--json", "--seed=3"}), 0);
  std::string hash = field("hash");
  std::string command = std::string("cat ") + file("m.rpb") + " | " + REPRISE_RUN +
                        " - --json --seed=3 > " + file("stdout");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(field("hash"), hash);
}

TEST_F(Tool, RefusesMoreThreadsThanTheBudgetWasMetFor) {
  Bundle bundle = trainingBundle(16);
  bundle.hasBudget = true;
  bundle.budgetBytes = 1000;
  ASSERT_FALSE(bool(writeBundle(bundle, file("m.rpb"))));
  EXPECT_EQ(run({"--threads=2"}), 0);
  EXPECT_EQ(run({"--threads=3"}), 1);
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
