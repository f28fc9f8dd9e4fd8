// reprise: policies, which choose the values to save and to replay, and their composition.
#ifndef REPRISE_POLICY_POLICY_H
#define REPRISE_POLICY_POLICY_H

#include "reprise-c/Policy.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// Forward graph before differentiation, in program order. An op in loops has one entry per
/// iteration. The scope of an entry includes the iteration, after the scope of the loop:
/// layers/3/attention.
struct PolicyGraph {
  struct Op {
    mlir::Operation *op;
    unsigned scope;        ///< index into `scopes`
    int64_t bytes;         ///< bytes of all results
    int64_t flops;         ///< FLOPs of one execution
    int64_t iteration = 0; ///< iteration of all loops around it, innermost counting fastest
  };
  /// Value with a `reprise.name`.
  struct Name {
    std::string name;
    mlir::Value value;
    std::optional<unsigned> op; ///< index into `ops` of its op; none: an argument
    int64_t bytes;
    unsigned given = 0; ///< index in the `names` of `build`
  };
  std::vector<Op> ops; ///< ops except constants, which a plan never keeps
  std::vector<Name> names;
  std::vector<std::string> scopes; ///< distinct scopes, such as layer/3/attention; "" for none

  /// Builds the graph of the ops of a function, in program order. Reads only `name` and `value` of
  /// `names`. Without `iterates`, or with more than `kMostOps` ops in all iterations, each op has
  /// one entry.
  static PolicyGraph build(llvm::ArrayRef<mlir::Operation *> ops, std::vector<Name> names,
                           bool iterates = true);
  static constexpr int64_t kMostOps = int64_t(1) << 20;
};

/// Label and the rule that gave it, as reports show it.
struct Decision {
  Label label;
  mlir::StringAttr rule;
};

/// Labels by a policy, per op and per name: first the decision that counts, then later decisions,
/// which matter only if they are MUSTs. Empty: no label.
struct PolicyDecisions {
  std::vector<llvm::SmallVector<Decision, 1>> ops, names;

  explicit PolicyDecisions(const PolicyGraph &graph)
      : ops(graph.ops.size()), names(graph.names.size()) {}
};

/// Pure function from a forward graph to labels.
class Policy {
public:
  virtual ~Policy() = default;

  /// Fills the empty decisions; called once per graph. Emits errors at `location`.
  virtual mlir::LogicalResult decide(const PolicyGraph &graph, mlir::Location location,
                                     PolicyDecisions &decisions) const = 0;
};
using PolicyPtr = std::shared_ptr<const Policy>;

/// Context for reading policies and reporting their errors.
struct PolicyContext {
  mlir::Location location;
  /// Turns the error about a rule without a match into a warning.
  bool allowUnmatchedRules = false;
  mlir::ModuleOp module = nullptr;      ///< module whose policies `@NAME` refers to; null: none
  std::vector<std::string> within = {}; ///< policies that are being read, outermost first
  /// Folder of the rule file that is being read; empty: the working directory.
  std::string folder = {};

  /// Returns the path of a rule file or plugin; a relative path is relative to the rule file that
  /// names it.
  std::string findFile(llvm::StringRef path) const;
};

/// Policies by name, of one context: compilations do not see policies of other contexts. Not
/// thread-safe: register policies before passes run.
class PolicyRegistry {
public:
  /// Maker of a policy from its arguments, the texts between parentheses; reports errors in them.
  using Factory = std::function<mlir::FailureOr<PolicyPtr>(llvm::ArrayRef<llvm::StringRef>,
                                                           const PolicyContext &)>;
  struct Entry {
    std::string name, summary;
    std::string arguments; ///< arguments for messages, such as "NAME, ..."; empty without arguments
    Factory make;
  };

  /// Registers the built-in policies (docs/reference/Policies.md).
  PolicyRegistry();
  /// Returns the registry that all passes on this context use. The context needs
  /// registerAllDialects, and the dialect `reprise` loaded.
  static PolicyRegistry &of(mlir::MLIRContext *context);

  /// Adds a policy. Returns false if the name is taken: policies are never replaced.
  bool add(Entry entry);
  /// Adds a policy without arguments that labels every op and every named value separately. Either
  /// function may be empty.
  bool add(std::string name, std::string summary,
           std::function<std::optional<Label>(mlir::Operation *)> labelOp,
           std::function<std::optional<Label>(llvm::StringRef)> labelName = nullptr);
  /// Returns the entry; null for an unknown name.
  const Entry *find(llvm::StringRef name) const;
  /// Returns the names of policies without arguments, sorted.
  std::vector<std::string> names() const;
  const std::map<std::string, Entry, std::less<>> &all() const { return entries; }

  /// Makes plugins run in this process, for hosts that forbid fork. By default they run in a child
  /// process.
  void runPluginsHere() { isHere = true; }
  bool runsPluginsHere() const { return isHere; }

private:
  std::map<std::string, Entry, std::less<>> entries;
  bool isHere = false;
};

/// Gives every context of `registry` a registry of policies.
void registerPolicies(mlir::DialectRegistry &registry);

/// Reads a policy: NAME or NAME(ARGUMENT, ...), where an argument may be a policy; a rule file,
/// PATH.json; a plugin, plugin:PATH{OPTIONS}; or @NAME, a policy in the IR. Errors in a file have
/// its line and column.
mlir::FailureOr<PolicyPtr> parsePolicy(llvm::StringRef text, const PolicyContext &context);

/// Makes a policy from a table of the C interface, run in this process: `decide` and `explain` get
/// `self`, which `create` has not made. Both outlive the policy.
PolicyPtr makePolicy(llvm::StringRef name, const rp_policy &table, void *self);

/// Returns true for a rule file and a plugin, whose errors are about a file and not about a name.
bool isPolicyFile(llvm::StringRef text);

/// Splits at commas outside of parentheses and braces, and trims the parts.
llvm::SmallVector<llvm::StringRef> splitPolicies(llvm::StringRef text);

/// Returns the label of an op that no other source labels. Results that are discrete choices among
/// floats (argmax) are saved, so that no choice is made twice. The positions of max_pool have no
/// such label: only its own gradient reads them, and they are as large as its result and cheap to
/// compute again.
std::optional<Label> getIntrinsicLabel(mlir::Operation *op);

/// Source of a label, innermost first.
enum class LabelOrigin { Name, Op, Checkpoint, Policy, Nature };

/// Label and its source: "op", "name X", "checkpoint", "policy X" or "intrinsic".
struct LabelSource {
  Label label;
  mlir::StringAttr rule;
  mlir::Location location;
  LabelOrigin origin = LabelOrigin::Op;
};

/// Composes the labels of one value, innermost source first: the first MUST, otherwise the first
/// label. Null without sources. `clash` receives two sources whose MUSTs contradict each other.
const LabelSource *resolveLabels(llvm::ArrayRef<LabelSource> sources,
                                 std::optional<std::pair<LabelSource, LabelSource>> &clash);

} // namespace reprise

#endif
