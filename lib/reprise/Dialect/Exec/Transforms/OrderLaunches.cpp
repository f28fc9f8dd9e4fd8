// reprise: runs launches in another order if that needs fewer bytes.
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include "LaunchGraph.h"
#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/LaunchFacts.h"

#include <numeric>

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_ORDERLAUNCHESPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

struct OrderLaunchesPass : impl::OrderLaunchesPassBase<OrderLaunchesPass> {
  OrderLaunchesPass(OrderLaunchesPassOptions options = {}, std::shared_ptr<LaunchFacts> facts = {})
      : Base(std::move(options)), facts(std::move(facts)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    LaunchFacts::addDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    return LaunchFacts::load(targetName, UnknownLoc::get(context), facts);
  }

  void runOnOperation() override {
    ProgramOp entry = getOperation();
    int64_t bytes = within ? within : getEnoughArena(entry);
    if (bytes == 0)
      return markAllAnalysesPreserved();
    if (failed(order(entry, bytes)))
      signalPassFailure();
  }

  /// Orders the launches. Tries the same shares of the peak for every `enough`, so that an order
  /// that fits a smaller limit is also found with a larger one. If the first fitting launch leads
  /// to no order, as in second derivatives, whose passes may interleave, orders are annealed.
  LogicalResult order(ProgramOp entry, int64_t enough) {
    static constexpr size_t mostLaunches = 8192;
    static constexpr int64_t parts = 256, least = parts / 2;
    Block &block = entry.getBody().front();
    // Transfers and events have their places among the launches.
    if (llvm::any_of(block, [](Operation &op) { return isa<LoopOp>(op) || isExplicit(&op); }))
      return success();
    FailureOr<LaunchGraph> graph = LaunchGraph::build(entry, *facts);
    if (failed(graph))
      return failure();
    LaunchOrder inOrder(graph->size());
    std::iota(inOrder.begin(), inOrder.end(), 0);
    std::vector<int64_t> profile;
    int64_t peak = graph->measure(inOrder, profile);
    if (peak <= enough || graph->size() > mostLaunches)
      return success();
    LaunchOrder found;
    for (int64_t part = parts - 1; part >= least && found.empty(); --part) {
      int64_t bytes = static_cast<int64_t>(static_cast<double>(peak) * part / parts);
      if (bytes <= enough)
        found = graph->findFirstFitting(bytes);
    }
    if (found.empty() && annealOrder(*graph, enough, inOrder) <= enough)
      found = inOrder;
    if (found.empty())
      return success();
    for (size_t number : found)
      graph->getLaunch(number)->moveBefore(block.getTerminator());
    entry->setAttr(kLaunchesMovedAttr, UnitAttr::get(entry.getContext()));
    return success();
  }

  std::shared_ptr<LaunchFacts> facts;
};

} // namespace

std::unique_ptr<Pass> createOrderLaunchesPass(OrderLaunchesPassOptions options,
                                              std::shared_ptr<LaunchFacts> facts) {
  return std::make_unique<OrderLaunchesPass>(std::move(options), std::move(facts));
}

} // namespace reprise::exec
