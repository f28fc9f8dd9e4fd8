// reprise: shares the arrays of a step among replicas, and marks ops behind all passes
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "ReplicaPlaces.h"

namespace reprise::pipe {
#define GEN_PASS_DEF_SHARDARRAYSPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

struct ShardArraysPass : impl::ShardArraysPassBase<ShardArraysPass> {
  using Base::Base;

  void runOnOperation() override {
    if (replicas == 1)
      return markAllAnalysesPreserved();
    ProgramOp step = getOperation();
    ReplicaPlaces places(step, replicas, leastBytes);
    places.mark();
    RowSplitter(step, places).run();
  }
};

} // namespace
} // namespace reprise::pipe
