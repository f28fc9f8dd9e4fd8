// reprise: functions that differ from launch to launch, which kernels of kernels/cuda call
#include "LaunchFunctions.h"

using namespace mlir;

namespace reprise {

LaunchFunction::LaunchFunction(gpu::GPUModuleOp module, StringRef name, ArrayRef<Type> arguments,
                               ArrayRef<Type> results)
    : ThreadKernel(module, name, FunctionType::get(module.getContext(), arguments, results)) {}

/// Returns the place of a buffer's address in a launch.
static Value findSlot(ImplicitLocOpBuilder &b, Value launch, unsigned i) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), globalMemory);
  return LLVM::GEPOp::create(b, launch.getType(), pointer, launch,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
}

Value LaunchFunction::buffer(unsigned i) {
  if (i >= buffers.size())
    buffers.resize(i + 1);
  if (!buffers[i]) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&kernel.getBody().front());
    Type pointer = LLVM::LLVMPointerType::get(b.getContext(), globalMemory);
    buffers[i] = LLVM::LoadOp::create(b, pointer, findSlot(b, argument(0), i));
  }
  return buffers[i];
}

void LaunchFunction::setResult(Value value) {
  kernel.getBody().back().getTerminator()->setOperands(value);
}

static void addGlobals(ThreadKernel &k, int64_t sharedBytes, ArrayRef<int64_t> shape) {
  ImplicitLocOpBuilder &b = k.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(k.module().getBody());
  auto numbers = LLVM::LLVMArrayType::get(b.getI64Type(), shape.size());
  LLVM::GlobalOp::create(b, numbers, /*isConstant=*/true, LLVM::Linkage::External, "shape",
                         b.getI64TensorAttr(shape));
  if (sharedBytes == 0)
    return;
  // An external variable without a value would be a declaration.
  LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), sharedBytes),
                         /*isConstant=*/false, LLVM::Linkage::LinkonceODR, "shared_memory",
                         Attribute(), /*alignment=*/32, sharedMemory);
}

void callDeviceKernel(ThreadKernel &k, size_t buffers, StringRef function, int64_t sharedBytes,
                      ArrayRef<int64_t> shape) {
  ImplicitLocOpBuilder &b = k.b;
  addGlobals(k, sharedBytes, shape);
  Type generic = LLVM::LLVMPointerType::get(b.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), globalMemory);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), generic);
  LLVM::LLVMFuncOp callee;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(k.module().getBody());
    callee = LLVM::LLVMFuncOp::create(b, function, type);
  }
  Value launch = LLVM::AllocaOp::create(b, generic, pointer, k.i64(static_cast<int64_t>(buffers)));
  for (unsigned i = 0; i < buffers; ++i)
    LLVM::StoreOp::create(b, k.buffer(i), findSlot(b, launch, i));
  LLVM::CallOp::create(b, callee, launch);
}

} // namespace reprise
