// reprise: passes on the model graph, in the order of the phases
#ifndef REPRISE_TRANSFORMS_PASSES
#define REPRISE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ImportPass : Pass<"reprise-import", "::mlir::ModuleOp"> {
  let summary = "Reduces a module to one entry function in the form that the phases expect";
  let description = [{
    Drops every function that the entry does not reach, inlines calls and functions named by `reprise.value_and_grad`
    (each use gets its own copy of the body), numbers the random streams in program order, and makes broadcasts
    explicit. Checks roles, names and initializers of the entry.

    `shard.shard` ops on arguments become attributes: `reprise.shard` for the axis model of the module's `shard.grid`,
    and `reprise.batch_dim` for the axis data of an input.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "\"train\"", "The function to compile.">,
    ListOption<"mesh", "mesh", "int64_t", "Replicas, stages and parts of the model, which a `shard.grid` must have.">
  ];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def CanonicalizePass : Pass<"reprise-canonicalize"> {
  let summary = "Canonicalizes the graph; labels stay with their values";
  let description = [{
    Runs the folds and patterns of `--canonicalize`. The label of an op that is removed, and after the label phase its
    rule, is handed to the op whose value replaces it. A MUST outranks a PREFER; otherwise the label of the remaining op
    stands. Different MUSTs for one value are an error.
  }];
}

def ThreadRandomPass : Pass<"reprise-thread-random", "::mlir::ModuleOp"> {
  let summary = "Threads the Philox state through the entry function";
  let description = [{
    The entry takes a seed and an offset and returns the next offset; every random op reads both. From here on all ops
    are pure. The next offset is the offset plus the largest number of words that any op draws, rounded up to 4 and, for
    an op in loops, once per iteration; each iteration reads its own offset from a stack.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def AssignLabelsPass : Pass<"reprise-assign-labels", "::mlir::ModuleOp"> {
  let summary = "Evaluates the policies and flattens blocks";
  let description = [{
    Gives every op except constants the label of its sources (`reprise.label`) and the source that gave it
    (`reprise.rule`: "op", "name X", "name X by RULE", "checkpoint", "checkpoint RULE", "policy RULE" or "intrinsic").
    Sources from the innermost: names of the value, the op itself, its checkpoints from the innermost, the public
    `reprise.policy` ops of the module, the policies in the order given, and last the default of the op (argmax is
    saved). A MUST outranks every PREFER; different MUSTs are an error; among PREFERs the innermost source wins.

    `reprise.policy` ops and `reprise.name` ops are removed; `reprise.names` keeps their names, one per result. A name
    that labels one of several results writes `reprise.result_labels` and `reprise.result_rules`. Values that share
    memory, a value and its views, get one label (docs/reference/Policies.md). If a value cannot be offloaded, since it is in a
    loop or a view of an argument, a `prefer_offload` becomes `prefer_save`, with a remark, and a `must_offload` is an
    error.

    Policies are asked for every iteration of a loop. Different labels of an op in different iterations are an error,
    unless the loop will be unrolled: `reprise.iterations` then lists the labels of all iterations.

    Blocks and checkpoints are inlined. Ops carry the path of ids of the units around them (`reprise.block`), in program
    order: blocks, and, if something is differentiated, the maximal runs of ops between blocks. A run whose ops are all
    to be recomputed is cut at its narrowest frontiers into units, about as many as the square root of its length.
  }];
  let options = [
    ListOption<"policies", "policies", "std::string", "Policies in order of precedence: built-in ones, rule files, plugins, @NAME in the module.">,
    Option<"allowUnmatchedRules", "allow-unmatched-rules", "bool", "false", "Warn about a rule that matches no op, instead of an error.">,
    Option<"ignoreCheckpoints", "ignore-checkpoints", "bool", "false", "Treat checkpoints of the model as plain blocks without labels.">,
    Option<"unroll", "unroll", "bool", "false", "Allow labels that differ between the iterations of a loop, because loops will be unrolled.">
  ];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def PadClassesPass : Pass<"reprise-pad-classes", "::mlir::func::FuncOp"> {
  let summary = "Makes the classes of a cross entropy a multiple of eight";
  let description = [{
    If a `reprise.cross_entropy` is the only reader of a 16-bit `reprise.dot_general`, perhaps with a bias and a cast,
    the pass makes the columns of the contraction a multiple of eight. The added weights are zeros and the added bias is
    minus infinity, so that the new classes have no share in the loss and their cotangent is zero. No other class
    changes; a label beyond the last class is still clamped to the last original class. Padding is at most a sixteenth
    of the classes. The pass runs before labels, for targets that contract rows of a multiple of 16 bytes faster.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def DifferentiatePass : Pass<"reprise-differentiate", "::mlir::ModuleOp"> {
  let summary = "Expands value_and_grad by the ops' derivative rules, innermost first";
  let description = [{
    Cotangents of one value are added in reverse program order of its uses. Ops that a rule creates inherit label, rule
    and block of their source.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExpandNormalizationsPass : Pass<"reprise-expand-normalizations", "::mlir::ModuleOp"> {
  let summary = "Expands the primal normalizations that return their statistics into the chains that define them";
  let description = [{
    The chain gives the same bits. It ends in elementwise ops on the statistics. A normalized value can so be recomputed
    without another reduction, from values that the backward pass keeps anyway: the operand and a few numbers. The ops
    inherit label, rule and block of the normalization; the ops of its results also inherit labels and names of the
    results. If micro-batches cut a batch norm, `reprise-slice-batch` expands its `reprise.batch_statistics`.
  }];
  let options = [Option<"microbatches", "microbatches", "int64_t", "1", "Number of micro-batches that the batch is cut into.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def MakeProgramsPass : Pass<"reprise-make-programs", "::mlir::ModuleOp"> {
  let summary = "Makes the entry the program of device 0";
  let description = [{
    Every phase behind `autodiff` works on device programs (`reprise.program`), one at a time. Every function with a
    body becomes a program, with its name, signature and attributes. A module that has programs stays unchanged, and its
    other functions stay unchanged in all later phases.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def OffloadValuesPass : Pass<"reprise-offload-values", "::reprise::ProgramOp"> {
  let summary = "Puts `reprise.offload` behind values that wait on the host";
  let description = [{
    The values are those with an offload label, outside of loops, and the results whose numbers are given: all results
    of the function's ops are counted, in program order. Every reader of such a value reads the new op, whose replays
    are fetches. The new op inherits order, block, label and rule. The pass runs behind `reprise-differentiate`.
  }];
  let options = [ListOption<"values", "values", "int64_t", "Numbers of values to offload in addition to labelled values.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ApplyPlanPass : Pass<"reprise-apply-plan", "::reprise::ProgramOp"> {
  let summary = "Applies the plan of a device program";
  let description = [{
    Brings the program into the form of its `reprise.plan`: unrolls loops, plans their bodies, defers a large gradient,
    puts values on the host, and moves the ops into the plan's order. Then the pass writes the plan's choices on the ops
    as `reprise.choices`, which `reprise-checkpoint` follows. Only `enough_arena` of the plan remains, for the passes of
    `memory`. A plan of another program is an error.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def DeferGradientPass : Pass<"reprise-defer-gradient", "::reprise::ProgramOp"> {
  let summary = "Moves a large gradient that no op reads for long behind others";
  let description = [{
    Finds the largest result among the ops of the backward pass that no op reads for long, such as the gradient of a
    vocabulary. The pass moves its op behind a quarter of the following ops in the planning scope, such as those of the
    last layers, whose activations die meanwhile. A budget is planned with and without this pass, which runs after
    `reprise-differentiate`. No value changes.
  }];
}

def SliceHeadPass : Pass<"reprise-slice-head", "::reprise::ProgramOp"> {
  let summary = "Runs the widest contraction and its readers in slices of rows";
  let description = [{
    Finds the contraction with the largest result of the forward pass, such as the logits of a vocabulary, and the ops
    that read values of its size: the loss and its cotangents. If the rows of these values meet in nothing but sums, the
    ops run once per slice of rows. No value of that size is in memory as a whole, and no bit changes.

    - If no gradient needs the loss of all rows, the backward pass of a slice runs behind its forward pass. All ops of
      the slices then belong to the backward pass.
    - Otherwise each pass has slices of its own, and the backward pass computes the wide values again.
    - A gradient of weights continues its chain of fma from slice to slice (`reprise.dot_accumulate`). Slices of whole
      chains, and sums of whole blocks, meet in the tree of the sum.
    - A slice has 256 rows or more, and there are at most 16.

    A budget is planned with and without this pass, which runs after `reprise-differentiate`.
  }];
  let options = [Option<"rows", "rows", "int64_t", "256", "Fewest rows of a slice.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def AnnotateShardsPass : Pass<"reprise-annotate-shards", "::reprise::ProgramOp"> {
  let summary = "Writes the shardings that `reprise-shard-model` finds";
  let description = [{
    Finds which dimensions of values the model axis cuts, as `reprise-shard-model` does with equal options, and changes
    no op. `reprise.shards` has the sharding of each result of an op, and `reprise.shard` that of an argument: "model"
    at the dimension that is cut. A contraction whose terms are cut has `reprise.sum_over`. A value without these
    attributes is in one piece.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "1", "Lanes of contractions whose terms are cut: a power of two.">,
    Option<"parts", "parts", "int64_t", "1", "Parts of the model, which divide the lanes.">,
    Option<"rules", "rules", "std::string", "\"\"", "File with the shardings of arguments.">
  ];
}

def ShardModelPass : Pass<"reprise-shard-model", "::reprise::ProgramOp"> {
  let summary = "Cuts values along the model axis";
  let description = [{
    Reads the shardings of arguments from a file and from `reprise.shard`, and finds by the factors of ops which
    dimension of every other value is cut. A contraction whose terms are cut gets `lanes` lanes (`reprise.dot_lanes`).
    What is cut depends on shardings, shapes and lanes only.

    With `parts` of more than 1 the pass cuts a flat step: an op that is cut becomes one op per part, marked with the
    number of its part (`reprise.model_part`). Sums of lanes meet in the tree of neighbours, so bits are those of one
    part. An op that cannot be cut reads the parts joined. See docs/explanation/ModelAxis.md.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "1", "Lanes of contractions whose terms are cut: a power of two.">,
    Option<"parts", "parts", "int64_t", "1", "Parts of the model, which divide the lanes.">,
    Option<"rules", "rules", "std::string", "\"\"", "File with the shardings of arguments.">
  ];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExpandLanesPass : Pass<"reprise-expand-lanes", "::reprise::ProgramOp"> {
  let summary = "Replaces contractions with lanes by contractions and adds";
  let description = [{
    `reprise.dot_lanes` becomes a `reprise.dot_general` of slices per lane, in the compute type. Adds join the sums in
    the tree of neighbours, as soon as two neighbours are there, and a cast rounds the root. So at most 1 + log2(lanes)
    sums live at once. No bit changes.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def SplitLoopsPass : Pass<"reprise-split-loops", "::mlir::ModuleOp"> {
  let summary = "Splits loops whose carries must be recomputed into segments";
  let description = [{
    A differentiated loop keeps every carry that its backward pass reads. If the op that computes a carry is labelled
    `must_recompute`, the loop becomes a loop over segments of about the square root of the trip count. Each segment is
    a loop that must be replayed as a whole, so only the carries between segments are kept. The results keep every bit.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def UnrollLoopsPass : InterfacePass<"reprise-unroll-loops", "::mlir::FunctionOpInterface"> {
  let summary = "Replaces every loop by its iterations";
  let description = [{
    Each iteration becomes a unit of its own. The pass runs after differentiation, so that the sums of cotangents keep
    the order of the loop: see docs/explanation/Loops.md.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def MarkStagesPass : Pass<"reprise-mark-stages", "::mlir::func::FuncOp"> {
  let summary = "Marks the stage of each op of the forward pass";
  let description = [{
    Runs before the expansion of gradients, so that derivatives inherit `reprise.stage`. Stages begin at the first op of
    each scope of `at`, otherwise at ops that carry `reprise.stage` in the model. If neither is given, a stage begins at
    every place that the fewest bytes cross, in program order, and `pipe-balance-stages` joins stages. On one device the
    pass removes all marks; with replicas of one device all ops belong to stage 0.
  }];
  let options = [
    Option<"devices", "devices", "int64_t", "2", "Number of devices.">,
    Option<"replicas", "replicas", "int64_t", "1", "Replicas of the devices.">,
    ListOption<"at", "at", "std::string", "Scopes at which the second and later stages begin; empty: the marks of the model, or stages of equal time.">
  ];
}

def SliceBatchPass : Pass<"reprise-slice-batch", "::reprise::ProgramOp"> {
  let summary = "Runs a step micro-batch by micro-batch";
  let description = [{
    Cuts every input with `reprise.batch_dim` along this dimension; if the batch does not divide evenly, the last parts
    are smaller by one sample. Each op runs on the rows of its micro-batch, as its factors say (BatchableOpInterface). A
    sum over the batch adds up over micro-batches in their order, at the op that computes the sum. A mean adds up as a
    sum and is divided after the last micro-batch; sums of 16-bit values add up in f32. Random words belong to the
    elements of the whole batch, so masks do not depend on the number of micro-batches. Values of inputs alone, such as
    the number of tokens that count, are computed from the whole batch first. See docs/explanation/MicroBatches.md.

    A `pipe.slice` is the part of a whole-batch value that a micro-batch reads, and a `pipe.accumulate` adds a
    micro-batch's part to a sum over the batch. With `lanes` of M/G consecutive micro-batches, the sums of lanes meet in
    a tree of `pipe.merge`. `pipe-lower-microbatches` turns the three into ops of the model graph.
  }];
  let options = [
    Option<"microbatches", "microbatches", "int64_t", "1", "Number of micro-batches that the batch is cut into.">,
    Option<"lanes", "lanes", "int64_t", "1", "Number of lanes that the micro-batches form; it divides their number.">,
    Option<"replicas", "replicas", "int64_t", "1", "Replicas that share the lanes: 2^k consecutive lanes each.">];
  let dependentDialects = ["::reprise::pipe::PipeDialect", "::reprise::RepriseDialect"];
}

def FuseEpiloguesPass : Pass<"reprise-fuse-epilogues", "::reprise::ProgramOp"> {
  let summary = "Makes a contraction and the addition of its bias one op";
  let description = [{
    Replaces a 16-bit `reprise.dot_general` whose only reader is a `reprise.add` of a bias for each column by a
    `reprise.dot_bias`. Between two labels, the one that keeps more holds, and a `must` before a `prefer`. The pass runs
    for targets whose libraries add a bias in the call of the contraction. It runs before stages and plans and reads
    neither, because the sum is rounded differently there: only the graph may decide.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def SplitCastsPass : Pass<"reprise-split-casts", "::reprise::ProgramOp"> {
  let summary = "Gives each reader of a cast to a wider float a cast of its own";
  let description = [{
    A `reprise.cast` from 16 bits to f32 changes no bit of a value and takes no time in the kernel that reads it, but
    its result needs twice the bytes. The pass therefore gives each elementwise op, reduction and normalization that
    reads such a cast a cast of its own. The number `reprise.copy` keeps the casts apart for CSE. The cast of a reader
    in the backward pass belongs to the backward pass. Kernels then save and exchange the narrow value. If a policy
    wants to save a cast but not its operand, the backward pass reads this cast as it is.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExportProblemPass : Pass<"reprise-export-problem", "::mlir::ModuleOp"> {
  let summary = "Writes the planning problem of a step as a file for reprise-plan";
  let description = [{
    Reads a device program of a module (`reprise-make-programs`) and changes nothing. The problem is the one that a
    budget is planned with: costs of ops, values in memory, and the launch of each op are those of the target. See
    docs/reference/PlanningProblems.md. This is a module pass, because it searches for the program to write.
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"", "File to write; - is standard output.">,
    Option<"program", "program", "std::string", "\"\"", "Name of the device program; empty: the only program of the module.">,
    Option<"target", "target", "std::string", "\"cpu\"", "Target of the step, as in reprise-compile --target.">,
    Option<"threads", "threads", "unsigned", "0", "Number of threads of a CPU in the cost model; 0 means two.">,
    Option<"scope", "scope", "unsigned", "0", "Number of the outermost gradient of the step to write, from 0 in program order.">
  ];
}

def CheckpointPass : Pass<"reprise-checkpoint", "::reprise::ProgramOp"> {
  let summary = "Chooses saved and replayed values and inserts the replays";
  let description = [{
    Follows the labels; a value that the backward pass does not read is never saved. A replay stands just before its
    first use, is shared inside the backward of its unit, and dies there. Inputs of a unit are kept while it has
    replays, unless they must be recomputed, and the last unit before the cotangents is not replayed. Values without a
    label follow the fastest plan: values that are nearly free inside their consumer's kernel are replayed, all others
    saved. See docs/reference/Policies.md.

    A planner for a budget decides without labels. It writes its plan on the ops as `reprise.choices`
    (`#reprise.choice`, one per result). The pass then carries out these choices and ignores labels and defaults:

    - `save`: the backward pass reads the original.
    - `replay`: one replay serves all backward readers.
    - `"replay per unit"`: each unit that reads the value has a replay of its own.
    - `"save then replay"`: the first unit that reads the value reads the original, later ones share a replay.

    With `bodies` the pass plans only the bodies of loops. A body saves its carries and the values that labels ask to
    save, and its backward body replays all other values, one iteration at a time. A second run of the pass plans the
    step around the loops.

    Each primal op ends with `reprise.decisions` (`#reprise.decision`, one per result) and `reprise.reasons`
    (`#reprise.reason`, or the rule that gave the label); a replay (`replay` > 0) carries as `reprise.original` the
    `reprise.id` of its original; the function carries `reprise.saved_bytes` and `reprise.replayed_ops`.
  }];
  let options = [Option<"bodies", "bodies", "bool", "false", "Plan only the bodies of loops, so that they save few bytes.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def VerifyCheckpointPass : Pass<"reprise-verify-checkpoint", "::reprise::ProgramOp"> {
  let summary = "Checks that replays are their originals again and that the plan obeys every label";
  let description = [{
    Reads only the graph after `reprise-checkpoint`. Every replay repeats one original (op, attributes, draws, and
    operands up to replays of the same values), stands after it, and is read, but never as the next value of state.
    Every MUST holds, and every PREFER holds or has its reason. Decisions and totals describe the graph.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExposeReplaysPass : Pass<"reprise-expose-replays", "::reprise::ProgramOp"> {
  let summary = "Makes a step return every replayed value and its original";
  let description = [{
    A returned value lives to the end of the step, so that a run can compare replay and original (`reprise-compile
    --verify-replays`). Such a result has no name: `reprise.check` is its text for messages, and a replay's
    `reprise.replay_of` is the number of the result that is its original, which may be a named one. Views are not
    returned: they have no bytes of their own.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

#endif
