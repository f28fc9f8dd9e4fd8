// reprise: all orders of a set in which given subsets are contiguous
#include "OrderTree.h"

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace reprise::offsets;

OrderTree::OrderTree(const std::vector<int32_t> &leaves) {
  Nodes nodes(leaves.size());
  for (size_t i = 0; i < leaves.size(); ++i)
    nodes[i].leaf = leaves[i];
  root = makeFree(std::move(nodes));
}

/// Makes a node that allows any order of the nodes, at least one.
OrderTree::Node OrderTree::makeFree(Nodes nodes) {
  if (nodes.size() == 1)
    return std::move(nodes.front());
  Node node;
  node.count = 0;
  for (const Node &child : nodes) {
    node.count += child.count;
    node.marked += child.marked;
  }
  node.children = std::move(nodes);
  return node;
}

void OrderTree::count(Node &node, const std::vector<char> &isMarked) {
  if (node.leaf >= 0) {
    node.count = 1;
    node.marked = isMarked[node.leaf];
    return;
  }
  node.count = node.marked = 0;
  for (Node &child : node.children) {
    count(child, isMarked);
    node.count += child.count;
    node.marked += child.marked;
  }
}

bool OrderTree::gather(const std::vector<char> &isMarked) {
  count(root, isMarked);
  return gatherAt(root);
}

/// Gathers the marked leaves at the lowest node that contains all of them.
bool OrderTree::gatherAt(Node &node) {
  if (node.isFull())
    return true;
  for (Node &child : node.children)
    if (child.marked == node.marked)
      return gatherAt(child);
  return node.isFixed ? gatherFixed(node) : gatherFree(node);
}

/// Gathers at a free node: full children become contiguous; a partially full child goes to either
/// end of them.
bool OrderTree::gatherFree(Node &node) {
  Nodes empty, full, partial;
  for (Node &child : node.children)
    (child.isEmpty() ? empty : child.isFull() ? full : partial).push_back(std::move(child));
  if (partial.size() > 2)
    return false;
  Node together;
  if (partial.empty()) {
    together = makeFree(std::move(full));
  } else {
    Nodes row, last;
    if (!flatten(std::move(partial[0]), row))
      return false;
    if (!full.empty())
      row.push_back(makeFree(std::move(full)));
    if (partial.size() == 2 && !flatten(std::move(partial[1]), last))
      return false;
    std::move(last.rbegin(), last.rend(), std::back_inserter(row));
    together = makeFree(std::move(row));
    together.isFixed = true;
  }
  empty.push_back(std::move(together));
  node = makeFree(std::move(empty));
  return true;
}

/// Gathers at a fixed node: between two full children all children must be full.
bool OrderTree::gatherFixed(Node &node) {
  size_t first = 0, last = node.children.size() - 1;
  while (node.children[first].isEmpty())
    ++first;
  while (node.children[last].isEmpty())
    --last;
  Nodes row;
  for (size_t i = 0; i < node.children.size(); ++i) {
    Node &child = node.children[i];
    if (child.isEmpty() || child.isFull()) {
      if (child.isEmpty() && first < i && i < last)
        return false;
      row.push_back(std::move(child));
      continue;
    }
    Nodes few;
    if ((i != first && i != last) || !flatten(std::move(child), few))
      return false;
    if (i == last)
      std::reverse(few.begin(), few.end());
    std::move(few.begin(), few.end(), std::back_inserter(row));
  }
  node.children = std::move(row);
  return true;
}

