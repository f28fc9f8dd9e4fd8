#!/usr/bin/env python3
"""A GPU for each process, and values that are sent between them by NCCL or through the memory of the host.

Driver and NCCL are emulated (docs/explanation/GpuEmulator.md). Skipped if MPI is missing.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from checks import check, finish, run, same_folder, tool
from processes import BUILD, MPIRUN, Running, need_mpi

EMULATORS = os.path.join(BUILD, "gpu-emulator")
BY_NCCL = "reprise-run: values go from GPU to GPU, by NCCL 2.18.3\n"
TEXT = ["--width=16", "--heads=2", "--batch=4", "--seq=8", "--vocab=31", "--dropout=0.1", "--optimizer=momentum"]
MLP = ["mlp", "--layers=8", "--width=24", "--batch=8", "--dropout=0.2"]
# Each case: name, processes, order of warps, blocks and streams, model, and flags of the cut.
CASES = (
    ("two", 2, "forwards", ["gpt2", "--layers=2", *TEXT], ["--stages=2", "--microbatches=4", "--schedule=1f1b"]),
    ("three", 3, "shuffled", MLP, ["--stages=3", "--microbatches=4", "--schedule=gpipe", "--policy=recompute-all"]),
    ("four", 4, "backwards", ["gpt2", "--layers=4", *TEXT], ["--stages=4", "--microbatches=4", "--schedule=zb-h1"]),
    ("chunks", 2, "shuffled", MLP, ["--stages=2", "--microbatches=4", "--schedule=interleaved-1f1b", "--chunks=2"]),
    ("v", 4, "forwards", MLP, ["--stages=4", "--microbatches=4", "--schedule=zb-v", "--chunks=2"]),
    ("mesh", 4, "shuffled", ["gpt2", "--layers=2", *TEXT], ["--mesh=data=2", "--stages=2", "--microbatches=4", "--lanes=4"]),
    # The values are larger than the memory that carries them, so that each is sent in parts.
    ("wide", 2, "backwards", ["mlp", "--layers=2", "--width=192", "--batch=96"], ["--stages=2", "--microbatches=2"]),
)
RUN = ["--steps=3", "--seed=5"]


def emulated(order="forwards", libraries=EMULATORS, **variables):
    """The words before a command on four emulated GPUs."""
    path = os.pathsep.join(filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")]))
    given = {"LD_LIBRARY_PATH": path, "REPRISE_EMULATED_ORDER": order, "REPRISE_EMULATED_DEVICES": "4", **variables}
    return ["env", *(f"{name}={value}" for name, value in given.items())]


def together(count, bundle, folder, *flags, before):
    """Standard error of processes that must succeed."""
    command = [*MPIRUN, "-n", str(count), *before, "reprise-run", bundle, "--device=cuda", f"--output-dir={folder}", *RUN, *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    check(f"{folder}: {count} processes end well", done.returncode == 0, done.stderr)
    return done.stderr


def check_bits(name, count, order, zoo, flags):
    pathlib.Path(f"{name}.mlir").write_text(tool("reprise-zoo", *zoo))
    tool("reprise-compile", f"{name}.mlir", "-o", f"{name}.cpu.rpb", "--threads=1", *flags)
    tool("reprise-compile", f"{name}.mlir", "-o", f"{name}.rpb", "--threads=1", "--target=cuda:sm_90", *flags)
    run(f"{name}.cpu.rpb", f"{name}.cpu", *RUN)
    said = together(count, f"{name}.rpb", f"{name}.gpu", before=emulated(order))
    check(f"{name}: values go by NCCL, {order}", said == BY_NCCL, said)
    same_folder(f"{name}: the folder of one process", f"{name}.cpu", f"{name}.gpu")


def check_other_runs():
    """Checks commands that are awaited one by one, and commands with reads by the host between them."""
    for flags, variables in ((["--check-indices"], {}), (["--trace=trace.json"], {}), ([], {"CUDA_LAUNCH_BLOCKING": "1"})):
        name = "".join(flags + list(variables)) or "plain"
        said = together(2, "two.rpb", "other", *flags, before=emulated("backwards", **variables))
        check(f"{name}: values go by NCCL", said == BY_NCCL, said)
        same_folder(f"{name}: the folder of one process", "two.cpu", "other")


def check_without_library():
    """Checks that one rank without the library is enough for an error."""
    os.mkdir("driver")
    os.symlink(os.path.join(EMULATORS, "libcuda.so.1"), "driver/libcuda.so.1")
    words = ["reprise-run", "two.rpb", "--device=cuda", "--output-dir=lacking", *RUN]
    command = [*MPIRUN, "-n", "1", *emulated(), *words, ":", "-n", "1", *emulated(libraries=os.path.abspath("driver")), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    pattern = r"reprise-run: values go through the memory of the host: '\w+' has no NCCL: libnccl\.so\.2: .*\n"
    check("one lacks NCCL: all know", re.fullmatch(pattern, done.stderr), done.stderr)
    same_folder("one lacks NCCL: the folder of one process", "two.cpu", "lacking")


def check_libraries():
    """Checks that processes share one file of chosen algorithms, which equals the file of one process with all
    programs."""
    pathlib.Path("library.mlir").write_text(tool("reprise-zoo", "gpt2", "--layers=2", "--width=32", "--heads=2", "--batch=4", "--seq=16",
                                                 "--vocab=40", "--precision=bf16", "--optimizer=momentum"))
    tool("reprise-compile", "library.mlir", "-o", "library.rpb", "--threads=1", "--target=cuda:sm_90", "--contractions=library",
         "--stages=2", "--microbatches=2", "--schedule=1f1b")
    tool(*emulated(), "reprise-run", "library.rpb", "--device=cuda", "--output-dir=library.one", *RUN)
    chosen = pathlib.Path("library.rpb.tuning")
    alone = chosen.read_text()
    chosen.unlink()
    together(2, "library.rpb", "library.two", before=emulated())
    check("libraries: the file of one process", chosen.read_text() == alone, chosen.read_text())
    same_folder("libraries: the folder of one process", "library.one", "library.two")
    # Both processes read the file: the library would recommend another algorithm.
    together(2, "library.rpb", "library.again", before=emulated("shuffled", REPRISE_EMULATED_ALGORITHM="1"))
    same_folder("libraries: what was chosen is used again", "library.one", "library.again")
    check("libraries: the file stays", chosen.read_text() == alone, chosen.read_text())
    # Only the first process reads and writes the file.
    chosen.write_text("{}")
    command = [*MPIRUN, "-n", "2", *emulated(), "reprise-run", "library.rpb", "--device=cuda", *RUN]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    errors = [line for line in done.stderr.splitlines() if "reprise-run: error:" in line]
    check("libraries: a file that does not read is one error", done.returncode == 1 and len(errors) == 1, done.stderr)
    check("libraries: the error names the file", "library.rpb.tuning: is not a file of chosen algorithms: expected version 1" in errors[0], errors[0])


def check_killed():
    for rank in (0, 1):
        running = Running("killed", "--save-every=1", command=(*emulated(), "reprise-run", "two.rpb", "--device=cuda"))
        os.kill(running.ranks[rank], signal.SIGKILL)
        error = running.ends(f"rank {rank} is killed", 137, None)
        check(f"rank {rank} is killed: mpirun names it", f"rank {rank} " in error and "signal 9" in error, error)
        check(f"rank {rank} is killed: values went by NCCL", error.startswith(BY_NCCL), error)


def check_stopped():
    running = Running("stopped", "--save-every=5", command=(*emulated(), "reprise-run", "two.rpb", "--device=cuda"))
    os.kill(running.ranks[1], signal.SIGTERM)
    running.ends("a stopped process", 143, "steps; results are in 'stopped', --input-dir=stopped goes on")


def check_failing():
    """A fault of one GPU in the middle of a step is one error of all, while the others wait for values on theirs."""
    for rank, number in ((0, 30), (1, 45), (1, 70)):
        shutil.rmtree("failed", ignore_errors=True)
        words = ["reprise-run", "two.rpb", "--device=cuda", "--output-dir=failed", "--seed=5", "--steps=1000"]
        own = [emulated(REPRISE_EMULATED_FAULT=f"launch:{number}") if i == rank else emulated() for i in range(2)]
        begin = time.monotonic()
        done = subprocess.run([*MPIRUN, "-n", "1", *own[0], *words, ":", "-n", "1", *own[1], *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        name = f"launch {number} of rank {rank} fails"
        errors = [line for line in done.stderr.splitlines() if "reprise-run: error:" in line]
        check(f"{name}: one error", len(errors) == 1 and "(CUDA_ERROR_LAUNCH_FAILED)" in errors[0], done.stderr)
        check(f"{name}: exit code 1, soon", done.returncode == 1 and time.monotonic() - begin < 30, str(done.returncode))
        check(f"{name}: nothing is half-written", not os.path.exists("failed"))
        check(f"{name}: values went by NCCL", done.stderr.startswith(BY_NCCL), done.stderr)


def main():
    need_mpi()
    for case in CASES:
        check_bits(*case)
    check_other_runs()
    check_without_library()
    check_libraries()
    check_killed()
    check_stopped()
    check_failing()
    finish()


if __name__ == "__main__":
    main()
