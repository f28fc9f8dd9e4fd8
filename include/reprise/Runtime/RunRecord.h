// reprise: run.json, the record of a run in its folder: state, and interface of the program
#ifndef REPRISE_RUNTIME_RUNRECORD_H
#define REPRISE_RUNTIME_RUNRECORD_H

#include "reprise/Runtime/Bundle.h"

#include <optional>

namespace reprise::runtime {

/// State of a run, which determines randomness and inputs of the next step.
struct RunState {
  int64_t seed = 0;
  int64_t offset = 0; ///< a multiple of 4, not negative
  int64_t step = 0;   ///< absolute number of the next step
};

/// Returns an error if `state` is out of range.
Error checkRunState(const RunState &state);

/// Names and types of the arrays of a program: its results, and its arguments.
struct RunInterface {
  struct Array {
    std::string name;
    Role role = Role::Input; ///< role of an argument; unused for results
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
  };
  std::string entry;
  std::vector<Array> arguments; ///< inputs, parameters and state
  std::vector<Array> results;   ///< results, without the next offset
};

RunInterface describeInterface(const Bundle &bundle);

struct RunRecord {
  RunState state;
  std::optional<RunInterface> interface; ///< interface; absent in older folders
};

/// Returns the text of run.json {"seed", "next_offset", "next_step", "entry", "arguments",
/// "results"}.
std::string runRecordText(const RunState &state, const RunInterface &interface);

/// Parses the text of run.json. The message has no file name.
Expected<RunRecord> parseRunRecord(const std::string &text);

/// Reads run.json of the folder; empty if the file does not exist.
Expected<std::optional<RunRecord>> readRunRecord(const std::string &folder);

/// Checks that a run of the program `own` can continue from the folder of `record`; no record means
/// no run.json. `has[i]` tells whether argument i of `own` was given a value, by the folder or
/// otherwise. Errors name the folder.
///
/// - Every parameter needs a value.
/// - If the folder belongs to a run, state and inputs that a result replaces need a value too.
/// - A folder of the same entry has no parameter that `own` lacks.
Error checkRecord(const std::string &folder, const std::optional<RunRecord> &record,
                  const RunInterface &own, const std::vector<bool> &has);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RUNRECORD_H
