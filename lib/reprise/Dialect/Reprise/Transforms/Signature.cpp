// reprise: the names and roles of the entry function's arguments and results.
#include "Signature.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Sizes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace reprise {

static LogicalResult checkArgument(func::FuncOp entry, unsigned i) {
  Type type = entry.getArgument(i).getType();
  if (!isModelTensor(type))
    return entry.emitError("expected a statically shaped tensor of f32, f64, bf16, f16, i32, i64 "
                           "or i1 as argument ")
           << i << " of the entry but got " << type;
  StringRef role = EntrySignature(entry).getRole(i);
  if (!role.empty() && role != "input" && role != "parameter" && role != "state")
    return entry.emitError("the role '") << role << "' is reserved (argument " << i << ")";
  return success();
}

/// Names become file names and keys of a bundle; some of its arguments have names of their own.
static LogicalResult checkName(func::FuncOp entry, StringRef kind, StringRef name,
                               llvm::StringSet<> &seen) {
  if (name.empty() || name.contains('\0'))
    return entry.emitError("expected a name without null characters for each ")
           << kind << " of the entry";
  if (name == "seed" || name == "offset" || name == "step")
    return entry.emitError("the ") << kind << " name '" << name << "' is reserved";
  if (!seen.insert(name).second)
    return entry.emitError("two ") << kind << "s of the entry have the name '" << name << "'";
  return success();
}

/// A result that carries an argument's name must have its type.
static LogicalResult checkNextValues(func::FuncOp entry) {
  EntrySignature signature(entry);
  for (auto [i, argument] : llvm::enumerate(signature.getReplacedArguments())) {
    if (argument < 0)
      continue;
    Type type = entry.getArgumentTypes()[argument];
    if (type != entry.getResultTypes()[i])
      return entry.emitError("result '") << signature.getResultName(i).getValue()
                                         << "' is the next value of an argument of type " << type
                                         << " but has type " << entry.getResultTypes()[i];
  }
  return success();
}

/// Sets `name` to `value` unless it has a value.
static DictionaryAttr complete(DictionaryAttr attributes, StringRef name, const Twine &value) {
  NamedAttrList list(attributes);
  if (!list.get(name))
    list.set(name, StringAttr::get(attributes.getContext(), value));
  return list.getDictionary(attributes.getContext());
}

/// Completes all attributes together, because each list of attributes is unique in the context and
/// lives as long as the context.
static void completeAttributes(func::FuncOp entry) {
  MLIRContext *context = entry.getContext();
  auto get = [&](DictionaryAttr own) { return own ? own : DictionaryAttr::get(context); };
  SmallVector<DictionaryAttr> arguments, results;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    DictionaryAttr own = complete(get(entry.getArgAttrDict(i)), EntrySignature::kRole, "input");
    arguments.push_back(complete(own, EntrySignature::kName, "argument" + Twine(i)));
  }
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    results.push_back(
        complete(get(entry.getResultAttrDict(i)), EntrySignature::kName, "result" + Twine(i)));
  entry.setAllArgAttrs(arguments);
  entry.setAllResultAttrs(results);
}

LogicalResult completeSignature(func::FuncOp entry) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (failed(checkArgument(entry, i)))
      return failure();
  completeAttributes(entry);
  EntrySignature signature(entry);
  llvm::StringSet<> names, results;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    StringRef name = signature.getArgumentName(i).getValue();
    if (failed(checkName(entry, "argument", name, names)))
      return failure();
  }
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    StringRef name = signature.getResultName(i).getValue();
    if (failed(checkName(entry, "result", name, results)))
      return failure();
  }
  return checkNextValues(entry);
}

} // namespace reprise
