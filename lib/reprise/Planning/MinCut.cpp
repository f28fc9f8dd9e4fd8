// reprise: minimum cuts
#include "reprise/Planning/MinCut.h"

#include <algorithm>

using namespace reprise;

int MinCut::addNode() {
  first.push_back(-1);
  return static_cast<int>(first.size()) - 1;
}

void MinCut::addEdge(int from, int to, double capacity) {
  if (capacity <= 0)
    return;
  edges.push_back({to, first[from], capacity});
  first[from] = static_cast<int>(edges.size()) - 1;
  edges.push_back({from, first[to], 0});
  first[to] = static_cast<int>(edges.size()) - 1;
}

/// Distances from the source over edges with capacity left; true if the sink has one.
bool MinCut::findLevels(int source, int sink) {
  levels.assign(first.size(), -1);
  levels[source] = 0;
  std::vector<int> queue = {source};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int edge = first[queue[head]]; edge >= 0; edge = edges[edge].next)
      if (edges[edge].left > smallest && levels[edges[edge].to] < 0) {
        levels[edges[edge].to] = levels[queue[head]] + 1;
        queue.push_back(edges[edge].to);
      }
  return levels[sink] >= 0;
}

/// Fills one path of the level graph; 0 without a path.
double MinCut::augment(int source, int sink) {
  path.clear();
  for (int at = source; at != sink;) {
    int &edge = current[at];
    while (edge >= 0 && (edges[edge].left <= smallest || levels[edges[edge].to] != levels[at] + 1))
      edge = edges[edge].next;
    if (edge >= 0) {
      path.push_back(edge);
      at = edges[edge].to;
      continue;
    }
    if (path.empty())
      return 0;
    // A dead end: its edge is not tried again.
    at = edges[path.back() ^ 1].to;
    current[at] = edges[current[at]].next;
    path.pop_back();
  }
  double amount = kNever;
  for (int edge : path)
    amount = std::min(amount, edges[edge].left);
  for (int edge : path) {
    edges[edge].left -= amount;
    edges[edge ^ 1].left += amount;
  }
  return amount;
}

double MinCut::solve(int source, int sink, const IsOver &isOver) {
  static constexpr int kPathsPerQuestion = 64;
  double total = 0, most = 0;
  int paths = 0;
  auto ask = [&] { return ended = isOver && isOver(); };
  ended = false;
  for (const Edge &edge : edges)
    if (edge.left < kNever)
      most = std::max(most, edge.left);
  smallest = most * 1e-12;
  while (findLevels(source, sink) && !ask()) {
    current = first;
    while (double amount = augment(source, sink)) {
      total += amount;
      if (total >= kNever || (++paths % kPathsPerQuestion == 0 && ask()))
        return total;
    }
  }
  return total;
}
