// reprise: a builder of kernels that the threads of a GPU run
#include "ThreadKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

ThreadKernel::ThreadKernel(ModuleOp module, StringRef name, size_t buffers, int64_t scratchBytes)
    : KernelBuilder(ImplicitLocOpBuilder(module.getLoc(), module.getContext())),
      scratchBytes(scratchBytes) {
  constexpr unsigned globalMemory = 1;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), globalMemory);
  b.setInsertionPointToEnd(module.getBody());
  auto outer = gpu::GPUModuleOp::create(b, name);
  b.setInsertionPointToStart(outer.getBody());
  kernel =
      gpu::GPUFuncOp::create(b, name, b.getFunctionType(SmallVector<Type>(buffers, pointer), {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({blockThreads, 1, 1}));
  b.setInsertionPointToStart(&kernel.getBody().front());
  b.setInsertionPoint(gpu::ReturnOp::create(b));
}

Value ThreadKernel::threadNumber() {
  auto widen = [&](Value index) {
    return arith::IndexCastOp::create(b, b.getI64Type(), index).getResult();
  };
  Value block = widen(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  Value thread = widen(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  return add(mul(block, blockThreads), thread);
}

Value ThreadKernel::workspace() {
  if (!scratch) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&kernel.getBody().front());
    scratch = LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), b.getI8Type(),
                                     i64(scratchBytes), /*alignment=*/16);
  }
  return scratch;
}

Value ThreadKernel::exchange(Value value, int64_t distance) {
  Type type = value.getType();
  // Registers of 32 bits are what threads can exchange.
  if (type.getIntOrFloatBitWidth() == 32)
    return gpu::ShuffleOp::create(b, value, distance, /*width=*/32, gpu::ShuffleMode::XOR)
        .getShuffleResult();
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Value shift = this->i64(32);
  Value bits = type == i64 ? value : arith::BitcastOp::create(b, i64, value).getResult();
  Value high = arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, bits, shift));
  Value low = exchange(arith::TruncIOp::create(b, i32, bits), distance);
  high = arith::ExtUIOp::create(b, i64, exchange(high, distance));
  bits = arith::OrIOp::create(b, arith::ShLIOp::create(b, high, shift),
                              arith::ExtUIOp::create(b, i64, low));
  return type == i64 ? bits : arith::BitcastOp::create(b, type, bits).getResult();
}

} // namespace reprise
