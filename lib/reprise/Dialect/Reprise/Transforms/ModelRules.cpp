// reprise: shardings of arguments, from the module and from rules in a file
#include "ModelRules.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"
#include "reprise/Policy/Selector/Selector.h"
#include "reprise/Support/JsonFile.h"

using namespace mlir;
using namespace reprise;
using llvm::json::Array;
using llvm::json::Object;

namespace {

/// Rule for the arguments whose names match.
struct ModelRule {
  std::string where; ///< path in the file
  Glob name;
  SmallVector<bool> isCut; ///< per dimension
  bool isUsed = false;
};

class RuleReader {
public:
  RuleReader(const JsonFile &file, ProgramOp step, int64_t lanes)
      : file(file), step(step), lanes(lanes) {}

  FailureOr<ArgumentCuts> run();

private:
  LogicalResult readRules();
  LogicalResult readRule(const Object &entry, const std::string &where);
  LogicalResult readShard(const Array &list, ModelRule &rule);
  LogicalResult apply(ModelRule &rule, BlockArgument argument, StringRef name);

  const JsonFile &file;
  ProgramOp step;
  int64_t lanes;
  std::vector<ModelRule> rules;
  ArgumentCuts cuts;
};

} // namespace

LogicalResult RuleReader::readShard(const Array &list, ModelRule &rule) {
  for (auto [dim, axis] : llvm::enumerate(list)) {
    std::optional<StringRef> text = axis.getAsString();
    if (!axis.getAsNull() && text != kModelAxis)
      return file.fail(rule.where + ".shard[" + Twine(dim) + "]",
                       "expected null or the axis \"model\"");
    if (text && llvm::is_contained(rule.isCut, true))
      return file.fail(rule.where + ".shard[" + Twine(dim) + "]",
                       "expected the axis \"model\" for one dimension");
    rule.isCut.push_back(text.has_value());
  }
  return success();
}

LogicalResult RuleReader::readRule(const Object &entry, const std::string &where) {
  if (failed(file.checkKeys(entry, {"match", "shard"}, where + ".")))
    return failure();
  const Object *match = entry.getObject("match");
  if (!match)
    return file.fail(where, "expected 'match' with 'name'");
  if (failed(file.checkKeys(*match, {"name"}, where + ".match.")))
    return failure();
  std::optional<StringRef> name = match->getString("name");
  if (!name)
    return file.fail(where + ".match", "expected 'name', a glob");
  llvm::Expected<Glob> glob = Glob::create(*name);
  if (!glob)
    return file.fail(where + ".match.name", llvm::toString(glob.takeError()));
  const Array *list = entry.getArray("shard");
  if (!list)
    return file.fail(where, "expected 'shard' with null or \"model\" for each dimension");
  rules.push_back({where, std::move(*glob), {}});
  return readShard(*list, rules.back());
}

LogicalResult RuleReader::readRules() {
  if (failed(file.checkKeys(file.root(), {"version", "rules"}, "")))
    return failure();
  const Array *list = file.root().getArray("rules");
  if (!list)
    return file.fail(file.root().get("rules") ? "rules" : "", "expected 'rules', an array");
  return file.forEach(*list, "rules", "a rule", [&](const Object &entry, const std::string &where) {
    return readRule(entry, where);
  });
}

/// Returns whether lanes divide a dimension that is cut.
static bool canCut(RankedTensorType type, int64_t dim, int64_t lanes) {
  return type.getDimSize(dim) != 0 && type.getDimSize(dim) % lanes == 0;
}

/// Returns the sharding of an argument in the module; null if it has none.
static ArrayAttr getSharding(BlockArgument argument) {
  auto step = cast<ProgramOp>(argument.getOwner()->getParentOp());
  return step.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kShardAttr);
}

LogicalResult RuleReader::apply(ModelRule &rule, BlockArgument argument, StringRef name) {
  rule.isUsed = true;
  auto type = cast<RankedTensorType>(argument.getType());
  if (static_cast<int64_t>(rule.isCut.size()) != type.getRank())
    return file.fail(rule.where + ".shard", "expected " + Twine(type.getRank()) +
                                                " dimensions of '" + name + "', got " +
                                                Twine(rule.isCut.size()));
  const bool *cut = llvm::find(rule.isCut, true);
  int64_t dim = cut == rule.isCut.end() ? -1 : cut - rule.isCut.begin();
  ArrayAttr own = getSharding(argument);
  if (own && findShardedDim(own) < 0 && dim >= 0)
    return file.fail(rule.where + ".shard",
                     "expected no cut of '" + name + "', which the module keeps whole");
  if (own && findShardedDim(own) != dim)
    return file.fail(rule.where + ".shard", "expected dimension " + Twine(findShardedDim(own)) +
                                                " of '" + name + "', which the module cuts");
  if (dim >= 0 && !canCut(type, dim, lanes))
    return file.fail(rule.where + ".shard[" + Twine(dim) + "]",
                     "expected a dimension that " + Twine(lanes) + " lanes divide, dimension " +
                         Twine(dim) + " of '" + name + "' has " + Twine(type.getDimSize(dim)));
  cuts[argument.getArgNumber()] = dim;
  return success();
}

FailureOr<ArgumentCuts> RuleReader::run() {
  if (failed(readRules()))
    return failure();
  EntrySignature signature(step);
  for (BlockArgument argument : step.getArguments()) {
    StringAttr name = signature.getArgumentName(argument.getArgNumber());
    if (!name)
      continue;
    auto rule = llvm::find_if(rules, [&](ModelRule &each) { return each.name.match(name); });
    if (rule != rules.end() && failed(apply(*rule, argument, name)))
      return failure();
  }
  for (const ModelRule &rule : rules)
    if (!rule.isUsed)
      return file.fail(rule.where + ".match", "no argument of the step matches");
  return cuts;
}

/// Reads the shardings that the module has.
static LogicalResult readModule(ProgramOp step, int64_t lanes, ArgumentCuts &cuts) {
  EntrySignature signature(step);
  for (BlockArgument argument : step.getArguments()) {
    ArrayAttr own = getSharding(argument);
    if (!own)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    int64_t dim = findShardedDim(own);
    if (dim >= 0 && !canCut(type, dim, lanes))
      return emitError(argument.getLoc())
             << "expected a dimension that " << lanes << " lanes divide, dimension " << dim
             << " of '" << signature.getArgumentName(argument.getArgNumber()).getValue() << "' has "
             << type.getDimSize(dim);
    cuts[argument.getArgNumber()] = dim;
  }
  return success();
}

FailureOr<ArgumentCuts> reprise::readModelRules(StringRef path, ProgramOp step, int64_t lanes) {
  ArgumentCuts cuts;
  if (!path.empty()) {
    FailureOr<JsonFile> file =
        JsonFile::read(path, "file of shardings", {"version", "rules"}, step.getLoc());
    if (failed(file))
      return failure();
    FailureOr<ArgumentCuts> read = RuleReader(*file, step, lanes).run();
    if (failed(read))
      return failure();
    cuts = std::move(*read);
  }
  if (failed(readModule(step, lanes, cuts)))
    return failure();
  if (llvm::none_of(cuts, [](auto cut) { return cut.second >= 0; }))
    return step.emitError("expected a sharding that cuts an argument, since there are ")
           << lanes << " lanes of contractions";
  return cuts;
}
