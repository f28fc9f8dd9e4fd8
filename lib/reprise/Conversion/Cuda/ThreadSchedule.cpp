// reprise: how the threads of a GPU run a loop nest
#include "ThreadSchedule.h"

#include "../LoopNest/ScheduleBuilder.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Elements at a time: a load of 16 bytes is the widest that a thread has, and a block of four
/// words is what Philox draws.
constexpr int64_t threadWidth = 4;

/// Threads that reduce a row where each has four lanes.
constexpr int64_t rowThreads = reductionLanes / threadWidth;
/// Columns of a row for which these suffice without vectors, too.
constexpr int64_t shortRow = 128;

class ThreadScheduler : ScheduleBuilder {
public:
  explicit ThreadScheduler(const Graph &graph) : ScheduleBuilder(graph) {}

  Schedule run();

private:
  int64_t chooseLaneWidth(const Pass &, int64_t) const override { return schedule.width; }
  bool takesVectors();
  void chooseThreads();
};

bool ThreadScheduler::takesVectors() {
  chooseWidth(reductionLanes);
  findStretches();
  return schedule.width >= threadWidth && schedule.stretches.size() == 2 &&
         graph.shape.columns.back() % threadWidth == 0 && !jumpsBetweenLanes();
}

void ThreadScheduler::chooseThreads() {
  bool lanes = graph.hasReductions() || has(Root::LaneParts), vectors = takesVectors();
  // Blocks of rows are few, so each has a whole warp. Parts that meet in place meet once.
  bool isRows = !has(Root::RowParts) && !graph.has(Node::Fold);
  bool shares = isRows && (vectors || graph.shape.columnCount() <= shortRow);
  schedule.itemThreads = !lanes ? 1 : shares ? rowThreads : reductionLanes;
  schedule.width = vectors && (!lanes || shares) ? threadWidth : 1;
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
