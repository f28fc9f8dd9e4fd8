// reprise: schedules of loop nests on a CPU: vectors stay in registers, items stay in the cache
#include "NestSchedule.h"

#include "../LoopNest/ScheduleBuilder.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Elements per step if each lies on another cache line: that many lines stay in the cache.
constexpr int64_t jumpingLanes = 8;
/// Number of values in an element's work above which vectors of 32 do not stay in 16 registers.
constexpr int64_t manyValues = 12;
/// Number of operations in a chain above which a core cannot look ahead beyond one iteration. The
/// core then works on the vectors of only one iteration, and with 32 registers four vectors are
/// better than two.
constexpr int64_t longChain = 32;

class CpuScheduler : ScheduleBuilder {
public:
  CpuScheduler(const Nest &nest, int64_t registers) : ScheduleBuilder(nest), registers(registers) {}

  Schedule run();

private:
  int64_t chooseLaneWidth(const Pass &pass, int64_t values) const override;
  bool keepsElements(Value element) const override {
    return nest.costOf(element) > cheap && !element.getDefiningOp<ReadOp>();
  }
  int64_t findMostLanes() const;
  void chooseItems();

  int64_t registers;
};

int64_t CpuScheduler::findMostLanes() const {
  if (jumpsBetweenLanes())
    return jumpingLanes;
  int64_t nodes = countColumnNodes();
  if (registers <= 16)
    return nodes > manyValues ? reductionLanes / 2 : reductionLanes;
  return nodes > longChain && !nest.hasReductions() ? 2 * reductionLanes : reductionLanes;
}

/// 32 lanes of f32 fill four of sixteen registers: with more than a few values that is too much.
int64_t CpuScheduler::chooseLaneWidth(const Pass &pass, int64_t values) const {
  constexpr int64_t few = 6;
  bool many = values + static_cast<int64_t>(pass.reductions.size()) > few;
  return many && registers <= 16 ? reductionLanes / 2 : reductionLanes;
}

void CpuScheduler::chooseItems() {
  int64_t rows = nest.shape.rowCount(), columns = nest.shape.columnCount();
  // Tens of kilobytes each, and enough items for 16 threads if there is that much.
  int64_t elements = std::clamp<int64_t>(llvm::alignTo(nest.shape.size() / 64, laneBlock),
                                         laneBlock, 8 * laneBlock);
  bool wholeRows = nest.hasReductions() || nest.stores(Stored::Rows);
  schedule.columnsPerItem = columns;
  if (nest.stores(Stored::RowParts)) {
    schedule.rowsPerItem = orderedBlock;
    if (!wholeRows)
      schedule.columnsPerItem =
          std::min<int64_t>(columns, llvm::alignTo(elements / orderedBlock, 128));
  } else if (wholeRows || (columns <= elements && !nest.stores(Stored::ColumnParts))) {
    schedule.rowsPerItem = std::clamp<int64_t>(elements / std::max<int64_t>(columns, 1), 1, rows);
  } else {
    schedule.columnsPerItem = std::min(columns, elements);
  }
  if (!wholeRows && !nest.stores(Stored::RowParts) && !nest.stores(Stored::ColumnParts) &&
      jumpsBetweenLanes()) {
    // Neighbours in memory are in neighbouring rows: few columns at a time keep their lines in the
    // cache.
    schedule.columnsPerItem = std::min<int64_t>(columns, jumpingLanes);
    schedule.rowsPerItem = std::clamp<int64_t>(elements / schedule.columnsPerItem, 1, rows);
  }
  countItems();
}

Schedule CpuScheduler::run() {
  if (ScheduleAttr chosen = nest.kernel.getScheduleAttr()) {
    read(chosen);
  } else {
    chooseWidth(findMostLanes());
    chooseItems();
    write();
  }
  assign();
  placeScratch();
  return std::move(schedule);
}

} // namespace

Schedule makeSchedule(const Nest &nest, int64_t registers) {
  return CpuScheduler(nest, registers).run();
}

} // namespace reprise::nests
