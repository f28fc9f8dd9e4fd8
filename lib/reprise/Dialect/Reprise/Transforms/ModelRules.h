// reprise: shardings of arguments, from the module and from rules in a file
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELRULES_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELRULES_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Dimension of each argument with a rule that the model axis cuts, by the argument's number; -1
/// keeps the argument in one piece.
using ArgumentCuts = llvm::DenseMap<unsigned, int64_t>;

/// Reads the shardings of a step: the attributes `reprise.shard` of its arguments, and a file of
/// rules unless `path` is empty: {"version": 1, "rules": [{"match": {"name": "layer/*/mlp/weight"},
/// "shard": [null, "model"]}]}. The first rule that matches the name of an argument holds. Errors,
/// at the rule or at the argument: a rule that matches no argument; a list of another length than
/// the argument's rank; more than one cut dimension; a dimension that `lanes` does not divide; a
/// rule and an attribute that differ.
mlir::FailureOr<ArgumentCuts> readModelRules(llvm::StringRef path, ProgramOp step, int64_t lanes);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELRULES_H
