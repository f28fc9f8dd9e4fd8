// reprise: inlines blocks and records which ops formed which replay unit.
#include "Units.h"

#include "Aliases.h"
#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Planning/Checkpoint/Schedule/CutRun.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace reprise;

namespace {

class Flattener {
public:
  Flattener(UnitTree &tree, bool ignoreCheckpoints)
      : tree(tree), ignoreCheckpoints(ignoreCheckpoints) {}

  /// Flattens a block; `unit` and `checkpoint` are the innermost ones around it.
  void flatten(Block &block, int unit, int checkpoint, bool differentiated) {
    int run = -1;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.hasTrait<OpTrait::IsTerminator>() || op.hasTrait<OpTrait::ConstantLike>() ||
          isa<PauseOp>(op))
        continue;
      if (auto rule = dyn_cast<CustomVjpOp>(op)) {
        inlineBlocks(rule);
      } else if (op.getNumRegions() != 0) {
        enter(op, unit, checkpoint, differentiated);
        run = -1;
        continue;
      }
      if (run < 0)
        run = addUnit(unit, /*isRun=*/true, differentiated);
      tree.units[run].ops.push_back(&op);
      tree.ops.push_back({&op, checkpoint});
    }
  }

private:
  void enter(Operation &op, int unit, int checkpoint, bool differentiated) {
    if (auto gradient = dyn_cast<ValueAndGradOp>(op)) {
      // A gradient is transparent: autodiff inlines its ops at its place.
      if (!gradient.getBody().empty())
        flatten(gradient.getBody().front(), unit, checkpoint, /*differentiated=*/true);
      return;
    }
    if (auto marked = dyn_cast<CheckpointOp>(op); marked && !ignoreCheckpoints) {
      tree.checkpoints.push_back({checkpoint, marked.getPolicyAttr(), op.getLoc()});
      checkpoint = tree.checkpoints.size() - 1;
    }
    int inner = addUnit(unit, /*isRun=*/false, differentiated);
    if (unit >= 0)
      tree.units[unit].hasBlocks = true;
    Block &body = op.getRegion(0).front();
    flatten(body, inner, checkpoint, differentiated);
    // A loop stays, as the one op of its unit; its body is that unit once per iteration.
    if (isa<LoopOp>(op))
      tree.units[inner].ops.push_back(&op);
    else
      inlineBody(op, body);
  }

  /// Inlines blocks in a derivative, whose ops belong to the unit of the differentiated op.
  void inlineBlocks(CustomVjpOp rule) {
    rule.getBody().walk([&](Operation *inner) {
      if (isa<BlockOp, CheckpointOp>(inner)) {
        inlineBody(*inner, inner->getRegion(0).front());
      } else if (auto name = dyn_cast<NameOp>(inner)) {
        name.replaceAllUsesWith(name.getOperand());
        name.erase();
      }
    });
  }

  void inlineBody(Operation &op, Block &body) {
    Operation *yield = body.getTerminator();
    op.replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op.getBlock()->getOperations().splice(op.getIterator(), body.getOperations());
    op.erase();
  }

  int addUnit(int parent, bool isRun, bool differentiated) {
    Unit unit;
    unit.parent = parent;
    unit.isRun = isRun;
    unit.differentiated = differentiated;
    tree.units.push_back(std::move(unit));
    return tree.units.size() - 1;
  }

  UnitTree &tree;
  bool ignoreCheckpoints;
};

} // namespace

UnitTree reprise::flattenBlocks(func::FuncOp function, bool ignoreCheckpoints) {
  UnitTree tree;
  if (!function.isExternal())
    Flattener(tree, ignoreCheckpoints).flatten(function.getBody().front(), -1, -1, false);
  return tree;
}

/// The first ops of the units that the run becomes, but for the first.
static std::vector<size_t> cut(const Unit &run) {
  DenseMap<Operation *, size_t> positions;
  for (auto [i, op] : llvm::enumerate(run.ops))
    positions[op] = i;
  Aliases aliases;
  llvm::MapVector<Value, checkpoint::RunValue> values;
  for (auto [i, op] : llvm::enumerate(run.ops))
    for (Value result : op->getResults()) {
      Value root = aliases.getRoot(result);
      checkpoint::RunValue &value = values[root];
      if (root == result)
        value = {i, i, getByteSize(result.getType())};
      for (Operation *user : result.getUsers()) {
        auto found = positions.find(user);
        value.lastUse =
            std::max(value.lastUse, found == positions.end() ? run.ops.size() : found->second);
      }
    }
  // Buffers from outside are in memory in any case.
  values.remove_if([&](auto &entry) { return !positions.contains(entry.first.getDefiningOp()); });
  std::vector<checkpoint::RunValue> list;
  for (auto &entry : values)
    list.push_back(entry.second);
  return checkpoint::cutRun(run.ops.size(), list);
}

void reprise::assignPaths(UnitTree &tree) {
  std::vector<SmallVector<int64_t>> paths(tree.units.size());
  int64_t nextId = 0;
  for (size_t i = 0; i < tree.units.size(); ++i) {
    Unit &unit = tree.units[i];
    SmallVector<int64_t> &path = paths[i];
    if (unit.parent >= 0)
      path = paths[unit.parent];
    bool insideNested = unit.parent < 0 || tree.units[unit.parent].hasBlocks;
    bool isUnit = !unit.isRun || (unit.differentiated && insideNested);
    if (isUnit)
      path.push_back(nextId++);
    bool recomputed = llvm::all_of(unit.ops, [](Operation *op) { return wantsRecompute(op); });
    std::vector<size_t> cuts;
    if (isUnit && unit.isRun && recomputed)
      cuts = cut(unit);
    size_t passed = 0;
    for (size_t j = 0; j < unit.ops.size(); ++j) {
      if (passed < cuts.size() && cuts[passed] == j) {
        path.back() = nextId++;
        ++passed;
      }
      if (!path.empty())
        unit.ops[j]->setDiscardableAttr(kBlockAttr,
                                        DenseI64ArrayAttr::get(unit.ops[j]->getContext(), path));
    }
  }
}
