// reprise: the passes on the model graph, in the order of the phases.
#ifndef REPRISE_TRANSFORMS_PASSES
#define REPRISE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ImportPass : Pass<"reprise-import", "::mlir::ModuleOp"> {
  let summary = "Reduces a module to one entry function in the form that the phases expect";
  let description = [{
    Drops every function that the entry does not reach, inlines calls and functions named by `reprise.value_and_grad`
    (each use gets its own copy of the body), numbers the random streams in program order, makes broadcasts explicit and
    canonicalizes. Checks roles, names and initializers of the entry.
  }];
  let options = [Option<"entry", "entry", "std::string", "\"train\"", "The function to compile.">];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def ThreadRandomPass : Pass<"reprise-thread-random", "::mlir::ModuleOp"> {
  let summary = "Threads the Philox state through the entry function";
  let description = [{
    The entry takes a seed and an offset and returns the next offset; every random op reads both. From here on all ops
    are pure. The next offset is the offset plus the largest number of words that any op draws, rounded up to 4.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

def AssignLabelsPass : Pass<"reprise-assign-labels", "::mlir::ModuleOp"> {
  let summary = "Evaluates the policies and flattens blocks";
  let description = [{
    Every op of the forward graph ends with the label that its innermost source gives and the name of that source
    (`reprise.label`, `reprise.rule`); blocks and checkpoints are inlined and leave their path of ids (`reprise.block`).
    Opposite MUST labels are an error.
  }];
  let options = [
    ListOption<"policies", "policies", "std::string", "Policies in order of precedence: save-all, recompute-all, dots-saveable.">,
    Option<"ignoreCheckpoints", "ignore-checkpoints", "bool", "false", "Read checkpoints as plain blocks.">
  ];
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

def CheckpointPass : Pass<"reprise-checkpoint", "::mlir::ModuleOp"> {
  let summary = "Chooses saved and replayed values and inserts the replays";
  let description = [{
    Follows the labels; a value that the backward pass does not read is never saved. A replay sits just before its first
    use. Without labels the plan is the fastest: values that are nearly free inside their consumer's kernel are
    replayed.
  }];
  let dependentDialects = ["::reprise::RepriseDialect"];
}

#endif
