// reprise: the executions of a schedule, and which of them read whose results
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_EXECUTIONS_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_EXECUTIONS_H

#include "reprise/Planning/Rematerialization/Problem.h"

namespace reprise::remat {

/// An execution of an operation, at a place of the schedule.
struct Run {
  int operation = 0, place = 0, firstItem = 0, firstRead = 0;
};

/// A result of an execution.
struct Item {
  int run = 0, last = -1; // the latest reader; -1: none
  int64_t bytes = 0;
  std::vector<int> readers; // executions
};

/// Executions, and the items that are the results of each, have numbers that stay while places
/// change.
struct Executions {
  explicit Executions(const Problem &problem)
      : problem(problem), byOperation(problem.operations.size()),
        unused(problem.operations.size()) {}

  const Operation &operation(int execution) const {
    return problem.operations[runs[execution].operation];
  }
  const Item &result(int execution, int number) const {
    return items[runs[execution].firstItem + number];
  }
  /// The item that an execution reads as one of its operands.
  Item &source(int execution, size_t operand) {
    return items[reads[runs[execution].firstRead + operand]];
  }
  const Item &source(int execution, size_t operand) const {
    return items[reads[runs[execution].firstRead + operand]];
  }
  /// Where an item dies: the place of its last reader, or its own.
  int endOf(const Item &item) const { return runs[item.last < 0 ? item.run : item.last].place; }
  /// Where an item would die without one of its readers.
  int endWithout(const Item &item, int reader) const;
  /// The last reader before a place, or the item's own place.
  int endBefore(const Item &item, int place) const;
  /// The latest execution of an operation before a place; -1 if there is none.
  int findLatest(int operation, int before) const;
  /// The item that holds a value at a place behind an execution of its operation.
  int itemBefore(int value, int place) const;

  /// Returns a new execution that is at no place yet and reads nothing.
  int make(int operation);
  /// Gives an execution that has lost its place and its readers to `make` again.
  void drop(int execution);
  void findLast(Item &item) const;
  /// Makes an execution a reader of its sources, or of none of them.
  void link(int execution);
  void unlink(int execution);
  /// Makes the readers of an item from a place on read another one.
  void redirect(int from, int to, int firstPlace);
  /// Notes the places of the executions in a range of `order`.
  void renumber(int begin, int end);

  const Problem &problem;
  std::vector<Run> runs;
  std::vector<Item> items;
  std::vector<int> reads;                            // items
  std::vector<int> order;                            // executions, by place
  std::vector<std::vector<int>> byOperation, unused; // executions
};

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_EXECUTIONS_H
