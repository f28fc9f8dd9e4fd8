// reprise: passes from other dialects into `reprise`
#ifndef REPRISE_STABLEHLO_PASSES_H
#define REPRISE_STABLEHLO_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::stablehlo {

#define GEN_PASS_DECL
#include "reprise/StableHlo/Passes.h.inc"

} // namespace reprise::stablehlo

#endif // REPRISE_STABLEHLO_PASSES_H
