// reprise: contractions and attention in the programs for kernels
#include "KernelGenerator.h"

using namespace mlir;

namespace reprise::fuzz {

/// Every dimension of the left operand has a role by chance; those of the right one stand in any
/// order.
Value KernelGenerator::emitContraction() {
  for (;;) {
    TensorType left = drawType(1, 4);
    Shape lhsBatch, lhsContracting, shape, rhsBatch, rhsContracting, result, batches;
    SmallVector<std::pair<int64_t, int>> dims; // of the right operand: size, role
    int64_t columns = 1;
    for (int64_t d = 0; d < left.getRank(); ++d) {
      int64_t kind = random.below(10), size = left.getDimSize(d);
      if (kind < 2 && lhsBatch.size() < 2)
        lhsBatch.push_back(d), dims.push_back({size, 0});
      else if (kind < 6)
        lhsContracting.push_back(d), dims.push_back({size, 1});
      else
        result.push_back(size);
    }
    for (int64_t i = random.within(0, 2); i > 0; --i) {
      int64_t size = drawSize(std::max<int64_t>(1, mostElements / columns));
      columns *= size;
      dims.push_back({size, 2});
    }
    if (left.getNumElements() * columns > mostFlops)
      continue;
    Shape order = permutation(dims.size());
    Shape place(dims.size()), free;
    for (auto [at, dim] : llvm::enumerate(order)) {
      place[dim] = at;
      shape.push_back(dims[dim].first);
      if (dims[dim].second == 2)
        free.push_back(dims[dim].first);
    }
    for (auto [dim, sizeAndRole] : llvm::enumerate(dims)) {
      if (sizeAndRole.second == 0)
        rhsBatch.push_back(place[dim]), batches.push_back(sizeAndRole.first);
      else if (sizeAndRole.second == 1)
        rhsContracting.push_back(place[dim]);
    }
    Type own = left.getElementType();
    batches.append(result);
    batches.append(free);
    auto type = tensor(batches, random.chance(25) ? computeType(own) : own);
    auto right = tensor(shape, own);
    if (type.getNumElements() > 2 * mostElements || right.getNumElements() > 2 * mostElements)
      continue;
    return emit("dot_general", type, {operand(left), operand(right)},
                {numbers("lhs_batch", lhsBatch), numbers("rhs_batch", rhsBatch),
                 numbers("lhs_contracting", lhsContracting),
                 numbers("rhs_contracting", rhsContracting)});
  }
}

/// Forward or backward, with bias, mask, causal or not, grouped heads, dropout.
Value KernelGenerator::emitAttention() {
  int64_t batch, groups, repeats, queries, keys, depth;
  do {
    draw({&batch, &groups, &repeats}, 8);
    draw({&queries, &keys, &depth}, mostElements);
    depth = std::min<int64_t>(depth, 160);
  } while (4 * batch * groups * repeats * queries * keys * depth > mostFlops ||
           batch * groups * repeats * queries * keys > 2 * mostElements);
  bool isCausal = random.chance(40);
  if (isCausal && keys < queries)
    std::swap(keys, queries);
  Type own = drawFloat(), compute = computeType(own);
  int64_t heads = groups * repeats;
  auto query = tensor({batch, heads, queries, depth}, own);
  auto key = tensor({batch, groups, keys, depth}, own);
  auto lse = tensor({batch, heads, queries}, compute);
  auto scores = tensor({batch, heads, queries, keys}, compute);
  auto repeated = [&](Type of) {
    Shape shape(scores.getShape());
    for (int64_t d = 0; d < 3; ++d)
      if (random.chance(40))
        shape[d] = 1;
    return operand(shape, of);
  };
  Attributes attributes = {real("scale", 0.125 * random.within(1, 8)),
                           real("rate", random.chance(30) ? 0.3 : 0)};
  if (isCausal)
    attributes.push_back(b.getNamedAttr("causal", b.getUnitAttr()));
  SmallVector<Value> operands = {operand(query), operand(key), operand(key)};
  SmallVector<int32_t> segments = {1, 1, 1};
  bool isBackward = random.chance(50), isBiased = random.chance(35), isMasked = random.chance(35);
  auto optional = [&](bool isThere, llvm::function_ref<Value()> make) {
    segments.push_back(isThere);
    if (isThere)
      operands.push_back(make());
  };
  if (isBackward) {
    operands.append({operand(query), operand(lse), operand(query)});
    segments.append({1, 1, 1});
    optional(random.chance(50), [&] { return operand(lse); });
  }
  optional(isBiased, [&] { return repeated(compute); });
  optional(isMasked, [&] { return repeated(b.getI1Type()); });
  segments.append({0, 0, 0});
  if (!isBackward)
    return emit("attention", {query, lse}, operands, attributes, segments);
  SmallVector<Type> results = {query, key, key};
  if (random.chance(40))
    results.push_back(scores);
  return emit("attention_backward", results, operands, attributes, segments);
}

} // namespace reprise::fuzz
