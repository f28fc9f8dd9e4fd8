// reprise: graphs without passes, launches and labels as checkpoint problems
#include "reprise/Planning/Checkpoint/Graph/Graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace reprise::checkpoint;

static std::string name(size_t operation) { return "operation " + std::to_string(operation); }

static std::optional<std::string> checkNode(const GraphNode &node, size_t number, int values) {
  if (!std::isfinite(node.cost) || node.cost < 0)
    return name(number) + " has a cost below 0 or none";
  std::vector<int> seen = node.operands;
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end())
    return name(number) + " lists an operand twice";
  if (!seen.empty() && (seen.front() < 0 || seen.back() >= values))
    return name(number) + " reads a value before it is computed";
  return std::nullopt;
}

std::optional<std::string> reprise::checkpoint::checkNodes(const std::vector<GraphNode> &nodes) {
  static constexpr int64_t kMostBytes = int64_t{1} << 61;
  static constexpr double kMostCost = 1e30; // sums of replays stay finite
  int64_t bytes = 0;
  int values = 0;
  for (const GraphNode &node : nodes)
    for (int64_t own : node.bytes) {
      if (own < 0 || own > kMostBytes - bytes)
        return "value " + std::to_string(values) + " has a size below 0 or too large";
      bytes += own;
      ++values;
    }
  double cost = 0;
  values = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (auto wrong = checkNode(nodes[i], i, values))
      return wrong;
    values += static_cast<int>(nodes[i].bytes.size());
    cost += nodes[i].cost;
  }
  if (cost > kMostCost)
    return "the costs are more than 1e30 together";
  return std::nullopt;
}

Graph reprise::checkpoint::makeGraph(std::vector<GraphNode> nodes) {
  Graph graph;
  auto &[problem, footprint, links] = graph;
  auto count = static_cast<int>(nodes.size());
  problem.readsAnyReplay = true;
  problem.containers = {{-1}, {0}};
  problem.operations.resize(nodes.size());
  footprint.numLaunches = count;
  links.next.resize(nodes.size());
  for (int i = 0; i < count; ++i) {
    Problem::Operation &op = problem.operations[i];
    op.container = 1;
    op.operands = std::move(nodes[i].operands);
    op.firstResult = static_cast<int>(problem.values.size());
    op.numResults = static_cast<int>(nodes[i].bytes.size());
    for (int64_t bytes : nodes[i].bytes)
      problem.values.push_back({i, bytes, static_cast<int>(problem.values.size())});
    footprint.seconds.push_back(nodes[i].cost);
    footprint.launches.push_back(i);
    for (int operand : op.operands)
      if (std::vector<int> &next = links.next[problem.values[operand].operation];
          next.empty() || next.back() != i)
        next.push_back(i);
  }
  footprint.times = footprint.launches;
  footprint.makesAll.assign(nodes.size(), true);
  footprint.lastOutside.assign(problem.values.size(), -1);
  footprint.isStored.assign(problem.values.size(), true);
  links.outside.resize(problem.values.size());
  links.readers.resize(nodes.size());
  return graph;
}

std::vector<int64_t> reprise::checkpoint::findBytesInOrder(const Problem &problem) {
  std::vector<int> last; // per value
  for (const Problem::Value &value : problem.values)
    last.push_back(value.operation);
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int value : problem.operations[i].operands)
      last[value] = static_cast<int>(i);
  std::vector<int64_t> bytes(problem.operations.size() + 1);
  for (size_t value = 0; value < problem.values.size(); ++value) {
    bytes[problem.values[value].operation] += problem.values[value].bytes;
    bytes[last[value] + 1] -= problem.values[value].bytes;
  }
  bytes.pop_back();
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return bytes;
}

int64_t reprise::checkpoint::findBytesAtOnce(const Problem &problem, int operation) {
  const Problem::Operation &op = problem.operations[operation];
  int64_t bytes = 0;
  for (int operand : op.operands)
    bytes += problem.values[operand].bytes;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    bytes += problem.values[value].bytes;
  return bytes;
}
