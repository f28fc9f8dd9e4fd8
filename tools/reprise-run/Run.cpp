// reprise: what reprise-run does with its options
#include "Run.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Json.h"
#include "reprise/Runtime/Memory.h"
#include "reprise/Runtime/Progress.h"
#include "reprise/Runtime/Session.h"
#include "reprise/Runtime/StepLog.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

using namespace reprise;
using namespace reprise::runtime;

namespace {

volatile std::sig_atomic_t interrupted = 0;

/// What a run found out, step by step.
struct Figures {
  std::vector<std::optional<double>> loss;
  std::vector<double> seconds;
  /// Of the steps, without what a profile takes afterwards.
  uint64_t peakBytes = 0;
};

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The steps of one call, and all files that they write.
class Run {
public:
  Run(const RunOptions &options, ProgramGroup &group)
      : options(options), group(group), session(group) {}

  Error prepare();
  Error steps();
  std::string report() const;

private:
  Error checkOutputs() const;
  OutputFolder outputFolder() const;
  Error openFiles();
  Error afterStep(int64_t number);
  Error save();
  Error interruption(int64_t done) const;
  Error writeProfile();
  std::string json() const;
  std::string programsJson() const;
  std::string text() const;

  const RunOptions &options;
  ProgramGroup &group;
  Session session;
  Figures figures;
  std::optional<Recorder> recorder;
  std::optional<Profile> profile;
  std::optional<TraceFile> trace;
  std::optional<StepLog> log;
  int64_t saved = -1; ///< the step that the output folder holds
};

/// Everything that can fail before the first step should fail before the first step.
Error Run::prepare() {
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
  if (Error error = checkOutputs())
    return error;
  return session.start(options.steps);
}

Error Run::checkOutputs() const {
  if (!options.outputDir.empty())
    if (Error error = checkRunFolder(outputFolder()))
      return error;
  for (const std::string &path : {options.profile, options.trace, options.log}) {
    if (path.empty())
      continue;
    for (const std::string &input : session.inputFiles())
      if (isSameFile(path, input))
        return Error::make("cannot write '" + path + "': this run reads it as '" + input + "'");
    if (Error error = checkWritable(path))
      return error;
  }
  return Error::success();
}

OutputFolder Run::outputFolder() const {
  OutputFolder folder{options.outputDir, describeInterface(group.bundle()), session.inputFiles(),
                      options.inputDir};
  folder.inputs.push_back(options.bundle);
  return folder;
}

Error Run::openFiles() {
  const Bundle &bundle = group.bundle();
  recorder.emplace(bundle.program("step")->executions(), group.threads());
  profile.emplace(bundle);
  if (!options.trace.empty())
    trace.emplace(options.trace, bundle, group.threads());
  if (trace || !options.profile.empty())
    group.executable(0).setRecorder(&*recorder);
  if (options.log.empty())
    return Error::success();
  Expected<StepLog> opened = StepLog::open(options.log, session.state().step);
  if (!opened)
    return opened.error();
  log.emplace(std::move(*opened));
  return Error::success();
}

/// What is written of a step; `number` is its absolute one.
Error Run::afterStep(int64_t number) {
  figures.loss.push_back(session.loss());
  if (log)
    if (Error error = log->add(number, figures.loss.back()))
      return error;
  if (trace)
    if (Error error = trace->add(number, *recorder))
      return error;
  profile->add(*recorder, figures.seconds.back());
  bool isDue = options.saveEvery != 0 && session.state().step % options.saveEvery == 0;
  return isDue ? save() : Error::success();
}

/// Writes the last whole step, once.
Error Run::save() {
  if (options.outputDir.empty() || saved == session.state().step)
    return Error::success();
  if (Error error = writeRunFolder(outputFolder(), session.results(), session.state()))
    return error;
  saved = session.state().step;
  return Error::success();
}

Error Run::interruption(int64_t done) const {
  std::string text = "interrupted after " + std::to_string(done) + " of " +
                     std::to_string(options.steps) + " steps, ";
  return Error::make(
      text + (saved < 0 ? "nothing is written"
                        : "'" + options.outputDir + "' holds step " + std::to_string(saved - 1)));
}

Error Run::steps() {
  if (Error error = openFiles())
    return error;
  Progress progress("step", options.steps);
  for (int64_t i = 0; i < options.steps; ++i) {
    if (interrupted) {
      Error error = i != 0 ? save() : Error::success();
      return error ? error : interruption(i);
    }
    int64_t number = session.state().step;
    uint64_t start = nanoseconds();
    // A step that fails may have changed parameters: there is no whole one to be written.
    if (Error error = session.step())
      return error;
    figures.seconds.push_back(double(nanoseconds() - start) / 1e9);
    if (Error error = afterStep(number)) {
      Error second = save();
      return second ? Error::make(error.message() + "; " + second.message()) : error;
    }
    const std::optional<double> &loss = figures.loss.back();
    progress.update(i + 1, loss ? "loss " + shortNumber(*loss) : "");
  }
  figures.peakBytes = peakResidentBytes();
  if (Error error = save())
    return error;
  if (trace)
    if (Error error = trace->commit())
      return error;
  return options.profile.empty() ? Error::success() : writeProfile();
}

Error Run::writeProfile() {
  Expected<MachineRates> rates = measureMachineRates(group.threads());
  if (!rates)
    return rates.error();
  std::string text = profile->json(group.threads(), *rates);
  return writeFile(options.profile, text.data(), text.size());
}

std::string Run::report() const { return options.json ? json() : text(); }

/// Of one program, or of all together.
struct Sizes {
  uint64_t commands = 0, arena = 0, workspace = 0, persistent = 0;

