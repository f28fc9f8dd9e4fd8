// reprise: the ops of the dialect as a list of types
#ifndef REPRISE_DIALECT_REPRISE_IR_OPLIST_H
#define REPRISE_DIALECT_REPRISE_IR_OPLIST_H

#include "reprise/Dialect/Reprise/IR/Call.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

namespace reprise {

template <typename OpT> struct OpTag {
  using Op = OpT;
};
template <typename... OpTs> struct OpList {};

/// All ops of the dialect: whatever is registered for each of them walks this list, so that an op
/// that somebody forgets does not compile.
using AllOps = OpList<
#define GET_OP_LIST
#include "reprise/Dialect/Reprise/IR/RepriseOps.cpp.inc"
    ,
#define GET_OP_LIST
#include "reprise/Dialect/Reprise/IR/CallOps.cpp.inc"
    ,
#define GET_OP_LIST
#include "reprise/Dialect/Reprise/IR/PauseOps.cpp.inc"
    >;

/// Ops that hold, order or describe others, and compute nothing by themselves.
using StructureOps = OpList<BlockOp, CheckpointOp, LoopOp, PolicyOp, ProgramOp, ReturnOp, RuleOp,
                            ValueAndGradOp, YieldOp>;

template <typename OpT, typename... OpTs> constexpr bool isIn(OpList<OpTs...>) {
  return (std::is_same_v<OpT, OpTs> || ...);
}

/// Calls `body(OpTag<OpT>())` for each op.
template <typename Body, typename... OpTs> void forEachOp(Body body, OpList<OpTs...>) {
  (body(OpTag<OpTs>()), ...);
}
template <typename Body> void forEachOp(Body body) { forEachOp(body, AllOps()); }

/// Calls it for each op whose definition names all of the interfaces.
template <typename... InterfaceTs, typename Body> void forEachOpWith(Body body) {
  forEachOp([&](auto tag) {
    if constexpr ((decltype(tag)::Op::template hasTrait<InterfaceTs::template Trait>() && ...))
      body(tag);
  });
}

/// Calls `body` with `op` as the op that it is, which must name all of the interfaces.
template <typename... InterfaceTs, typename Body> void dispatchOp(mlir::Operation *op, Body body) {
  forEachOpWith<InterfaceTs...>([&](auto tag) {
    if (auto typed = llvm::dyn_cast<typename decltype(tag)::Op>(op))
      body(typed);
  });
}

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_OPLIST_H
