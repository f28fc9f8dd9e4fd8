// reprise: the tool that runs a bundle
#include "CommandLine/CommandLine.h"
#include "reprise-run/Run.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Safetensors.h"
#include "reprise/Runtime/StepLog.h"
#include "reprise/Support/ByteUnits.h"
#include "reprise/Support/Readable.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

using namespace reprise;
using namespace reprise::runtime;

namespace {

struct Flags : cli::Tool {
  Flags()
      : Tool("reprise-run", "runs training steps of a bundle that reprise-compile wrote",
             "BUNDLE.rpb [options]") {
    addExample("reprise-run gpt2.rpb --steps=100 --seed=7 --output-dir=out --save-every=10",
               "100 steps from drawn parameters; the results as .npy files, every 10 steps.");
    addExample("reprise-run gpt2.rpb --steps=100 --input-dir=out --output-dir=out",
               "100 more steps, from the values of the first 100.");
    addExample("reprise-run gpt2.rpb --input tokens=tokens.npy --json",
               "A step on given tokens, the figures as JSON.");
  }

  cli::Text bundle{*this, "BUNDLE.rpb", "",
                   "The bundle; - is standard input. It is machine code: run only what you trust"};

  cli::Group values{*this, "Steps and values"};
  cli::Number<int64_t> steps{*this, "--steps", "N", "The number of steps (1)", 1, {1}};
  cli::Number<int64_t> seed{*this, "--seed", "S",
                            "The seed of all random numbers (0, or the seed of the input folder)"};
  cli::Number<int64_t> offset{*this, "--offset", "O",
                              "The random offset of the first step, a multiple of 4 (0, or the "
                              "offset of the input folder)"};
  cli::Texts inputs{*this, "--input", "NAME=FILE.npy",
                    "Read an argument from a file; a file with one more leading dimension has one "
                    "value per step, counted from the first step of all runs; may be repeated"};
  cli::Texts inputDirs{
      *this, "--input-dir", "DIR|F.safetensors",
      "Continue from the output of an earlier run, or take arrays from a folder, a "
      ".safetensors file or its .index.json; may be repeated, the last value of an "
      "argument counts"};
  cli::Text names{*this, "--names", "F.json",
                  "Names of tensors in .safetensors files by the names of arguments and results "
                  "(the same names with '.' for '/')"};

  cli::Group results{*this, "Results"};
  cli::Text outputDir{*this, "--output-dir", "DIR|F.safetensors",
                      "Write the results of the last step and run.json at the end, or when the run "
                      "is interrupted: .npy files, or one .safetensors file"};
  cli::Text shardSize{
      *this, "--shard-size", "BYTES",
      "Write .safetensors files with at most so many bytes of elements, such as 5GB, "
      "into the output folder, and their index"};
  cli::Number<int64_t> saveEvery{*this, "--save-every",
                                 "N",   "Write the output folder also after every N steps (never)",
                                 0,     {1}};
  cli::Switch saveBehind{
      *this, "--save-behind",
      "Write the folders of --save-every beside the next steps, from a copy of the results in "
      "memory"};
  cli::Text log{*this, "--log", "F.csv|F.jsonl", "Append the loss of each step to a file"};
  cli::Switch json{*this, "--json", "Print one JSON object instead of text"};

  cli::Group machine{*this, "Machine"};
  cli::Number<unsigned> threads{
      *this,
      "--threads",
      "T",
      "Number of workers, which the programs of a process share (the number that the bundle was "
      "compiled for)",
      0,
      {1, 4096}};
  cli::Choice<std::string> device{*this,
                                  "--device",
                                  "cpu|cuda",
                                  "Run on this device (cpu)",
                                  {{"cpu", "cpu"}, {"cuda", "cuda"}}};
  cli::Switch checkIndices{
      *this, "--check-indices",
      "Stop with an error if an index is out of range, instead of clamping it"};

