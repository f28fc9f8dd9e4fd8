// reprise: a builder of CPU kernels with the runtime's calling convention
#include "reprise/Conversion/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

KernelBuilder::KernelBuilder(ModuleOp module, StringRef name, std::optional<Location> location)
    : b(location.value_or(module.getLoc()), module.getContext()) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                          {pointer, b.getI64Type(), b.getI64Type(), pointer});
  b.setInsertionPointToEnd(module.getBody());
  kernel = LLVM::LLVMFuncOp::create(b, name, type);
  b.setInsertionPointToStart(kernel.addEntryBlock(b));
  b.setInsertionPoint(LLVM::ReturnOp::create(b, ValueRange()));
}

Value KernelBuilder::buffer(unsigned i) {
  if (i >= buffers.size())
    buffers.resize(i + 1);
  if (!buffers[i]) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&kernel.getBody().front());
    Type type = LLVM::LLVMPointerType::get(b.getContext());
    Value slot = LLVM::GEPOp::create(b, type, type, kernel.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    buffers[i] = LLVM::LoadOp::create(b, type, slot);
  }
  return buffers[i];
}

Value KernelBuilder::exchange(Value, int64_t) {
  llvm_unreachable("the lanes of a CPU are those of a vector");
}

void KernelBuilder::copyAsync(Value, Value, int64_t) { llvm_unreachable("a CPU has loads"); }

void KernelBuilder::awaitCopies() { llvm_unreachable("a CPU has loads"); }

void KernelBuilder::meetWarp() { llvm_unreachable("the lanes of a CPU are those of a vector"); }

Value KernelBuilder::i64(int64_t value) { return arith::ConstantIntOp::create(b, value, 64); }

Value KernelBuilder::narrow(Value index) {
  return isNarrow ? b.createOrFold<arith::TruncIOp>(b.getI32Type(), index) : index;
}

Value KernelBuilder::widen(Value index) {
  return isNarrow ? b.createOrFold<arith::ExtSIOp>(b.getI64Type(), index) : index;
}

/// Computes with no-overflow flags, so that LLVM moves sums and products through a conversion to 64
/// bits into the offsets of accesses.
template <typename Op> Value KernelBuilder::compute(Value lhs, Value rhs) {
  if (!isNarrow)
    return b.createOrFold<Op>(lhs, rhs);
  lhs = narrow(lhs), rhs = narrow(rhs);
  if constexpr (llvm::is_one_of<Op, arith::AddIOp, arith::SubIOp, arith::MulIOp>::value)
    return widen(b.createOrFold<Op>(lhs, rhs, arith::IntegerOverflowFlags::nsw));
  else
    return widen(b.createOrFold<Op>(lhs, rhs));
}

Value KernelBuilder::add(Value lhs, Value rhs) { return compute<arith::AddIOp>(lhs, rhs); }
Value KernelBuilder::sub(Value lhs, Value rhs) { return compute<arith::SubIOp>(lhs, rhs); }
Value KernelBuilder::mul(Value lhs, Value rhs) { return compute<arith::MulIOp>(lhs, rhs); }
Value KernelBuilder::min(Value lhs, Value rhs) { return compute<arith::MinSIOp>(lhs, rhs); }
Value KernelBuilder::div(Value a, int64_t c) { return compute<arith::DivUIOp>(a, i64(c)); }
Value KernelBuilder::rem(Value a, int64_t c) { return compute<arith::RemUIOp>(a, i64(c)); }

Value exchangeAll(KernelBuilder &k, Value value, int64_t lanes,
                  llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, k.exchange(value, distance));
  return value;
}

} // namespace reprise
