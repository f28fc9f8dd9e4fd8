// reprise: training steps of one device program
#ifndef REPRISE_LIB_RUNTIME_DEVICESESSION_H
#define REPRISE_LIB_RUNTIME_DEVICESESSION_H

#include "InputUploads.h"
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/RunRecord.h"

namespace reprise::runtime {

/// What a Session does with one of its executables.
class DeviceSession {
public:
  explicit DeviceSession(Executable &executable);

  void setState(const RunState &state) { next = state; }
  const RunState &state() const { return next; }
  /// The argument of that name, or those of its parts that the program takes.
  std::vector<size_t> find(const std::string &name) const;
  bool isBound(size_t argument) const { return executable.isBound(argument); }
  bool hasValue(size_t argument) const;
  /// Of arguments that it has. Rows take theirs of a value for the whole array.
  /// Opens the file at the path if `file` is null.
  Error giveArray(size_t argument, const std::string &path, std::shared_ptr<const NpyFile> &file);
  Error giveValue(size_t argument, const ArrayRef &value);
  /// Data and bytes are those of the whole array.
  Error bind(size_t argument, void *data, uint64_t bytes);
  std::vector<std::string> inputFiles() const;

  /// Sees that every argument has a value for the next steps.
  Error check(int64_t steps);
  /// Makes parameters and state.
  Error start();
  Error step();
  /// Up to the pause, which the step has. What was begun before counts no more.
  Error begin();
  /// From the pause on.
  Error goOn();
  bool isPaused() const { return paused; }

  /// All results but the next offset, without their data.
  const std::vector<ArrayRef> &results() const { return arrays; }
  /// In the bundle: not the name of the array where this is rows of one.
  const std::string &resultName(size_t result) const {
    return bundle.results[arrayResults[result]].name;
  }
  /// The data of one of them on the host, a copy where the host cannot look at the device; null if
  /// it cannot be had.
  const void *read(size_t result);

  /// See Session.
  Expected<uint64_t> executedArenaBytes();

private:
  struct Given {
    std::shared_ptr<const NpyFile> file; ///< with all rows of the array
    std::vector<uint8_t> bytes;          ///< without a file, of the argument
    int64_t rows = -1;                   ///< one per absolute step, or -1 for one value
  };
  /// An input that a result replaces keeps its value while the other inputs are made anew.
  struct Carried {
    size_t argument;
    std::vector<uint8_t> value;
  };

  Error fail(const std::string &why) const;
  Error give(size_t argument, const std::string &source, const std::vector<int64_t> &shape,
             Given value);
  std::vector<uint8_t> takeRows(size_t argument, const ArrayRef &value) const;
  Error tooFewRows(size_t argument, int64_t needed) const;
  bool isCarried(size_t argument) const;
  Error takeStep();
  Error takeFirstPart();
  Error takeLastPart();
  Error finishStep();
  Error tell(Error error);
  Error inStep(const Error &error) const;
  Error checkValue(size_t argument) const;
  /// Late arguments need no value before the last part of a step.
  Error checkLate() const;
  Error readInputs(bool areLate);
  Error setScalars();
  Error prepareInputs();
  Error prepareWhole();
  Error keepCarried();
  Error readGiven(size_t argument);
  /// The row of a step, or the one value.
  Error readRow(size_t argument, int64_t step, void *to) const;
  Error uploadNext();
  uint64_t highestChange(uint8_t paint) const;

  Executable &executable;
  const Bundle &bundle;
  RunState next;
  std::vector<std::optional<Given>> given; // by argument
  std::vector<Carried> carried;
  std::vector<ArrayRef> arrays;
  std::vector<size_t> arrayResults;         ///< the result of each array
  std::vector<std::vector<uint8_t>> copies; ///< of them, without host memory
  std::vector<uint8_t> staging;             ///< of an argument, without host memory
  InputUploads uploads;
  int64_t endStep = 0; ///< of the run
  std::optional<size_t> offsetResult;
  bool first = true, paused = false;
  std::vector<bool> late; ///< arguments that may have their values at the pause only
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_DEVICESESSION_H
