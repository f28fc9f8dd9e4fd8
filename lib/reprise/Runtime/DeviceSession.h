// reprise: training steps of one device program
#ifndef REPRISE_LIB_RUNTIME_DEVICESESSION_H
#define REPRISE_LIB_RUNTIME_DEVICESESSION_H

#include "GivenValues.h"
#include "reprise/Runtime/RunRecord.h"

namespace reprise::runtime {

/// Session of one executable.
class DeviceSession {
public:
  explicit DeviceSession(Executable &executable);

  void setState(const RunState &state) { next = state; }
  const RunState &state() const { return next; }
  /// Returns the argument of that name, or the parts of it that the program has.
  std::vector<size_t> find(const std::string &name) const;
  bool isBound(size_t argument) const { return executable.isBound(argument); }
  bool hasValue(size_t argument) const;
  GivenValues &values() { return given; }
  /// Returns the manifest of the program.
  const Bundle &manifest() const { return bundle; }
  /// Binds an argument. Data and bytes are those of the whole array.
  Error bind(size_t argument, void *data, uint64_t bytes);

  /// Sees that every argument has a value for the next steps.
  Error check(int64_t steps);
  /// Makes parameters and state.
  Error start();
  Error step();
  /// Runs up to the pause, which the step has. Abandons an earlier begun step.
  Error begin();
  /// Runs from the pause on.
  Error goOn();
  bool isPaused() const { return paused; }

  /// Returns all results except the next offset, without their data.
  const std::vector<ArrayRef> &results() const { return arrays; }
  /// Returns the name in the bundle, which for rows of an array is not the array's name.
  const std::string &resultName(size_t result) const {
    return bundle.results[arrayResults[result]].name;
  }
  /// Returns the data of a result on the host, as a copy if the host cannot access the device; null
  /// if it cannot be read.
  const void *read(size_t result);

  /// Returns the arena size in bytes that the run used, as Session documents.
  Expected<uint64_t> executedArenaBytes();

private:
  /// Input that a result replaces, which keeps its value while initializers rewrite the other
  /// inputs.
  struct Carried {
    size_t argument;
    std::vector<uint8_t> value;
  };

  Error finishStep();
  /// Late arguments need no value before the last part of a step.
  Error checkLate() const;
  bool isCarried(size_t argument) const;
  Error prepareInputs();
  /// Prepares the inputs of a step that does not stop.
  Error prepareWhole();
  Error readInputs(bool areLate);
  Error uploadNext();

  Executable &executable;
  const Bundle &bundle;
  RunState next;
  GivenValues given;
  std::vector<Carried> carried;
  std::vector<ArrayRef> arrays;
  std::vector<size_t> arrayResults;         ///< result of each array
  std::vector<std::vector<uint8_t>> copies; ///< copies of results, without host memory
  int64_t endStep = 0;                      ///< last step of the run
  std::optional<size_t> offsetResult;
  bool first = true, paused = false;
  std::vector<bool> late; ///< arguments whose values may come at the pause
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_DEVICESESSION_H
