// reprise: the mesh and the shardings that a module has as ops of MLIR's dialect shard
#include "reprise/Dialect/Reprise/Transforms/Grid.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"

using namespace mlir;
using namespace reprise;

//===-- Grid ----------------------------------------------------------------------------------===//

FailureOr<Grid> Grid::find(ModuleOp module) {
  Grid grid;
  for (auto op : module.getOps<shard::GridOp>()) {
    if (grid) {
      InFlightDiagnostic error = op.emitError("expected one grid in a module");
      error.attachNote(grid.op.getLoc()) << "the first grid";
      return error;
    }
    grid.op = op;
  }
  if (!grid)
    return grid;
  ArrayRef<int64_t> shape = grid.op.getShape();
  if (ShapedType::isDynamicShape(shape))
    return grid.op.emitError("expected a known size of each axis of '")
           << grid.op.getSymName() << "'";
  if (auto given = grid.op->getAttrOfType<ArrayAttr>(kAxesAttr)) {
    for (auto name : given.getAsRange<StringAttr>())
      grid.names.push_back(name);
    return grid;
  }
  if (shape.size() > 3)
    return grid.op.emitError("expected up to 3 axes (data, stage and model) of '")
           << grid.op.getSymName() << "', got " << shape.size();
  static constexpr StringRef axes[] = {kDataAxis, kStageAxis, kModelAxis};
  if (shape.size() == 2)
    grid.names = {kDataAxis, kModelAxis};
  else
    grid.names.assign(std::end(axes) - shape.size(), std::end(axes));
  return grid;
}

StringRef Grid::getName(int64_t axis) const {
  bool isKnown = axis >= 0 && axis < static_cast<int64_t>(names.size());
  return isKnown ? names[axis] : StringRef();
}

std::optional<int64_t> Grid::getSize(StringRef name) const {
  const StringRef *found = llvm::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(op.getShape()[found - names.begin()]);
}

LogicalResult Grid::check(int64_t replicas, int64_t stages, int64_t parts) const {
  if (!op)
    return success();
  const std::tuple<StringRef, StringRef, int64_t> axes[] = {
      {kDataAxis, "replicas", replicas},
      {kStageAxis, "stages", stages},
      {kModelAxis, "parts of the model", parts}};
  for (auto [name, what, requested] : axes)
    if (std::optional<int64_t> size = getSize(name); size && *size != requested)
      return op.emitError("the axis '")
             << name << "' of the grid '" << op.getSymName() << "' has " << *size << " " << what
             << ", but the options request " << requested;
  return success();
}

//===-- Shardings -----------------------------------------------------------------------------===//

namespace {

/// Reader of the `shard.shard` ops of an entry.
class ShardingReader {
public:
  ShardingReader(func::FuncOp entry, const Grid &grid) : entry(entry), grid(grid) {}

  LogicalResult read(shard::ShardOp op);

private:
  static BlockArgument findArgument(Value value, func::FuncOp entry);
  std::string nameOf(unsigned argument) const;
  LogicalResult checkForm(shard::ShardingOp sharding, StringRef name) const;
  LogicalResult readAxis(shard::ShardOp op, BlockArgument argument, int64_t dim, int64_t axis,
                         int64_t &cut);
  LogicalResult readAxes(shard::ShardOp op, BlockArgument argument, shard::ShardingOp sharding);
  LogicalResult set(shard::ShardOp op, unsigned argument, StringRef name, Attribute value);

  func::FuncOp entry;
  const Grid &grid;
};

} // namespace

/// Returns the argument of the entry that a value is, through gradients; null for another value.
BlockArgument ShardingReader::findArgument(Value value, func::FuncOp entry) {
  while (true) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() == &entry.getBody().front())
      return argument;
    auto gradient = dyn_cast<ValueAndGradOp>(argument.getOwner()->getParentOp());
    if (!gradient)
      return {};
    value = gradient.getOperands()[argument.getArgNumber()];
  }
}

std::string ShardingReader::nameOf(unsigned argument) const {
  StringAttr name = EntrySignature(entry).getArgumentName(argument);
  return name ? name.str() : "argument" + std::to_string(argument);
}

LogicalResult ShardingReader::checkForm(shard::ShardingOp sharding, StringRef name) const {
  if (!grid || sharding.getGrid() != grid.getOp().getSymName())
    return sharding.emitError("expected a shard.grid named '") << sharding.getGrid() << "'";
  if (!sharding.getStaticHaloSizes().empty() || !sharding.getDynamicHaloSizes().empty())
    return sharding.emitError("expected no halos of '") << name << "': parts do not overlap";
  if (!sharding.getStaticShardedDimsOffsets().empty() ||
      !sharding.getDynamicShardedDimsOffsets().empty())
    return sharding.emitError("expected no offsets of '")
           << name << "': parts of an array have equal sizes";
  return success();
}

LogicalResult ShardingReader::set(shard::ShardOp op, unsigned argument, StringRef name,
                                  Attribute value) {
  Attribute earlier = entry.getArgAttr(argument, name);
  if (earlier && earlier != value)
    return op.emitError("'") << nameOf(argument) << "' has another sharding: " << earlier << " as '"
                             << name << "'";
  entry.setArgAttr(argument, name, value);
  return success();
}

