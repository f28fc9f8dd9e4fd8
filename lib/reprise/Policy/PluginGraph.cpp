// reprise: the forward graph behind the C interface of policy plugins
#include "PluginGraph.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Policy/Rules.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstring>

using namespace mlir;
using namespace reprise;

static rp_string give(StringRef text) { return {text.data(), text.size()}; }

static uint32_t kindsOf(Operation *op) {
  static constexpr std::pair<OpKind, uint32_t> bits[] = {
      {OpKind::Attention, RP_KIND_ATTENTION},         {OpKind::Contraction, RP_KIND_CONTRACTION},
      {OpKind::Convolution, RP_KIND_CONVOLUTION},     {OpKind::Elementwise, RP_KIND_ELEMENTWISE},
      {OpKind::Normalization, RP_KIND_NORMALIZATION}, {OpKind::Random, RP_KIND_RANDOM},
      {OpKind::Reduction, RP_KIND_REDUCTION}};
  uint32_t kinds = 0;
  for (auto [kind, bit] : bits)
    kinds |= isOfKind(op, kind) ? bit : 0;
  kinds |= isa<ViewOpInterface>(op) ? RP_KIND_VIEW : 0;
  bool isBatched = (kinds & RP_KIND_CONTRACTION) && !isOfKind(op, OpKind::ContractionWithoutBatch);
  return isBatched ? kinds | RP_KIND_BATCHED : kinds;
}

rp_string rp_graph::keep(Location location) {
  auto [known, isNew] = places.try_emplace(location);
  if (isNew)
    known->second = give(texts.emplace_back(getPlace(location)));
  return known->second;
}

rp_string rp_graph::keepScope(Location location) {
  auto [known, isNew] = scopes.try_emplace(location);
  if (isNew)
    known->second = give(texts.emplace_back(getScope(location)));
  return known->second;
}

rp_string rp_graph::keep(Type elementType) {
  auto [known, isNew] = dtypes.try_emplace(elementType);
  if (isNew) {
    llvm::raw_string_ostream(texts.emplace_back()) << elementType;
    known->second = give(texts.back());
  }
  return known->second;
}

uint32_t rp_graph::numberOf(Value value) {
  auto [known, isNew] = numbers.try_emplace(value, values.size());
  if (!isNew)
    return known->second;
  auto type = cast<RankedTensorType>(value.getType());
  rp_value_info info = {};
  info.struct_size = sizeof(info);
  info.dtype = keep(type.getElementType());
  info.shape = type.getShape().data();
  info.rank = type.getRank();
  info.op = RP_NO_OP;
  info.bytes = getByteSize(type);
  values.push_back(info);
  return known->second;
}

void rp_graph::addOp(const PolicyGraph::Op &op) {
  rp_op_info info = {};
  info.struct_size = sizeof(info);
  info.op = give(op.op->getName().getStringRef());
  info.scope = keepScope(op.op->getLoc());
  info.location = keep(op.op->getLoc());
  info.bytes = op.bytes;
  info.flops = op.flops;
  info.kinds = kindsOf(op.op);
  info.num_operands = op.op->getNumOperands();
  info.num_results = op.op->getNumResults();
  for (Value operand : op.op->getOperands())
    operands.numbers.push_back(numberOf(operand));
  operands.close();
  for (Value result : op.op->getResults()) {
    results.numbers.push_back(numberOf(result));
    values[results.numbers.back()].op = ops.size();
  }
  results.close();
  ops.push_back(info);
}

/// Sorted by value, each reader once.
void rp_graph::listUsers() {
  std::vector<uint32_t> last(values.size(), RP_NO_OP);
  auto forEachRead = [&](llvm::function_ref<void(uint32_t, uint32_t)> visit) {
    std::fill(last.begin(), last.end(), RP_NO_OP);
    for (uint32_t op = 0; op < ops.size(); ++op)
      for (uint32_t value : operands[op])
        if (std::exchange(last[value], op) != op)
          visit(value, op);
  };
  forEachRead([&](uint32_t value, uint32_t) { ++values[value].num_users; });
  for (const rp_value_info &value : values)
    users.starts.push_back(users.starts.back() + value.num_users);
  users.numbers.resize(users.starts.back());
  std::vector<uint32_t> next = users.starts;
  forEachRead([&](uint32_t value, uint32_t op) { users.numbers[next[value]++] = op; });
}

rp_graph::rp_graph(const PolicyGraph &graph) {
  ops.reserve(graph.ops.size());
  for (const PolicyGraph::Op &op : graph.ops)
    if (op.iteration == 0)
      addOp(op);
  for (const PolicyGraph::Name &name : graph.names) {
    if (name.op && graph.ops[*name.op].iteration != 0)
      continue;
    uint32_t value = numberOf(name.value);
    names[value].push_back(name.name);
    ++values[value].num_names;
  }
  listUsers();
}

/// Fills the fields that the caller's struct has, and sets its size.
template <class T> static rp_status fill(const T &source, T *target) {
  size_t size = std::min(target->struct_size, sizeof(T));
  std::memcpy(target, &source, size);
  target->struct_size = size;
  return RP_OK;
}

static rp_status fetch(const NumberLists &lists, uint32_t list, uint32_t index, uint32_t *number) {
  if (list >= lists.size() || index >= lists[list].size())
    return RP_ERROR;
  *number = lists[list][index];
  return RP_OK;
}

std::optional<std::string> reprise::copyString(rp_string text) {
  if (text.size == 0)
    return "";
  return text.data ? std::optional(std::string(text.data, text.size)) : std::nullopt;
}

static void storeFailure(void *context, rp_string message) {
  *static_cast<std::string *>(context) =
      copyString(message).value_or("the reason given is a null string");
}
static size_t countOps(const rp_graph *graph) { return graph->ops.size(); }
static rp_status describeOpAt(const rp_graph *graph, uint32_t op, rp_op_info *info) {
  return op < graph->ops.size() ? fill(graph->ops[op], info) : RP_ERROR;
}
static rp_status getOperand(const rp_graph *graph, uint32_t op, uint32_t index, uint32_t *value) {
  return fetch(graph->operands, op, index, value);
}
static rp_status getResult(const rp_graph *graph, uint32_t op, uint32_t index, uint32_t *value) {
  return fetch(graph->results, op, index, value);
}
static rp_status describeValueAt(const rp_graph *graph, uint32_t value, rp_value_info *info) {
  return value < graph->values.size() ? fill(graph->values[value], info) : RP_ERROR;
}
static rp_status getUser(const rp_graph *graph, uint32_t value, uint32_t index, uint32_t *op) {
  return fetch(graph->users, value, index, op);
}
static rp_status getName(const rp_graph *graph, uint32_t value, uint32_t index, rp_string *name) {
  auto found = graph->names.find(value);
  if (found == graph->names.end() || index >= found->second.size())
    return RP_ERROR;
  *name = give(found->second[index]);
  return RP_OK;
}

rp_host reprise::makePluginHost(std::string *message) {
  return {sizeof(rp_host), message,   storeFailure,    countOps, describeOpAt,
          getOperand,      getResult, describeValueAt, getUser,  getName};
}
