// reprise: chooses tiles, blocks and packing for a contraction, from its shape and its target alone
#include "ContractionPlan.h"

using namespace mlir;

namespace reprise {
namespace {

/// Drops dimensions of size 1 and joins neighbours that one stride walks through.
SmallVector<FreeDim> merged(ArrayRef<FreeDim> dims) {
  SmallVector<FreeDim> result;
  for (FreeDim dim : dims) {
    if (dim.size == 1)
      continue;
    if (!result.empty() && result.back().stride == dim.stride * dim.size)
      result.back() = {result.back().size * dim.size, dim.stride};
    else
      result.push_back(dim);
  }
  return result;
}

int64_t sizeOf(ArrayRef<FreeDim> dims) {
  int64_t size = 1;
  for (FreeDim dim : dims)
    size *= dim.size;
  return size;
}

SmallVector<FreeDim> side(ArrayRef<SharedDim> dims, int64_t SharedDim::*stride) {
  SmallVector<FreeDim> result;
  for (const SharedDim &dim : dims)
    result.push_back({dim.size, dim.*stride});
  return result;
}

OperandPlan operandOf(const ContractionSpec &spec, bool lhs, PrologueFn prologue) {
  auto stride = lhs ? &SharedDim::lhsStride : &SharedDim::rhsStride;
  OperandPlan operand;
  operand.buffer = lhs ? 0 : 1;
  operand.type = lhs ? spec.lhsType : spec.rhsType;
  operand.batch = merged(side(spec.batch, stride));
  operand.free = merged(lhs ? spec.rows : spec.columns);
  operand.contracted = merged(side(spec.contracted, stride));
  operand.freeSize = sizeOf(lhs ? spec.rows : spec.columns);
  operand.prologue = prologue;
  return operand;
}

/// The part of the computed lanes that are results.
double usedLanes(int64_t size, int64_t lanes) {
  return double(size) / double(llvm::alignTo(size, lanes));
}

/// The register tile: as many accumulators as leave room for a row of rhs and one broadcast.
void chooseTile(ContractionPlan &plan, const CpuTarget &target) {
  int64_t maxRows = target.registers() == 32 ? 14 : 6;
  int64_t accumulators = 2 * maxRows;
  plan.rows.sliver = std::min(plan.rows.freeSize, maxRows);
  int64_t vectors = std::min<int64_t>(8, accumulators / plan.rows.sliver);
  int64_t needed = llvm::divideCeil(plan.lanes.freeSize, plan.vectorLanes);
  plan.lanes.sliver = std::min(vectors, needed) * plan.vectorLanes;
}

/// Whether steps of so many elements fall on few sets of the first-level cache, or on a page each.
bool collides(const OperandPlan &operand, int64_t stride) {
  return stride * KernelBuilder::bytesOf(operand.type) % 1024 == 0;
}

void choosePacking(ContractionPlan &plan) {
  OperandPlan &rows = plan.rows, &lanes = plan.lanes;
  bool narrow = rows.type != plan.accumulator;
  bool inOrder = rows.contractedStride() == 1 && !collides(rows, rows.freeStride()) && !narrow;
  bool readOnce = lanes.slivers() <= 2;
  if (rows.linear() && !rows.prologue && (inOrder || readOnce))
    rows.packing = Packing::None;
  bool contiguous = lanes.linear() && (lanes.freeStride() == 1 || lanes.freeSize == 1);
  bool reused = rows.slivers() > 2;
  bool dense = lanes.type == plan.accumulator && lanes.contractedStride() <= 2 * lanes.sliver;
  if (contiguous && !lanes.prologue && (!reused || dense))
    lanes.packing = Packing::None;
}

void chooseDepth(ContractionPlan &plan) {
  int64_t chain = std::clamp<int64_t>(plan.terms, 1, chainLength);
  int64_t depth = 512;
  if (plan.rows.slivers() == 1 && plan.lanes.packing == Packing::None)
    depth = chainLength; // every element is used once
  else if (plan.rows.freeSize <= 2)
    depth = 128; // what is packed is used at once, from the first-level cache
  int64_t parts = llvm::divideCeil(chain, depth);
  plan.kBlock = plan.terms > chainLength ? depth : llvm::divideCeil(chain, parts);
  if (parts > 1)
    plan.kBlock = llvm::alignTo(plan.kBlock, 16);
}

/// Blocks of about 140 × 512 results, and more of smaller ones where that leaves too few for the workers.
void chooseBlocks(ContractionPlan &plan, const CpuTarget &target) {
  int64_t rowSlivers = plan.rows.slivers(), laneSlivers = plan.lanes.slivers();
  int64_t rowsWanted = target.registers() == 32 ? 140 : 96;
  plan.rowBlocks = llvm::divideCeil(plan.rows.freeSize, rowsWanted);
  plan.laneBlocks = llvm::divideCeil(plan.lanes.freeSize, 512);
  constexpr int64_t itemsWanted = 16, leastWork = 1 << 18;
  int64_t work = plan.rows.freeSize * plan.lanes.freeSize * std::max<int64_t>(plan.terms, 1);
  while (plan.items() < itemsWanted && work / (plan.rowBlocks * plan.laneBlocks) > 2 * leastWork) {
    bool splitLanes = laneSlivers / plan.laneBlocks * plan.lanes.sliver >
                      rowSlivers / plan.rowBlocks * plan.rows.sliver;
    int64_t &blocks = splitLanes ? plan.laneBlocks : plan.rowBlocks;
    if (blocks * 2 > (splitLanes ? laneSlivers : rowSlivers))
      break;
    blocks *= 2;
  }
}

void chooseSharing(ContractionPlan &plan) {
  constexpr int64_t mostBytes = 32 << 20;
  int64_t bytes = plan.batch * plan.kBlocks() * plan.lanes.slivers() *
                  plan.sliverElements(plan.lanes) * plan.accumulatorBytes();
  if (plan.lanes.packing == Packing::Private && plan.rowBlocks > 1 && bytes <= mostBytes)
    plan.lanes.packing = Packing::Shared;
}

} // namespace

int64_t ContractionPlan::packedElements(const OperandPlan &operand) const {
  int64_t perBlock = &operand == &rows ? rowSliversPerBlock() : laneSliversPerBlock();
  switch (operand.packing) {
  case Packing::None:
    return 0;
  case Packing::Private:
    return perBlock * sliverElements(operand);
  case Packing::Shared:
    return batch * kBlocks() * operand.slivers() * sliverElements(operand);
  }
  llvm_unreachable("unknown packing");
}

int64_t ContractionPlan::scratchSlots() const { return llvm::Log2_64(chains()) + 1; }

ContractionPlan planContraction(const ContractionSpec &spec, const CpuTarget &target,
                                const ContractionHooks &hooks) {
  ContractionPlan plan;
  plan.accumulator = spec.accumulatorType();
  plan.vectorLanes = target.lanes(plan.accumulatorBytes());
  plan.rows = operandOf(spec, true, hooks.lhsPrologue);
  plan.lanes = operandOf(spec, false, hooks.rhsPrologue);
  plan.batch = sizeOf(side(spec.batch, &SharedDim::lhsStride));
  plan.terms = sizeOf(side(spec.contracted, &SharedDim::lhsStride));
  plan.swapped = usedLanes(plan.lanes.freeSize, plan.vectorLanes) <
                 0.8 * usedLanes(plan.rows.freeSize, plan.vectorLanes);
  if (plan.swapped)
    std::swap(plan.rows, plan.lanes);
  chooseTile(plan, target);
  choosePacking(plan);
  chooseDepth(plan);
  chooseBlocks(plan, target);
  chooseSharing(plan);
  plan.inPlace = !hooks.epilogue && !plan.swapped && spec.resultType == plan.accumulator &&
                 plan.lanes.freeSize % plan.vectorLanes == 0 && plan.chains() == 1;
  plan.scratchLd = plan.laneSliversPerBlock() * plan.lanes.sliver;
  if (plan.scratchLd * plan.accumulatorBytes() % 1024 == 0)
    plan.scratchLd += plan.vectorLanes; // rows of a tile then fall on different sets of the cache
  return plan;
}

} // namespace reprise
