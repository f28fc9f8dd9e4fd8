// reprise: units of a checkpoint problem: where they lie in the program and which follow directly
#include "Units.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Container = Problem::Container;

Units::Units(const Problem &problem) : positions(problem.containers.size()) {
  for (const Container &container : problem.containers) {
    parents.push_back(container.parent);
    depths.push_back(container.parent < 0 ? 0 : depths[container.parent] + 1);
  }
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int at = problem.operations[i].container; at > 0; at = parents[at])
      add(problem, static_cast<int>(i), at);
}

void Units::add(const Problem &problem, int operation, int container) {
  const Operation &op = problem.operations[operation];
  positions[container].push_back(operation);
  auto [found, isNew] = units.try_emplace({container, op.order});
  Unit &unit = found->second;
  if (isNew)
    unit.first = operation;
  unit.last = operation;
  for (int result = op.firstResult; result < op.firstResult + op.numResults; ++result) {
    Label label = problem.values[result].label;
    unit.recomputed &= label == Label::PreferRecompute || label == Label::MustRecompute;
  }
}

int Units::commonContainer(int a, int b) const {
  while (a != b) {
    if (depths[a] < depths[b])
      std::swap(a, b);
    a = parents[a];
  }
  return a;
}

int Units::outermost(int container) const {
  while (depths[container] > 1)
    container = parents[container];
  return container;
}

bool Units::isLastBefore(int container, int64_t order, int64_t later) const {
  auto earlier = units.find({container, order}), next = units.find({container, later});
  if (earlier == units.end() || next == units.end() || !earlier->second.recomputed)
    return false;
  int begin = earlier->second.last + 1, end = next->second.first;
  if (begin >= end)
    return true;
  const std::vector<int> &own = positions[container];
  auto inside = std::lower_bound(own.begin(), own.end(), end) -
                std::lower_bound(own.begin(), own.end(), begin);
  return inside == end - begin;
}

bool Units::followsItsOwn(int container, int64_t later) const {
  for (auto unit = units.lower_bound({container, INT64_MIN});
       unit != units.end() && unit->first.first == container && unit->first.second < later; ++unit)
    if (isLastBefore(container, unit->first.second, later))
      return true;
  return false;
}
