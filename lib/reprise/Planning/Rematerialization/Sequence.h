// reprise: a schedule under change, which knows its bytes at every place
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_SEQUENCE_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_SEQUENCE_H

#include "Executions.h"
#include "Profile.h"

namespace reprise::remat {

/// A change is weighed first, at the cost of the places that it touches, and then made or not: most
/// are not.
class Sequence {
public:
  Sequence(const Problem &problem, int64_t budget, const Schedule &start);

  int size() const { return static_cast<int>(graph.order.size()); }
  int at(int place) const { return graph.order[place]; }
  double cost() const { return totalCost; }
  /// The sum over all places of the bytes beyond the budget.
  int64_t excess() const { return profile.excess(); }
  int64_t peak() const { return budget + profile.most(); }
  Schedule schedule() const;

  int operationOf(int execution) const { return graph.runs[execution].operation; }
  int placeOf(int execution) const { return graph.runs[execution].place; }
  /// How many places an execution may go ahead: up to its first reader.
  int slackAhead(int execution) const;
  /// How many places it may go back: up to its last source.
  int slackBack(int execution) const;
  /// A reader of some result, the `index`th modulo their number; -1 if there is none.
  int readerOf(int execution, uint64_t index) const;
  /// The latest execution of an operation before a place; -1 if there is none.
  int findLatest(int operation, int before) const { return graph.findLatest(operation, before); }
  /// Who could take over the readers of an execution: the one of the same operation before it; if
  /// it has no readers, any other; -1 if there is none.
  int heirOf(int execution) const;
  /// The place behind which all results of an execution are dead.
  int endOf(int execution) const;

  /// What the excess would grow by if an execution went to a place within its slack.
  int64_t weighShift(int execution, int place);
  void shift(int execution, int place);
  /// … if its operation ran again at `place`, from the latest executions of its operands, and all
  /// readers from there on read that.
  int64_t weighReplay(int execution, int place);
  /// Returns the new execution.
  int replay(int execution, int place);
  /// … if an execution were taken away and its readers read `heir`, an earlier one.
  int64_t weighMerge(int execution, int heir);
  void merge(int execution, int heir);

private:
  int64_t bytesBefore(int place) const;
  int64_t weighAhead(int execution, int place);
  int64_t weighBack(int execution, int place);
  int make(int operation);
  void count();

  Executions graph;
  int64_t budget;
  std::vector<int64_t> made; // bytes of the results, by operation
  Profile profile;
  double totalCost = 0;
  // Of the change that was weighed last: up to its place, behind it, and at it.
  Steps steps, behind;
  int64_t own = 0;
};

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_SEQUENCE_H
