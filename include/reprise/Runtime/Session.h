// reprise: training steps: initial values, inputs of each step, results, and where the run stands
#ifndef REPRISE_RUNTIME_SESSION_H
#define REPRISE_RUNTIME_SESSION_H

#include "reprise/Runtime/ProgramGroup.h"
#include "reprise/Runtime/RunFolder.h"

#include <map>

namespace reprise::runtime {
class DeviceSession;

/// The device program that has a result, and the number of the result there.
struct ResultSource {
  DeviceSession *part;
  size_t array;
};

/// Drives an Executable, or the device programs of a group: setState / giveArray / giveFolder, then
/// start, then step as often as start was told. Errors name the bundle or the file.
class Session {
public:
  /// The executable outlives the session.
  explicit Session(Executable &executable);
  /// Arguments and results are those of all programs: one that several take is given to each of
  /// them. The group outlives the session. Where its programs are in several processes, all of
  /// them make the same calls: start, step and hash meet the others, and fail if they do.
  explicit Session(ProgramGroup &group);
  ~Session();

  /// The seed, and the offset and absolute number of the first step.
  Error setState(const RunState &state);
  /// Takes the argument `name` from a .npy file of its type. Its shape is the argument's, or for an
  /// input one leading dimension more: then row s is the value at absolute step s. Of two files for
  /// one argument the later one counts.
  Error giveArray(const std::string &name, const std::string &path);
  /// Takes a copy of a value in memory; name, type and shape as for a file.
  Error giveValue(const ArrayRef &value);
  /// Makes `data` the value and the buffer of the argument `name`: steps read it there, and update
  /// a parameter or state in place. Nothing is copied. It lies on the executable's device, at a
  /// multiple of bufferAlignment, is exactly `bytes` = the argument's bytes long, and outlives the
  /// session. Files and folders leave the argument alone from now on. Its content counts when
  /// start() is called, and for an input whenever step() is. Inputs may overlap; a step fails that
  /// finds what it writes in another argument.
  Error bind(const std::string &name, void *data, uint64_t bytes);
  /// Takes from a folder all arrays that are arguments, and, where run.json is present, the state.
  /// An error if two arguments share a file name, or if there is nothing to take. start() sees to
  /// it that nothing is missing (checkRecord).
  Error giveFolder(const std::string &path);
  /// The files that arguments are read from.
  std::vector<std::string> inputFiles() const;

  /// The number of the input, parameter or state of that name, or of its first part.
  std::optional<size_t> find(const std::string &name) const;

  /// Makes parameters and state, and sees that every argument has a value for the next `steps`
  /// steps; a late input needs one by endStep, or by step, only.
  Error start(int64_t steps);
  /// One step. Allocates nothing, errors apart. Peers of the executable learn of an error. Of
  /// several programs the error is that of the one that failed first.
  Error step();
  /// A step in two parts, of a bundle that pauses; step() does both. Behind the first one there are
  /// the results that are early (Bundle::isEarly), and late inputs (Bundle::isLate) may get their
  /// values, or be bound. A step that was begun may be given up: by the next beginStep or step.
  Error beginStep();
  Error endStep();
  bool isPaused() const;

  /// Seed, and the offset and number of the next step.
  const RunState &state() const { return next; }
  /// All results of this process but the next offset, in host memory. Valid until the next step.
  /// Data is null if the device cannot give them. Of an array whose rows lie on several devices
  /// there are the parts, in their order.
  const std::vector<ArrayRef> &results() const;
  /// The result `loss` of any process if it is one floating-point number.
  std::optional<double> loss() const;
  /// hashArrays of the results of all processes. Not between the parts of a step.
  Expected<uint64_t> hash() const;

  /// Tells all processes, with the next step, that the run is to end by a signal.
  void requestStop(int signal) { stopWanted = signal; }
  /// The signal that was told with the last step, or 0.
  int stopSignal() const { return stopTold; }

  /// Runs the next step twice over an arena painted with complementary patterns and returns the
  /// highest changed byte + 1 of each program. Arguments and state() are then as before, results()
  /// undefined. After start(), where all programs are of this process.
  Expected<std::vector<uint64_t>> executedArenaBytes();

private:
  Session(const Bundle &bundle, const std::string &name);
  void add(Executable &executable);
  /// Calls visit(part, number of the argument there) for all parts that take it.
  template <typename Visit> Error forEachPart(const std::string &name, Visit visit);
  Error checkFolder() const;
  Error startParts(int64_t steps);
  Error finishStep();
  Error meet();

  const Bundle &bundle; ///< with the arguments and results of all parts
  const std::string &name;
  ProgramGroup *group = nullptr;                ///< of several parts
  Ranks *ranks = nullptr;                       ///< of several processes
  std::map<std::string, std::string> elsewhere; ///< arguments given to others, with their files
  std::optional<double> toldLoss;
  int stopWanted = 0, stopTold = 0;
  std::vector<std::unique_ptr<DeviceSession>> parts;
  RunState next;
  mutable std::vector<ArrayRef> arrays;
  std::vector<ResultSource> sources;
  std::string folder; ///< that was given, or empty
  std::optional<RunRecord> record;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_SESSION_H
