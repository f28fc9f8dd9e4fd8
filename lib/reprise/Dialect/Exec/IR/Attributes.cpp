// reprise: the attributes that command lists and their functions carry, and their verifiers
#include "reprise/Dialect/Exec/IR/Attributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Dialect/Exec/IR/BackwardWaits.h"
#include "reprise/Dialect/Exec/IR/Exec.h"

using namespace mlir;

namespace reprise::exec {

static bool isLaunch(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && isa<LaunchOp>(place.op);
}

static bool isFunctionOrLaunch(const AttributePlace &place) {
  return isFunction(place) || isLaunch(place);
}

static bool isOffsets(const AttributePlace &place, Attribute value) {
  return isNumbers(value, kMostOfCount) &&
         cast<DenseI64ArrayAttr>(value).size() == place.op->getNumResults();
}

static bool isReported(const AttributePlace &place, Attribute value) {
  if (!isLaunch(place))
    return isNumber(value, kMostOfCount);
  return isNumbers(value, kMostOfCount) && !cast<DenseI64ArrayAttr>(value).empty();
}

static bool isParts(const AttributePlace &place, Attribute value) {
  if (!isLaunch(place))
    return isa<UnitAttr>(value);
  // The regions of the launch are verified later.
  auto *body = place.op->getNumRegions() == 1 && place.op->getRegion(0).hasOneBlock()
                   ? &place.op->getRegion(0).front()
                   : nullptr;
  auto last = static_cast<int64_t>(Part::Replay);
  return body && isNumbers(value, last) &&
         static_cast<size_t>(cast<DenseI64ArrayAttr>(value).size()) + 1 ==
             body->getOperations().size();
}

static bool isWait(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && isa<WaitOp>(place.op);
}

static bool isPass(const AttributePlace &, Attribute value) {
  return isNumbers(value, kMostOfCount) && cast<DenseI64ArrayAttr>(value).size() == 2;
}

static bool isAlignment(const AttributePlace &, Attribute value) {
  static constexpr int64_t kWidestAccess = 16;
  return isNumber(value, kWidestAccess) && llvm::isPowerOf2_64(cast<IntegerAttr>(value).getInt());
}

static bool isNests(const AttributePlace &, Attribute value) {
  return isa<FlatSymbolRefAttr>(value);
}

static bool isInPlace(const AttributePlace &, Attribute value) {
  return isNumbers(value, kMostOfCount) && cast<DenseI64ArrayAttr>(value).size() % 2 == 0;
}

static constexpr PlaceKind kOnLaunch{"a launch", isLaunch};
static constexpr PlaceKind kOnFunctionOrLaunch{"a function or on a launch", isFunctionOrLaunch};
static constexpr PlaceKind kOnWait{"a wait", isWait};
static constexpr ValueKind kPass{"a stage and a micro-batch, from 0 to 2^62 - 1", isPass};
static constexpr ValueKind kOffsets{"an array of i64 from 0 to 2^62 - 1, one per result",
                                    isOffsets};
static constexpr ValueKind kReported{"an i64 from 0 to 2^62 - 1, or on a launch an array of these",
                                     isReported};
static constexpr ValueKind kParts{
    "a unit attribute, or on a launch an array with 0, 1 or 2 for each op of the body", isParts};
static constexpr ValueKind kNests{"the symbol of a program of nests", isNests};
static constexpr ValueKind kInPlace{"an array of pairs of i64", isInPlace};
static constexpr ValueKind kAlignment{"a power of two from 1 to 16 as i64", isAlignment};

static constexpr AttributeRow kTable[] = {
    {kReportedAttr, kOnOp, kReported, "checkpoint", "memory",
     "For reports: number of the first result of an op or of the original of a replay; numbers of "
     "the values that a launch stores."},
    {kPartsAttr, kOnFunctionOrLaunch, kParts, "checkpoint", "memory",
     "For reports: launches of the function note whether each op of the body is forward (0), "
     "backward (1) or a replay (2)."},
    {kOffsetsAttr, kOnLoop, kOffsets, "memory", "memory",
     "Byte offset in the arena of the buffer of each result; the values in the loop that share the "
     "buffer have the same offset."},
    {kArenaBytesAttr, kOnFunction, kCount, "memory", "memory",
     "Bytes of the arena, which holds the buffers of the function."},
    {kHostBytesAttr, kOnFunction, kCount, "memory", "memory",
     "Bytes of the host's memory for offloaded values."},
    {kLaunchesMovedAttr, kOnFunction, kMark, "memory", "memory",
     "Launches run in another order than the ops of the step, so that the arena is smaller."},
    {kBackwardPassAttr, kOnWait, kPass, "partition", "memory",
     "Stage and micro-batch of the backward pass that begins behind this wait and those that "
     "follow "
     "it."},
    {kNestsAttr, kOnLaunch, kNests, "nests", "memory",
     "Program of loop nests that computes the launch, as the target makes it or written by hand."},
    {kInPlaceAttr, kOnLaunch, kInPlace, "nests", "",
     "Pairs of a result and an input: the launch may store this result over this input."},
    {kPlaceAlignmentAttr, kOnLaunch, kAlignment, "target", "",
     "Bytes that divide all places of the launch's arguments and results, if fewer than 16."},
};

ArrayRef<AttributeRow> getAttributeTable() { return kTable; }

LogicalResult ExecDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(kTable, {AttributePlace::Op, op}, attribute);
}

LogicalResult ExecDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  return verifyArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult ExecDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                       NamedAttribute attribute) {
  return verifyResultAttribute(kTable, op, result, attribute);
}

} // namespace reprise::exec
