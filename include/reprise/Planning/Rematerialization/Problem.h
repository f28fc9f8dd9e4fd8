// reprise: the problem of executing a graph in little memory, its schedules, and their judge
#ifndef REPRISE_PLANNING_REMATERIALIZATION_PROBLEM_H
#define REPRISE_PLANNING_REMATERIALIZATION_PROBLEM_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise::remat {

/// Makes the values firstResult … firstResult + numResults - 1 from its operands.
struct Operation {
  double cost = 0;           ///< of one execution, at least 0
  std::vector<int> operands; ///< values, each once
  int firstResult = 0;
  int numResults = 0;
};

struct Value {
  int operation = 0;
  int64_t bytes = 0;
};

/// A graph, in an order in which it can be executed. Every operation runs at least once.
struct Problem {
  std::vector<Operation> operations;
  std::vector<Value> values;
};

/// One execution of an operation. `sources` names for each operand the earlier execution, by its
/// place in the schedule, whose result is read.
struct Execution {
  int operation = 0;
  std::vector<int> sources;
};
using Schedule = std::vector<Execution>;

/// What a schedule takes. A result lives from its execution to its last reader, both included; one
/// that nobody reads lives during its execution only.
struct Measure {
  int64_t peak = 0; ///< most bytes that live at once
  double cost = 0;
};

/// Each operation once, in the order of the problem.
Schedule inOrder(const Problem &problem);

/// The bytes that live at each operation in that schedule.
std::vector<int64_t> bytesInOrder(const Problem &problem);

/// What is wrong with a problem: indices, sizes and costs, operands before their definition.
std::optional<std::string> validate(const Problem &problem);
/// What is wrong with a schedule: an operation that does not run, a source that is none.
std::optional<std::string> validate(const Problem &problem, const Schedule &schedule);
/// Of a valid schedule, found from it alone. O(reads).
Measure measure(const Problem &problem, const Schedule &schedule);

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_PROBLEM_H
