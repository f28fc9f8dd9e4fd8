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

def SplitStacksPass : Pass<"pipe-split-stacks", "::reprise::ProgramOp"> {
  let summary = "Gives each stage the rows of stacked parameters that it reads";
  let description = [{
    A parameter of a loop over layers has a row per layer. Behind the unrolling each stage reads some of its rows, and makes
    these rows of its gradient. Where `reprise.stage` says so, the pass replaces such an argument by one per row, and
    such a result, too: with `reprise.whole`, the name of the array, and `reprise.rows`, the first row, the one behind the
    last, and how many there are. Elementwise ops on whole stacks, as of updates, become one per row. An op that takes no
    rows, as a norm over all layers, reads them joined again. An array whose next value is made in one piece stays
    whole.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def BalanceStagesPass : Pass<"pipe-balance-stages", "::reprise::ProgramOp"> {
  let summary = "Joins the places where a step may be cut into stages of equal time";
  let description = [{
    Reads the marks of `reprise-mark-stages` on a flat step with its gradients and micro-batches, and numbers stages
    anew, so that the slowest one is as fast as can be: forward and backward passes, replays, and transfers of what a stage
    reads from the ones before it, in seconds of the cost model. A stage cannot be what its device cannot hold, by an
    estimate of what its schedule keeps in flight. The cut is exact (Planning/Stages/Balance.h).

    With the schedule `auto` every built-in schedule is simulated on its own cut, and the fastest that fits is
    taken; the first entry of `pipe.cuts` has its name and its chunks. `keep` takes the marks as stages.

    For a step of one forward and one backward pass the function gets `pipe.cuts`, with a `#pipe.cut` per schedule, and
    the `pipe.timing` of the cut that was taken.
  }];
  let options = !listconcat(ShapeOptions.options, [
    CheckpointOption,
    Option<"keep", "keep", "bool", "false", "The marks are the stages">
  ]);
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

def LowerMicrobatchesPass : Pass<"pipe-lower-microbatches", "::reprise::ProgramOp"> {
  let summary = "Makes ops of the model graph of slices and sums of micro-batches";
  let description = [{
    `pipe.slice` becomes `reprise.slice`, and `pipe.accumulate` becomes `reprise.add`: what works on ops later knows
    nothing of micro-batches.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def FormPiecesPass : Pass<"pipe-form-pieces", "::mlir::ModuleOp"> {
  let summary = "Puts the ops of a step into the pieces that devices run, and writes down their order";
  let description = [{
    Takes a flat step whose ops have marks of stages and micro-batches. An op goes to the pass of its stage over its
    micro-batch, or stands alone before or after all of them; one without marks follows what it reads. Constants, and
    what is made of inputs alone, stay beside the pieces. A `pipe.schedule` has the order, and the marks are gone.
    See docs/explanation/Stages.md.
  }];
  let options = ShapeOptions.options;
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

def LabelPiecesPass : Pass<"pipe-label-pieces", "::mlir::ModuleOp"> {
  let summary = "Says which passes of a stage are replayed";
  let description = [{
    `checkpoint` says which micro-batches a stage replays from what it received: `always`, `except-last` or `never`. A
    stage's passes over a micro-batch become one unit, and what no policy has labelled is labelled so.
  }];
  let options = [CheckpointOption];
  let dependentDialects = ["::reprise::pipe::PipeDialect", "::reprise::RepriseDialect"];
}

def SplitStagesPass : Pass<"pipe-split-stages", "::mlir::ModuleOp"> {
  let summary = "Deals the pieces of a step out to a program per device";
  let description = [{
    Pieces go to the device of their stage, in the order of the schedule. A value that another device reads is sent
    there directly, once: `pipe.send` stands behind the piece that makes it, and `pipe.receive` before the first one that
    reads it. Parameters and states live on the device of the first stage that reads them, with their updates. What
    belongs to no device is made in each program that reads it. `pipe.cuts` and `pipe.timing` move from the step to the
    module.
  }];
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

def ScheduleTransfersPass : Pass<"pipe-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Says when values leave and arrive between the pieces of device programs";
  let description = [{
    A value leaves at the end of the piece that makes it, and its receive begins a piece before the one that reads it,
    so that transfers run beside compute. Two passes of one stage may have values on their way to one pass of another
    stage: the third one waits until the other side has begun to receive the first one's. Where programs would wait for
    each other in a circle, as with a value that skips the stages of an interleaved schedule, more may.

    `pipe.send` and `pipe.receive` become `exec.send`, `exec.receive` and `exec.wait`. A send that nobody receives is an
    error, and so is a receive of another type.
  }];
  let dependentDialects = ["::reprise::exec::ExecDialect", "::reprise::pipe::PipeDialect"];
}

def InlinePiecesPass : Pass<"pipe-inline-pieces", "::mlir::ModuleOp"> {
  let summary = "Flattens device programs, and drops the schedule";
  let description = [{
    What stands beside the pieces goes to the first op that reads it. A program with a forward pass behind a backward
    pass is planned as one scope.
  }];
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

#endif // PIPE_PASSES
