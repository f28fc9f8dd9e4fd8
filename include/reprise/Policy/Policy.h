// reprise: policies, which say what to save and what to compute again, and how they compose.
#ifndef REPRISE_POLICY_POLICY_H
#define REPRISE_POLICY_POLICY_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// A rule from one op's identity to a label. Both functions must be pure: they are called once per
/// op or name, in no promised order, and must not look at an op's surroundings.
struct Policy {
  std::string name;
  std::string summary;
  /// The label of all results of an op, asked through the op's interfaces and types; may be empty.
  std::function<std::optional<Label>(mlir::Operation *)> labelOp;
  /// The label of a value that `reprise.name` calls by this name; may be empty.
  std::function<std::optional<Label>(llvm::StringRef)> labelName;
};

/// Policies by name. Not thread-safe: register before passes run.
class PolicyRegistry {
public:
  /// The registry that tools and passes use; it knows the built-in policies `save-all`,
  /// `recompute-all` and `dots-saveable`.
  static PolicyRegistry &get();

  /// False if the name is taken: policies are never replaced.
  bool add(Policy policy);
  /// Null if there is none of that name.
  const Policy *find(llvm::StringRef name) const;
  /// All names, sorted.
  std::vector<std::string> names() const;

private:
  std::map<std::string, Policy, std::less<>> policies;
};

/// What an op labels itself when nobody else does: results that are discrete choices among floats
/// (argmax) are saved, so that no choice is ever made twice.
std::optional<Label> getIntrinsicLabel(mlir::Operation *op);

bool isMust(Label label);
/// True for `must_save` and `prefer_save`.
bool asksToSave(Label label);
/// True for `must_recompute` and `prefer_recompute`.
bool asksToRecompute(Label label);

/// A label and who gave it: "op", "name X", "checkpoint", "policy X" or "intrinsic".
struct LabelSource {
  Label label;
  std::string rule;
  mlir::Location location;
};

/// Composes the labels of one value, innermost source first: the first MUST, else the first label.
/// Null if there is none. Sources with different MUSTs set `clash` to the two of them.
const LabelSource *resolveLabels(llvm::ArrayRef<LabelSource> sources,
                                 std::optional<std::pair<LabelSource, LabelSource>> &clash);

} // namespace reprise

#endif
