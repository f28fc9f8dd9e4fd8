// reprise: the passes on the model graph, in the order of the phases.
#ifndef REPRISE_TRANSFORMS_PASSES
#define REPRISE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ImportPass : Pass<"reprise-import", "::mlir::ModuleOp"> {
  let summary = "Reduces a module to one entry function in the form that the phases expect";
  let description = [{
    Drops every function that the entry does not reach, inlines calls and functions named by `reprise.value_and_grad`
    (each use gets its own copy of the body), numbers the random streams in program order, and makes broadcasts
    explicit. Checks roles, names and initializers of the entry.
  }];
  let options = [Option<"entry", "entry", "std::string", "\"train\"", "The function to compile.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def CanonicalizePass : Pass<"reprise-canonicalize"> {
  let summary = "Canonicalizes the graph; labels stay with the values that they speak of";
  let description = [{
    The folds and patterns of `--canonicalize`. The label of an op that goes, and after the label phase its rule, is
    handed to the op whose value takes its place: a MUST outranks a PREFER, else the label that is there stands;
    different MUSTs for one value are an error.
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
    Every op but constants ends with the label that its sources give (`reprise.label`) and the source that gave it
    (`reprise.rule`: "op", "name X", "name X by RULE", "checkpoint", "checkpoint RULE", "policy RULE" or "intrinsic"). Sources from the innermost: names of the
    value, the op itself, its checkpoints from the innermost, the public `reprise.policy` ops of the module, the policies in
    the order given, and last what the op asks for by itself (argmax is saved). A MUST outranks every PREFER; different MUSTs are an error; among PREFERs the
    innermost source wins.

    `reprise.policy` ops and `reprise.name` ops vanish; `reprise.names` keeps their names, one per result. A name that labels one of several
    results writes `reprise.result_labels` and `reprise.result_rules`. Values that share memory, a value and its views, get
    one label (docs/reference/Policies.md). What cannot be offloaded, in a loop or as a view of an argument, falls back: a
    `prefer_offload` becomes `prefer_save`, with a remark; a `must_offload` is an error.

    Policies see every iteration of a loop. Where they give an op in it different labels in different iterations, it is an
    error, unless the loop will be unrolled: `reprise.iterations` then lists the labels of all iterations.

    Blocks and checkpoints are inlined. Ops carry the path of ids of the units around them (`reprise.block`), in program
    order: blocks, and, where something is differentiated, the maximal runs of ops between them. A run whose ops all
    want to be recomputed is cut at its narrowest frontiers into about the square root of its length many units.
  }];
  let options = [
    ListOption<"policies", "policies", "std::string", "Policies in order of precedence: built-in ones, rule files, plugins, @NAME in the module.">,
    Option<"allowUnmatchedRules", "allow-unmatched-rules", "bool", "false", "A rule that matches nothing is a warning.">,
    Option<"ignoreCheckpoints", "ignore-checkpoints", "bool", "false", "Read checkpoints as plain blocks.">,
    Option<"unroll", "unroll", "bool", "false", "Loops will be unrolled: their iterations may differ in labels.">
  ];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def PadClassesPass : Pass<"reprise-pad-classes", "::mlir::func::FuncOp"> {
  let summary = "Makes the classes of a cross entropy a multiple of eight";
  let description = [{
    Where a `reprise.cross_entropy` alone reads a 16-bit `reprise.dot_general`, maybe with a bias and a cast, the columns
    of the contraction become a multiple of eight. Their weights are zeros and their bias is minus infinity, so that
    they have no share in the loss, and their cotangent is zero. No other class changes; a label beyond the last class
    still means that one. Padding is up to a sixteenth of the classes. Runs for targets that contract rows of a multiple
    of 16 bytes faster, before labels.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def DifferentiatePass : Pass<"reprise-differentiate", "::mlir::ModuleOp"> {
  let summary = "Expands value_and_grad by the ops' derivative rules, innermost first";
  let description = [{
    Cotangents of one value are added in reverse program order of its uses. Ops made by a rule inherit label, rule and
    block of their source.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExpandNormalizationsPass : Pass<"reprise-expand-normalizations", "::mlir::ModuleOp"> {
  let summary = "Expands the primal normalizations that return their statistics into the chains that define them";
  let description = [{
    The chain gives the same bits. It ends in elementwise ops on the statistics, so that a normalized value can be made
    again from what the backward pass keeps anyway, the operand and a few numbers, without reducing it again. The ops
    inherit label, rule and block of the normalization, the ones that give its results also their labels and names. What
    the statistics of a batch norm add to running ones is expanded by `reprise-slice-batch` if micro-batches cut it.
  }];
  let options = [Option<"microbatches", "microbatches", "int64_t", "1", "Parts of the batch">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def MakeProgramsPass : Pass<"reprise-make-programs", "::mlir::ModuleOp"> {
  let summary = "Makes the entry the program of device 0";
  let description = [{
    Every phase behind `autodiff` works on device programs (`reprise.program`), each for itself. Every function with a
    body becomes a program, with its name, signature and attributes. A module that has programs is left as it is, and so
    are its other functions in all phases to come.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def OffloadValuesPass : Pass<"reprise-offload-values", "::reprise::ProgramOp"> {
  let summary = "Puts `reprise.offload` behind values that are to wait on the host";
  let description = [{
    These are the values with an offload label, outside of loops, and the results whose numbers are given: all results of
    the function's ops are counted, in program order. Every reader of such a value reads the new op, whose replays are
    fetches. It inherits order, block, label and rule. Runs behind `reprise-differentiate`.
  }];
  let options = [ListOption<"values", "values", "int64_t", "Numbers of further values">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ApplyPlanPass : Pass<"reprise-apply-plan", "::reprise::ProgramOp"> {
  let summary = "Gives a device program the plan that stands on it";
  let description = [{
    Brings the program into the form of its `reprise.plan`: unrolls loops, plans their bodies, lets a large gradient
    wait, puts values on the host, and moves the ops into the plan's order. Then it writes the plan's choices on the ops
    as `reprise.choices`, which `reprise-checkpoint` follows. Only `enough_arena` is left of the plan, for the passes of
    `memory`. A plan that is not one of this program is an error.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def DeferGradientPass : Pass<"reprise-defer-gradient", "::reprise::ProgramOp"> {
  let summary = "Moves a large gradient that nothing reads for long behind others";
  let description = [{
    Of the ops of the backward pass that nothing reads before, the one with the largest result moves behind a quarter of
    the ops that follow it in its planning scope, such as the gradient of a vocabulary behind those of the last layers, whose activations die
    meanwhile. A budget is planned with and without it. Runs after `reprise-differentiate`; no value changes.
  }];
}

def SplitLoopsPass : Pass<"reprise-split-loops", "::mlir::ModuleOp"> {
  let summary = "Splits loops whose carries must be recomputed into segments";
  let description = [{
    A differentiated loop keeps every carry that its backward pass reads. Where the op that computes a carry is labelled
    `must_recompute`, the loop becomes one over segments of about the square root of the trip count; a segment is a loop
    that must be replayed as a whole, so only the carries between segments are kept. The results keep every bit.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def UnrollLoopsPass : InterfacePass<"reprise-unroll-loops", "::mlir::FunctionOpInterface"> {
  let summary = "Replaces every loop by its iterations";
  let description = [{
    Each iteration becomes a unit of its own. Runs after differentiation, so that the sums of cotangents are those of the
    loop, in its order: see docs/explanation/Loops.md.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def MarkStagesPass : Pass<"reprise-mark-stages", "::mlir::func::FuncOp"> {
  let summary = "Marks the stage of each op of the forward pass";
  let description = [{
    Runs before the expansion of gradients, so that derivatives inherit `reprise.stage`. Stages begin at the first op of
    each scope of `at`, or else at ops that carry `reprise.stage` in the model. Without either every place where the
    fewest bytes cross, in program order, begins one, and `pipe-balance-stages` joins them. On one device marks mean
    nothing, and are taken away.
  }];
  let options = [
    Option<"devices", "devices", "int64_t", "2", "How many devices there are">,
    ListOption<"at", "at", "std::string", "The scopes at which stages begin, but for the first one">
  ];
}

def SliceBatchPass : Pass<"reprise-slice-batch", "::reprise::ProgramOp"> {
  let summary = "Runs a step micro-batch by micro-batch";
  let description = [{
    Every input with `reprise.batch_dim` is cut along it, into parts of which the last ones are smaller by one sample
    where it does not divide evenly. Each op runs on the rows of its micro-batch, as its factors say
    (BatchableOpInterface). A sum over the batch adds up over micro-batches in their order, at the op that makes it; a
    mean adds up as a sum, and is divided after the last one; sums of 16-bit values add up in f32. Random words belong to
    the elements of the whole batch, so masks do not depend on the number of micro-batches. What only inputs go into,
    such as the number of tokens that count, is made of the whole batch first. See docs/explanation/MicroBatches.md.

    What a micro-batch reads of a value for the whole batch is a `pipe.slice`, and what it adds to a sum over the batch
    a `pipe.accumulate`; `pipe-lower-microbatches` makes ops of the model graph of both.
  }];
  let options = [Option<"microbatches", "microbatches", "int64_t", "1", "Parts of the batch">];
  let dependentDialects = ["::reprise::pipe::PipeDialect", "::reprise::RepriseDialect"];
}

def FuseEpiloguesPass : Pass<"reprise-fuse-epilogues", "::reprise::ProgramOp"> {
  let summary = "Makes a contraction and the addition of its bias one op";
  let description = [{
    A 16-bit `reprise.dot_general` that nothing but a `reprise.add` of a bias for each column reads becomes a
    `reprise.dot_bias` with it. Of the two labels the one that keeps more holds, and a `must` before a `prefer`. Runs for
    targets whose libraries add a bias in the call of the contraction, before stages and plans, and reads neither: the
    sum is rounded otherwise there, so that the graph alone decides.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def SplitCastsPass : Pass<"reprise-split-casts", "::reprise::ProgramOp"> {
  let summary = "Makes a cast to a wider float again for each reader";
  let description = [{
    A `reprise.cast` from 16 bits to f32 changes no bit of a value and takes no time in the kernel that reads it, while
    its result takes twice the bytes. So each elementwise op, reduction and normalization that reads one gets a cast of
    its own, with a number, `reprise.copy`, so that CSE keeps them apart; that of a reader in the backward pass is part
    of the backward pass. What is saved, and what travels between kernels, is then the narrow value. A cast that a policy
    wants to save, while it does not want to save the operand, is read by the backward pass as it is.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExportProblemPass : Pass<"reprise-export-problem", "::mlir::ModuleOp"> {
  let summary = "Writes the planning problem of a step as a file for reprise-plan";
  let description = [{
    Reads a device program of a module (`reprise-make-programs`), and leaves it as it is. The problem is the one that a
    budget is planned with: what an op costs, what lies in memory and which launch runs an op are those of the target.
    See docs/reference/PlanningProblems.md. A module pass, since it looks for the program to write.
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"", "The file; - is standard output.">,
    Option<"program", "program", "std::string", "\"\"", "The name of the device program; empty: the only one.">,
    Option<"target", "target", "std::string", "\"cpu\"", "The machine, as reprise-compile names it.">,
    Option<"threads", "threads", "unsigned", "0", "Of a CPU, for costs; 0 means two.">,
    Option<"scope", "scope", "unsigned", "0", "Which of the step's outermost gradients, in program order.">
  ];
}

def CheckpointPass : Pass<"reprise-checkpoint", "::reprise::ProgramOp"> {
  let summary = "Chooses saved and replayed values and inserts the replays";
  let description = [{
    Follows the labels; a value that the backward pass does not read is never saved. A replay sits just before its first
    use, is shared inside the backward of its unit, and dies there. Inputs of a unit are kept while it has replays,
    unless they must be recomputed, and the last unit before the cotangents is not replayed. Values without a label
    follow the fastest plan: those that are nearly free inside their consumer's kernel are replayed, all others saved.
    See docs/reference/Policies.md.

    A planner for a budget decides by itself. It writes its plan on the ops as `reprise.choices` (`#reprise.choice`, one
    per result). The pass then carries these choices out, and labels and defaults do not count:

    - `save`: the backward pass reads the original.
    - `replay`: one replay serves all backward readers.
    - `"replay per unit"`: each unit that reads the value has a replay of its own.
    - `"save then replay"`: the first unit that reads the value reads the original, later ones share a replay.

    With `bodies` the pass plans the bodies of loops and nothing else. A body saves its carries and what labels ask to
    save, and its backward body replays all other values, one iteration at a time. The step around the loops is left for
    a second run of the pass.

    Each primal op ends with `reprise.decisions` (`#reprise.decision`, one per result) and `reprise.reasons`
    (`#reprise.reason`, or the rule that gave the label); a replay (`replay` > 0) carries as `reprise.original` the
    `reprise.id` of its original; the function carries `reprise.saved_bytes` and `reprise.replayed_ops`.
  }];
  let options = [Option<"bodies", "bodies", "bool", "false", "Plan the bodies of loops only, so that they save few bytes.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def VerifyCheckpointPass : Pass<"reprise-verify-checkpoint", "::reprise::ProgramOp"> {
  let summary = "Checks that replays are their originals again and that the plan obeys every label";
  let description = [{
    Reads nothing but the graph after `reprise-checkpoint`: every replay repeats one original (op, attributes, draws, and
    operands up to replays of the same values), stands after it, and is read, but never as the next value of state;
    every MUST holds and every PREFER holds or has its reason; decisions and totals say what the graph does.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ExposeReplaysPass : Pass<"reprise-expose-replays", "::reprise::ProgramOp"> {
  let summary = "Makes a step return every replayed value and its original";
  let description = [{
    So both live to the end of the step, where a run compares them (`reprise-compile --verify-replays`). Such a result has
    no name: `reprise.check` is its text for messages, and a replay's `reprise.replay_of` is the number of the result that
    is its original, which may be a named one. Views are not returned: they have no bytes of their own.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

#endif
