// reprise: gives each stage the rows of the stacks that it reads
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Stacks.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_SPLITSTACKSPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

struct SplitStacksPass : impl::SplitStacksPassBase<SplitStacksPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp step = getOperation();
    Stacks stacks(step);
    if (stacks.empty())
      return markAllAnalysesPreserved();
    RowSplitter(step, stacks).run();
  }
};

} // namespace
} // namespace reprise::pipe