/// Appends nodes in the order of a fixed node: nodes without marked leaves first, full nodes last.
bool OrderTree::flatten(Node node, Nodes &result) {
  if (node.isFull() || node.isEmpty()) {
    result.push_back(std::move(node));
    return true;
  }
  Nodes empty, full, partial;
  if (node.isFixed && (node.children.front().isFull() || node.children.back().isEmpty()))
    std::reverse(node.children.begin(), node.children.end());
  for (Node &child : node.children) {
    bool isInOrder = child.isEmpty()  ? full.empty() && partial.empty()
                     : child.isFull() ? true
                                      : full.empty();
    if (node.isFixed && !isInOrder)
      return false;
    (child.isEmpty() ? empty : child.isFull() ? full : partial).push_back(std::move(child));
  }
  if (partial.size() > 1)
    return false;
  auto append = [&](Nodes &nodes) {
    if (node.isFixed)
      std::move(nodes.begin(), nodes.end(), std::back_inserter(result));
    else if (!nodes.empty())
      result.push_back(makeFree(std::move(nodes)));
  };
  append(empty);
  if (!partial.empty() && !flatten(std::move(partial.front()), result))
    return false;
  append(full);
  return true;
}

void OrderTree::replace(const std::vector<char> &isMarked, const std::vector<int32_t> &leaves) {
  count(root, isMarked);
  Nodes nodes(leaves.size());
  for (size_t i = 0; i < leaves.size(); ++i)
    nodes[i].leaf = leaves[i];
  Node with = makeFree(std::move(nodes));
  replaceIn(root, with);
}

void OrderTree::replaceIn(Node &node, Node &with) {
  if (node.isFull()) {
    node = std::move(with);
    return;
  }
  for (Node &child : node.children)
    if (child.marked == node.marked)
      return replaceIn(child, with);
  // Full children of a fixed node, side by side: the first one gives its place.
  auto hasMarks = [](const Node &child) { return !child.isEmpty(); };
  auto end = node.children.end(), first = std::find_if(node.children.begin(), end, hasMarks);
  if (first == end)
    return;
  *first = std::move(with);
  node.children.erase(std::remove_if(first + 1, end, hasMarks), end);
}

/// The least rank of its leaves.
int32_t OrderTree::turnNode(Node &node, const std::vector<int32_t> &rank) {
  if (node.leaf >= 0)
    return rank[node.leaf];
  std::vector<std::pair<int32_t, size_t>> keys;
  for (size_t i = 0; i < node.children.size(); ++i)
    keys.push_back({turnNode(node.children[i], rank), i});
  int32_t least = std::min_element(keys.begin(), keys.end())->first;
  if (node.isFixed) {
    if (keys.back().first < keys.front().first)
      std::reverse(node.children.begin(), node.children.end());
    return least;
  }
  std::sort(keys.begin(), keys.end());
  Nodes sorted;
  for (auto [key, index] : keys)
    sorted.push_back(std::move(node.children[index]));
  node.children = std::move(sorted);
  return least;
}

void OrderTree::turn(const std::vector<int32_t> &rank) { turnNode(root, rank); }

void OrderTree::list(const Node &node, std::vector<int32_t> &result) {
  if (node.leaf >= 0)
    result.push_back(node.leaf);
  for (const Node &child : node.children)
    list(child, result);
}

std::vector<int32_t> OrderTree::leaves() const {
  std::vector<int32_t> result;
  list(root, result);
  return result;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

uint64_t OrderTree::digest(const Node &node) {
  if (node.leaf >= 0)
    return mix(node.leaf + 0x9e3779b97f4a7c15);
  uint64_t sum = 0, up = 1, down = 1;
  size_t n = node.children.size();
  std::vector<uint64_t> d(n);
  for (size_t i = 0; i < n; ++i)
    sum += d[i] = digest(node.children[i]);
  if (!node.isFixed || n == 2)
    return mix(sum + 7);
  for (size_t i = 0; i < n; ++i) {
    up = mix(up * 3 + d[i]);
    down = mix(down * 3 + d[n - 1 - i]);
  }
  return mix(up + down);
}

double OrderTree::freedom(const Node &node) {
  if (node.leaf >= 0)
    return 0;
  double sum = node.isFixed ? std::log(2) : std::lgamma(node.children.size() + 1.0);
  for (const Node &child : node.children)
    sum += freedom(child);
  return sum;
}
