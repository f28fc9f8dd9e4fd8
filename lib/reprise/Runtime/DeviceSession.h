// reprise: training steps of one device program
#ifndef REPRISE_LIB_RUNTIME_DEVICESESSION_H
#define REPRISE_LIB_RUNTIME_DEVICESESSION_H

#include "GivenValues.h"
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
  GivenValues &values() { return given; }
  /// Data and bytes are those of the whole array.
  Error bind(size_t argument, void *data, uint64_t bytes);

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
  /// An input that a result replaces keeps its value while the other inputs are made anew.
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
  std::vector<size_t> arrayResults;         ///< the result of each array
  std::vector<std::vector<uint8_t>> copies; ///< of them, without host memory
  int64_t endStep = 0;                      ///< of the run
  std::optional<size_t> offsetResult;
  bool first = true, paused = false;
  std::vector<bool> late; ///< arguments that may have their values at the pause only
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_DEVICESESSION_H
