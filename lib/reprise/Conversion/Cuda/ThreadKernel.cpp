// reprise: a builder of kernels that the threads of a GPU run
#include "ThreadKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace reprise {

ThreadKernel::ThreadKernel(ModuleOp module, StringRef name, size_t buffers, int64_t scratchBytes,
                           int64_t threads)
    : KernelBuilder(ImplicitLocOpBuilder(module.getLoc(), module.getContext())), threads(threads),
      scratchBytes(scratchBytes) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), globalMemory);
  b.setInsertionPointToEnd(module.getBody());
  auto outer = gpu::GPUModuleOp::create(b, name);
  b.setInsertionPointToStart(outer.getBody());
  kernel =
      gpu::GPUFuncOp::create(b, name, b.getFunctionType(SmallVector<Type>(buffers, pointer), {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  b.setInsertionPointToStart(&kernel.getBody().front());
  b.setInsertionPoint(gpu::ReturnOp::create(b));
}

ThreadKernel::ThreadKernel(gpu::GPUModuleOp module, StringRef name, FunctionType type)
    : KernelBuilder(ImplicitLocOpBuilder(module.getLoc(), module.getContext())), threads(0),
      scratchBytes(0) {
  b.setInsertionPointToEnd(module.getBody());
  kernel = gpu::GPUFuncOp::create(b, name, type);
  b.setInsertionPointToStart(&kernel.getBody().front());
  b.setInsertionPoint(gpu::ReturnOp::create(b));
}

gpu::GPUModuleOp ThreadKernel::module() { return kernel->getParentOfType<gpu::GPUModuleOp>(); }

Value ThreadKernel::blockNumber() {
  if (readsAnew)
    return readAnew("%ctaid.x");
  return arith::IndexCastOp::create(b, b.getI64Type(),
                                    gpu::BlockIdOp::create(b, gpu::Dimension::x));
}

Value ThreadKernel::numberInBlock() {
  if (readsAnew)
    return readAnew("%tid.x");
  return arith::IndexCastOp::create(b, b.getI64Type(),
                                    gpu::ThreadIdOp::create(b, gpu::Dimension::x));
}

/// Reads a register anew, because LLVM merges reads unless they might have effects.
Value ThreadKernel::readAnew(StringRef name) {
  auto read = LLVM::InlineAsmOp::create(
      b, b.getI32Type(), ValueRange(), ("mov.u32 $0, " + name + ";").str(), "=r",
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return arith::ExtUIOp::create(b, b.getI64Type(), read.getResult(0));
}

Value ThreadKernel::threadNumber() { return add(mul(blockNumber(), threads), numberInBlock()); }

void ThreadKernel::setBlocksTogether(int32_t blocks) {
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(blocks));
}

Value ThreadKernel::shared(int64_t bytes) {
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
  LLVM::GlobalOp memory;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(kernel);
    memory = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                    (kernel.getName() + "_shared").str(), Attribute(),
                                    /*alignment=*/32, sharedMemory);
  }
  return LLVM::AddressOfOp::create(b, memory);
}

void ThreadKernel::barrier() { gpu::BarrierOp::create(b); }

void ThreadKernel::copyAsync(Value to, Value from, int64_t bytes) {
  // The first-level cache caches only parts of lines.
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(b, to, from, static_cast<uint32_t>(bytes), cache, Value());
}

void ThreadKernel::awaitCopies() {
  commitCopies();
  awaitGroups(0);
}

void ThreadKernel::commitCopies() { NVVM::CpAsyncCommitGroupOp::create(b); }

void ThreadKernel::awaitGroups(uint32_t pending) { NVVM::CpAsyncWaitGroupOp::create(b, pending); }

void ThreadKernel::meetWarp() {
  NVVM::SyncWarpOp::create(b, arith::ConstantIntOp::create(b, -1, 32));
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
  return shuffle(value, arith::ConstantIntOp::create(b, distance, 32), gpu::ShuffleMode::XOR);
}

Value ThreadKernel::broadcast(Value value, Value from) {
  return shuffle(value, arith::TruncIOp::create(b, b.getI32Type(), from), gpu::ShuffleMode::IDX);
}

Value ThreadKernel::shuffle(Value value, Value offset, gpu::ShuffleMode mode) {
  Type type = value.getType();
  // Threads can exchange only registers of 32 bits.
  if (type.getIntOrFloatBitWidth() == 32) {
    Value width = arith::ConstantIntOp::create(b, 32, 32);
    return gpu::ShuffleOp::create(b, value, offset, width, mode).getShuffleResult();
  }
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Value shift = this->i64(32);
  Value bits = type == i64 ? value : arith::BitcastOp::create(b, i64, value).getResult();
  Value high = arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, bits, shift));
  Value low = shuffle(arith::TruncIOp::create(b, i32, bits), offset, mode);
  high = arith::ExtUIOp::create(b, i64, shuffle(high, offset, mode));
  bits = arith::OrIOp::create(b, arith::ShLIOp::create(b, high, shift),
                              arith::ExtUIOp::create(b, i64, low));
  return type == i64 ? bits : arith::BitcastOp::create(b, type, bits).getResult();
}

} // namespace reprise
