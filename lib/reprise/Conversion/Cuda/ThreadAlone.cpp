// reprise: GPU kernels of ops that no loop nest computes: moves, running sums, largest elements
#include "ThreadAlone.h"

#include "../LoopNest/AloneOps.h"
#include "ThreadSort.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Dialect/Reprise/IR/OpList.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace reprise {

using namespace nests;

void emitThreadAlone(ThreadCommands &commands, AloneOp nest) {
  dispatchOp<AloneOpInterface>(nest.getOp(), [&](auto op) { emit(op, commands, nest); });
}

void emit(CustomCallOp op, ThreadCommands &commands, AloneOp nest) {
  EmittedCommand command = emitHostCall(op, nest.getStored());
  command.buffers = nest.getBuffers();
  commands.add(std::move(command));
}

//===-- The largest ---------------------------------------------------------------------------===//

void emit(TopKOp op, ThreadCommands &commands, AloneOp nest) {
  TopKShape shape(op);
  RowSort sort{shape.rows, shape.n, shape.count, nest.getBuffers(), {}, {}};
  sort.key = [&](KernelBuilder &k, Value element) {
    Value key = TopKShape::emitKey(k.b, emitLoadWide(k.b, shape.type, k.buffer(0), element));
    // The largest come first.
    return arith::XOrIOp::create(k.b, key, emitConstant(k.b, key.getType(), -1)).getResult();
  };
  sort.store = [&](KernelBuilder &k, Value row, Value place, Value element) {
    Type bits = bitsTypeOf(shape.type);
    Value to = k.add(k.mul(row, shape.count), place);
    unsigned buffer = 1;
    if (nest.getStored()[0])
      emitStore(k.b, bits, emitLoad(k.b, bits, k.buffer(0), element), k.buffer(buffer++), to);
    Value index = k.sub(element, k.mul(row, shape.n));
    if (nest.getStored()[1])
      emitStore(k.b, shape.indexType, emitCast(k.b, index, shape.indexType), k.buffer(buffer), to);
  };
  emitRowSort(commands, sort);
}

//===-- Windows -------------------------------------------------------------------------------===//

/// The copy is for as many threads as a large GPU has at once: where the result lies in the place
/// of the operand, most of a larger grid's time would be its start.
static void emitCopy(ThreadCommands &commands, AloneOp nest, const WindowShape &shape) {
  constexpr int64_t mostThreads = 1 << 18;
  int64_t size = shape.whole.getNumElements(), lanes = vectorLanes(size);
  int64_t vectors = size / lanes, threads = std::min(vectors, mostThreads);
  commands.add(nest.getBuffers(), threads, [&](KernelBuilder &k, Value item) {
    Value differ = LLVM::ICmpOp::create(k.b, LLVM::ICmpPredicate::ne, k.buffer(0), k.buffer(3));
    ifThen(k.b, differ, [&] {
      forLoop(k, item, k.i64(vectors), k.i64(threads), [&](Value vector) {
        Value at = k.mul(vector, lanes);
        emitStore(k.b, shape.bits, emitLoad(k.b, shape.bits, k.buffer(0), at, lanes, lanes),
                  k.buffer(3), at, lanes);
      });
    });
  });
}

void emit(DynamicUpdateOp op, ThreadCommands &commands, AloneOp nest) {
  WindowShape shape(op);
  emitCopy(commands, nest, shape);
  int64_t size = shape.window.getNumElements();
  if (size == 0)
    return;
  // Runs begin at multiples of the elements within the cut dimension.
  int64_t within =
      shape.whole.getRank() == 0 ? 1 : shape.run / shape.window.getDimSize(shape.lastCut);
  int64_t lanes = vectorLanes(within);
  commands.add(nest.getBuffers(), size / lanes, [&](KernelBuilder &k, Value item) {
    Value from = k.mul(item, lanes);
    Value to = k.add(shape.placeOf(k, k.div(from, shape.run)), k.rem(from, shape.run));
    emitStore(k.b, shape.bits, emitLoad(k.b, shape.bits, k.buffer(1), from, lanes, lanes),
              k.buffer(3), to, lanes);
  });
}

} // namespace reprise