  cli::Group measurements{*this, "Measurements"};
  cli::Text profile{*this, "--profile-out", "F.json",
                    "Write seconds, calls, FLOPs and bytes of each kernel, and its share of the "
                    "machine's peak or bandwidth"};
  cli::Text trace{*this, "--trace", "F.json",
                  "Write a timeline of each worker and of the live bytes, for Perfetto or "
                  "chrome://tracing"};
};

/// Checks that no file is written twice, or written while it is read, and that no argument is given
/// twice.
std::string checkFiles(const RunOptions &options) {
  std::vector<std::string> read = {options.bundle, options.names}, written;
  for (auto input = options.inputs.begin(); input != options.inputs.end(); ++input) {
    read.push_back(input->second);
    auto same = [&](const auto &other) { return other.first == input->first; };
    if (std::any_of(options.inputs.begin(), input, same))
      return "argument '" + input->first + "' is given twice";
  }
  for (const std::string &path : {options.outputDir, options.profile, options.trace, options.log}) {
    auto same = [&](const std::string &other) { return isSameFile(path, other); };
    if (path.empty())
      continue;
    if (std::any_of(written.begin(), written.end(), same))
      return "'" + path + "' is named by two outputs";
    if (std::any_of(read.begin(), read.end(), same))
      return "'" + path + "' is an input and an output";
    if (isInside(path, options.outputDir))
      return "'" + path + "' lies in the output folder, which is replaced as a whole";
    written.push_back(path);
  }
  return "";
}

/// Reads the size of a file, such as 5GB; none if it is no number of bytes from 1 on.
std::optional<uint64_t> readBytes(std::string_view text) {
  double scale = consumeByteUnit(text).value_or(1), number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  double bytes = number * scale;
  if (code != std::errc() || end != text.data() + text.size() || !(bytes >= 1 && bytes <= 1e18))
    return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

/// Reads the flags about outputs; returns their fault, or an empty string.
std::string readOutputs(const Flags &flags, RunOptions &options) {
  for (const cli::Option *flag : {static_cast<const cli::Option *>(&flags.saveEvery),
                                  static_cast<const cli::Option *>(&flags.shardSize)})
    if (flag->isGiven() && flags.outputDir.empty())
      return flag->name + " needs --output-dir";
  options.outputDir = flags.outputDir.get();
  if (flags.shardSize.isGiven()) {
    std::optional<uint64_t> bytes = readBytes(flags.shardSize.get());
    if (!bytes)
      return "expected --shard-size=BYTES, a number from 1 on with or without a unit (" +
             std::string(kByteUnits) + "), got '" + flags.shardSize.get() + "'";
    if (isSafetensorsName(options.outputDir))
      return "--shard-size writes a folder: '" + options.outputDir + "' is one file";
    options.shardBytes = *bytes;
  }
  if (flags.saveBehind && !flags.saveEvery.isGiven())
    return "--save-behind needs --save-every";
  options.saveEvery = flags.saveEvery;
  options.saveBehind = flags.saveBehind;
  return "";
}

/// Reads the flags; returns their fault, or an empty string.
std::string readOptions(const Flags &flags, RunOptions &options) {
  for (const std::string &input : flags.inputs) {
    size_t equals = input.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == input.size())
      return "expected --input=NAME=FILE.npy, got '" + input + "'";
    options.inputs.push_back({input.substr(0, equals), input.substr(equals + 1)});
  }
  if (!flags.log.empty() && !StepLog::hasFormat(flags.log))
    return "expected --log=F.csv or F.jsonl, got '" + flags.log.get() + "'";
  if (std::string wrong = readOutputs(flags, options); !wrong.empty())
    return wrong;
  options.bundle = flags.bundle.get();
  if (flags.seed.isGiven())
    options.seed = flags.seed;
  if (flags.offset.isGiven())
    options.offset = flags.offset;
  options.steps = flags.steps;
  options.threads = flags.threads;
  options.inputDirs.assign(flags.inputDirs.begin(), flags.inputDirs.end());
  options.names = flags.names.get();
  options.device = flags.device;
  options.profile = flags.profile.get();
  options.trace = flags.trace.get();
  options.log = flags.log.get();
  options.checkIndices = flags.checkIndices;
  options.json = flags.json;
  return checkFiles(options);
}

void print(const std::string &error) {
  std::fprintf(stderr, "reprise-run: error: %s\n", shortenMessage(error).c_str());
}

int runAlone(const RunOptions &options) {
  int code = 1;
  Error error = runBundle(options, nullptr, code);
  if (!error)
    return 0;
  print(error.message());
  // We end by the signal itself, so that a shell or a scheduler sees the cause.
  if (int signal = caughtInterrupt()) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  return code;
}

/// Runs as one of several processes of mpirun. One of them prints the error of all. `wrong` is the
/// fault of the command line, which may be that of this process only.
int runAmong(const Launch &launch, const RunOptions &options, const std::string &wrong) {
  int code = wrong.empty() ? 1 : 2;
  Expected<std::unique_ptr<Wire>> wire = openWire(launch);
  if (!wire) {
    if (launch.rank == 0)
      print(wrong.empty() ? wire.message() : wrong);
    return code;
  }
  Ranks ranks(std::move(*wire));
  Error error = wrong.empty() ? runBundle(options, &ranks, code) : Error::make(wrong);
  // The code is that of a shell for a signal, because a process that ends by the signal itself
  // would end the others too early.
  if (int signal = obeyedInterrupt())
    code = 128 + signal;
  Ranks::Ending ending = ranks.finish(error, code);
  if (ending.error)
    print(*ending.error);
  ranks.leave(ending);
  return ending.code;
}

} // namespace

int main(int count, char **words) {
  std::signal(SIGXFSZ, SIG_IGN); // write() reports the error as well
  catchInterrupts();
  std::set_new_handler([] {
    std::fputs("reprise-run: error: out of memory\n", stderr);
    std::_Exit(1);
  });
  std::optional<Launch> launch = findLaunch();
  if (launch && launch->size == 1)
    launch.reset();
  Flags flags;
  if (std::optional<int> code = flags.answer(count, words, /*isSilent=*/launch && launch->rank > 0))
    return *code;
  RunOptions options;
  std::string wrong = flags.read(count, words);
  if (wrong.empty())
    wrong = readOptions(flags, options);
  if (launch)
    return runAmong(*launch, options, wrong);
  return wrong.empty() ? runAlone(options) : flags.refuse(wrong);
}
