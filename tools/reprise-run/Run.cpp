// reprise: the run of reprise-run
#include "Run.h"
#include "Figures.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/FolderSaver.h"
#include "reprise/Runtime/Memory.h"
#include "reprise/Runtime/Progress.h"
#include "reprise/Runtime/Session.h"
#include "reprise/Runtime/StepLog.h"
#include "reprise/Support/Wording.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

using namespace reprise;
using namespace reprise::runtime;

namespace {

volatile std::sig_atomic_t interrupted = 0;
int obeyed = 0;

/// Steps of one call, and all files that they write. Rank 0 writes the files of all processes,
/// except the arrays in the output folder.
class Run {
public:
  Run(const RunOptions &options, ProgramGroup &group)
      : options(options), group(group), ranks(group.ranks()), session(group), saver(ranks) {}

  Error prepare();
  Error steps();
  /// Prints the results of the run.
  Error report();

private:
  bool isFirst() const { return !ranks || ranks->isFirst(); }
  int signalToObey() const { return ranks ? session.stopSignal() : interrupted; }
  Error checkAlike() const;
  Error checkOutputs() const;
  OutputFolder outputFolder() const;
  Error openFiles();
  Error openTrace();
  Error addToTrace(const std::string &own);
  Error afterStep(int64_t number);
  Error afterFailure(Error error);
  Error writeStep(int64_t number);
  Error save(bool isLast);
  Error pollSave();
  Error interrupt(int64_t done, int signal);
  Error writeProfile();