/// Reads an axis along which a dimension is cut. `cut` becomes the dimension of the axis model.
LogicalResult ShardingReader::readAxis(shard::ShardOp op, BlockArgument argument, int64_t dim,
                                       int64_t axis, int64_t &cut) {
  unsigned number = argument.getArgNumber();
  std::string name = nameOf(number);
  StringRef axisName = grid.getName(axis);
  if (axisName.empty())
    return op.emitError("dimension ")
           << dim << " of '" << name << "' is cut along axis " << axis << ", but the grid has "
           << grid.getOp().getRank() << " axes, numbered from 0";
  if (axisName == kModelAxis) {
    if (cut >= 0)
      return op.emitError("dimensions ")
             << cut << " and " << dim << " of '" << name << "' are cut along one axis";
    cut = dim;
    return success();
  }
  StringRef role = EntrySignature(entry).getRole(number);
  if (axisName == kStageAxis)
    return op.emitError("dimension ") << dim << " of '" << name
                                      << "' is cut along the axis 'stage', which cuts ops and no "
                                         "arrays";
  if (!role.empty() && role != "input")
    return op.emitError("dimension ")
           << dim << " of the " << role << " '" << name
           << "' is cut along the axis 'data', but replicas own rows of arrays without a sharding";
  return set(op, number, EntrySignature::kBatchDim,
             IntegerAttr::get(IntegerType::get(op.getContext(), 64), dim));
}

/// Reads the axes of all dimensions. An input that is cut along the axis data alone is free to
/// follow other values along the axis model.
LogicalResult ShardingReader::readAxes(shard::ShardOp op, BlockArgument argument,
                                       shard::ShardingOp sharding) {
  unsigned number = argument.getArgNumber();
  std::string name = nameOf(number);
  int64_t rank = op.getResult().getType().getRank(), cut = -1;
  bool isWhole = true;
  for (auto [i, axes] : llvm::enumerate(sharding.getSplitAxes())) {
    if (axes.empty())
      continue;
    auto dim = static_cast<int64_t>(i);
    isWhole = false;
    if (dim >= rank)
      return op.emitError("dimension ")
             << dim << " of '" << name << "' is cut, but '" << name << "' has " << rank
             << (rank == 1 ? " dimension" : " dimensions");
    if (axes.size() > 1)
      return op.emitError("dimension ")
             << dim << " of '" << name << "' is cut along " << axes.size() << " axes: expected one";
    if (failed(readAxis(op, argument, dim, axes[0], cut)))
      return failure();
  }
  if (!isWhole && cut < 0)
    return success();
  return set(op, number, kShardAttr, makeSharding(op.getContext(), rank, cut));
}

LogicalResult ShardingReader::read(shard::ShardOp op) {
  BlockArgument argument = findArgument(op.getSrc(), entry);
  if (!argument)
    return op.emitError("expected a sharding of an argument of '")
           << entry.getName() << "': shardings of all other values follow";
  std::string name = nameOf(argument.getArgNumber());
  auto sharding = op.getSharding().getDefiningOp<shard::ShardingOp>();
  if (!sharding)
    return op.emitError("expected the sharding of '") << name << "' from a shard.sharding";
  if (failed(checkForm(sharding, name)) || failed(readAxes(op, argument, sharding)))
    return failure();
  op.replaceAllUsesWith(op.getSrc());
  op.erase();
  return success();
}

LogicalResult reprise::takeShardings(func::FuncOp entry) {
  FailureOr<Grid> grid = Grid::find(entry->getParentOfType<ModuleOp>());
  if (failed(grid))
    return failure();
  SmallVector<shard::ShardOp> ops;
  SmallVector<shard::ShardingOp> shardings;
  entry.walk([&](shard::ShardOp op) { ops.push_back(op); });
  entry.walk([&](shard::ShardingOp op) { shardings.push_back(op); });
  ShardingReader reader(entry, *grid);
  for (shard::ShardOp op : ops)
    if (failed(reader.read(op)))
      return failure();
  for (shard::ShardingOp op : shardings)
    if (op.use_empty())
      op.erase();
  return success();
}

/// Returns whether a sharding in the function cuts an argument along the axis model.
static bool hasShardings(func::FuncOp function, const Grid &grid) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto own = function.getArgAttrOfType<ArrayAttr>(i, kShardAttr))
      if (findShardedDim(own) >= 0)
        return true;
  auto isModel = [&](int16_t axis) { return grid.getName(axis) == kModelAxis; };
  auto result = function.walk([&](shard::ShardingOp op) {
    bool isCut = llvm::any_of(op.getSplitAxes(), [&](shard::GridAxesAttr axes) {
      return llvm::any_of(axes.asArrayRef(), isModel);
    });
    return isCut ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool reprise::hasShardings(ModuleOp module, StringRef entry) {
  FailureOr<Grid> grid = Grid::find(module);
  return succeeded(grid) && llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
           bool isRead = function.isPrivate() || function.getName() == entry;
           return isRead && ::hasShardings(function, *grid);
         });
}
