// reprise: shardings of Shardy as ops of MLIR's dialect shard
#include "Shardings.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Builders.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// Sharding of an argument: its mesh, and the axis of each dimension; empty for no axis.
struct Sharding {
  StringRef mesh;
  SmallVector<StringRef> axes;
  bool isOpen = false; ///< whether a dimension may be cut further
};

/// Reader of the text `sharding<@mesh, [{"x"}, {?}]>`.
class ShardingText {
public:
  explicit ShardingText(StringRef text) : rest(text) {}

  /// Returns what is wrong with the text; empty if it was read.
  std::string read(Sharding &sharding);

private:
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  std::string readDim(Sharding &sharding);

  StringRef rest;
};

} // namespace

std::string ShardingText::readDim(Sharding &sharding) {
  StringRef axis;
  if (!take("{"))
    return "has an unknown form";
  while (!take("}")) {
    if (take("?")) {
      sharding.isOpen = true;
      continue;
    }
    if (take(","))
      continue;
    if (!take("\"") || !rest.contains('"'))
      return "has an unknown form";
    if (!axis.empty())
      return "cuts dimension " + std::to_string(sharding.axes.size()) + " along several axes";
    std::tie(axis, rest) = rest.split('"');
    if (take(":"))
      return "cuts dimension " + std::to_string(sharding.axes.size()) + " along a part of an axis";
  }
  if (take("p")) // a priority
    rest = rest.drop_while(llvm::isDigit);
  sharding.axes.push_back(axis);
  return "";
}

std::string ShardingText::read(Sharding &sharding) {
  if (!take("sharding<@"))
    return "has an unknown form";
  std::tie(sharding.mesh, rest) = rest.split(',');
  if (!take("["))
    return "has an unknown form";
  while (!take("]")) {
    if (take(","))
      continue;
    if (std::string wrong = readDim(sharding); !wrong.empty())
      return wrong;
  }
  if (rest.contains("unreduced"))
    return "is of a sum that is not made";
  return rest.ends_with(">") ? "" : "has an unknown form";
}

namespace {

/// Axis of a mesh, and its name in a grid; empty if it has none.
struct Axis {
  StringRef name, own;
  int64_t size;
};

/// Import of the shardings of one function.
class ShardingImporter {
public:
  ShardingImporter(ModuleOp module, func::FuncOp source, func::FuncOp model,
                   ArrayRef<std::string> renamed)
      : module(module), source(source), model(model), renamed(renamed),
        builder(module.getContext()) {}

  LogicalResult run();

private:
  InFlightDiagnostic fail(unsigned argument) {
    return emitError(source.getArgument(argument).getLoc())
           << "the sharding of argument " << argument << " ";
  }
  LogicalResult readMesh(unsigned argument, StringRef name);
  LogicalResult readArgument(unsigned argument);
  FailureOr<int16_t> findAxis(unsigned argument, StringRef name);
  void writeGrid();

  ModuleOp module;
  func::FuncOp source, model;
  ArrayRef<std::string> renamed;
  OpBuilder builder;
  StringRef mesh;
  SmallVector<Axis> axes; ///< data and model, as far as the mesh has them, in this order
  SmallVector<StringRef> unknown;
  llvm::SmallDenseMap<unsigned, SmallVector<SmallVector<int16_t>>> found;
};

} // namespace

/// Reads the axes of the mesh of an argument.
LogicalResult ShardingImporter::readMesh(unsigned argument, StringRef name) {
  if (mesh == name)
    return success();
  if (!mesh.empty())
    return fail(argument) << "is of another mesh than '" << mesh << "': '" << name << "'";
  Operation *op = SymbolTable::lookupSymbolIn(module, name);
  auto names = op ? op->getAttrOfType<ArrayAttr>("axes") : ArrayAttr();
  if (!names)
    return fail(argument) << "is of an unknown mesh '" << name << "'";
  mesh = name;
  auto sizes = op->getAttrOfType<DenseI64ArrayAttr>("sizes");
  for (auto [each, size] : llvm::zip(names.getAsRange<StringAttr>(), sizes.asArrayRef())) {
    StringRef own = each.getValue();
    for (StringRef pair : renamed)
      if (auto [from, to] = pair.split(':'); from == each.getValue())
        own = to;
    if (own == kDataAxis || own == kModelAxis)
      axes.push_back({each.getValue(), own, size});
    else if (size > 1)
      unknown.push_back(each.getValue());
  }
  llvm::sort(axes, [](const Axis &a, const Axis &b) { return a.own < b.own; });
  return success();
}