  static Sizes of(const Executable &executable) {
    const Bundle &bundle = executable.bundle();
    return {bundle.program("step")->executions(), bundle.arenaBytes(),
            bundle.workspaceBytes(executable.threads()), bundle.persistentBytes()};
  }
  static Sizes of(const ProgramGroup &group) {
    Sizes sum;
    for (size_t i = 0; i < group.size(); ++i) {
      Sizes own = of(group.executable(i));
      sum = {sum.commands + own.commands, sum.arena + own.arena, sum.workspace + own.workspace,
             sum.persistent + own.persistent};
    }
    return sum;
  }
  std::string json() const {
    return "\"commands\": " + std::to_string(commands) +
           ", \"arena_bytes\": " + std::to_string(arena) +
           ", \"workspace_bytes\": " + std::to_string(workspace) +
           ", \"persistent_bytes\": " + std::to_string(persistent);
  }
};

/// Nothing for one program, whose figures are those of the run.
std::string Run::programsJson() const {
  std::string list;
  for (size_t i = 0; i < group.size(); ++i)
    list +=
        (i ? ", {" : "{") + ("\"program\": " + jsonString(group.bundle().deviceName(uint32_t(i)))) +
        ", \"device\": " + std::to_string(i) + ", " + Sizes::of(group.executable(i)).json() + "}";
  return group.size() > 1 ? ", \"programs\": [" + list + "]" : "";
}

std::string Run::json() const {
  std::string loss, seconds;
  for (size_t i = 0; i < figures.loss.size(); ++i) {
    loss += (i ? ", " : "") + (figures.loss[i] ? jsonNumber(*figures.loss[i]) : "null");
    seconds += (i ? ", " : "") + jsonNumber(figures.seconds[i]);
  }
  bool hasLoss = figures.loss.front().has_value();
  auto number = [](uint64_t value) { return std::to_string(value); };
  return "{\"version\": 1, \"loss\": " + (hasLoss ? "[" + loss + "]" : "null") +
         ", \"hash\": " + jsonString(hashText(hashArrays(session.results()))) +
         ", \"next_offset\": " + std::to_string(session.state().offset) + ", " +
         Sizes::of(group).json() + ", \"peak_rss_bytes\": " + number(figures.peakBytes) +
         ", \"step_seconds\": [" + seconds + "], \"threads\": " + number(group.threads()) +
         ", \"device\": \"cpu\"" + programsJson() + "}\n";
}

std::string Run::text() const {
  Sizes sizes = Sizes::of(group);
  double total = 0;
  for (double seconds : figures.seconds)
    total += seconds;
  auto row = [](const char *name, const std::string &value) {
    std::string line = name;
    line.resize(std::max<size_t>(line.size(), 17), ' ');
    return line + " " + value + "\n";
  };
  std::string text;
  if (figures.loss.back())
    text += row("loss", shortNumber(*figures.loss.back()));
  text += row("hash", hashText(hashArrays(session.results())));
  text += row("next offset", std::to_string(session.state().offset));
  text += row("next step", std::to_string(session.state().step));
  text += row("seconds per step", shortNumber(total / double(figures.seconds.size())));
  text += row("commands per step", std::to_string(sizes.commands));
  text += row("arena bytes", std::to_string(sizes.arena));
  text += row("workspace bytes", std::to_string(sizes.workspace));
  text += row("persistent bytes", std::to_string(sizes.persistent));
  text += row("threads", std::to_string(group.threads()));
  for (size_t i = 0; i < group.size() && group.size() > 1; ++i) {
    Sizes own = Sizes::of(group.executable(i));
    text +=
        row("program",
            "'" + group.bundle().deviceName(uint32_t(i)) + "': " + std::to_string(own.commands) +
                " commands, arena " + std::to_string(own.arena) + ", workspace " +
                std::to_string(own.workspace) + ", persistent " + std::to_string(own.persistent));
  }
  return text;
}

} // namespace

void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { interrupted = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    // A shell's background job and nohup ignore them.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }
}

int caughtInterrupt() { return interrupted; }

Error runBundle(const RunOptions &options) {
  if (options.device == "cuda")
    return Error::make(options.bundle + ": this build runs bundles on the cpu only");
  auto group = ProgramGroup::load(options.bundle, options.threads);
  if (!group)
    return group.error();
  if ((*group)->size() > 1 && (!options.profile.empty() || !options.trace.empty()))
    return Error::make(options.bundle +
                       ": --profile-out and --trace are of one device program, "
                       "and the bundle has " +
                       std::to_string((*group)->size()));
  for (size_t i = 0; i < (*group)->size(); ++i)
    (*group)->executable(i).setCheckIndices(options.checkIndices);
  Run run(options, **group);
  if (Error error = run.prepare())
    return error;
  if (Error error = run.steps())
    return error;
  std::string report = run.report();
  if (std::fwrite(report.data(), 1, report.size(), stdout) != report.size() ||
      std::fflush(stdout) != 0)
    return Error::make(std::string("cannot write to standard output: ") + std::strerror(errno));
  return Error::success();
}
