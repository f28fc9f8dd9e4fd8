// reprise: training steps: initial values, inputs of each step, results, and the state of the run
#ifndef REPRISE_RUNTIME_SESSION_H
#define REPRISE_RUNTIME_SESSION_H

#include "reprise/Runtime/ProgramGroup.h"
#include "reprise/Runtime/RunFolder.h"

#include <map>

namespace reprise::runtime {
class DeviceSession;

/// Device program with a result, and the number of the result in that program.
struct ResultSource {
  DeviceSession *part;
  size_t array;
};

/// Driver of an Executable, or of the device programs of a group. Calls come in this order:
/// setState / giveArray / giveFolder, start, then as many steps as start was given. Errors name the
/// bundle or the file.
class Session {
public:
  /// Drives one executable, which outlives the session.
  explicit Session(Executable &executable);
  /// Drives a group, which outlives the session. Arguments and results are those of all programs;
  /// an argument of several programs is given to each of them. If the programs are in several
  /// processes, all processes make the same calls: start, step and hash synchronize, and fail on
  /// all processes together.
  explicit Session(ProgramGroup &group);
  ~Session();

  /// Names of tensors in files and folders that are given later, and in outputFolder().
  TensorNames names;

  /// Sets the seed, and the offset and absolute number of the first step.
  Error setState(const RunState &state);
  /// Takes the argument `name` from a .npy file of its type, or from its tensor in a .safetensors
  /// file. The array has the argument's shape, or for an input one more leading dimension: row s is
  /// the value at absolute step s. If an argument gets two files, the later file counts.
  Error giveArray(const std::string &name, const ArraySource &source);
  /// Copies a value from memory; name, type and shape as for a file.
  Error giveValue(const ArrayRef &value);
  /// Makes `data` the value and the buffer of the argument `name`, without a copy. Steps read
  /// `data`, and update a parameter or state in place. `data` lies on the executable's device, at a
  /// multiple of bufferAlignment, has exactly `bytes` = the argument's bytes, and outlives the
  /// session. Later files and folders leave the argument unchanged. The content is read from
  /// start() on, and for an input at every step(). Inputs may overlap. A step fails if it writes
  /// memory that another argument uses.
  Error bind(const std::string &name, void *data, uint64_t bytes);
  /// Takes from a folder, a .safetensors file or an index (openRunFolder) all arrays that are
  /// arguments, and the state if it is the output of a run. If an argument is in two folders, the
  /// later folder counts. start() checks that no argument is missing (checkRecord).
  Error giveFolder(const std::string &path);
  /// Returns a folder for the results, with all files from which this run reads arguments.
  OutputFolder outputFolder(const std::string &path) const;

  /// Returns the number of the input, parameter or state with the name, or of its first part.
  std::optional<size_t> find(const std::string &name) const;

  /// Initializes parameters and state, and checks that every argument has a value for the next
  /// `steps` steps. A late input needs a value only at endStep, or at step.
  Error start(int64_t steps);
  /// Runs one step. Allocates memory only for errors. Peers of the executable learn of an error.
  /// For several programs, returns the error of the program that failed first.
  Error step();
  /// Runs a step in two parts, for a bundle that pauses; step() runs both. After the first part,
  /// early results exist (Bundle::isEarly), and late inputs (Bundle::isLate) may get values or be
  /// bound. The next beginStep or step abandons a step that has begun.
  Error beginStep();
  Error endStep();
  bool isPaused() const;

  /// Returns the seed, and the offset and number of the next step.
  const RunState &state() const { return next; }
  /// Returns all results of this process except the next offset, in host memory, valid until the
  /// next step. Data is null if the device cannot return them. An array with rows on several
  /// devices appears as its parts, in order.
  const std::vector<ArrayRef> &results() const;
  /// Returns the result `loss` of any process if it is one floating-point number.
  std::optional<double> loss() const;
  /// Returns hashArrays of the results of all processes. Not allowed between the parts of a step.
  Expected<uint64_t> hash() const;

  /// Requests with the next step that all processes end because of a signal.
  void requestStop(int signal) { stopWanted = signal; }
  /// Returns the signal that was announced with the last step, or 0.
  int stopSignal() const { return stopTold; }

  /// Runs the next step twice over an arena painted with complementary patterns. Returns the
  /// highest changed byte + 1 of each program. Restores arguments and state(); results() are
  /// undefined afterwards. Call it after start(), with all programs in this process.
  Expected<std::vector<uint64_t>> executedArenaBytes();

private:
  Session(const Bundle &bundle, const std::string &name);
  void add(Executable &executable);
  /// Calls visit(part, argument number in the part) for all parts with the argument.
  template <typename Visit> Error forEachPart(const std::string &name, Visit visit);
  Error checkFolder() const;
  Error startParts(int64_t steps);
  Error finishStep();
  Error meet();

  const Bundle &bundle; ///< manifest with arguments and results of all parts
  const std::string &name;
  ProgramGroup *group = nullptr; ///< group of several parts, or null
  Ranks *ranks = nullptr;        ///< processes, if there are several
  std::map<std::string, ArraySource>
      elsewhere; ///< arguments of all processes, if there are several
  std::optional<double> toldLoss;
  int stopWanted = 0, stopTold = 0;
  std::vector<std::unique_ptr<DeviceSession>> parts;
  RunState next;
  mutable std::vector<ArrayRef> arrays;
  std::vector<ResultSource> sources;
  std::vector<std::string> folders; ///< folders that were given
  std::optional<RunRecord> record;  ///< record of the last folder that has one
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_SESSION_H
