// reprise: contractions and attention in the programs for kernels
#include "KernelGenerator.h"

using namespace mlir;

namespace reprise::fuzz {

/// A contraction of `left`: its dimensions, and those of the right operand in any order.
struct KernelGenerator::Contraction {
  TensorType left;
  Shape lhsBatch, lhsContracting, rhsBatch, rhsContracting, right, columns, result;
};

/// Every dimension of the left operand has a role by chance; the right one has columns, too.
KernelGenerator::Contraction KernelGenerator::drawContraction() {
  enum Role { Batch, Contracted, Column };
  Contraction c{drawType(1, 4), {}, {}, {}, {}, {}, {}, {}};
  SmallVector<std::pair<int64_t, Role>> dims; // of the right operand
  Shape rows;
  for (auto [d, size] : llvm::enumerate(c.left.getShape())) {
    int64_t kind = random.below(10);
    if (kind < 2 && c.lhsBatch.size() < 2)
      c.lhsBatch.push_back(d), dims.push_back({size, Batch});
    else if (kind < 6)
      c.lhsContracting.push_back(d), dims.push_back({size, Contracted});
    else
      rows.push_back(size);
  }
  for (int64_t i = random.below(3), most = mostElements; i > 0; --i, most /= dims.back().first)
    dims.push_back({drawSize(std::max<int64_t>(1, most)), Column});
  Shape order = permutation(dims.size()), place(dims.size());
  for (auto [at, dim] : llvm::enumerate(order)) {
    place[dim] = at;
    c.right.push_back(dims[dim].first);
    if (dims[dim].second == Column)
      c.columns.push_back(dims[dim].first);
  }
  for (auto [dim, at] : llvm::zip(dims, place)) {
    if (dim.second == Batch)
      c.rhsBatch.push_back(at), c.result.push_back(dim.first);
    else if (dim.second == Contracted)
      c.rhsContracting.push_back(at);
  }
  c.result.append(rows);
  c.result.append(c.columns);
  return c;
}

Value KernelGenerator::emitContraction() {
  for (;;) {
    Contraction c = drawContraction();
    Type own = c.left.getElementType();
    auto type = tensor(c.result, random.chance(25) ? computeType(own) : own);
    auto right = tensor(c.right, own);
    int64_t terms = 1;
    for (int64_t dim : c.lhsContracting)
      terms *= c.left.getDimSize(dim);
    if (type.getNumElements() > 2 * mostElements || right.getNumElements() > 2 * mostElements ||
        type.getNumElements() * terms > mostFlops)
      continue;
    SmallVector<Value> operands = {operand(c.left), operand(right)};
    bool hasBias = random.chance(20);
    if (hasBias)
      operands.push_back(operand(tensor(c.columns, type.getElementType())));
    return emit(hasBias ? "dot_bias" : "dot_general", type, operands,
                {numbers("lhs_batch", c.lhsBatch), numbers("rhs_batch", c.rhsBatch),
                 numbers("lhs_contracting", c.lhsContracting),
                 numbers("rhs_contracting", c.rhsContracting)});
  }
}

struct KernelGenerator::Heads {
  TensorType query, key, value, out, lse, scores;
  bool isCausal;
};

KernelGenerator::Heads KernelGenerator::drawHeads() {
  int64_t batch, groups, repeats, queries, keys, depth, valueDepth;
  do {
    draw({&batch, &groups, &repeats}, 8);
    draw({&queries, &keys, &depth}, mostElements);
    depth = std::min<int64_t>(depth, 160);
    valueDepth = random.chance(40) ? std::min<int64_t>(drawSize(mostElements), 160) : depth;
  } while (2 * batch * groups * repeats * queries * keys * (depth + valueDepth) > mostFlops ||
           batch * groups * repeats * queries * keys > 2 * mostElements);
  bool isCausal = random.chance(40);
  if (isCausal && keys < queries)
    std::swap(keys, queries);
  Type own = drawFloat(), compute = computeType(own);
  int64_t heads = groups * repeats;
  return {tensor({batch, heads, queries, depth}, own),
          tensor({batch, groups, keys, depth}, own),
          tensor({batch, groups, keys, valueDepth}, own),
          tensor({batch, heads, queries, valueDepth}, own),
          tensor({batch, heads, queries}, compute),
          tensor({batch, heads, queries, keys}, compute),
          isCausal};
}

/// Forward or backward, with bias, mask, causal or not, grouped heads, values as wide as keys or
/// not, dropout.
Value KernelGenerator::emitAttention() {
  Heads heads = drawHeads();
  TensorType query = heads.query, out = heads.out, lse = heads.lse;
  SmallVector<Value> operands = {operand(query), operand(heads.key), operand(heads.value)};
  SmallVector<int32_t> segments = {1, 1, 1};
  auto optional = [&](int percent, llvm::function_ref<Value()> make) {
    segments.push_back(random.chance(percent));
    if (segments.back())
      operands.push_back(make());
  };
  auto repeated = [&](Type of) {
    Shape shape(heads.scores.getShape());
    for (int64_t d = 0; d < 3; ++d)
      if (random.chance(40))
        shape[d] = 1;
    return operand(shape, of);
  };
  bool isBackward = random.chance(50);
  if (isBackward) {
    operands.append({operand(out), operand(lse), operand(out)});
    segments.append({1, 1, 1});
    optional(50, [&] { return operand(lse); });
  }
  optional(35, [&] { return repeated(lse.getElementType()); });
  optional(35, [&] { return repeated(b.getI1Type()); });
  segments.append({0, 0, 0});
  Attributes attributes = {real("scale", 0.125 * random.within(1, 8)),
                           real("rate", random.chance(30) ? 0.3 : 0)};
  if (heads.isCausal)
    attributes.push_back(b.getNamedAttr("causal", b.getUnitAttr()));
  if (!isBackward)
    return emit("attention", {out, lse}, operands, attributes, segments);
  SmallVector<Type> results = {query, heads.key, heads.value};
  if (random.chance(40))
    results.push_back(heads.scores);
  return emit("attention_backward", results, operands, attributes, segments);
}

} // namespace reprise::fuzz
