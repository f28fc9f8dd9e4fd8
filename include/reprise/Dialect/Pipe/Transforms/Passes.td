// reprise: the passes that cut a step into stages.
#ifndef PIPE_PASSES
#define PIPE_PASSES

include "mlir/Pass/PassBase.td"

class ShapeOptions_ {
  list<Option> options = [
    Option<"devices", "devices", "int64_t", "1", "How many devices">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "gpipe, 1f1b, interleaved-1f1b, zb-h1, zb-v or auto; empty: 1f1b, or gpipe for gradients of gradients">,
    Option<"chunks", "chunks", "int64_t", "1", "Stages per device; as near to it as the schedule takes">
  ];
}
def ShapeOptions : ShapeOptions_;

def CheckpointOption : Option<"checkpoint", "checkpoint", "std::string", "\"\"",
                              "always, except-last or never; empty: as labels say">;

def BalanceStagesPass : Pass<"pipe-balance-stages", "::mlir::func::FuncOp"> {
  let summary = "Joins the places where a step may be cut into stages of equal time";
  let description = [{
    Reads the marks of `reprise-mark-stages` on a flat step with its gradients and micro-batches, and numbers stages
    anew, so that the slowest one is as fast as can be: forward and backward passes, replays, and transfers of what a stage
    reads from the ones before it, in seconds of the cost model. A stage cannot be what its device cannot hold, by an
    estimate of what its schedule keeps in flight. The cut is exact (Planning/Stages/Balance.h).

    With the schedule `auto` every built-in schedule is simulated on its own cut, the fastest that fits is taken, and
    `reprise.schedule` and `reprise.chunks` on the function say which one that is. `keep` takes the marks as stages.
  }];
  let options = !listconcat(ShapeOptions.options, [
    CheckpointOption,
    Option<"keep", "keep", "bool", "false", "The marks are the stages">
  ]);
}

def SplitStagesPass : Pass<"pipe-split-stages", "::mlir::ModuleOp"> {
  let summary = "Makes a device program of each device of a pipeline";
  let description = [{
    Ops go to the device of their stage, in the order that a schedule gives the passes of its stages over the
    micro-batches. Values that another device reads are sent there directly: behind the pass that makes them, and
    received during the pass before the one that reads them. Parameters and states live on the device of the first stage
    that reads them, with their updates. See docs/Rationale/Stages.md.

    `checkpoint` says which micro-batches a stage replays from what it received: `always`, `except-last` or `never`. A
    stage's passes over a micro-batch are one unit then, and what no policy has labelled is labelled so.
  }];
  let options = !listconcat(ShapeOptions.options, [
    CheckpointOption
  ]);
  let dependentDialects = ["::reprise::exec::ExecDialect", "::reprise::RepriseDialect"];
}

#endif // PIPE_PASSES
