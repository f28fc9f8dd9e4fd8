// reprise: run.json, what a run's folder says of itself: where the run stands, and of what program
#ifndef REPRISE_RUNTIME_RUNRECORD_H
#define REPRISE_RUNTIME_RUNRECORD_H

#include "reprise/Runtime/Bundle.h"

#include <optional>

namespace reprise::runtime {

/// Where a run stands: all that the next step's randomness and inputs depend on.
struct RunState {
  int64_t seed = 0;
  int64_t offset = 0; ///< a multiple of 4, not negative
  int64_t step = 0;   ///< absolute number of the next step
};

/// An error if `state` is out of range.
Error checkRunState(const RunState &state);

/// The names and types of a program: what a folder of it holds, and what a run takes from it.
struct RunInterface {
  struct Array {
    std::string name;
    Role role = Role::Input; ///< of an argument; nothing for a result
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
  };
  std::string entry;
  std::vector<Array> arguments; ///< inputs, parameters and state
  std::vector<Array> results;   ///< all but the next offset
};

RunInterface describeInterface(const Bundle &bundle);

struct RunRecord {
  RunState state;
  std::optional<RunInterface> interface; ///< older folders have none
};

/// The text of run.json {"seed", "next_offset", "next_step", "entry", "arguments", "results"}.
std::string runRecordText(const RunState &state, const RunInterface &interface);

/// What run.json in the folder says, nothing if there is no such file.
Expected<std::optional<RunRecord>> readRunRecord(const std::string &folder);

/// Checks that a run of the program `own` can go on from the folder of `record`, nothing for a
/// folder without run.json. `has[i]` tells whether argument i of `own` was given a value, by the
/// folder or otherwise. A parameter needs one. So do state and an input that a result replaces,
/// where the folder is a run's. A folder of the same entry has no parameter that `own` lacks.
/// Errors name the folder.
Error checkRecord(const std::string &folder, const std::optional<RunRecord> &record,
                  const RunInterface &own, const std::vector<bool> &has);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RUNRECORD_H
