// reprise: the forward graph behind the C interface of policy plugins
#include "PluginGraph.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir;
using namespace reprise;

static rp_string give(StringRef text) { return {text.data(), text.size()}; }

static uint32_t kindsOf(Operation *op) {
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  uint32_t kinds = contraction ? RP_KIND_CONTRACTION : 0;
  kinds |= contraction && contraction.hasBatchDims() ? RP_KIND_BATCHED : 0;
  kinds |= isa<AttentionOpInterface>(op) ? RP_KIND_ATTENTION : 0;
  kinds |= isa<ConvolutionOpInterface>(op) ? RP_KIND_CONVOLUTION : 0;
  kinds |= isa<ElementwiseOpInterface>(op) ? RP_KIND_ELEMENTWISE : 0;
  kinds |= isa<NormalizationOpInterface>(op) ? RP_KIND_NORMALIZATION : 0;
  kinds |= isa<RandomOpInterface>(op) ? RP_KIND_RANDOM : 0;
  kinds |= isa<ReductionOpInterface>(op) ? RP_KIND_REDUCTION : 0;
  return kinds;
}

uint32_t rp_graph::numberOf(mlir::Value value) {
  auto [known, isNew] = numbers.try_emplace(value, values.size());
  if (!isNew)
    return known->second;
  auto type = cast<RankedTensorType>(value.getType());
  Value made;
  llvm::raw_string_ostream(made.dtype) << type.getElementType();
  made.shape = type.getShape().vec();
  made.info.op = RP_NO_OP;
  made.info.bytes = getByteSize(type);
  values.push_back(std::move(made));
  return known->second;
}

void rp_graph::addOp(const PolicyOp &op, StringRef scope) {
  uint32_t number = ops.size();
  Op made;
  made.location = getPlace(op.op->getLoc());
  made.info.op = give(op.op->getName().getStringRef());
  made.info.scope = give(scope);
  made.info.bytes = op.bytes;
  made.info.flops = op.flops;
  made.info.kinds = kindsOf(op.op);
  for (mlir::Value operand : op.op->getOperands()) {
    uint32_t value = numberOf(operand);
    made.operands.push_back(value);
    std::vector<uint32_t> &users = values[value].users;
    if (users.empty() || users.back() != number)
      users.push_back(number);
  }
  for (mlir::Value result : op.op->getResults()) {
    made.results.push_back(numberOf(result));
    values[made.results.back()].info.op = number;
  }
  made.info.num_operands = made.operands.size();
  made.info.num_results = made.results.size();
  ops.push_back(std::move(made));
}

rp_graph::rp_graph(const PolicyGraph &graph) {
  for (const PolicyOp &op : graph.ops)
    addOp(op, graph.scopes[op.scope]);
  for (const PolicyName &name : graph.names)
    values[numberOf(name.value)].names.push_back(name.name);
  // Nothing moves from here on.
  for (Op &op : ops)
    op.info.location = give(op.location);
  for (Value &value : values) {
    value.info.dtype = give(value.dtype);
    value.info.shape = value.shape.data();
    value.info.rank = value.shape.size();
    value.info.num_users = value.users.size();
    value.info.num_names = value.names.size();
  }
}

/// Fills as much of the caller's struct as it has, and says how much that is.
template <class T> static rp_status fill(const T &source, T *target) {
  size_t size = std::min(target->struct_size, sizeof(T));
  std::memcpy(target, &source, size);
  target->struct_size = size;
  return RP_OK;
}

template <class List, class T> static rp_status fetch(const List &list, uint32_t index, T *target) {
  if (index >= list.size())
    return RP_ERROR;
  *target = list[index];
  return RP_OK;
}

static void storeFailure(void *context, rp_string message) {
  static_cast<std::string *>(context)->assign(message.data, message.size);
}
static size_t countOps(const rp_graph *graph) { return graph->ops.size(); }
static rp_status describeOpAt(const rp_graph *graph, uint32_t op, rp_op_info *info) {
  return op < graph->ops.size() ? fill(graph->ops[op].info, info) : RP_ERROR;
}
static rp_status getOperand(const rp_graph *graph, uint32_t op, uint32_t index, uint32_t *value) {
  return op < graph->ops.size() ? fetch(graph->ops[op].operands, index, value) : RP_ERROR;
}
static rp_status getResult(const rp_graph *graph, uint32_t op, uint32_t index, uint32_t *value) {
  return op < graph->ops.size() ? fetch(graph->ops[op].results, index, value) : RP_ERROR;
}
static rp_status describeValueAt(const rp_graph *graph, uint32_t value, rp_value_info *info) {
  return value < graph->values.size() ? fill(graph->values[value].info, info) : RP_ERROR;
}
static rp_status getUser(const rp_graph *graph, uint32_t value, uint32_t index, uint32_t *op) {
  return value < graph->values.size() ? fetch(graph->values[value].users, index, op) : RP_ERROR;
}
static rp_status getName(const rp_graph *graph, uint32_t value, uint32_t index, rp_string *name) {
  if (value >= graph->values.size() || index >= graph->values[value].names.size())
    return RP_ERROR;
  *name = give(graph->values[value].names[index]);
  return RP_OK;
}

rp_host reprise::makePluginHost(std::string *message) {
  return {sizeof(rp_host), message,   storeFailure,    countOps, describeOpAt,
          getOperand,      getResult, describeValueAt, getUser,  getName};
}
