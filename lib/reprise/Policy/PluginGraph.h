// reprise: the forward graph behind the C interface of policy plugins
#ifndef REPRISE_LIB_POLICY_PLUGINGRAPH_H
#define REPRISE_LIB_POLICY_PLUGINGRAPH_H

#include "reprise-c/Policy.h"
#include "reprise/Policy/Policy.h"
#include "llvm/ADT/StringMap.h"

/// All that callbacks answer with is made beforehand, so that a callback is a look-up.
struct rp_graph {
  struct Op {
    std::string location;
    rp_op_info info;
    std::vector<uint32_t> operands, results;
  };
  struct Value {
    std::string dtype;
    std::vector<int64_t> shape;
    rp_value_info info;
    std::vector<uint32_t> users;
    std::vector<std::string> names;
  };
  std::vector<Op> ops;
  std::vector<Value> values;

  explicit rp_graph(const reprise::PolicyGraph &graph);

private:
  uint32_t numberOf(mlir::Value value);
  void addOp(const reprise::PolicyOp &op, llvm::StringRef scope);
  llvm::DenseMap<mlir::Value, uint32_t> numbers;
};

namespace reprise {

/// The table of callbacks; `fail` stores its message in `message`.
rp_host makePluginHost(std::string *message);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGINGRAPH_H
