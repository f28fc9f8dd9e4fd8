// reprise: passes on command lists
#ifndef EXEC_TRANSFORMS_PASSES
#define EXEC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TargetOption : Option<"targetName", "target", "std::string", "\"cpu\"",
    "The machine to compile for, such as cpu or cuda:sm_90">;

def VerifyProgramsPass : Pass<"exec-verify-programs", "::mlir::ModuleOp"> {
  let summary = "Checks device programs that exchange values, before the first pass works on them";
  let description = [{
    `autodiff` produces a module of device programs: flat programs of pure ops, with roles and names on arguments and
    results, and with transfers, events and library calls. There is one program for each device from 0 on. An argument
    name has the same type and role in all programs. A next value is computed by one program, and only this program
    reads the old value; the random offset is an exception. No two programs return a result of the same name.

    Every send meets a receive of its size, by program, peer, tag and order, and all programs come to their ends: a send
    waits until its receive has begun. An error names the first transfers that do not meet and the command that each
    program waits for.
  }];
}

def RepeatSendsPass : Pass<"exec-repeat-sends", "::mlir::ModuleOp"> {
  let summary = "Sends arguments as often as other programs pull them";
  let description = [{
    A plan may replay `reprise.pull`. For each tag the pass gives the sending program as many sends, and waits, as the
    other program has pulls. A program that stands alone in its module, as in a search for plans, stays unchanged.
  }];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def FormLaunchesPass : Pass<"exec-form-launches", "::reprise::ProgramOp"> {
  let summary = "Groups the ops of a device program into launches";
  let description = [{
    Elementwise ops, draws, views and row reductions join the launch of their latest producer if one loop kernel, or the
    tile of one contraction, can hold them all. Views and splat constants are copied into the launches that read them.
    An update of a parameter moves up to the point at which its gradient is complete and the old value has been read for
    the last time.
  }];
  let options = [TargetOption];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def OrderLaunchesPass : Pass<"exec-order-launches", "::reprise::ProgramOp"> {
  let summary = "Reorders launches to need fewer bytes";
  let description = [{
    If the buffers that live at the same time in program order need more than `within` bytes, the first launch in
    program order that is ready and fits runs next. Large results so wait until other buffers have died: the gradient of
    a vocabulary, for example, waits for the activations of the layers behind it. If this rule finds no order, annealing
    searches for one of few bytes. The command that overwrites an argument waits for the readers of the old value.
    Blocks with loops, library calls, transfers or events keep their order, and so do blocks without a better one.
    `exec.launches_moved` on the function says that an order was changed.
  }];
  let options = [
    TargetOption,
    Option<"within", "within", "int64_t", "0", "Bytes of arena within which the order must fit; 0: the bytes of the program's plan, or no limit.">
  ];
}

def PlaceBuffersPass : Pass<"exec-place-buffers", "::reprise::ProgramOp"> {
  let summary = "Gives every launch result its place";
  let description = [{
    The next value of an argument overwrites the argument unless a later launch reads the old value; in that case a copy
    follows at the end. A result shares the buffer of an input that dies in the launch if the body reads that input at
    the result's index only. All other buffers are packed into one arena, whose size is `exec.arena_bytes` on the
    function. The search for a lower packing ends at `enough` bytes, such as a budget.

    The buffers of a library call or a transfer live until stream 0 has waited for the call or transfer. Their results
    get places like the results of launches; a receive may overwrite an argument, too.
  }];
  let options = [
    TargetOption,
    Option<"enough", "enough", "int64_t", "0", "Bytes of arena at which the search ends; 0: the bytes of the program's plan, or the smallest arena that is found.">,
    Option<"programs", "programs", "int64_t", "1", "Number of device programs that share the moves of the search.">
  ];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def VerifyBuffersPass : Pass<"exec-verify-buffers", "::reprise::ProgramOp"> {
  let summary = "Checks that no buffer is overwritten before its last reader";
  let description = [{
    Reads only the launches and their places. A launch reads arguments, constants and results of launches. A result that
    overwrites an argument is the argument's next value, and no later launch reads the old one. The launch itself reads
    the old value only if its kernel may store in place. All other results and their live ranges go to the judge of
    offsets (`Planning/Offsets`): results share bytes at one time only if a kernel stores one in place of an input that
    dies. `exec.arena_bytes` is the height.

    The pass simulates a program with library calls, transfers or events once more, iteration by iteration, with a
    vector clock per stream. If two commands access the same bytes and one of them writes, the later one must come
    behind a wait for the earlier one.
  }];
  let options = [TargetOption];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def FormNestsPass : Pass<"exec-form-nests", "::mlir::ModuleOp"> {
  let summary = "Shows launches as the loop nests that a target makes of them";
  let description = [{
    Adds a `nest.program` for each body that loop nests compute, and names it in `exec.nests` of the launches. Launches of
    a contraction have the nest that finishes its blocks. `exec.in_place` of a launch tells which of its results a kernel
    may store over which input. The bundle does not need this pass: a target makes the same nests when it emits kernels.
    Launches that name nests already keep them.
  }];
  let options = [TargetOption];
}

def EmitNestsPass : Pass<"exec-emit-nests", "::mlir::ModuleOp"> {
  let summary = "Replaces a module of nests by the kernels that a target makes of them";
  let description = [{
    Each `nest.program` becomes kernels of its name: functions of the dialects arith, scf and llvm on a CPU, of gpu and
    nvvm on a GPU. With `lower`, they are of the dialects llvm and nvvm, as they are before translation to LLVM IR.
    Everything else of the module is dropped.
  }];
  let options = [TargetOption,
    Option<"lower", "lower", "bool", "false", "Lower the kernels to the dialects llvm and nvvm">];
}

#endif
