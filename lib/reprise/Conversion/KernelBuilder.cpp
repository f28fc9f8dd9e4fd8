// reprise: a builder of CPU kernels with the runtime's calling convention
#include "reprise/Conversion/KernelBuilder.h"
#include "Lanes.h"
#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

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

Value KernelBuilder::exchangeAll(Value value, int64_t lanes,
                                 llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, exchange(value, distance));
  return value;
}

void KernelBuilder::copyAsync(Value, Value, int64_t) { llvm_unreachable("a CPU has loads"); }

void KernelBuilder::awaitCopies() { llvm_unreachable("a CPU has loads"); }

void KernelBuilder::meetWarp() { llvm_unreachable("the lanes of a CPU are those of a vector"); }

Type KernelBuilder::typeOf(Type elementType, int64_t width) {
  return width == 1 ? elementType : VectorType::get({width}, elementType);
}

Type KernelBuilder::computeType(Type elementType) {
  bool half = elementType.isF16() || elementType.isBF16();
  return half ? Float32Type::get(elementType.getContext()) : elementType;
}

int64_t KernelBuilder::bytesOf(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

/// The given type with other elements.
static Type withElement(Type type, Type elementType) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(elementType) : elementType;
}

Value KernelBuilder::i64(int64_t value) { return arith::ConstantIntOp::create(b, value, 64); }

Value KernelBuilder::constant(Type type, double value) {
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    return floatLanes(b, type, value);
  return integerLanes(b, type, static_cast<int64_t>(value));
}

Value KernelBuilder::splat(Value scalar, int64_t width) {
  if (width == 1)
    return scalar;
  return vector::BroadcastOp::create(b, cast<VectorType>(typeOf(scalar.getType(), width)), scalar);
}

Value KernelBuilder::narrow(Value index) {
  return b.createOrFold<arith::TruncIOp>(b.getI32Type(), index);
}

Value KernelBuilder::widenIndex(Value index) {
  return b.createOrFold<arith::ExtSIOp>(b.getI64Type(), index);
}

/// Sums and products that do not overflow let LLVM move them to the addresses' side of a conversion
/// to 64 bits, and so into the offsets of accesses.
template <typename Op> Value KernelBuilder::compute(Value lhs, Value rhs) {
  if (!isNarrow)
    return b.createOrFold<Op>(lhs, rhs);
  lhs = narrow(lhs), rhs = narrow(rhs);
  if constexpr (llvm::is_one_of<Op, arith::AddIOp, arith::SubIOp, arith::MulIOp>::value)
    return widenIndex(b.createOrFold<Op>(lhs, rhs, arith::IntegerOverflowFlags::nsw));
  else
    return widenIndex(b.createOrFold<Op>(lhs, rhs));
}

Value KernelBuilder::add(Value lhs, Value rhs) { return compute<arith::AddIOp>(lhs, rhs); }
Value KernelBuilder::sub(Value lhs, Value rhs) { return compute<arith::SubIOp>(lhs, rhs); }
Value KernelBuilder::mul(Value lhs, Value rhs) { return compute<arith::MulIOp>(lhs, rhs); }
Value KernelBuilder::min(Value lhs, Value rhs) { return compute<arith::MinSIOp>(lhs, rhs); }
Value KernelBuilder::div(Value a, int64_t c) { return compute<arith::DivUIOp>(a, i64(c)); }
Value KernelBuilder::rem(Value a, int64_t c) { return compute<arith::RemUIOp>(a, i64(c)); }

Value KernelBuilder::pointer(Type elementType, Value base, Value index) {
  if (matchPattern(index, m_Zero()))
    return base;
  Type stored = elementType.isInteger(1) ? b.getI8Type() : elementType;
  return LLVM::GEPOp::create(b, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{index});
}

Value KernelBuilder::load(Type elementType, Value base, Value index, int64_t width,
                          int64_t aligned) {
  bool boolean = elementType.isInteger(1);
  Type stored = typeOf(boolean ? b.getI8Type() : elementType, width);
  // LLVM would assume that vectors are aligned.
  Value value = LLVM::LoadOp::create(b, stored, pointer(elementType, base, index),
                                     static_cast<unsigned>(bytesOf(elementType) * aligned));
  if (!boolean)
    return value;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, constant(stored, 0));
}

void KernelBuilder::store(Type elementType, Value value, Value base, Value index, int64_t aligned) {
  if (elementType.isInteger(1))
    value = arith::ExtUIOp::create(b, withElement(value.getType(), b.getI8Type()), value);
  LLVM::StoreOp::create(b, value, pointer(elementType, base, index),
                        static_cast<unsigned>(bytesOf(elementType) * aligned));
}

Value KernelBuilder::loadCompute(Type elementType, Value base, Value index, int64_t width,
                                 int64_t aligned) {
  return widen(load(elementType, base, index, width, aligned));
}

void KernelBuilder::storeCompute(Type elementType, Value value, Value base, Value index,
                                 int64_t aligned) {
  store(elementType, round(value, elementType), base, index, aligned);
}

Value KernelBuilder::widen(Value value) {
  Type elementType = computeType(getElementTypeOrSelf(value.getType()));
  return emitCast(b, value, elementType);
}

Value KernelBuilder::round(Value value, Type elementType) {
  return emitCast(b, value, elementType);
}

KernelBuilder::Carried KernelBuilder::forLoop(Value lo, Value hi, Value step, ValueRange carried,
                                              LoopBody body) {
  if (isNarrow)
    lo = narrow(lo), hi = narrow(hi), step = narrow(step);
  auto loop = scf::ForOp::create(b, lo, hi, step, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Carried next = body(isNarrow ? widenIndex(number) : number, loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, next);
  return Carried(loop.getResults());
}

void KernelBuilder::forLoop(Value lo, Value hi, Value step, llvm::function_ref<void(Value)> body) {
  forLoop(lo, hi, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Carried();
  });
}

KernelBuilder::Carried KernelBuilder::where(Value condition, ValueRange otherwise,
                                            llvm::function_ref<Carried()> body) {
  auto branch = scf::IfOp::create(b, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return branch.getResults();
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> body,
                           llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, condition, static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

} // namespace reprise
