// reprise: plans the passes of a loop nest; a target chooses their width and the workers
#ifndef REPRISE_CONVERSION_LOOPNEST_SCHEDULEBUILDER_H
#define REPRISE_CONVERSION_LOOPNEST_SCHEDULEBUILDER_H

#include "Schedule.h"

namespace reprise::nests {

/// Builds the schedule of a nest. The builder of a target chooses width and items, unless the
/// kernel has them as an attribute, and then calls `assign` and `placeScratch`.
class ScheduleBuilder {
public:
  virtual ~ScheduleBuilder() = default;

protected:
  explicit ScheduleBuilder(const Nest &nest) : nest(nest) {}

  /// Returns the lanes of a vector of the reductions in a pass that computes `values` values per
  /// element.
  virtual int64_t chooseLaneWidth(const Pass &pass, int64_t values) const = 0;

  /// True if later passes load an element instead of computing it again. On a CPU it lies in the
  /// worker's scratch unless a root stores it; on a GPU it always lies in the row's memory.
  virtual bool keepsElements(mlir::Value element) const = 0;

  /// True if a read is done before the first pass, even if one pass alone needs it.
  virtual bool fetchesFirst(mlir::Value) const { return false; }
  /// True if the operands that a pass reduces are stored to memory by vectors first, although the
  /// pass has lanes.
  virtual bool stages(llvm::ArrayRef<mlir::Value> operands) const { return false; }

  /// Chooses the width of vectors, at most `most` lanes; 1 if lanes would take different branches.
  void chooseWidth(int64_t most);
  void findStretches();
  void assign();
  void placeScratch();
  void countItems();
  /// Reads and writes what is chosen as the kernel's attribute.
  void read(ScheduleAttr chosen);
  void write(RowMemory memory = RowMemory::None);

  /// True if lanes load from places far apart.
  bool jumpsBetweenLanes() const;
  int64_t countColumnNodes() const;

  const Nest &nest;
  Schedule schedule;
  /// Elements that cost less than this are computed again rather than kept.
  static constexpr int64_t cheap = 4;

private:
  bool isVectorizable(const Place &place) const;
  bool isScalar() const;
  void sharePasses();
  void visitColumn(mlir::Value element, int pass, bool conditional);
  void visitRow(mlir::Value element);
  void keep(mlir::Value element, int pass);
  bool findKept(mlir::Value element, int pass, int earlier);

  llvm::DenseMap<mlir::Value, int> firstPass;
  llvm::DenseSet<mlir::Value> seenInPass, seenRows;
  /// True while the visited elements are reduced as they are computed.
  bool visitsLanes = false;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_SCHEDULEBUILDER_H
