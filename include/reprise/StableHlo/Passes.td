// reprise: passes from other dialects into the model graph
#ifndef REPRISE_STABLEHLO_PASSES
#define REPRISE_STABLEHLO_PASSES

include "mlir/Pass/PassBase.td"

def ImportStableHloPass : Pass<"import-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Converts a module of StableHLO, such as JAX writes, to a model graph";
  let description = [{
    The public function becomes the private `@model`, and `@forward` calls it: an entry that has all arguments as
    inputs. With `parameters=N` the first N arguments are parameters, the first result, a scalar, is the loss, and
    `@grad` returns the results and one `gradient/NAME` per parameter. Names come from the places of arguments, which
    `as_text(debug_info=True)` prints: `params['layers'][0]['w']` is `params/layers/0/w`.

    Calls are inlined. Loops with a known trip count become `reprise.loop`, or their iterations if these are few ops.
    Ops that JAX marks as `checkpoint` become `reprise.checkpoint`. Unsigned integers become signed ones of equal bits.
    Ops without a counterpart are one error that lists all of them.

    The `sdy.sharding` of an argument becomes a `shard.shard` in `@model`, and its `sdy.mesh` a `shard.grid`. The axes
    data and model have these names, or get them by `axes`. A sharding that is only in `mhlo.sharding` is an error.
    Shardings of other values are a remark, since they follow from those of the arguments.
  }];
  let options = [
    Option<"parameters", "parameters", "int64_t", "0", "Number of leading arguments that are parameters.">,
    ListOption<"axes", "axes", "std::string", "Names of axes of the mesh that are data or model, such as tp:model.">
  ];
  let dependentDialects = ["::reprise::RepriseDialect", "::mlir::func::FuncDialect", "::mlir::shard::ShardDialect"];
}

#endif
