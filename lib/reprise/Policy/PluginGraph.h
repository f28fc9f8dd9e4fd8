// reprise: the forward graph behind the C interface of policy plugins
#ifndef REPRISE_LIB_POLICY_PLUGINGRAPH_H
#define REPRISE_LIB_POLICY_PLUGINGRAPH_H

#include "reprise-c/Policy.h"
#include "reprise/Policy/Policy.h"
#include <deque>

/// Lists of numbers, one after the other.
struct NumberLists {
  std::vector<uint32_t> starts{0}, numbers;

  void close() { starts.push_back(numbers.size()); }
  size_t size() const { return starts.size() - 1; }
  llvm::ArrayRef<uint32_t> operator[](size_t list) const {
    return llvm::ArrayRef(numbers).slice(starts[list], starts[list + 1] - starts[list]);
  }
};

/// Graph for callbacks. All answers are made in advance, so that a callback is a look-up; lists are
/// flat, with one entry per op and per value. An op in a loop stands for all of its iterations.
struct rp_graph {
  std::vector<rp_op_info> ops;
  std::vector<rp_value_info> values;
  NumberLists operands, results; ///< operands and results of ops
  NumberLists users;             ///< users of values
  std::map<uint32_t, std::vector<std::string>> names;

  explicit rp_graph(const reprise::PolicyGraph &graph);

private:
  uint32_t numberOf(mlir::Value value);
  void addOp(const reprise::PolicyGraph::Op &op);
  void listUsers();
  rp_string keep(mlir::Location location);
  rp_string keepScope(mlir::Location location);
  rp_string keep(mlir::Type elementType);

  llvm::DenseMap<mlir::Value, uint32_t> numbers;
  llvm::DenseMap<mlir::Location, rp_string> places, scopes;
  llvm::DenseMap<mlir::Type, rp_string> dtypes;
  std::deque<std::string> texts; ///< texts that strings point into
};

namespace reprise {

/// Copies the text of a policy. Returns none for a null pointer with a size above 0.
std::optional<std::string> copyString(rp_string text);

/// The table of callbacks; `fail` stores its message in `message`.
rp_host makePluginHost(std::string *message);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGINGRAPH_H
