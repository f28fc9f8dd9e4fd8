// reprise: policies, which say what to save and what to compute again, and how they compose.
#ifndef REPRISE_POLICY_POLICY_H
#define REPRISE_POLICY_POLICY_H

#include "reprise-c/Policy.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// The forward graph, before anything is differentiated, in program order. An op in loops has one
/// entry per iteration. The scope of such an entry has the iteration behind that of the loop:
/// layers/3/attention.
struct PolicyGraph {
  struct Op {
    mlir::Operation *op;
    unsigned scope;        ///< index into `scopes`
    int64_t bytes;         ///< of all results
    int64_t flops;         ///< of one execution
    int64_t iteration = 0; ///< of all loops around it, the innermost counting fastest
  };
  /// A value with a `reprise.name`.
  struct Name {
    std::string name;
    mlir::Value value;
    std::optional<unsigned> op; ///< its op, an index into `ops`; none: an argument
    int64_t bytes;
    unsigned given = 0; ///< its index in the `names` of `build`
  };
  std::vector<Op> ops; ///< without constants, which a plan never keeps
  std::vector<Name> names;
  std::vector<std::string> scopes; ///< distinct ones, such as layer/3/attention; "" where none is

  /// `ops` are those of a function, in program order. Of `names` only `name` and `value` are read.
  /// Without `iterates`, or with more than `kMostOps` ops in all iterations, each op has one entry.
  static PolicyGraph build(llvm::ArrayRef<mlir::Operation *> ops, std::vector<Name> names,
                           bool iterates = true);
  static constexpr int64_t kMostOps = int64_t(1) << 20;
};

/// A label and the rule that gave it, as reports show it.
struct Decision {
  Label label;
  mlir::StringAttr rule;
};

/// What a policy asks for, per op and per name: the decision that counts, then later ones, which
/// matter only if they are MUSTs. Empty: the policy asks for nothing.
struct PolicyDecisions {
  std::vector<llvm::SmallVector<Decision, 1>> ops, names;

  explicit PolicyDecisions(const PolicyGraph &graph)
      : ops(graph.ops.size()), names(graph.names.size()) {}
};

/// A pure function from a forward graph to labels.
class Policy {
public:
  virtual ~Policy() = default;

  /// Called once per graph, with empty decisions. Emits errors at `location`.
  virtual mlir::LogicalResult decide(const PolicyGraph &graph, mlir::Location location,
                                     PolicyDecisions &decisions) const = 0;
};
using PolicyPtr = std::shared_ptr<const Policy>;

/// How policies are read, and where their errors are reported.
struct PolicyContext {
  mlir::Location location;
  bool allowUnmatchedRules = false;     ///< a rule that matches nothing is a warning, not an error
  mlir::ModuleOp module = nullptr;      ///< whose policies `@NAME` stands for; null: none
  std::vector<std::string> within = {}; ///< the policies that are being read, outermost first
  std::string folder = {}; ///< of the rule file that is being read; empty: the working directory

  /// The path of a rule file or plugin: a relative one is beside the rule file that names it.
  std::string findFile(llvm::StringRef path) const;
};

/// Policies by name, of one context: compilations do not see what others register. Not thread-safe:
/// register before passes run.
class PolicyRegistry {
public:
  /// Makes a policy from its arguments, the texts between parentheses; reports errors in them.
  using Factory = std::function<mlir::FailureOr<PolicyPtr>(llvm::ArrayRef<llvm::StringRef>,
                                                           const PolicyContext &)>;
  struct Entry {
    std::string name, summary;
    std::string arguments; ///< for messages, such as "NAME, ..."; "" without arguments
    Factory make;
  };

  /// Knows the built-in policies (docs/reference/Policies.md).
  PolicyRegistry();
  /// The registry that all passes on this context use. registerAllDialects must have been called
  /// for the context, and the dialect `reprise` be loaded.
  static PolicyRegistry &of(mlir::MLIRContext *context);

  /// False if the name is taken: policies are never replaced.
  bool add(Entry entry);
  /// A policy without arguments that labels every op and every named value on its own. Either
  /// function may be empty.
  bool add(std::string name, std::string summary,
           std::function<std::optional<Label>(mlir::Operation *)> labelOp,
           std::function<std::optional<Label>(llvm::StringRef)> labelName = nullptr);
  /// Null for an unknown name.
  const Entry *find(llvm::StringRef name) const;
  /// The names of those that take no arguments, sorted.
  std::vector<std::string> names() const;
  const std::map<std::string, Entry, std::less<>> &all() const { return entries; }

  /// Plugins run in a child process unless the host of this library wants no fork.
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

/// The policy of a table of the C interface, asked in this process: `decide` and `explain` get
/// `self`, which `create` has not made. Both outlive the policy.
PolicyPtr makePolicy(llvm::StringRef name, const rp_policy &table, void *self);

/// True for a rule file and a plugin, whose errors are about a file and not about a name.
bool isPolicyFile(llvm::StringRef text);

/// Cuts at commas outside of parentheses and braces; the parts lose spaces around them.
llvm::SmallVector<llvm::StringRef> splitPolicies(llvm::StringRef text);

/// The label of an op that no other source labels. Results that are discrete choices among floats
/// (argmax) are saved, so that no choice is made twice. The positions of max_pool have no such
/// label: only its own gradient reads them, and they are as large as its result and cheap to find
/// again.
std::optional<Label> getIntrinsicLabel(mlir::Operation *op);

bool isMust(Label label);
/// True for `must_save` and `prefer_save`.
bool asksToSave(Label label);
/// True for `must_recompute` and `prefer_recompute`.
bool asksToRecompute(Label label);

/// Who gives labels, innermost first.
enum class LabelOrigin { Name, Op, Checkpoint, Policy, Nature };

/// A label and who gave it: "op", "name X", "checkpoint", "policy X" or "intrinsic".
struct LabelSource {
  Label label;
  mlir::StringAttr rule;
  mlir::Location location;
  LabelOrigin origin = LabelOrigin::Op;
};

/// Composes the labels of one value, innermost source first: the first MUST, else the first label.
/// Null without sources. `clash` is set to two sources whose MUSTs contradict each other.
const LabelSource *resolveLabels(llvm::ArrayRef<LabelSource> sources,
                                 std::optional<std::pair<LabelSource, LabelSource>> &clash);

} // namespace reprise

#endif