/// Returns the number of an axis in the grid; -1 for an axis of size 1 that the grid does not have.
FailureOr<int16_t> ShardingImporter::findAxis(unsigned argument, StringRef name) {
  auto *axis = llvm::find_if(axes, [&](const Axis &each) { return each.name == name; });
  if (axis != axes.end())
    return static_cast<int16_t>(axis - axes.begin());
  if (!llvm::is_contained(unknown, name))
    return int16_t(-1);
  return fail(argument) << "has the axis '" << name
                        << "', which is neither data nor model: add axes=" << name
                        << ":data or axes=" << name << ":model";
}

LogicalResult ShardingImporter::readArgument(unsigned argument) {
  auto old = source.getArgAttrOfType<StringAttr>(argument, "mhlo.sharding");
  auto text = source.getArgAttrOfType<StringAttr>(argument, "sdy.sharding");
  if (!text && old && old != "{replicated}" && !old.getValue().starts_with("{maximal"))
    return fail(argument) << "is mhlo.sharding = \"" << old.getValue()
                          << "\": expected sdy.sharding, which JAX writes with "
                             "jax_use_shardy_partitioner";
  if (!text)
    return success();
  Sharding sharding;
  if (std::string wrong = ShardingText(text).read(sharding); !wrong.empty())
    return fail(argument) << wrong << ": " << text.getValue();
  bool isCut = llvm::any_of(sharding.axes, [](StringRef axis) { return !axis.empty(); });
  if (!isCut && sharding.isOpen)
    return success(); // free to follow other values
  if (isCut && failed(readMesh(argument, sharding.mesh)))
    return failure();
  SmallVector<SmallVector<int16_t>> &dims = found[argument];
  for (StringRef name : sharding.axes) {
    SmallVector<int16_t> &own = dims.emplace_back();
    if (name.empty())
      continue;
    FailureOr<int16_t> axis = findAxis(argument, name);
    if (failed(axis))
      return failure();
    if (*axis >= 0)
      own.push_back(*axis);
  }
  return success();
}

void ShardingImporter::writeGrid() {
  SmallVector<int64_t> shape;
  SmallVector<Attribute> names;
  for (const Axis &axis : axes) {
    shape.push_back(axis.size);
    names.push_back(builder.getStringAttr(axis.own));
  }
  SymbolTable::lookupSymbolIn(module, mesh)->erase();
  builder.setInsertionPointToStart(module.getBody());
  auto grid = shard::GridOp::create(builder, module.getLoc(), mesh, shape);
  grid->setAttr(kAxesAttr, builder.getArrayAttr(names));
}

LogicalResult ShardingImporter::run() {
  for (unsigned i = 0; i < source.getNumArguments(); ++i)
    if (failed(readArgument(i)))
      return failure();
  bool isCut = llvm::any_of(found, [](const auto &entry) {
    return llvm::any_of(entry.second, [](const auto &dim) { return !dim.empty(); });
  });
  if (!isCut)
    return success();
  builder.setInsertionPointToStart(&model.getBody().front());
  for (BlockArgument argument : model.getArguments()) {
    auto own = found.find(argument.getArgNumber());
    if (own == found.end() || own->second.empty())
      continue;
    SmallVector<shard::GridAxesAttr> split;
    for (const SmallVector<int16_t> &dim : own->second)
      split.push_back(shard::GridAxesAttr::get(module.getContext(), dim));
    auto sharding = shard::ShardingOp::create(
        builder, argument.getLoc(), FlatSymbolRefAttr::get(module.getContext(), mesh), split);
    auto marked =
        shard::ShardOp::create(builder, argument.getLoc(), argument, sharding.getResult());
    argument.replaceAllUsesExcept(marked.getResult(), marked);
  }
  writeGrid();
  return success();
}

LogicalResult importShardings(ModuleOp module, func::FuncOp source, func::FuncOp model,
                              ArrayRef<std::string> axes) {
  return ShardingImporter(module, source, model, axes).run();
}

} // namespace reprise::stablehlo
