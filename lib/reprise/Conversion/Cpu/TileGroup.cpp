// reprise: elementwise ops on a contraction's result, applied to each block while it is in the
// cache
#include "reprise/Conversion/Cpu/TileGroup.h"

#include "../LoopNest/NestEmitter.h"
#include "../LoopNest/TileNest.h"
#include "NestSchedule.h"

using namespace mlir;

namespace reprise {

using namespace nests;

/// Number of buffers of a kernel before those of the group.
static constexpr unsigned contractionOperands = 2;

struct TileGroup::Impl {
  TileNest nest;
  Schedule schedule;
  /// The type of the elements of a block.
  Type accumulator;
  int64_t batch, rows, columns;
};

std::optional<TileGroup> TileGroup::get(Block &body, Operation *contraction, int64_t batch,
                                        int64_t rows, int64_t columns, const CpuTarget &target) {
  std::optional<TileNest> nest = TileNest::get(body, contraction, {{batch}, {rows}, {columns}});
  // Blocks start at any column, so lanes would leave a factor of the columns.
  if (!nest || nest->nest.shape.columns.size() != 1)
    return std::nullopt;
  Schedule schedule = makeSchedule(nest->nest, target.registers());
  Type element = cast<RankedTensorType>(contraction->getOperand(0).getType()).getElementType();
  auto impl = std::make_shared<Impl>(
      Impl{std::move(*nest), std::move(schedule), getComputeType(element), batch, rows, columns});
  TileGroup group;
  group.impl = std::move(impl);
  return group;
}

ArrayRef<BufferSlot> TileGroup::buffers() const { return impl->nest.nest.buffers; }

void TileGroup::emit(KernelBuilder &k, const ContractionBlock &block) const {
  Schedule schedule = impl->schedule;
  // Vectors that fill the block leave no masked rest.
  constexpr int64_t least = 8;
  int64_t step = block.columnStep & -block.columnStep;
  schedule.width = std::min(schedule.width, std::max(step, least));
  NestEmitter(k, impl->nest.nest, schedule)
      .emitBlock(block, impl->accumulator, contractionOperands);
}

/// Fetches the elements of a block's rows in one buffer, a line each.
static void prefetchRows(KernelBuilder &k, const ContractionBlock &block, Value first, Value buffer,
                         Type type, int64_t columns, bool write) {
  constexpr int64_t line = 64, keepInAllCaches = 3, data = 1;
  int64_t bytes = bytesOf(type);
  forLoop(k, k.i64(0), k.sub(block.row1, block.row0), k.i64(1), [&](Value row) {
    Value from = emitAddress(k.b, type, buffer, k.add(first, k.mul(row, columns)));
    for (int64_t at = 0; at < block.columnStep * bytes; at += line)
      LLVM::Prefetch::create(k.b, emitAddress(k.b, k.b.getI8Type(), from, k.i64(at)), write,
                             keepInAllCaches, data);
  });
}

void TileGroup::prefetch(KernelBuilder &k, const ContractionBlock &block) const {
  // Smaller operands are probably in the cache.
  constexpr int64_t least = 1 << 20;
  Value row = k.add(k.mul(block.batch, impl->rows), block.row0);
  Value first = k.add(k.mul(row, impl->columns), block.column0);
  const Nest &nest = impl->nest.nest;
  auto fetch = [&](Value buffer, Type type, bool write) {
    if (impl->batch * impl->rows * impl->columns * bytesOf(type) >= least)
      prefetchRows(k, block, first, k.buffer(contractionOperands + nest.kernel.numberOf(buffer)),
                   type, impl->columns, write);
  };
  for (StoreOp root : nest.roots)
    fetch(root.getBuffer(), typeOf(root.getElement()), true);
  for (Value element : nest.elements)
    if (auto read = element.getDefiningOp<ReadOp>(); read && read.getPlace() == nest.position())
      fetch(read.getBuffer(), typeOf(element), false);
}

} // namespace reprise
