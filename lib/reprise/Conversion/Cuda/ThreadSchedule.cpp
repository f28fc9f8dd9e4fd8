// reprise: how the threads of a GPU run a loop nest
#include "ThreadSchedule.h"

#include "../LoopNest/ScheduleBuilder.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Elements at a time: a load of 16 bytes is the widest that a thread has, and a block of four
/// words is what Philox draws.
constexpr int64_t threadWidth = 4;

class ThreadScheduler : ScheduleBuilder {
public:
  explicit ThreadScheduler(const Graph &graph) : ScheduleBuilder(graph) {}

  Schedule run();

private:
  /// A thread is one lane.
  int64_t chooseLaneWidth(const Pass &, int64_t) const override { return 1; }
  void chooseThreads();
};

void ThreadScheduler::chooseThreads() {
  bool lanes = graph.hasReductions() || has(Root::LaneParts);
  schedule.itemThreads = lanes ? reductionLanes : 1;
  chooseWidth(reductionLanes);
  findStretches();
  bool vectors = !lanes && schedule.width >= threadWidth && schedule.stretches.size() == 2 &&
                 graph.shape.columns.back() % threadWidth == 0 && !jumpsBetweenLanes();
  schedule.width = vectors ? threadWidth : 1;
  schedule.inRuns = false;
  schedule.stretches = {0, graph.shape.columnCount()};
  schedule.columnsPerItem = schedule.width;
  if (has(Root::LaneParts) && !graph.hasReductions() && !has(Root::Row))
    schedule.columnsPerItem = laneBlock;
  else if (lanes)
    schedule.columnsPerItem = graph.shape.columnCount();
  schedule.rowsPerItem = has(Root::RowParts) ? orderedBlock : 1;
  countItems();
}

Schedule ThreadScheduler::run() {
  chooseThreads();
  assign();
  placeScratch();
  return std::move(schedule);
}

} // namespace

Schedule makeThreadSchedule(const Graph &graph) { return ThreadScheduler(graph).run(); }

} // namespace reprise::nests
