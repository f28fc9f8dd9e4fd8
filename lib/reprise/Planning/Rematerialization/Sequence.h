// reprise: a schedule under change, which knows its bytes at every place
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_SEQUENCE_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_SEQUENCE_H

#include "reprise/Planning/Rematerialization/Problem.h"

namespace reprise::remat {

/// Leaves each reader once, in the order of their numbers.
void dropRepeats(std::vector<int> &readers);

/// Executions have numbers that stay while places change. Bytes are kept up to date in the range of
/// places that a change touches.
class Sequence {
public:
  Sequence(const Problem &problem, int64_t budget);

  size_t size() const { return order.size(); }
  int at(size_t place) const { return order[place]; }
  double cost() const { return totalCost; }
  /// The sum over all places of the bytes beyond the budget.
  int64_t excess() const { return totalExcess; }
  Schedule schedule() const;

  int operationOf(int execution) const { return nodes[execution].operation; }
  int placeOf(int execution) const { return nodes[execution].place; }
  /// The places that an execution may take: behind its sources, before its readers.
  std::pair<int, int> slackOf(int execution) const;
  const std::vector<int> &executionsOf(int operation) const { return runs[operation]; }
  /// Who reads any result, each as often as it does.
  std::vector<int> readersOf(int execution) const;
  /// The latest execution of an operation before a place; -1 if there is none.
  int findLatest(int operation, int before) const;

  void shift(int execution, int place);
  /// Executes an operation at `place` from these sources, and lets `readers` of `original` read it.
  int insert(int original, int place, const std::vector<int> &sources,
             const std::vector<int> &readers);
  /// Takes an execution away; its readers read `heir`.
  void remove(int execution, int heir);
  const std::vector<int> &sourcesOf(int execution) const { return nodes[execution].sources; }

private:
  struct Node {
    int operation = 0, place = 0;
    std::vector<int> sources;
    std::vector<std::vector<int>> readers; // by result
    std::vector<int> last;                 // the latest reader of each result; -1: none
  };

  const Operation &operation(int execution) const {
    return problem.operations[nodes[execution].operation];
  }
  int resultOf(int execution, size_t operand) const;
  void link(int execution);
  void unlink(int execution);
  void redirect(int from, int to, const std::vector<int> &readers);
  void findLast(int execution);
  int findEnd(int execution) const;
  size_t findEndOf(const std::vector<int> &readers, int place) const;
  void findLastOfSources(int execution);
  void renumber(size_t begin, size_t end);
  void count(size_t begin, size_t end);

  const Problem &problem;
  int64_t budget;
  std::vector<Node> nodes;
  std::vector<int> order, unused;
  std::vector<std::vector<int>> runs;      // executions by operation
  std::vector<int64_t> during, afterwards; // bytes at and behind each place
  double totalCost = 0;
  int64_t totalExcess = 0;
};

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_SEQUENCE_H
