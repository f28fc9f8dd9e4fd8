// reprise: chooses tiles, blocks and packing for a contraction, only from its shape and its target
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
  operand.offset = lhs ? spec.lhsOffset : spec.rhsOffset;
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

/// The register tile: 8 × 3 of the 32 registers of AVX-512, 6 × 2 of the 16 of AVX2, and wider for
/// fewer rows. What is left holds a row of rhs and the broadcasts; a tile of 14 × 2 is no faster
/// and at the allocator's mercy.
void chooseTile(ContractionPlan &plan, const CpuTarget &target) {
  bool wide = target.registers() == 32;
  plan.rows.sliver = std::min<int64_t>(plan.rows.freeSize, wide ? 8 : 6);
  int64_t vectors = std::min<int64_t>(8, (wide ? 24 : 12) / plan.rows.sliver);
  int64_t needed = llvm::divideCeil(plan.lanes.freeSize, plan.vectorLanes);
  plan.lanes.sliver = std::min(vectors, needed) * plan.vectorLanes;
}

void choosePacking(ContractionPlan &plan) {
  OperandPlan &rows = plan.rows, &lanes = plan.lanes;
  // Broadcasts read rows of terms as fast as slivers, even if the distance of rows is a power of
  // two. Columns of terms are fast only with eight rows, half a cache line.
  bool readable = rows.type == plan.accumulator &&
                  (rows.contractedStride() == 1 || (rows.freeStride() == 1 && rows.sliver >= 8));
  bool readOnce = lanes.slivers() <= 2;
  if (rows.linear() && !rows.prologue && (readable || readOnce))
    rows.packing = Packing::None;
  bool runs = !rows.linear() && rows.contractedStride() == 2;
  rows.lines = (rows.contractedStride() == 1 || runs) && rows.freeSize > 1;
  bool contiguous = lanes.linear() && (lanes.freeStride() == 1 || lanes.freeSize == 1);
  bool dense = lanes.type == plan.accumulator && lanes.contractedStride() <= 2 * lanes.sliver;
  // Lines whose distance is a multiple of 1 KiB share few sets of the cache, and are evicted before
  // they are read again.
  bool collides = lanes.contractedStride() * bytesOf(lanes.type) % 1024 == 0;
  bool fewUses =
      rows.slivers() <= 2 || (rows.slivers() <= 8 && !collides && lanes.type == plan.accumulator);
  if (contiguous && !lanes.prologue && (fewUses || dense))
    lanes.packing = Packing::None;
}

/// Packs an operand once if several blocks would each pack it, unless the packed copy needs much
/// memory, or the contraction is too short for a further command.
void share(const ContractionPlan &plan, OperandPlan &operand, int64_t uses) {
  constexpr int64_t mostBytes = 32 << 20, leastWork = 1 << 22;
  int64_t bytes = plan.batch * plan.terms * operand.freeSize * plan.accumulatorBytes();
  int64_t work = plan.batch * plan.rows.freeSize * plan.lanes.freeSize * plan.terms;
  if (operand.packing == Packing::Private && uses > 1 && bytes <= mostBytes && work >= leastWork)
    operand.packing = Packing::Shared;
}

/// Terms between two stores of the accumulators: few enough for the second-level cache.
void chooseDepth(ContractionPlan &plan) {
  int64_t chain = std::clamp<int64_t>(plan.terms, 1, chainLength);
  int64_t depth = 1024;
  if (plan.lanes.packing == Packing::Private)
    depth = plan.rows.freeSize <= 2 ? 128 : 512; // packed data is used at once
  else if (plan.rows.slivers() == 1 && plan.lanes.packing == Packing::None)
    depth = chainLength; // no element is used twice
  int64_t parts = llvm::divideCeil(chain, depth);
  plan.kBlock = plan.terms > chainLength ? depth : llvm::divideCeil(chain, parts);
  if (parts > 1)
    plan.kBlock = llvm::alignTo(plan.kBlock, 16);
}

/// Chooses blocks. The rows' part of a block, or, if each block packs its lanes, the lanes' part
/// stays in the second-level cache. There are more and smaller blocks if there would be too few for
/// the workers.
void chooseBlocks(ContractionPlan &plan, const CpuTarget &target) {
  int64_t rowsWanted = target.registers() == 32 ? 128 : 72;
  plan.rowBlocks = llvm::divideCeil(plan.rows.freeSize, rowsWanted);
  share(plan, plan.lanes, plan.rowBlocks);
  bool alone = plan.lanes.packing == Packing::Private;
  if (alone)
    plan.rowBlocks = llvm::divideCeil(plan.rows.freeSize, 512);
  chooseDepth(plan);
  plan.laneBlocks = llvm::divideCeil(plan.lanes.freeSize, alone ? 192 : 384);
  // A strip of sums stays in the first-level cache until the epilogue has read it.
  plan.strips = !plan.inPlace && !plan.swapped && plan.kBlocks() == 1;
  if (plan.strips) {
    int64_t fitting =
        (target.registers() == 32 ? 100'000 : 50'000) / std::max<int64_t>(plan.terms, 1);
    plan.laneBlocks =
        llvm::divideCeil(plan.lanes.freeSize, std::max(fitting, 2 * plan.lanes.sliver));
  }
  constexpr int64_t itemsWanted = 16, leastWork = 1 << 18;
  int64_t work = plan.rows.freeSize * plan.lanes.freeSize * std::max<int64_t>(plan.terms, 1);
  while (plan.items() < itemsWanted && work / (plan.rowBlocks * plan.laneBlocks) > 2 * leastWork) {
    int64_t rowsLeft = plan.rows.slivers() / plan.rowBlocks;
    int64_t lanesLeft = plan.lanes.slivers() / plan.laneBlocks;
    bool splitLanes = lanesLeft * plan.lanes.sliver > rowsLeft * plan.rows.sliver;
    if (alone && lanesLeft >= 2) // a second block of rows would pack the same lanes again
      splitLanes = true;
    if ((splitLanes ? lanesLeft : rowsLeft) < 2)
      break;
    (splitLanes ? plan.laneBlocks : plan.rowBlocks) *= 2;
  }
  share(plan, plan.rows, plan.laneBlocks);
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
  if (plan.terms == 0) // no index to cut into digits
    plan.rows.contracted = plan.lanes.contracted = {{0, 1}};
  bool runsAcross = usedLanes(plan.lanes.freeSize, plan.vectorLanes) <
                    0.8 * usedLanes(plan.rows.freeSize, plan.vectorLanes);
  // Given sums are read as they lie, row by row.
  plan.swapped = !spec.continuesSums && (spec.lanesAlongRows || runsAcross);
  if (plan.swapped)
    std::swap(plan.rows, plan.lanes);
  plan.inPlace = !hooks.epilogue && !plan.swapped && spec.columnGroups == 1 &&
                 spec.resultType == plan.accumulator &&
                 plan.lanes.freeSize % plan.vectorLanes == 0 && plan.chains() == 1;
  chooseTile(plan, target);
  choosePacking(plan);
  chooseBlocks(plan, target);
  plan.scratchLd = plan.laneSliversPerBlock() * plan.lanes.sliver;
  if (plan.scratchLd * plan.accumulatorBytes() % 1024 == 0)
    plan.scratchLd += plan.vectorLanes; // rows of a tile then map to different sets of the cache
  return plan;
}

} // namespace reprise
