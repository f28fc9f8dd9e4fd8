// reprise: what the schedules of all targets have in common: vectors, passes, scratch
#include "ScheduleBuilder.h"
#include "reprise/Conversion/Elements.h"

using namespace mlir;

namespace reprise::nests {
//===-- Vectors ----------------------------------------------------------------------------===//

/// True if lanes do not differ, or if the condition can be decided for a whole stretch of columns.
bool ScheduleBuilder::isVectorizable(const Place &place) const {
  Value lane = nest.innermost();
  if (!nest.varies(place, lane))
    return true;
  return place.terms.size() == 1 && place.coefficient(lane) == 1 && nest.shape.columns.size() == 1;
}

/// True if lanes would take different branches.
bool ScheduleBuilder::isScalar() const {
  bool scalar = false;
  nest.kernel.walk([&](ChooseOp choose) {
    scalar |= !isVectorizable(choose.getPlace()) ||
              (choose.getStep() > 1 && choose.getPlace().coefficient(nest.innermost()));
  });
  nest.kernel.walk(
      [&](QuotientOp quotient) { scalar |= nest.levelOf(quotient.getResult()) >= Level::Column; });
  return scalar;
}

void ScheduleBuilder::chooseWidth(int64_t most) {
  if (isScalar())
    return;
  int64_t columns = nest.shape.columns.back();
  if (nest.shape.columns.size() > 1) {
    // Lanes must not leave the innermost factor.
    constexpr int64_t fewest = 4;
    while (schedule.width < reductionLanes && columns % (2 * schedule.width) == 0)
      schedule.width *= 2;
    if (schedule.width * 2 > std::min(columns, reductionLanes))
      return;
    schedule.inRuns = columns >= fewest;
    schedule.width =
        schedule.inRuns ? std::min<int64_t>(llvm::PowerOf2Ceil(columns), reductionLanes / 2) : 1;
    return;
  }
  bool reduces = nest.hasReductions() || nest.stores(Stored::ColumnParts);
  schedule.width =
      reduces ? reductionLanes : std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), 4, most);
}

static bool isConstant(Value element) {
  return element.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
}

int64_t ScheduleBuilder::countColumnNodes() const {
  return llvm::count_if(nest.elements, [&](Value element) {
    return nest.levelOf(element) >= Level::Column && !isConstant(element);
  });
}

void ScheduleBuilder::findStretches() {
  int64_t columns = nest.shape.columnCount();
  schedule.stretches = {0, columns};
  if (schedule.width == 1)
    return;
  nest.kernel.walk([&](ChooseOp choose) {
    Place place = choose.getPlace();
    if (!place.coefficient(nest.innermost()))
      return;
    for (auto bound : {choose.getLower(), choose.getUpper()})
      if (int64_t column = static_cast<int64_t>(bound) - place.offset;
          column > 0 && column < columns)
        schedule.stretches.push_back(column);
  });
  llvm::sort(schedule.stretches);
  schedule.stretches.erase(llvm::unique(schedule.stretches), schedule.stretches.end());
}

//===-- Passes -----------------------------------------------------------------------------===//

void ScheduleBuilder::keep(Value element, int pass) {
  if (!schedule.kept.try_emplace(element, Kept{pass}).second)
    return;
  (pass == beforePasses ? schedule.fetched : schedule.passes[pass].kept).push_back(element);
}

/// The root that stores the elements, or null.
static StoreOp findStored(const Nest &nest, Value element) {
  for (StoreOp root : nest.roots)
    if (root.getElement() == element && root.getWhat() == Stored::Elements && root.getBuffer())
      return root;
  return nullptr;
}

/// True if the element of an earlier pass is loaded in this one.
bool ScheduleBuilder::findKept(Value element, int pass, int earlier) {
  bool isLoad = element.getDefiningOp<ReadOp>() != nullptr, keeps = keepsElements(element);
  if (!schedule.kept.contains(element)) {
    StoreOp stored =
        isLoad || (keeps && schedule.itemThreads) ? StoreOp() : findStored(nest, element);
    if (stored)
      schedule.kept[element] = {earlier, 0, stored};
    else if (keeps)
      keep(element, isLoad ? beforePasses : earlier);
    else
      return false;
  }
  schedule.kept[element].last = pass;
  return true;
}

/// True if an op computes its operands only where it needs them.
static bool guards(Value element) { return isa<ChooseOp, SequenceOp>(element.getDefiningOp()); }

/// Elements that a row computes once. Those below a choice are computed where they are needed.
void ScheduleBuilder::visitRow(Value element) {
  if (!seenRows.insert(element).second || isConstant(element))
    return;
  if (nest.levelOf(element) == Level::Kernel) {
    schedule.kernelNodes.push_back(element);
    return;
  }
  if (element.getDefiningOp<ReduceOp>() || guards(element))
    return;
  llvm::for_each(inputsOf(element), [&](Value input) { visitRow(input); });
}

