// reprise: the attributes of steps in pieces and of cuts, and their verifiers
#include "reprise/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;

namespace reprise::pipe {

static bool isScheduleName(const AttributePlace &, Attribute value) {
  return isa<FlatSymbolRefAttr>(value);
}

static bool isCuts(const AttributePlace &, Attribute value) {
  auto cuts = dyn_cast<ArrayAttr>(value);
  return cuts && !cuts.empty() && llvm::all_of(cuts, llvm::IsaPred<CutAttr>);
}

static bool isTiming(const AttributePlace &, Attribute value) { return isa<TimingAttr>(value); }

static bool isOpOrArgument(const AttributePlace &place) {
  return isArgument(place) || isOpOfFunction(place);
}

static constexpr PlaceKind kOnOpOrArgument{"an op or an argument of a function", isOpOrArgument};
static constexpr ValueKind kScheduleName{"the symbol of a schedule", isScheduleName};
static constexpr ValueKind kCuts{"one or more #pipe.cut", isCuts};
static constexpr ValueKind kTiming{"a #pipe.timing", isTiming};

static constexpr AttributeRow kTable[] = {
    {kScheduleRefAttr, kOnFunction, kScheduleName, "partition", "",
     "Schedule of a step in pieces, and of its device programs while they are in pieces."},
    {kHomeAttr, kOnArgument, kIndex, "partition", "",
     "Stage whose device holds the argument of a step in pieces; without it any device may."},
    {kReplicaAttr, kOnOpOrArgument, kIndex, "partition", "",
     "Replica that runs the op behind all passes, or that holds the argument."},
    {kCutsAttr, kOnFunctionOrModule, kCuts, "partition", "memory",
     "Cut that was taken, and behind it the other cuts that were weighed."},
    {kTimingAttr, kOnFunctionOrModule, kTiming, "partition", "memory",
     "Times of the cut that was taken."},
};

ArrayRef<AttributeRow> getAttributeTable() { return kTable; }

LogicalResult PipeDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(kTable, {AttributePlace::Op, op}, attribute);
}

LogicalResult PipeDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  return verifyArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult PipeDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                       NamedAttribute attribute) {
  return verifyResultAttribute(kTable, op, result, attribute);
}

} // namespace reprise::pipe
