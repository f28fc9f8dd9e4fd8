// reprise: the passes on command lists.
#ifndef EXEC_TRANSFORMS_PASSES
#define EXEC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TargetOption : Option<"targetName", "target", "std::string", "\"cpu\"",
    "The machine to compile for, such as cpu or cuda:sm_90">;

def VerifyProgramsPass : Pass<"exec-verify-programs", "::mlir::ModuleOp"> {
  let summary = "Checks device programs that exchange values, before the first pass works on them";
  let description = [{
    A module of device programs is what `autodiff` leaves: flat programs of pure ops, with roles and names on arguments
    and results, and beside the ops transfers, events and library calls. There is one program for each device from 0 on.
    What several programs take under one name is alike. A next value is made by one program, which alone takes the old
    one; the random offset is an exception. No two programs return a result of one name.

    Every send meets a receive of its size, by program, peer, tag and order, and all programs come to their ends: a send
    waits until its receive has begun. The first that do not are an error that names what each program waits for.
  }];
}

def FormLaunchesPass : Pass<"exec-form-launches", "::reprise::ProgramOp"> {
  let summary = "Groups the ops of a device program into launches";
  let description = [{
    Elementwise ops, draws, views and row reductions join the launch of their latest producer where one loop kernel, or
    the tile of one contraction, can hold them all. Views and splat constants are copied into the launches that read
    them. An update of a parameter moves up to where its gradient is complete and the old value has been read for the
    last time.
  }];
  let options = [TargetOption];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def OrderLaunchesPass : Pass<"exec-order-launches", "::reprise::ProgramOp"> {
  let summary = "Runs launches in another order where that takes fewer bytes";
  let description = [{
    Where the buffers that live at once in program order take more than `within` bytes, the first launch of the program
    that can run and fits runs next: what is large waits until other buffers have died, such as the gradient of a
    vocabulary for the activations of the layers behind it. Where that finds no order, one of few bytes is looked for by
    annealing. What replaces an argument waits for the readers of the old value. Blocks with loops, library calls,
    transfers or events keep their order, and so do those for which no such order is found. `exec.launches_moved` on the
    function says that one was.
  }];
  let options = [
    TargetOption,
    Option<"within", "within", "int64_t", "0", "Bytes of the arena; 0: what the program's plan says, or any order does.">
  ];
}

def PlaceBuffersPass : Pass<"exec-place-buffers", "::reprise::ProgramOp"> {
  let summary = "Gives every launch result its place";
  let description = [{
    The next value of an argument overwrites the argument where no later launch reads the old value; where one does, a
    copy follows at the end. A result shares the buffer of an input that dies in the launch if the body reads that input
    at the result's index only. All other buffers are packed into one arena; `exec.arena_bytes` on the function is its
    size. The search for a lower packing ends at `enough` bytes, such as a budget.

    What a library call or a transfer uses lives until stream 0 has waited for it. Their results have places as those of
    launches have; a receive may overwrite an argument, too.
  }];
  let options = [
    TargetOption,
    Option<"enough", "enough", "int64_t", "0", "An arena of so many bytes is low enough; 0: what the program's plan says, or as low as can be found.">,
    Option<"programs", "programs", "int64_t", "1", "So many device programs share the work of the search.">
  ];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def VerifyBuffersPass : Pass<"exec-verify-buffers", "::reprise::ProgramOp"> {
  let summary = "Checks that no buffer is overwritten before its last reader";
  let description = [{
    Reads nothing but the launches and their places. A launch reads arguments, constants and what launches stored. A
    result that overwrites an argument is that argument's next value, and no later launch reads the old one; the launch
    itself reads it only where its kernel may store in place. All other results go with their lives to the judge of
    offsets (`Planning/Offsets`): results share bytes at one time only if a kernel stores one in place of an input that
    dies. `exec.arena_bytes` is the height.

    A program with library calls, transfers or events is gone through once more, iteration by iteration, with a vector
    clock per stream: of two accesses to the same bytes, one of which writes, the later one must come behind a wait for
    the earlier one.
  }];
  let options = [TargetOption];
  let dependentDialects = ["::reprise::exec::ExecDialect"];
}

def FormNestsPass : Pass<"exec-form-nests", "::mlir::ModuleOp"> {
  let summary = "Shows launches as the loop nests that a target makes of them";
  let description = [{
    Adds a `nest.program` for each body that loop nests compute, and names it in `exec.nests` of the launches. Launches of
    a contraction have the nest that finishes its blocks. The bundle does not need this pass: a target makes the same
    nests when it emits kernels.
  }];
  let options = [TargetOption];
}

#endif
