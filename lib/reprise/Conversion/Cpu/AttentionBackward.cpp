// reprise: emits the backward of attention, head by head and strip by strip of queries
#include "AttentionParts.h"
#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

constexpr int64_t sumLanes = 32;

/// Byte offsets in a worker's workspace. `dropped` and `gradients` hold dropout(p) and ds of a block
/// of keys × a strip of queries, after some rows to spare.
struct BackwardWorkspace {
  WorkspaceLayout layout;
  int64_t keys = 0, values = 0, queries = 0, douts = 0; // copies, where tiles need them
  int64_t packedQueries, packedDouts, dropped, gradients, delta, statistics;
  int64_t dquery, dkey, dvalue;

  /// Rows before the first one of a block: that of a multiple of 4, and a tile's overlap.
  static int64_t spare(const AttentionPlan &plan) { return plan.rows + 4; }

  explicit BackwardWorkspace(const AttentionPlan &plan) {
    const AttentionSpec &spec = plan.spec;
    auto reserve = [&](int64_t elements) { return layout.reserve(elements, plan.bytes()); };
    auto copies = [&](const AttentionStrides &strides, int64_t rows) {
      return plan.isDirect(strides, true) ? 0 : reserve(rows * plan.ld);
    };
    keys = copies(spec.key, spec.keys);
    values = copies(spec.value, spec.keys);
    queries = copies(spec.query, plan.strip);
    douts = copies(spec.dout, plan.strip);
    packedQueries = reserve(plan.strip / plan.lanes * plan.packedElements());
    packedDouts = reserve(plan.strip / plan.lanes * plan.packedElements());
    int64_t rows = std::max(plan.keyBlock, plan.strip) + 2 * spare(plan);
    dropped = reserve(rows * plan.strip);
    gradients = reserve(rows * plan.strip);
    delta = reserve(plan.strip);
    statistics = reserve(plan.strip);
    dquery = reserve(AttentionPlan::slotsOf(spec.keys) * plan.strip * plan.ld);
    dkey = reserve(AttentionPlan::slotsOf(spec.queries) * spec.keys * plan.ld);
    dvalue = reserve(AttentionPlan::slotsOf(spec.queries) * spec.keys * plan.ld);
  }
};

/// The buffers of the command, in order.
struct BackwardBuffers {
  unsigned query = 0, key = 1, value = 2, out = 3, lse = 4, dout = 5, dlse = 6, random, outputs;
  explicit BackwardBuffers(const AttentionSpec &spec)
      : random(6 + spec.hasDlse), outputs(random + (spec.draws() ? 2 + spec.hasOrigin : 0)) {}
};

class BackwardEmitter : AttentionParts {
public:
  BackwardEmitter(KernelBuilder &k, const AttentionPlan &plan, const BackwardWorkspace &offsets)
      : AttentionParts(k, plan), buffers(spec), dropout(*this, buffers.random), offsets(offsets) {}

  void emit() {
    packedQuery = workspace(offsets.packedQueries), packedDout = workspace(offsets.packedDouts);
    int64_t spare = BackwardWorkspace::spare(plan) * plan.strip;
    dropped = element(workspace(offsets.dropped), k.i64(spare));
    gradients = element(workspace(offsets.gradients), k.i64(spare));
    delta = workspace(offsets.delta), statistics = workspace(offsets.statistics);
    dquery = workspace(offsets.dquery);
    k.forLoop(k.begin(), k.end(), k.i64(1), [&](Value item) { emitHead(headOf(item)); });
  }

private:
  void emitHead(const HeadIndex &at) {
    head = at;
    keys = rowsFor(headBase(buffers.key, spec.type, spec.key, head), spec.key, k.i64(spec.keys),
                   workspace(offsets.keys), plan.isDirect(spec.key, true));
    values = rowsFor(headBase(buffers.value, spec.type, spec.value, head), spec.value,
                     k.i64(spec.keys), workspace(offsets.values), plan.isDirect(spec.value, true));
    // dkey and dvalue have chains over the same queries, in slots side by side.
    int64_t elements = spec.keys * plan.ld;
    Value dkeys = workspace(offsets.dkey), dvalues = workspace(offsets.dvalue);
    forChains(spec.queries, dkeys, elements, [&](Value c, Value slot) {
      dkey = slot;
      zero(dkey, k.i64(elements));
      forChainSlot(c, dvalues, elements);
    });
  }
  void forChainSlot(Value c, Value dvalues, int64_t elements);

  BackwardBuffers buffers;
  AttentionDropout dropout;
  const BackwardWorkspace &offsets;
  HeadIndex head;
  RowMatrix keys, values;
  Value packedQuery, packedDout, dropped, gradients, delta, statistics, dquery, dkey, dvalue;
};

} // namespace
} // namespace reprise
