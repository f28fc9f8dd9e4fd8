// reprise: graphs for the planner, as JSON
#include "Graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <map>

using llvm::json::Array;
using llvm::json::Object;

namespace reprise::remat {

namespace {

struct Node {
  int64_t id = 0;
  double cost = 0;
  int64_t bytes = 0;
};

/// The first of two members that is there.
const llvm::json::Value *find(const Object &object, llvm::StringRef one, llvm::StringRef other) {
  const llvm::json::Value *found = object.get(one);
  return found ? found : object.get(other);
}

class Reader {
public:
  explicit Reader(const Object &graph) : graph(graph) {}

  std::string run(Problem &problem) {
    std::string wrong = readNodes();
    if (wrong.empty())
      wrong = readOrder();
    if (wrong.empty())
      wrong = readLinks();
    if (wrong.empty())
      build(problem);
    return wrong;
  }

private:
  std::string readNodes();
  std::string readOrder();
  std::string readLinks();
  void build(Problem &problem) const;

  const Object &graph;
  std::map<int64_t, Node> nodes;
  std::map<int64_t, int> places;
  std::vector<int64_t> order;
  std::vector<std::vector<int>> operands; // by place
};

std::string Reader::readNodes() {
  const Array *list = graph.getArray("nodes");
  if (!list || list->empty())
    return "expected 'nodes', an array with one node or more";
  for (auto [i, value] : llvm::enumerate(*list)) {
    std::string where = "node " + std::to_string(i) + ": ";
    const Object *node = value.getAsObject();
    const llvm::json::Value *id = node ? find(*node, "id", "name") : nullptr;
    const llvm::json::Value *cost = node ? find(*node, "cost_cpu", "duration") : nullptr;
    const llvm::json::Value *bytes = node ? find(*node, "cost_ram", "out_cost") : nullptr;
    if (!id || !id->getAsInteger())
      return where + "expected an 'id' or 'name', an integer";
    if (!cost || !cost->getAsNumber())
      return where + "expected 'cost_cpu' or 'duration', a number";
    if (!bytes || !bytes->getAsInteger())
      return where + "expected 'cost_ram' or 'out_cost', an integer";
    Node read{*id->getAsInteger(), *cost->getAsNumber(), *bytes->getAsInteger()};
    if (!nodes.emplace(read.id, read).second)
      return where + "there are two with the id " + std::to_string(read.id);
  }
  return "";
}

std::string Reader::readOrder() {
  const Object *own = graph.getObject("graph");
  const Array *given = own ? own->getArray("order") : nullptr;
  if (given)
    for (const llvm::json::Value &value : *given)
      order.push_back(value.getAsInteger().value_or(-1));
  else
    for (const auto &[id, node] : nodes)
      order.push_back(id);
  for (auto [place, id] : llvm::enumerate(order))
    if (!nodes.count(id) || !places.emplace(id, place).second)
      return "'graph.order' lists " + std::to_string(id) + ", which is no node or was listed";
  return order.size() == nodes.size() ? "" : "'graph.order' leaves out nodes";
}

std::string Reader::readLinks() {
  const Array *links = graph.getArray("links");
  if (!links)
    return "expected 'links', an array";
  operands.resize(order.size());
  for (auto [i, value] : llvm::enumerate(*links)) {
    std::string where = "link " + std::to_string(i) + ": ";
    const Object *link = value.getAsObject();
    const llvm::json::Value *from = link ? find(*link, "source", "0") : nullptr;
    const llvm::json::Value *to = link ? find(*link, "target", "1") : nullptr;
    auto source = places.find(from ? from->getAsInteger().value_or(-1) : -1);
    auto target = places.find(to ? to->getAsInteger().value_or(-1) : -1);
    if (source == places.end() || target == places.end())
      return where + "expected 'source' and 'target', ids of nodes";
    if (source->second >= target->second)
      return where + "goes against the order";
    operands[target->second].push_back(source->second);
  }
  for (std::vector<int> &list : operands) {
    llvm::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return "";
}

void Reader::build(Problem &problem) const {
  problem = {};
  for (auto [place, id] : llvm::enumerate(order)) {
    const Node &node = nodes.at(id);
    int number = static_cast<int>(place);
    problem.operations.push_back({node.cost, operands[place], number, 1});
    problem.values.push_back({number, node.bytes});
  }
}

} // namespace

std::string readGraph(llvm::StringRef text, Problem &problem) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return "syntax error: " + llvm::toString(parsed.takeError());
  const Object *graph = parsed->getAsObject();
  if (!graph)
    return "expected an object with 'nodes' and 'links'";
  std::string wrong = Reader(*graph).run(problem);
  return wrong.empty() ? validate(problem).value_or("") : wrong;
}

} // namespace reprise::remat
