// reprise: the tool that runs a bundle
<<<<<<< HEAD
#include "reprise-run/Run.h"
=======
#include "CommandLine/CommandLine.h"
>>>>>>> d494042 (Tools: one table of options gives parser, help, man page and completion; pages with the source, the peak, zoom and sort; docs that run)
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/StepLog.h"

#include <algorithm>
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
    addExample("reprise-run gpt2.rpb --steps=100 --seed=7 --output-dir=out",
               "100 steps from drawn parameters; the results as .npy files.");
    addExample("reprise-run gpt2.rpb --steps=100 --input-dir=out --output-dir=out", "100 more.");
    addExample("reprise-run gpt2.rpb --input tokens=tokens.npy --json",
               "A step on given tokens, the figures as JSON.");
  }

<<<<<<< HEAD
Runs training steps of a bundle that reprise-compile wrote; - reads it from standard input.

  --seed=S              seed of all random numbers (0, or the input folder's)
  --offset=O            random offset of the first step, a multiple of 4 (0, or the input folder's)
  --steps=N             number of steps (1)
  --input NAME=FILE     take an argument from a .npy file; an input with one more leading dimension
                        holds one value per absolute step; may be repeated
  --input-dir=DIR       go on from the folder of an earlier run
  --output-dir=DIR      write the last step's results and run.json; on an interrupt, too
  --save-every=N        write them every N steps, too
  --log=FILE            append the loss of each step to a .csv or .jsonl file
  --threads=T           workers (those that the bundle was compiled for)
  --device=cpu|cuda     where to run (cpu)
  --check-indices       stop at an index that is out of range, where it would be clamped
  --profile-out=FILE    write seconds, calls, FLOPs and bytes of each kernel, and its share of the
                        machine's peak or bandwidth, as JSON
  --trace=FILE          write what each worker did when, for Perfetto or chrome://tracing
  --json                print one JSON object instead of text
  --help                print this
)";

struct Options : RunOptions {
  bool help = false;
=======
  cli::Text bundle{*this, "BUNDLE.rpb", "",
                   "The bundle; it is machine code: run only what you trust"};

  cli::Group values{*this, "Steps and values"};
  cli::Number<int64_t> steps{*this, "--steps", "N", "The number of steps (1)", 1, {1, INT64_MAX}};
  cli::Number<int64_t> seed{*this, "--seed", "S",
                            "The seed of all random numbers (0, or that of the input folder)"};
  cli::Number<int64_t> offset{*this, "--offset", "O",
                              "The random offset of the first step, a multiple of 4 (0, or that of "
                              "the input folder)"};
  cli::Texts inputs{*this, "--input", "NAME=FILE.npy",
                    "Take an argument from a file; one more leading dimension holds one value per "
                    "step; repeated"};
  cli::Text inputDir{*this, "--input-dir", "DIR", "Go on from the folder of an earlier run"};
  cli::Text outputDir{*this, "--output-dir", "DIR",
                      "Write the results of the last step and run.json"};

  cli::Group machine{*this, "Machine"};
  cli::Number<unsigned> threads{
      *this, "--threads", "T", "Workers (those that the bundle was compiled for)", 0, {1, 4096}};
  cli::Choice<std::string> device{
      *this, "--device", "cpu|cuda", "Where to run (cpu)", {{"cpu", "cpu"}, {"cuda", "cuda"}}};
  cli::Switch checkIndices{*this, "--check-indices",
                           "Stop at an index that is out of range instead of clamping it"};

  cli::Group figures{*this, "Figures"};
  cli::Switch json{*this, "--json", "Print one JSON object instead of text"};
  cli::Text profile{*this, "--profile-out", "F.json",
                    "Write seconds, calls, FLOPs and bytes of each kernel, and its share of the "
                    "machine's peak or bandwidth"};
  cli::Text trace{*this, "--trace", "F.json",
                  "Write what each worker did when, for Perfetto or chrome://tracing"};
};

struct Options {
  std::string bundle;
  std::optional<int64_t> seed, offset;
  int64_t steps = 1;
  unsigned threads = 0;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string inputDir, outputDir, device = "cpu", profile, trace;
  bool checkIndices = false, json = false;
>>>>>>> d494042 (Tools: one table of options gives parser, help, man page and completion; pages with the source, the peak, zoom and sort; docs that run)
};

/// No file is written twice, or written while it is read; no argument is given twice.
std::string checkFiles(const Options &options) {
  std::vector<std::string> read = {options.bundle}, written;
  for (auto input = options.inputs.begin(); input != options.inputs.end(); ++input) {
    read.push_back(input->second);
    auto same = [&](const auto &other) { return other.first == input->first; };
    if (std::any_of(options.inputs.begin(), input, same))
      return "argument '" + input->first + "' is given twice";
  }
  for (const std::string &path : {options.outputDir, options.profile, options.trace}) {
    auto same = [&](const std::string &other) { return isSameFile(path, other); };
    if (path.empty())
      continue;
    if (std::any_of(written.begin(), written.end(), same))
      return "'" + path + "' is written twice";
    if (std::any_of(read.begin(), read.end(), same))
      return "'" + path + "' is read and written";
    written.push_back(path);
  }
  return "";
}

<<<<<<< HEAD
/// The command line; each function returns what is wrong with it, or an empty string.
class OptionParser {
public:
  OptionParser(int count, char **words) : words(words + 1, words + count) {}
  Options options;

  std::string parse() {
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string &word = words[i];
      if (word.size() < 2 || word[0] != '-') {
        if (!options.bundle.empty())
          return "more than one bundle: '" + options.bundle + "' and '" + word + "'";
        options.bundle = word;
        continue;
      }
      size_t equals = word.find('=');
      bool attached = equals != std::string::npos;
      std::string name = word.substr(0, equals);
      if (bool *flag = flagOf(name)) {
        if (attached)
          return "option '" + name + "' takes no value";
        *flag = true;
        continue;
      }
      if (!isValued(name))
        return "unknown option '" + name + "'";
      if (!attached && i + 1 == words.size())
        return "option '" + name + "' needs a value";
      std::string value = attached ? word.substr(equals + 1) : words[++i];
      if (!set(name, value))
        return "option '" + name + "' cannot be '" + value + "'";
    }
    if (options.help)
      return "";
    if (options.bundle.empty())
      return "no bundle given";
    if (options.saveEvery != 0 && options.outputDir.empty())
      return "option '--save-every' goes with '--output-dir'";
    return checkFiles();
  }

private:
  bool *flagOf(const std::string &name) {
    return name == "--check-indices" ? &options.checkIndices
           : name == "--json"        ? &options.json
           : name == "--help"        ? &options.help
                                     : nullptr;
  }
  /// No file is written twice, or written while it is read; no argument is given twice.
  std::string checkFiles() {
    std::vector<std::string> read = {options.bundle}, written;
    for (auto input = options.inputs.begin(); input != options.inputs.end(); ++input) {
      read.push_back(input->second);
      auto same = [&](const auto &other) { return other.first == input->first; };
      if (std::any_of(options.inputs.begin(), input, same))
        return "argument '" + input->first + "' is given twice";
    }
    for (const std::string &path :
         {options.outputDir, options.profile, options.trace, options.log}) {
      auto same = [&](const std::string &other) { return isSameFile(path, other); };
      if (path.empty())
        continue;
      if (std::any_of(written.begin(), written.end(), same))
        return "'" + path + "' is written twice";
      if (std::any_of(read.begin(), read.end(), same))
        return "'" + path + "' is read and written";
      if (isInside(path, options.outputDir))
        return "'" + path + "' lies in the output folder, which is replaced as a whole";
      written.push_back(path);
    }
    return "";
  }
  std::string *textOf(const std::string &name) {
    return name == "--input-dir"     ? &options.inputDir
           : name == "--output-dir"  ? &options.outputDir
           : name == "--device"      ? &options.device
           : name == "--profile-out" ? &options.profile
           : name == "--trace"       ? &options.trace
           : name == "--log"         ? &options.log
                                     : nullptr;
  }
  bool isValued(const std::string &name) {
    return textOf(name) || name == "--seed" || name == "--offset" || name == "--steps" ||
           name == "--save-every" || name == "--threads" || name == "--input";
  }
  bool set(const std::string &name, const std::string &value) {
    if (std::string *text = textOf(name)) {
      *text = value;
      return !value.empty() && (name != "--device" || value == "cpu" || value == "cuda") &&
             (name != "--log" || StepLog::hasFormat(value));
    }
    if (name == "--input") {
      size_t equals = value.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == value.size())
        return false;
      options.inputs.push_back({value.substr(0, equals), value.substr(equals + 1)});
      return true;
    }
    int64_t number;
    if (!parseInteger(value, number))
      return false;
    if (name == "--seed")
      options.seed = number;
    else if (name == "--offset")
      options.offset = number;
    else if (name == "--steps")
      options.steps = number;
    else if (name == "--save-every")
      options.saveEvery = number;
    else
      options.threads = unsigned(number);
    return ((name != "--steps" && name != "--save-every") || number >= 1) &&
           (name != "--threads" || (number >= 1 && number <= 4096));
  }

  std::vector<std::string> words;
};
=======
/// Returns what is wrong with the flags, or nothing.
std::string readOptions(const Flags &flags, Options &options) {
  options.bundle = flags.bundle.get();
  if (flags.seed.isGiven())
    options.seed = flags.seed;
  if (flags.offset.isGiven())
    options.offset = flags.offset;
  options.steps = flags.steps;
  options.threads = flags.threads;
  for (const std::string &input : flags.inputs) {
    size_t equals = input.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == input.size())
      return "expected --input=NAME=FILE.npy, got '" + input + "'";
    options.inputs.push_back({input.substr(0, equals), input.substr(equals + 1)});
  }
  options.inputDir = flags.inputDir.get();
  options.outputDir = flags.outputDir.get();
  options.device = flags.device;
  options.profile = flags.profile.get();
  options.trace = flags.trace.get();
  options.checkIndices = flags.checkIndices;
  options.json = flags.json;
  return checkFiles(options);
}
>>>>>>> d494042 (Tools: one table of options gives parser, help, man page and completion; pages with the source, the peak, zoom and sort; docs that run)

} // namespace

int main(int count, char **words) {
  std::signal(SIGXFSZ, SIG_IGN); // write() says so, too
  catchInterrupts();
  std::set_new_handler([] {
    std::fputs("reprise-run: error: out of memory\n", stderr);
    std::_Exit(1);
  });
<<<<<<< HEAD
  OptionParser parser(count, words);
  if (std::string wrong = parser.parse(); !wrong.empty()) {
    std::fprintf(stderr, "reprise-run: error: %s\n%s", wrong.c_str(), usage);
    return 2;
  }
  if (parser.options.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (Error error = runBundle(parser.options)) {
=======
  Flags flags;
  if (std::optional<int> code = flags.parse(count, words))
    return *code;
  Options options;
  if (std::string wrong = readOptions(flags, options); !wrong.empty())
    return flags.refuse(wrong);
  if (Error error = run(options)) {
>>>>>>> d494042 (Tools: one table of options gives parser, help, man page and completion; pages with the source, the peak, zoom and sort; docs that run)
    std::fprintf(stderr, "reprise-run: error: %s\n", error.message().c_str());
    // As ended by the signal, so that a shell or a scheduler sees what it was.
    if (int signal = caughtInterrupt()) {
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    }
    return 1;
  }
  return 0;
}
