// reprise: emits accesses to elements of tensors in memory, and their values in registers
#include "reprise/Conversion/Elements.h"
#include "Lanes.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace reprise {

int64_t bytesOf(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

Type typeOfLanes(Type elementType, int64_t width) {
  return width == 1 ? elementType : VectorType::get({width}, elementType);
}

Value emitConstant(ImplicitLocOpBuilder &b, Type type, double value) {
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    return floatLanes(b, type, value);
  return integerLanes(b, type, static_cast<int64_t>(value));
}

Value emitSplat(ImplicitLocOpBuilder &b, Value scalar, int64_t width) {
  if (width == 1)
    return scalar;
  Type type = typeOfLanes(scalar.getType(), width);
  return vector::BroadcastOp::create(b, cast<VectorType>(type), scalar);
}

Value emitAddress(ImplicitLocOpBuilder &b, Type elementType, Value base, Value index) {
  if (matchPattern(index, m_Zero()))
    return base;
  Type stored = elementType.isInteger(1) ? b.getI8Type() : elementType;
  return LLVM::GEPOp::create(b, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{index});
}

Value emitLoad(ImplicitLocOpBuilder &b, Type elementType, Value base, Value index, int64_t width,
               int64_t aligned) {
  bool boolean = elementType.isInteger(1);
  Type stored = typeOfLanes(boolean ? b.getI8Type() : elementType, width);
  // LLVM would assume that vectors are aligned.
  Value value = LLVM::LoadOp::create(b, stored, emitAddress(b, elementType, base, index),
                                     static_cast<unsigned>(bytesOf(elementType) * aligned));
  if (!boolean)
    return value;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, emitConstant(b, stored, 0));
}

void emitStore(ImplicitLocOpBuilder &b, Type elementType, Value value, Value base, Value index,
               int64_t aligned) {
  if (elementType.isInteger(1))
    value = arith::ExtUIOp::create(b, shapedAs(value.getType(), b.getI8Type()), value);
  LLVM::StoreOp::create(b, value, emitAddress(b, elementType, base, index),
                        static_cast<unsigned>(bytesOf(elementType) * aligned));
}

Value emitLoadWide(ImplicitLocOpBuilder &b, Type elementType, Value base, Value index,
                   int64_t width, int64_t aligned) {
  Value value = emitLoad(b, elementType, base, index, width, aligned);
  return emitCast(b, value, getComputeType(elementType));
}

void emitStoreRounded(ImplicitLocOpBuilder &b, Type elementType, Value value, Value base,
                      Value index, int64_t aligned) {
  emitStore(b, elementType, emitCast(b, value, elementType), base, index, aligned);
}

} // namespace reprise
