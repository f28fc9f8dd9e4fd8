// reprise: passes that cut a step into stages
#ifndef PIPE_PASSES
#define PIPE_PASSES

include "mlir/Pass/PassBase.td"

class ShapeOptions_ {
  list<Option> options = [
    Option<"devices", "devices", "int64_t", "1", "Number of devices.">,
    Option<"schedule", "schedule", "std::string", "\"\"",
           "A schedule, its file, or auto, as --schedule of reprise-compile; empty: the usual schedule.">,
    Option<"chunks", "chunks", "int64_t", "1", "Stages per device; the schedule uses the nearest number that it allows.">
  ];
}
def ShapeOptions : ShapeOptions_;

def ReplicasOption : Option<"replicas", "replicas", "int64_t", "1", "Replicas of the devices, which share the micro-batches.">;

def CheckpointOption : Option<"checkpoint", "checkpoint", "std::string", "\"\"",
                              "Micro-batches whose forward passes are replayed: always (all), except-last or never; empty: as labels say.">;

def SplitStacksPass : Pass<"pipe-split-stacks", "::reprise::ProgramOp"> {
  let summary = "Gives each stage the rows of stacked parameters that it reads";
  let description = [{
    A parameter of a loop over layers has a row per layer. After the unrolling each stage reads some of the rows and
    computes the same rows of the gradient. If `reprise.stage` allows it, the pass replaces such an argument, and such a
    result, by one per row. Each carries `reprise.whole`, the name of the array, and `reprise.rows`: the first row, the
    row behind the last, and the number of rows. Elementwise ops on whole stacks, as in updates, become one op per row.
    An op on all rows, such as a norm over all layers, reads the rows joined again. An array whose next value is
    computed in one piece stays whole.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def BalanceStagesPass : Pass<"pipe-balance-stages", "::reprise::ProgramOp"> {
  let summary = "Joins the places where a step may be cut into stages of equal time";
  let description = [{
    Reads the marks of `reprise-mark-stages` on a flat step with its gradients and micro-batches, and numbers the stages
    anew, so that the slowest stage is as fast as possible. The time of a stage, in seconds of the cost model, includes
    forward and backward passes, replays, and transfers of the values that it reads from earlier stages. A stage must
    fit its device by an estimate of the values that its schedule keeps in flight. The cut is exact
    (Planning/Stages/Balance.h).

    With the schedule `auto` every built-in schedule is simulated on its own cut, and the fastest one that fits is
    chosen; the first entry of `pipe.cuts` has its name and its chunks. `keep` uses the marks as stages.

    If the step has one forward and one backward pass, the function gets `pipe.cuts`, with a `#pipe.cut` per schedule,
    and the `pipe.timing` of the chosen cut.
  }];
  let options = !listconcat(ShapeOptions.options, [
    ReplicasOption, CheckpointOption,
    Option<"keep", "keep", "bool", "false", "Use the marks of the step as stages.">
  ]);
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

def ShardArraysPass : Pass<"pipe-shard-arrays", "::reprise::ProgramOp"> {
  let summary = "Shares parameters, states and updates among replicas";
  let description = [{
    The micro-batches belong to `replicas`, in their order. An op on values of several replicas, such as the add of two
    lane sums or an update, is marked with the replica that runs it (`pipe.replica`), and loses its micro-batch.
    Arguments and results of updates are replaced by a part of rows per replica, which `reprise.whole` and
    `reprise.rows` describe. Updates work part by part. An op that needs all rows reads the parts joined. An array with
    too few rows, or with parts of fewer than `least-bytes` bytes, lives on one replica. See
    docs/explanation/Replicas.md.
  }];
  let options = [
    ReplicasOption,
    Option<"leastBytes", "least-bytes", "int64_t", "1024", "Bytes of the smallest part of an array.">
  ];
  let dependentDialects = ["::reprise::pipe::PipeDialect", "::reprise::RepriseDialect"];
}

def LowerMicrobatchesPass : Pass<"pipe-lower-microbatches", "::reprise::ProgramOp"> {
  let summary = "Turns slices and sums of micro-batches into ops of the model graph";
  let description = [{
    `pipe.slice` becomes `reprise.slice`, and `pipe.accumulate` becomes `reprise.add`, so that later passes need not
    know micro-batches.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def FormPiecesPass : Pass<"pipe-form-pieces", "::mlir::ModuleOp"> {
  let summary = "Puts the ops of a step into the pieces that devices run, and writes down their order";
  let description = [{
    Reads a flat step whose ops have marks of stages and micro-batches. An op goes to the pass of its stage over its
    micro-batch, or stands alone before or after all passes; an op without marks follows its operands. Constants, and
    ops on inputs alone, stay beside the pieces. A `pipe.schedule` holds the order, and the marks are removed. See
    docs/explanation/Stages.md.
  }];
  let options = !listconcat(ShapeOptions.options, [ReplicasOption]);
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

def FormPartPiecesPass : Pass<"pipe-form-part-pieces", "::mlir::ModuleOp"> {
  let summary = "Puts the ops of the parts of a model into pieces of their devices";
  let description = [{
    Reads a flat step that `reprise-shard-model` has cut. Each op of a part (`reprise.model_part`) becomes a piece of the
    part's device, in the group of its stage and replica. An op without a part belongs to the device that alone reads
    its results. If several devices of its group read them, each of these computes the op. Devices of other groups get
    the results from one device. Parameters, states and their updates live on one device each, so that bytes are even,
    and send the parts that other devices read.

    With several stages the ops are sorted first, so that each stage runs its passes in the order of the schedule. All
    pieces stand behind the passes of a `pipe.schedule`, which are empty. See docs/explanation/ModelAxis.md.
  }];
  let options = [
    ReplicasOption,
    Option<"devices", "devices", "int64_t", "1", "Groups of devices of a replica, with one or more stages each.">,
    Option<"parts", "parts", "int64_t", "1", "Parts of the model, one device of a group each.">,
    Option<"schedule", "schedule", "std::string", "\"\"", "Order of the passes of stages: gpipe, 1f1b or interleaved-1f1b.">,
    Option<"chunks", "chunks", "int64_t", "1", "Stages per device; the schedule uses the nearest number that it allows.">
  ];
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

def LabelPiecesPass : Pass<"pipe-label-pieces", "::mlir::ModuleOp"> {
  let summary = "Labels the passes of a stage that are replayed";
  let description = [{
    `checkpoint` says which micro-batches a stage replays from the values that it received: `always`, `except-last` or
    `never`. The passes of a stage over a micro-batch become one unit, and values without a label from a policy get
    labels by this rule.
  }];
  let options = [CheckpointOption];
  let dependentDialects = ["::reprise::pipe::PipeDialect", "::reprise::RepriseDialect"];
}

def ReplayPartsPass : Pass<"pipe-replay-parts", "::reprise::ProgramOp"> {
  let summary = "Replays values of the parts of a model, and their exchanges, as labels say";
  let description = [{
    The parts of a model exchange values in the middle of a pass, so a device cannot replay alone what it has received.
    This pass replays values before there are devices: the replays become ops of the backward pass, whose exchanges are
    those of any other op. Labels that say so are followed by `reprise-checkpoint`, for all parts alike. Then all labels
    are dropped, and the plan of each device takes these replays as given.

    `checkpoint` adds labels to the ops of all units of the micro-batches that it names. `percent` adds them to a share
    of the units of each micro-batch, the first ones. A step whose labels replay nothing is left as it is.
  }];
  let options = [CheckpointOption,
    Option<"percent", "percent", "int64_t", "0", "Share of units that are replayed.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def SplitStagesPass : Pass<"pipe-split-stages", "::mlir::ModuleOp"> {
  let summary = "Distributes the pieces of a step to a program per device";
  let description = [{
    Pieces go to the device of their stage, in the order of the schedule. A value that another device reads is sent
    there directly, once: `pipe.send` stands behind the piece that computes the value, and `pipe.receive` before the
    first piece that reads it. Parameters and states live on the device of the first stage that reads them, with their
    updates. Ops that belong to no device are copied into each program that reads them. `pipe.cuts` and `pipe.timing`
    move from the step to the module.

    With replicas the passes pull arguments of other replicas (`reprise.pull`) before their first reader. A plan may
    replay a pull, and what joins pulled parts. `gathers` labels both: `saved` as prefer_save, `replayed` as
    prefer_recompute. In the latter case each micro-batch has its own pulls.

    An op of no device that joins parts for a backward pass receives them again, unless `gathers` is `saved`: the
    sender sends a second time, behind its pieces that stand before the reader.
  }];
  let options = [
    Option<"gathers", "gathers", "std::string", "\"\"", "Labels of gathered arrays: saved or replayed; empty: none.">
  ];
  let dependentDialects = ["::reprise::pipe::PipeDialect", "::reprise::RepriseDialect"];
}

def ScheduleTransfersPass : Pass<"pipe-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Places the transfers of values between the pieces of device programs";
  let description = [{
    A value leaves at the end of the piece that computes it, and its receive begins one piece before the reader, so that
    transfers run beside compute. Two values may be on their way from one pass of a stage to one pass of another stage:
    the third waits until the other side has begun to receive the first. If programs would wait for each other in a
    circle, as with a value that skips the stages of an interleaved schedule, more values may be on their way.

    `pipe.send` and `pipe.receive` become `exec.send`, `exec.receive` and `exec.wait`. A send that nobody receives is an
    error, and so is a receive of another type.
  }];
  let dependentDialects = ["::reprise::exec::ExecDialect", "::reprise::pipe::PipeDialect"];
}

def InlinePiecesPass : Pass<"pipe-inline-pieces", "::mlir::ModuleOp"> {
  let summary = "Flattens device programs, and drops the schedule";
  let description = [{
    Ops beside the pieces go to the first op that reads them. A program with a forward pass behind a backward pass is
    planned as one scope.
  }];
  let dependentDialects = ["::reprise::pipe::PipeDialect"];
}

#endif // PIPE_PASSES