  const RunOptions &options;
  ProgramGroup &group;
  Ranks *const ranks; ///< may be null
  Session session;
  Figures figures;
  std::vector<Recorder> recorders; ///< recorders of the programs in this process
  std::vector<Profile> profiles;
  std::vector<Trace> traces;
  std::optional<TraceFile> trace;
  std::optional<StepLog> log;
  FolderSaver saver;
  int64_t begun = -1; ///< step of the last save that has begun
  int64_t saved = -1; ///< step of the output folder
};

/// Does all work that can fail, so that errors appear before the first step.
Error Run::prepare() {
  if (Error error = ranks ? checkAlike() : Error::success())
    return error;
  if (!options.names.empty()) {
    Expected<TensorNames> names = TensorNames::read(options.names);
    if (!names)
      return names.error();
    session.names = std::move(*names);
  }
  for (const std::string &folder : options.inputDirs)
    if (Error error = session.giveFolder(folder))
      return error;
  for (const auto &[name, file] : options.inputs)
    if (Error error = session.giveArray(name, file))
      return error;
  RunState state = session.state();
  state.seed = options.seed.value_or(state.seed);
  state.offset = options.offset.value_or(state.offset);
  if (Error error = session.setState(state))
    return error;
  if (Error error = isFirst() ? checkOutputs() : Error::success())
    return error;
  return session.start(options.steps);
}

/// Checks the options that processes must share: common files, and when they are written.
Error Run::checkAlike() const {
  auto orNone = [](const std::string &path) { return path.empty() ? "none" : "'" + path + "'"; };
  return ranks->checkAlike(group.name(), {{"--output-dir", orNone(options.outputDir)},
                                          {"--save-every", std::to_string(options.saveEvery)},
                                          {"--save-behind", options.saveBehind ? "on" : "off"},
                                          {"--shard-size", std::to_string(options.shardBytes)},
                                          {"--names", orNone(options.names)},
                                          {"--log", orNone(options.log)},
                                          {"--trace", orNone(options.trace)},
                                          {"--profile-out", orNone(options.profile)}});
}

Error Run::checkOutputs() const {
  if (!options.outputDir.empty())
    if (Error error = checkRunFolder(outputFolder()))
      return error;
  for (const std::string &path : {options.profile, options.trace, options.log}) {
    if (path.empty())
      continue;
    for (const std::string &input : outputFolder().inputs)
      if (isSameFile(path, input))
        return Error::make("cannot write '" + path + "': this run reads it as '" + input + "'");
    if (Error error = checkWritable(path))
      return error;
  }
  return Error::success();
}

OutputFolder Run::outputFolder() const {
  OutputFolder folder = session.outputFolder(options.outputDir);
  folder.inputs.push_back(options.bundle);
  folder.shardBytes = options.shardBytes;
  return folder;
}

Error Run::openFiles() {
  for (size_t i = 0; i < group.size(); ++i) {
    const Bundle &bundle = group.executable(i).bundle();
    recorders.emplace_back(bundle.program("step")->executions(), group.threads());
    profiles.emplace_back(bundle);
  }
  for (size_t i = 0; i < group.size(); ++i)
    if (!options.trace.empty() || !options.profile.empty())
      group.executable(i).setRecorder(&recorders[i]);
  if (!options.trace.empty())
    if (Error error = openTrace())
      return error;
  if (options.log.empty() || !isFirst())
    return Error::success();
  Expected<StepLog> opened = StepLog::open(options.log, session.state().step);
  if (!opened)
    return opened.error();
  log.emplace(std::move(*opened));
  return Error::success();
}

/// Opens the trace. Clocks of several hosts have no common origin, so all processes synchronize
/// here.
Error Run::openTrace() {
  if (ranks)
    if (auto all = ranks->exchange(""); !all)
      return all.error();
  uint64_t start = nanoseconds();
  std::string names;
  for (size_t i = 0; i < group.size(); ++i) {
    traces.emplace_back(group.executable(i).bundle(), group.threads(), group.device(i) + 1, start);
    names += traces.back().names();
  }
  if (isFirst())
    trace.emplace(options.trace);
  return addToTrace(names);
}

Error Run::addToTrace(const std::string &own) {
  if (!ranks)
    return trace->add(own);
  auto all = ranks->gather(own);
  if (!all)
    return all.error();
  for (const std::string &events : *all)
    if (Error error = trace->add(events))
      return error;
  return Error::success();
}

/// Writes this process's output of a step; `number` is its absolute number.
Error Run::writeStep(int64_t number) {
  for (size_t i = 0; i < profiles.size(); ++i)
    profiles[i].add(recorders[i], figures.seconds.back());
  std::string events;
  for (size_t i = 0; i < traces.size(); ++i)
    events += traces[i].step(number, recorders[i]);
  // All processes take part in the trace, so it comes before steps that can fail in one process.
  if (!traces.empty())
    if (Error error = addToTrace(events))
      return error;
  return log ? log->add(number, figures.loss.back()) : Error::success();
}

Error Run::afterStep(int64_t number) {
  figures.loss.push_back(session.loss());
  Error error = writeStep(number);
  if (ranks && (!options.log.empty() || !options.trace.empty()))
    error = ranks->agree(error);
  return error;
}

/// Finishes an outstanding save after a step that has failed. A failed step may have changed
/// parameters, so no other state is consistent.
Error Run::afterFailure(Error error) {
  if (!saver.isBusy() || (ranks && !ranks->endStep(error)))
    return error;
  Error second = saver.finish();
  return second ? Error::make(error.message() + "; " + second.message()) : error;
}

/// Writes the last whole step, once. The last save of a run waits for all files.
Error Run::save(bool isLast) {
  int64_t step = session.state().step;
  if (options.outputDir.empty())
    return Error::success();
  bool isBehind = options.saveBehind && !isLast;
  Error error = Error::success();
  if (begun == step)
    error = isBehind ? Error::success() : saver.finish();
  else if (isBehind)
    error = saver.begin(outputFolder(), session.results(), session.state());
  else
    error = saver.save(outputFolder(), session.results(), session.state());
  if (error)
    return error;
  begun = step;
  if (!saver.isBusy())
    saved = begun;
  return Error::success();
}

/// Gives an outstanding save its place, if it is written.
Error Run::pollSave() {
  if (Error error = saver.poll())
    return error;
  if (!saver.isBusy())
    saved = begun;
  return Error::success();
}

Error Run::interrupt(int64_t done, int signal) {
  obeyed = signal;
  if (Error error = done != 0 ? save(/*isLast=*/true) : Error::success())
    return error;
  std::string text =
      done == 0 ? "stopped before the first step" : "stopped after " + amount(done, "step");
  const std::string &folder = options.outputDir;
  if (saved >= 0)
    text += "; results are in '" + folder + "', --input-dir=" + folder + " goes on";
  else
    text += folder.empty() && done > 0 ? "; nothing is written without --output-dir"
                                       : "; nothing is written";
  return Error::make(text);
}

Error Run::steps() {
  if (Error error = openFiles())
    return error;
  std::optional<Progress> progress;
  if (isFirst())
    progress.emplace("step", options.steps);
  for (int64_t i = 0; i < options.steps; ++i) {
    if (int signal = signalToObey())
      return interrupt(i, signal);
    session.requestStop(interrupted);
    int64_t number = session.state().step;
    uint64_t start = nanoseconds();
    if (Error error = session.step())
      return afterFailure(error);
    figures.seconds.push_back(double(nanoseconds() - start) / 1e9);
    if (Error error = afterStep(number)) {
      Error second = save(/*isLast=*/true);
      return second ? Error::make(error.message() + "; " + second.message()) : error;
    }
    bool isDue = options.saveEvery != 0 && session.state().step % options.saveEvery == 0;
    if (Error error = isDue ? save(/*isLast=*/false) : pollSave())
      return error;
    const std::optional<double> &loss = figures.loss.back();
    if (progress)
      progress->update(i + 1, loss ? "loss " + shortNumber(*loss) : "");
  }
  figures.peakBytes = peakResidentBytes();
  figures.snapshotBytes = saver.snapshotBytes();
  if (Error error = save(/*isLast=*/true))
    return error;
  if (trace)
    if (Error error = trace->commit())
      return error;
  return options.profile.empty() ? Error::success() : writeProfile();
}

Error Run::writeProfile() {
  Profile all(group.bundle());
  std::vector<std::string> parts;
  for (const Profile &profile : profiles)
    parts.push_back(profile.sums());
  if (ranks) {
    auto gathered = ranks->gather(parts.front());
    if (!gathered)
      return gathered.error();
    parts = *gathered;
  }
  for (const std::string &part : parts)
    if (Error error = all.addSums(part))
      return error;
  if (!isFirst())
    return Error::success();
  Expected<MachineRates> rates = group.executable(0).device().measureRates();
  if (!rates)
    return rates.error();
  std::string text = all.json(group.threads(), *rates);
  return writeFile(options.profile, text.data(), text.size());
}

Error Run::report() {
  Expected<uint64_t> hash = session.hash();
  if (!hash)
    return hash.error();
  figures.hash = hashText(*hash);
  figures.next = session.state();
  figures.threads = group.allThreads();
  if (Error error = figures.measure(group))
    return error;
  if (!isFirst())
    return Error::success();
  std::string report = options.json ? figures.json() : figures.text();
  if (std::fwrite(report.data(), 1, report.size(), stdout) != report.size() ||
      std::fflush(stdout) != 0)
    return Error::make(std::string("cannot write to standard output: ") + std::strerror(errno));
  return Error::success();
}

} // namespace

void catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { interrupted = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before;
    // A shell's background job and nohup ignore these signals.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }
}

int caughtInterrupt() { return interrupted; }

int obeyedInterrupt() { return obeyed; }

static Error runGroup(const RunOptions &options, ProgramGroup &group) {
  for (size_t i = 0; i < group.size(); ++i)
    group.executable(i).setCheckIndices(options.checkIndices);
  Run run(options, group);
  if (Error error = run.prepare())
    return error;
  if (Error error = run.steps())
    return error;
  return run.report();
}

Error runBundle(const RunOptions &options, Ranks *ranks, int &code) {
  if (ranks && options.bundle == "-")
    return Error::make("several processes cannot read one standard input: name a file");
  Expected<Bundle> bundle = readBundle(options.bundle);
  if (!bundle)
    return bundle.error();
  if (ranks && ranks->size() != bundle->countDevices())
    code = 2;
  DeviceKind kind = options.device == "cuda" ? DeviceKind::Cuda : DeviceKind::Cpu;
  auto group =
      ProgramGroup::create(std::move(*bundle), options.bundle, options.threads, ranks, kind);
  if (!group)
    return group.error();
  std::string carried = (*group)->describeTransport();
  if (!carried.empty() && (!ranks || ranks->isFirst()))
    std::fprintf(stderr, "reprise-run: %s\n", carried.c_str());
  for (const std::string &note : (*group)->takeNotes())
    std::fprintf(stderr, "reprise-run: note: %s\n", note.c_str());
  return runGroup(options, **group);
}
