// reprise: the forward graph as policies see it
#include "reprise/Policy/Policy.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace reprise {

namespace {

/// Numbers scopes as they come; ops of one place share a location, which is looked up first.
class ScopeTable {
public:
  explicit ScopeTable(std::vector<std::string> &scopes) : scopes(scopes) {}

  unsigned get(Location location) {
    auto [known, isNew] = ofLocation.try_emplace(location);
    if (isNew) {
      std::string scope = getScope(location);
      auto [number, isNewScope] = numbers.try_emplace(scope, scopes.size());
      if (isNewScope)
        scopes.push_back(scope);
      known->second = number->second;
    }
    return known->second;
  }

private:
  std::vector<std::string> &scopes;
  DenseMap<Location, unsigned> ofLocation;
  llvm::StringMap<unsigned> numbers;
};

} // namespace

PolicyGraph PolicyGraph::build(ArrayRef<Operation *> ops, std::vector<Name> names) {
  PolicyGraph graph;
  graph.names = std::move(names);
  ScopeTable scopes(graph.scopes);
  DenseMap<Operation *, unsigned> numbers;
  for (Operation *op : ops) {
    numbers[op] = graph.ops.size();
    int64_t bytes = 0;
    for (Value result : op->getResults())
      bytes += getByteSize(result.getType());
    auto cost = dyn_cast<CostOpInterface>(op);
    graph.ops.push_back({op, scopes.get(op->getLoc()), bytes, cost ? cost.getFlops() : 0});
  }
  for (PolicyGraph::Name &name : graph.names) {
    name.bytes = getByteSize(name.value.getType());
    if (auto found = numbers.find(name.value.getDefiningOp()); found != numbers.end())
      name.op = found->second;
  }
  return graph;
}

} // namespace reprise
