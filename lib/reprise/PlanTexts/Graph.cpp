// reprise: graphs for the planner, as JSON
#include "Graph.h"

#include "reprise/Json/JsonScanner.h"
#include "llvm/ADT/STLExtras.h"

namespace reprise {

namespace {

struct Node {
  int64_t id = 0;
  double cost = 0;
  int64_t bytes = 0;
  int place = -1;
};

class Reader {
public:
  explicit Reader(std::string_view text) : scanner(text) {}

  std::string run(checkpoint::Graph &graph) {
    if (!scan())
      return wrong;
    sortNodes();
    if (wrong.empty())
      placeNodes();
    if (wrong.empty())
      readLinks();
    if (wrong.empty())
      build(graph);
    return wrong;
  }

private:
  /// Records the first fault of the graph.
  void refuse(std::string what) {
    if (wrong.empty())
      wrong = std::move(what);
  }
  bool scan();
  void scanNode();
  void scanLink();
  void scanLinks();
  void scanOrder();
  void sortNodes();
  void placeNodes();
  void readLinks();
  void build(checkpoint::Graph &graph);
  Node *find(std::optional<int64_t> id) {
    auto found = llvm::partition_point(nodes, [&](const Node &node) { return node.id < id; });
    return id && found != nodes.end() && found->id == *id ? &*found : nullptr;
  }

  JsonScanner scanner;
  std::string wrong;
  bool hasLinks = false;
  std::vector<Node> nodes; // by id, after sorting
  std::vector<std::pair<std::optional<int64_t>, std::optional<int64_t>>> links;
  std::optional<std::vector<int64_t>> order;
  std::vector<std::vector<int>> operands; // by position
};

bool Reader::scan() {
  bool hasNodes = false;
  bool isObject = scanner.readObject([&](std::string_view key) {
    if (key == "nodes")
      hasNodes = scanner.readArray([&] { scanNode(); });
    // Networkx wrote "links" until 3.3, and writes "edges" since.
    else if (key == "links" || key == "edges")
      scanLinks();
    else if (key == "graph")
      scanner.readObject([&](std::string_view own) {
        if (own == "order")
          scanOrder();
        else
          scanner.skip();
      });
    else
      scanner.skip();
  });
  scanner.finish();
  if (!scanner.error().empty())
    wrong = "syntax error: " + scanner.error();
  else if (!isObject)
    wrong = "expected an object with 'nodes' and 'links' or 'edges'";
  else if (!hasNodes || (nodes.empty() && wrong.empty()))
    wrong = "expected 'nodes', an array with one node or more";
  return wrong.empty();
}

void Reader::scanLinks() {
  if (hasLinks)
    refuse("expected 'links' or 'edges' once");
  hasLinks = scanner.readArray([&] { scanLink(); });
}

void Reader::scanNode() {
  std::optional<int64_t> id, name, bytes, outCost;
  std::optional<double> cost, duration;
  scanner.readObject([&](std::string_view key) {
    if (key == "id" || key == "name")
      (key == "id" ? id : name) = scanner.readInteger();
    else if (key == "cost_cpu" || key == "duration")
      (key == "duration" ? duration : cost) = scanner.readNumber();
    else if (key == "cost_ram" || key == "out_cost")
      (key == "out_cost" ? outCost : bytes) = scanner.readInteger();
    else
      scanner.skip();
  });
  id = id ? id : name;
  cost = cost ? cost : duration;
  bytes = bytes ? bytes : outCost;
  std::string where = "node " + std::to_string(nodes.size()) + ": ";
  if (!id)
    refuse(where + "expected an 'id' or 'name', an integer");
  else if (!cost)
    refuse(where + "expected 'cost_cpu' or 'duration', a number");
  else if (!bytes)
    refuse(where + "expected 'cost_ram' or 'out_cost', an integer");
  nodes.push_back({id.value_or(0), cost.value_or(0), bytes.value_or(0)});
}

void Reader::scanLink() {
  links.emplace_back();
  scanner.readObject([&](std::string_view key) {
    if (key == "source" || key == "0")
      links.back().first = scanner.readInteger();
    else if (key == "target" || key == "1")
      links.back().second = scanner.readInteger();
    else
      scanner.skip();
  });
}

void Reader::scanOrder() {
  std::vector<int64_t> list;
  if (scanner.readArray([&] { list.push_back(scanner.readInteger().value_or(-1)); }))
    order = std::move(list);
}

void Reader::sortNodes() {
  llvm::sort(nodes, [](const Node &a, const Node &b) { return a.id < b.id; });
  auto twice = std::adjacent_find(nodes.begin(), nodes.end(),
                                  [](const Node &a, const Node &b) { return a.id == b.id; });
  if (twice != nodes.end())
    refuse("there are two nodes with the id " + std::to_string(twice->id));
}

void Reader::placeNodes() {
  if (!order) {
    for (auto [place, node] : llvm::enumerate(nodes))
      node.place = static_cast<int>(place);
    return;
  }
  for (auto [place, id] : llvm::enumerate(*order)) {
    Node *node = find(id);
    if (!node || node->place >= 0)
      return refuse("'graph.order' lists " + std::to_string(id) +
                    ", which is no node or was listed");
    node->place = static_cast<int>(place);
  }
  if (order->size() != nodes.size())
    refuse("'graph.order' leaves out nodes");
}

void Reader::readLinks() {
  if (!hasLinks)
    return refuse("expected 'links' or 'edges', an array");
  operands.resize(nodes.size());
  for (auto [i, link] : llvm::enumerate(links)) {
    std::string where = "link " + std::to_string(i) + ": ";
    const Node *source = find(link.first), *target = find(link.second);
    if (!source || !target)
      return refuse(where + "expected 'source' and 'target', ids of nodes");
    if (source->place >= target->place)
      return refuse(where + "goes against the order");
    operands[target->place].push_back(source->place);
  }
  for (std::vector<int> &list : operands) {
    llvm::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

void Reader::build(checkpoint::Graph &graph) {
  std::vector<checkpoint::GraphNode> made(nodes.size());
  for (const Node &node : nodes)
    made[node.place] = {node.cost, std::move(operands[node.place]), {node.bytes}};
  wrong = checkNodes(made).value_or("");
  if (wrong.empty())
    graph = makeGraph(std::move(made));
}

} // namespace

std::string readGraph(llvm::StringRef text, checkpoint::Graph &graph) {
  return Reader(text).run(graph);
}

} // namespace reprise
