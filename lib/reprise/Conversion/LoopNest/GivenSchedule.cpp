// reprise: checks schedules that were written by hand
#include "Program.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Compares a schedule with that of the target, whose items and lanes are as the kernel needs them.
class GivenSchedule {
public:
  GivenSchedule(const Nest &nest, ScheduleAttr given, const Schedule &own)
      : nest(nest), given(given), own(own) {}

  /// Returns what is wrong with the schedule; empty if nothing is.
  std::string findFault() const {
    if (given.getThreads() != own.itemThreads)
      return need("threads", own.itemThreads);
    if (given.getRuns() != own.inRuns)
      return own.inRuns ? "needs 'runs'" : "cannot have 'runs'";
    if (!fitsWidth())
      return need("width", own.width);
    if (!fitsColumns())
      return need("columns", own.columnsPerItem);
    if ((nest.stores(Stored::RowParts) || own.itemThreads) && given.getRows() != own.rowsPerItem)
      return need("rows", own.rowsPerItem);
    if (own.itemThreads &&
        (given.getBlock() < 1 || given.getBlock() > 1024 || given.getBlock() % reductionLanes != 0))
      return "needs a block of up to 1024 threads, a multiple of 32";
    return "";
  }

private:
  static std::string need(StringRef name, int64_t value) {
    return ("needs " + name + " = " + Twine(value)).str();
  }

  bool reduces() const { return nest.hasReductions() || nest.stores(Stored::ColumnParts); }

  /// Lanes of a reduction have an order; other lanes may be fewer, within the innermost columns.
  bool fitsWidth() const {
    int64_t width = given.getWidth();
    bool isOwn = reduces() || own.inRuns || own.width == 1 || own.itemThreads;
    bool staysInside = nest.shape.columns.size() == 1 || nest.shape.columns.back() % width == 0;
    return width == own.width || (!isOwn && staysInside && width <= 2 * reductionLanes);
  }

  bool fitsColumns() const {
    int64_t columns = given.getColumns();
    if (columns == own.columnsPerItem)
      return true;
    if (own.itemThreads || nest.hasReductions() || nest.stores(Stored::Rows))
      return false;
    return !nest.stores(Stored::ColumnParts) || columns % laneBlock == 0;
  }

  const Nest &nest;
  ScheduleAttr given;
  const Schedule &own;
};

} // namespace

LogicalResult verifySchedules(NestProgramOp program, ScheduleFn makeSchedule) {
  for (auto kernel : program.getBody().getOps<KernelOp>()) {
    ScheduleAttr given = kernel.getScheduleAttr();
    if (!given)
      continue;
    OwningOpRef<KernelOp> plain = kernel.clone();
    plain->removeScheduleAttr();
    Nest nest(*plain);
    std::string fault = GivenSchedule(nest, given, makeSchedule(nest)).findFault();
    if (!fault.empty())
      return kernel.emitError("has a schedule that does not fit this target: it ") << fault;
  }
  return success();
}

} // namespace reprise::nests
