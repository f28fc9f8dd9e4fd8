// reprise: the tool that runs a bundle
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Json.h"
#include "reprise/Runtime/Progress.h"
#include "reprise/Runtime/Session.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace reprise;
using namespace reprise::runtime;

namespace {

constexpr char usage[] =
    R"(usage: reprise-run BUNDLE [options]

Runs training steps of a bundle that reprise-compile wrote.

  --seed=S              seed of all random numbers (0, or the input folder's)
  --offset=O            random offset of the first step, a multiple of 4 (0, or the input folder's)
  --steps=N             number of steps (1)
  --input NAME=FILE     take an argument from a .npy file; an input with one more leading dimension
                        holds one value per absolute step; may be repeated
  --input-dir=DIR       go on from the folder of an earlier run
  --output-dir=DIR      write the last step's results and run.json
  --threads=T           workers (those that the bundle was compiled for)
  --device=cpu|cuda     where to run (cpu)
  --check-indices       stop at an index that is out of range, where it would be clamped
  --profile-out=FILE    write seconds, calls, FLOPs and bytes of each kernel, and its share of the
                        machine's peak or bandwidth, as JSON
  --trace=FILE          write what each worker did when, for Perfetto or chrome://tracing
  --json                print one JSON object instead of text
  --help                print this
)";

struct Options {
  std::string bundle;
  std::optional<int64_t> seed, offset;
  int64_t steps = 1;
  unsigned threads = 0;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string inputDir, outputDir, device = "cpu", profile, trace;
  bool checkIndices = false, json = false, help = false;
};

bool parseInteger(const std::string &text, int64_t &value) {
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

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
    return options.bundle.empty() ? "no bundle given" : checkFiles();
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
  std::string *textOf(const std::string &name) {
    return name == "--input-dir"     ? &options.inputDir
           : name == "--output-dir"  ? &options.outputDir
           : name == "--device"      ? &options.device
           : name == "--profile-out" ? &options.profile
           : name == "--trace"       ? &options.trace
                                     : nullptr;
  }
  bool isValued(const std::string &name) {
    return textOf(name) || name == "--seed" || name == "--offset" || name == "--steps" ||
           name == "--threads" || name == "--input";
  }
  bool set(const std::string &name, const std::string &value) {
    if (std::string *text = textOf(name)) {
      *text = value;
      return !value.empty() && (name != "--device" || value == "cpu" || value == "cuda");
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
    else
      options.threads = unsigned(number);
    return (name != "--steps" || number >= 1) &&
           (name != "--threads" || (number >= 1 && number <= 4096));
  }

  std::vector<std::string> words;
};

/// What a run found out, step by step.
struct Figures {
  std::vector<std::optional<double>> loss;
  std::vector<double> seconds;
  /// Of the steps, without what a profile takes afterwards.
  uint64_t peakBytes = 0;
};

std::vector<std::string> resultNames(const Session &session) {
  std::vector<std::string> names;
  for (const ArrayRef &array : session.results())
    names.push_back(array.name);
  return names;
}

/// Everything that can fail before the first step should fail before the first step.
Error prepare(const Options &options, Session &session) {
  if (!options.inputDir.empty())
    if (Error error = session.giveFolder(options.inputDir))
      return error;
  for (const auto &[name, file] : options.inputs)
    if (Error error = session.giveArray(name, file))
      return error;
  RunState state = session.state();
  state.seed = options.seed.value_or(state.seed);
  state.offset = options.offset.value_or(state.offset);
  if (Error error = session.setState(state))
    return error;
  if (!options.outputDir.empty())
    if (Error error = checkRunFolder(options.outputDir, resultNames(session)))
      return error;
  for (const std::string &path : {options.profile, options.trace})
    if (!path.empty())
      if (Error error = checkWritable(path))
        return error;
  return session.start(options.steps);
}

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Set by the first interrupt, which lets the step end; a second one kills.
volatile std::sig_atomic_t interrupted = 0;

void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    // A shell's background job and nohup ignore them.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }
}

Error runSteps(const Options &options, Executable &executable, Session &session, Figures &figures) {
  const Bundle &bundle = executable.bundle();
  Recorder recorder(bundle.program("step")->commands.size(), executable.threads());
  Profile profile(bundle);
  std::optional<TraceFile> trace;
  if (!options.trace.empty())
    trace.emplace(options.trace, bundle, executable.threads());
  if (trace || !options.profile.empty())
    executable.setRecorder(&recorder);
  Progress progress("step", options.steps);
  for (int64_t i = 0; i < options.steps; ++i) {
    if (interrupted)
      return Error::make("interrupted after " + std::to_string(i) + " of " +
                         std::to_string(options.steps) + " steps, nothing is written");
    int64_t number = session.state().step;
    uint64_t start = nanoseconds();
    if (Error error = session.step())
      return error;
    figures.seconds.push_back(double(nanoseconds() - start) / 1e9);
    figures.loss.push_back(session.loss());
    if (trace)
      if (Error error = trace->add(number, recorder))
        return error;
    profile.add(recorder, figures.seconds.back());
    const std::optional<double> &loss = figures.loss.back();
    progress.update(i + 1, loss ? "loss " + shortNumber(*loss) : "");
  }
  if (trace)
    if (Error error = trace->commit())
      return error;
  figures.peakBytes = peakResidentBytes();
  if (options.profile.empty())
    return Error::success();
  Expected<MachineRates> rates = measureMachineRates(executable.threads());
  if (!rates)
    return rates.error();
  std::string text = profile.json(executable.threads(), *rates);
  return writeFile(options.profile, text.data(), text.size());
}

std::string jsonReport(const Executable &executable, const Session &session,
                       const Figures &figures) {
  const Bundle &bundle = executable.bundle();
  std::string loss, seconds;
  for (size_t i = 0; i < figures.loss.size(); ++i) {
    loss += (i ? ", " : "") + (figures.loss[i] ? jsonNumber(*figures.loss[i]) : "null");
    seconds += (i ? ", " : "") + jsonNumber(figures.seconds[i]);
  }
  bool hasLoss = figures.loss.front().has_value();
  auto number = [](uint64_t value) { return std::to_string(value); };
  return "{\"version\": 1, \"loss\": " + (hasLoss ? "[" + loss + "]" : "null") +
         ", \"hash\": " + jsonString(hashText(hashArrays(session.results()))) +
         ", \"next_offset\": " + std::to_string(session.state().offset) +
         ", \"commands\": " + number(bundle.program("step")->commands.size()) +
         ", \"arena_bytes\": " + number(bundle.arenaBytes()) +
         ", \"workspace_bytes\": " + number(bundle.workspaceBytes(executable.threads())) +
         ", \"persistent_bytes\": " + number(bundle.persistentBytes()) +
         ", \"peak_rss_bytes\": " + number(figures.peakBytes) + ", \"step_seconds\": [" + seconds +
         "], \"threads\": " + number(executable.threads()) + ", \"device\": \"cpu\"}\n";
}

std::string textReport(const Executable &executable, const Session &session,
                       const Figures &figures) {
  const Bundle &bundle = executable.bundle();
  double total = 0;
  for (double seconds : figures.seconds)
    total += seconds;
  auto row = [](const char *name, const std::string &value) {
    char text[256];
    std::snprintf(text, sizeof text, "%-17s %s\n", name, value.c_str());
    return std::string(text);
  };
  std::string text;
  if (figures.loss.back())
    text += row("loss", shortNumber(*figures.loss.back()));
  text += row("hash", hashText(hashArrays(session.results())));
  text += row("next offset", std::to_string(session.state().offset));
  text += row("next step", std::to_string(session.state().step));
  text += row("seconds per step", shortNumber(total / double(figures.seconds.size())));
  text += row("commands per step", std::to_string(bundle.program("step")->commands.size()));
  text += row("arena bytes", std::to_string(bundle.arenaBytes()));
  uint64_t workspace = bundle.workspaceBytes(executable.threads());
  text += row("workspace bytes", std::to_string(workspace));
  text += row("persistent bytes", std::to_string(bundle.persistentBytes()));
  text += row("threads", std::to_string(executable.threads()));
  return text;
}

Error run(const Options &options) {
  if (options.device == "cuda")
    return Error::make(options.bundle + ": this build runs bundles on the cpu only");
  auto executable = Executable::load(options.bundle, options.threads);
  if (!executable)
    return executable.error();
  (*executable)->setCheckIndices(options.checkIndices);
  Session session(**executable);
  if (Error error = prepare(options, session))
    return error;
  Figures figures;
  if (Error error = runSteps(options, **executable, session, figures))
    return error;
  if (!options.outputDir.empty())
    if (Error error = writeRunFolder(options.outputDir, session.results(), session.state()))
      return error;
  std::string report = options.json ? jsonReport(**executable, session, figures)
                                    : textReport(**executable, session, figures);
  if (std::fwrite(report.data(), 1, report.size(), stdout) != report.size() ||
      std::fflush(stdout) != 0)
    return Error::make(std::string("cannot write to standard output: ") + std::strerror(errno));
  return Error::success();
}

} // namespace

int main(int count, char **words) {
  std::signal(SIGXFSZ, SIG_IGN); // write() says so, too
  catchInterrupts();
  std::set_new_handler([] {
    std::fputs("reprise-run: error: out of memory\n", stderr);
    std::_Exit(1);
  });
  OptionParser parser(count, words);
  if (std::string wrong = parser.parse(); !wrong.empty()) {
    std::fprintf(stderr, "reprise-run: error: %s\n%s", wrong.c_str(), usage);
    return 2;
  }
  if (parser.options.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (Error error = run(parser.options)) {
    std::fprintf(stderr, "reprise-run: error: %s\n", error.message().c_str());
    return 1;
  }
  return 0;
}
