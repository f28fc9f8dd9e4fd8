// reprise: contractions and attention in the programs for kernels
#include "KernelValues.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = KernelValues::Shape;
using TensorType = KernelValues::TensorType;
using Attributes = KernelValues::Attributes;

/// Contraction of `left`: its dimensions, and those of the right operand in any order.
namespace {
struct Contraction {
  TensorType left;
  Shape lhsBatch, lhsContracting, rhsBatch, rhsContracting, right, columns, result;
};
} // namespace

/// Draws a contraction. Every dimension of the left operand has a random role; the right one also
/// has columns.
static Contraction drawContraction(KernelValues &v) {
  enum Role { Batch, Contracted, Column };
  Contraction c{v.drawType(1, 4), {}, {}, {}, {}, {}, {}, {}};
  SmallVector<std::pair<int64_t, Role>> dims; // dimensions of the right operand
  Shape rows;
  for (auto [d, size] : llvm::enumerate(c.left.getShape())) {
    int64_t kind = v.random.below(10);
    if (kind < 2 && c.lhsBatch.size() < 2)
      c.lhsBatch.push_back(d), dims.push_back({size, Batch});
    else if (kind < 6)
      c.lhsContracting.push_back(d), dims.push_back({size, Contracted});
    else
      rows.push_back(size);
  }
  for (int64_t i = v.random.below(3), most = v.mostElements; i > 0; --i, most /= dims.back().first)
    dims.push_back({v.drawSize(std::max<int64_t>(1, most)), Column});
  Shape order = permutation(v.random, dims.size()), place(dims.size());
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

/// Draws the lanes of a contracted dimension; returns no attributes if no dimension has lanes.
static SmallVector<NamedAttribute> drawLanes(KernelValues &v, const Contraction &c) {
  for (auto [along, dim] : llvm::enumerate(c.lhsContracting)) {
    int64_t size = c.left.getDimSize(dim), lanes = 2;
    if (size == 0 || size % 2 != 0)
      continue;
    while (size % (2 * lanes) == 0 && lanes < 16 && v.random.chance(50))
      lanes *= 2;
    return {v.number("lanes", lanes), v.number("along", static_cast<int64_t>(along))};
  }
  return {};
}

Value emitContraction(KernelValues &v) {
  static constexpr int64_t mostContinued = 4096; // terms of one chain
  for (;;) {
    Contraction c = drawContraction(v);
    Type own = c.left.getElementType();
    auto type = tensor(c.result, v.random.chance(25) ? computeType(own) : own);
    auto right = tensor(c.right, own);
    int64_t terms = 1;
    for (int64_t dim : c.lhsContracting)
      terms *= c.left.getDimSize(dim);
    if (type.getNumElements() > 2 * v.mostElements || right.getNumElements() > 2 * v.mostElements ||
        type.getNumElements() * terms > v.mostFlops)
      continue;
    SmallVector<Value> operands = {v.operand(c.left), v.operand(right)};
    StringRef name = "dot_general";
    SmallVector<NamedAttribute> attributes = {v.numbers("lhs_batch", c.lhsBatch),
                                              v.numbers("rhs_batch", c.rhsBatch),
                                              v.numbers("lhs_contracting", c.lhsContracting),
                                              v.numbers("rhs_contracting", c.rhsContracting)};
    if (v.random.chance(20)) {
      name = "dot_bias";
      operands.push_back(v.operand(tensor(c.columns, type.getElementType())));
    } else if (terms <= mostContinued && v.random.chance(20)) {
      name = "dot_accumulate";
      type = tensor(c.result, computeType(own));
      operands.push_back(v.operand(type));
    } else if (v.random.chance(20)) {
      if (SmallVector<NamedAttribute> lanes = drawLanes(v, c); !lanes.empty()) {
        name = "dot_lanes";
        attributes.append(lanes);
      }
    }
    return v.emit(name, type, operands, attributes);
  }
}

namespace {
struct Heads {
  TensorType query, key, value, out, lse, scores;
  bool isCausal;
};
} // namespace

static Heads drawHeads(KernelValues &v) {
  int64_t batch, groups, repeats, queries, keys, depth, valueDepth;
  do {
    v.draw({&batch, &groups, &repeats}, 8);
    v.draw({&queries, &keys, &depth}, v.mostElements);
    depth = std::min<int64_t>(depth, 160);
    valueDepth = v.random.chance(40) ? std::min<int64_t>(v.drawSize(v.mostElements), 160) : depth;
  } while (2 * batch * groups * repeats * queries * keys * (depth + valueDepth) > v.mostFlops ||
           batch * groups * repeats * queries * keys > 2 * v.mostElements);
  bool isCausal = v.random.chance(40);
  if (isCausal && keys < queries)
    std::swap(keys, queries);
  Type own = v.drawFloat(), compute = computeType(own);
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
Value emitAttention(KernelValues &v) {
  Heads heads = drawHeads(v);
  TensorType query = heads.query, out = heads.out, lse = heads.lse;
  SmallVector<Value> operands = {v.operand(query), v.operand(heads.key), v.operand(heads.value)};
  SmallVector<int32_t> segments = {1, 1, 1};
  auto optional = [&](int percent, llvm::function_ref<Value()> make) {
    segments.push_back(v.random.chance(percent));
    if (segments.back())
      operands.push_back(make());
  };
  auto repeated = [&](Type of) {
    Shape shape(heads.scores.getShape());
    for (int64_t d = 0; d < 3; ++d)
      if (v.random.chance(40))
        shape[d] = 1;
    return v.operand(shape, of);
  };
  bool isBackward = v.random.chance(50);
  if (isBackward) {
    operands.append({v.operand(out), v.operand(lse), v.operand(out)});
    segments.append({1, 1, 1});
    optional(50, [&] { return v.operand(lse); });
  }
  optional(35, [&] { return repeated(lse.getElementType()); });
  optional(35, [&] { return repeated(v.b.getI1Type()); });
  segments.append({0, 0, 0});
  Attributes attributes = {v.real("scale", 0.125 * v.random.within(1, 8)),
                           v.real("rate", v.random.chance(30) ? 0.3 : 0)};
  if (heads.isCausal)
    attributes.push_back(v.b.getNamedAttr("causal", v.b.getUnitAttr()));
  if (!isBackward)
    return v.emit("attention", {out, lse}, operands, attributes, segments);
  SmallVector<Type> results = {query, heads.key, heads.value};
  if (v.random.chance(40))
    results.push_back(heads.scores);
  return v.emit("attention_backward", results, operands, attributes, segments);
}

} // namespace reprise::fuzz
