// reprise: the forward graph as policies see it
#include "reprise/Policy/Policy.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace reprise {

namespace {

/// Loop around an op during iteration.
struct Level {
  std::string scope; ///< scope of the loop
  int64_t iteration;
};

/// Table that numbers scopes in their order. Ops of one place share a location, which is looked up
/// first.
class ScopeTable {
public:
  explicit ScopeTable(std::vector<std::string> &scopes) : scopes(scopes) {}

  unsigned get(Location location, ArrayRef<Level> levels) {
    if (!levels.empty())
      return get(spell(location, levels));
    auto [known, isNew] = ofLocation.try_emplace(location);
    if (isNew)
      known->second = get(getScope(location));
    return known->second;
  }

  static std::string spell(Location location, ArrayRef<Level> levels) {
    std::string scope = getScope(location);
    for (const Level &level : levels)
      scope = insertIteration(scope, level.scope, level.iteration);
    return scope;
  }

private:
  unsigned get(const std::string &scope) {
    auto [number, isNew] = numbers.try_emplace(scope, scopes.size());
    if (isNew)
      scopes.push_back(scope);
    return number->second;
  }

  std::vector<std::string> &scopes;
  DenseMap<Location, unsigned> ofLocation;
  llvm::StringMap<unsigned> numbers;
};

/// Returns the outermost loop around `op` and inside of `around`; null if there is none.
LoopOp findLoop(Operation *op, Operation *around) {
  LoopOp found;
  for (Operation *parent = op->getParentOp(); parent && parent != around;
       parent = parent->getParentOp())
    if (auto loop = dyn_cast<LoopOp>(parent))
      found = loop;
  return found;
}

int64_t countAll(ArrayRef<Operation *> ops) {
  int64_t count = 0;
  for (Operation *op : ops) {
    int64_t times = 1;
    for (auto loop = op->getParentOfType<LoopOp>(); loop && times <= PolicyGraph::kMostOps;
         loop = loop->getParentOfType<LoopOp>())
      times *= loop.getTrip();
    count = std::min(count + times, PolicyGraph::kMostOps + 1);
  }
  return count;
}

/// Lister of ops in execution order.
class Lister {
public:
  Lister(PolicyGraph &graph, bool iterates)
      : graph(graph), scopes(graph.scopes), iterates(iterates) {}

  /// Lists `ops`, which lie in `around`, whose iterations are `levels`; `iteration` counts through
  /// all of them.
  void list(ArrayRef<Operation *> ops, Operation *around, int64_t iteration) {
    while (!ops.empty()) {
      LoopOp loop = iterates ? findLoop(ops.front(), around) : LoopOp();
      if (!loop) {
        add(ops.front(), iteration);
        ops = ops.drop_front();
        continue;
      }
      ArrayRef<Operation *> body =
          ops.take_while([&](Operation *op) { return loop->isProperAncestor(op); });
      std::string scope = ScopeTable::spell(loop.getLoc(), levels);
      int64_t trip = loop.getTrip();
      for (int64_t i = 0; i < trip; ++i) {
        int64_t k = loop.getReverse() ? trip - 1 - i : i;
        levels.push_back({scope, k});
        list(body, loop, iteration * trip + k);
        levels.pop_back();
      }
      ops = ops.drop_front(body.size());
    }
  }

private:
  void add(Operation *op, int64_t iteration) {
    int64_t bytes = 0;
    for (Value result : op->getResults())
      bytes += getByteSize(result.getType());
    auto cost = dyn_cast<CostOpInterface>(op);
    graph.ops.push_back(
        {op, scopes.get(op->getLoc(), levels), bytes, cost ? cost.getFlops() : 0, iteration});
  }

  PolicyGraph &graph;
  ScopeTable scopes;
  bool iterates;
  SmallVector<Level> levels;
};

} // namespace

PolicyGraph PolicyGraph::build(ArrayRef<Operation *> ops, std::vector<Name> names, bool iterates) {
  PolicyGraph graph;
  Lister(graph, iterates && countAll(ops) <= kMostOps).list(ops, /*around=*/nullptr, 0);
  DenseMap<Operation *, SmallVector<unsigned, 1>> namesOf;
  DenseSet<Operation *> listed(ops.begin(), ops.end());
  auto add = [&](unsigned given, std::optional<unsigned> op) {
    const Name &name = names[given];
    graph.names.push_back({name.name, name.value, op, getByteSize(name.value.getType()), given});
  };
  for (unsigned i = 0; i < names.size(); ++i)
    if (Operation *definition = names[i].value.getDefiningOp(); listed.contains(definition))
      namesOf[definition].push_back(i);
    else
      add(i, std::nullopt);
  for (unsigned i = 0; i < graph.ops.size() && !namesOf.empty(); ++i)
    for (unsigned given : namesOf.lookup(graph.ops[i].op))
      add(given, i);
  return graph;
}

} // namespace reprise
