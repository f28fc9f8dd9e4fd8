// reprise: plans the passes of a loop nest; how wide they are and who runs them is a target's
// choice
#ifndef REPRISE_CONVERSION_LOOPNEST_SCHEDULEBUILDER_H
#define REPRISE_CONVERSION_LOOPNEST_SCHEDULEBUILDER_H

#include "Schedule.h"

namespace reprise::nests {

/// A target's builder chooses width and items, unless the kernel says them, and then calls `assign`
/// and `placeScratch`.
class ScheduleBuilder {
public:
  virtual ~ScheduleBuilder() = default;

protected:
  explicit ScheduleBuilder(const Nest &nest) : nest(nest) {}

  /// Lanes of a vector of the reductions in a pass that computes so many values per element.
  virtual int64_t chooseLaneWidth(const Pass &pass, int64_t values) const = 0;

  /// Whether an element waits for later passes: in the worker's scratch, where no root stores it;
  /// on a GPU in the row's memory, even so.
  virtual bool keepsElements(mlir::Value element) const = 0;

  /// Whether a read is done before the first pass, even if one pass alone needs it.
  virtual bool fetchesFirst(mlir::Value) const { return false; }
  /// Whether what a pass reduces, though it has lanes, goes by vectors into memory first.
  virtual bool stages(llvm::ArrayRef<mlir::Value> operands) const { return false; }

  /// The width of vectors, at most `most`; 1 where lanes would differ in what they do.
  void chooseWidth(int64_t most);
  void findStretches();
  void assign();
  void placeScratch();
  void countItems();
  /// Reads and writes what is chosen as the kernel's attribute.
  void read(ScheduleAttr chosen);
  void write(RowMemory memory = RowMemory::None);

  /// Whether lanes load from places far apart.
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
  /// Whether what is visited is reduced as it is computed.
  bool visitsLanes = false;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_SCHEDULEBUILDER_H