void ScheduleBuilder::visitColumn(Value element, int pass, bool conditional) {
  if (nest.levelOf(element) < Level::Column) {
    if (conditional || isConstant(element))
      return;
    visitRow(element);
    if (nest.levelOf(element) == Level::Row && seenInPass.insert(element).second)
      schedule.passes[pass].rowNodes.push_back(element);
    return;
  }
  if (!seenInPass.insert(element).second)
    return;
  bool isLoad = element.getDefiningOp<ReadOp>() != nullptr;
  auto first = firstPass.find(element);
  if (first != firstPass.end() && first->second < pass) {
    if (findKept(element, pass, first->second))
      return;
  } else if (!conditional) {
    firstPass[element] = pass;
    if (visitsLanes && isLoad && fetchesFirst(element)) {
      keep(element, beforePasses);
      schedule.kept[element].last = pass;
    }
  }
  schedule.lastPass[element] = pass;
  if (isLoad && !conditional && !schedule.kept.contains(element))
    schedule.passes[pass].loads.push_back(element);
  SmallVector<Value> operands = operandsOf(element.getDefiningOp());
  for (Value input : inputsOf(element))
    visitColumn(input, pass,
                conditional || (guards(element) && llvm::is_contained(operands, input)));
}

void ScheduleBuilder::sharePasses() {
  int count = 1;
  for (StoreOp root : nest.roots)
    if (root.isOfColumns())
      count = std::max(count, nest.stageOf(root.getElement()) + 1);
  for (Value element : nest.elements)
    if (element.getDefiningOp<ReduceOp>())
      count = std::max(count, nest.stageOf(element));
  schedule.passes.resize(count);
  for (StoreOp root : nest.roots)
    if (root.isOfColumns())
      schedule.passes[nest.stageOf(root.getElement())].roots.push_back(root);
  for (Value element : nest.elements)
    if (auto reduction = element.getDefiningOp<ReduceOp>())
      schedule.passes[nest.stageOf(element) - 1].reductions.push_back(reduction);
}

void ScheduleBuilder::assign() {
  findStretches();
  sharePasses();
  // Threads reduce elements as they compute them.
  bool inLanes = schedule.itemThreads || (schedule.width == reductionLanes &&
                                          schedule.stretches.size() == 2 && !schedule.inRuns);
  for (auto [number, pass] : llvm::enumerate(schedule.passes)) {
    seenInPass.clear();
    SmallVector<Value> operands = laneOperands(pass);
    pass.staged = !operands.empty() && (!inLanes || stages(operands));
    visitsLanes = !pass.staged;
    for (Value operand : operands) {
      visitColumn(operand, number, false);
      if (pass.staged)
        keep(operand, number);
    }
    visitsLanes = false;
    // Their room is free when the next pass begins.
    for (Value operand : operands)
      if (pass.staged && schedule.kept[operand].last <= static_cast<int>(number))
        schedule.kept[operand].last = number + 1;
    for (StoreOp root : pass.roots)
      visitColumn(root.getElement(), number, false);
    int64_t values = llvm::count_if(
        seenInPass, [&](Value element) { return nest.levelOf(element) >= Level::Column; });
    bool usesAll = pass.staged && !schedule.itemThreads;
    pass.laneWidth = usesAll ? reductionLanes : chooseLaneWidth(pass, values);
  }
  for (StoreOp root : nest.roots)
    if (root.getWhat() == Stored::Rows)
      visitRow(root.getElement());
}

SmallVector<Value> laneOperands(const Pass &pass) {
  SmallVector<Value> operands;
  for (ReduceOp reduction : pass.reductions)
    operands.push_back(reduction.getElement());
  for (StoreOp root : pass.roots)
    if (root.getWhat() == Stored::ColumnParts)
      operands.push_back(root.getElement());
  return operands;
}

void ScheduleBuilder::placeScratch() {
  auto place = [&](Type type, int64_t count) {
    int64_t offset = schedule.workerBytes;
    schedule.workerBytes += llvm::alignTo(bytesOf(getComputeType(type)) * count, 64);
    return offset;
  };
  if (!schedule.itemThreads)
    for (Pass &pass : schedule.passes)
      for (Value element : pass.kept)
        schedule.kept[element].offset = place(typeOf(element), schedule.columnsPerItem);
  int64_t blocks = llvm::divideCeil(schedule.columnsPerItem, laneBlock);
  for (Pass &pass : schedule.passes)
    for (ReduceOp reduction : pass.reductions)
      if (blocks > 1)
        schedule.blockResults[reduction] = place(typeOf(reduction), blocks);
}

//===-- Work items -------------------------------------------------------------------------===//

bool ScheduleBuilder::jumpsBetweenLanes() const {
  return llvm::any_of(nest.elements, [&](Value element) {
    auto read = element.getDefiningOp<ReadOp>();
    return read && read.getPlace().coefficient(nest.innermost()) > 1;
  });
}

void ScheduleBuilder::read(ScheduleAttr chosen) {
  schedule.width = chosen.getWidth();
  schedule.inRuns = chosen.getRuns();
  schedule.rowsPerItem = chosen.getRows();
  schedule.columnsPerItem = chosen.getColumns();
  schedule.itemThreads = chosen.getThreads();
  schedule.blockThreads = chosen.getBlock();
  schedule.blocksTogether = chosen.getTogether();
  countItems();
}

void ScheduleBuilder::write(RowMemory memory) {
  nest.kernel.setScheduleAttr(
      ScheduleAttr::get(nest.kernel.getContext(), schedule.width, schedule.inRuns,
                        schedule.rowsPerItem, schedule.columnsPerItem, schedule.itemThreads,
                        schedule.blockThreads, schedule.blocksTogether, memory));
}

void ScheduleBuilder::countItems() {
  schedule.rowItems = llvm::divideCeil(nest.shape.rowCount(), schedule.rowsPerItem);
  schedule.columnItems = llvm::divideCeil(nest.shape.columnCount(), schedule.columnsPerItem);
  schedule.items = nest.shape.outerSize() * schedule.rowItems * schedule.columnItems;
}

} // namespace reprise::nests
