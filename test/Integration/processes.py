#!/usr/bin/env python3
"""Programs of one bundle in several processes that mpirun starts: the bits of one process, and a common end of all
processes.

Skipped if mpirun is missing, or if the build has found no MPI.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

from checks import check, finish, run, same_folder, skip, tool

BUILD = os.environ["REPRISE_BUILD"]
CUT = os.path.join(os.environ["REPRISE_SOURCE"], "test", "Tools", "Inputs", "cut-programs.py")
# Open MPI refuses root without being told twice, and more processes than processors.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
GPT2 = ["gpt2", "--layers=4", "--dropout=0.1", "--optimizer=momentum", "--width=32", "--seq=16", "--batch=2", "--vocab=64"]
RESNET = ["resnet18", "--batch=2", "--image=16"]


def compile_cut(name, zoo, cuts, *flags):
    """Compiles NAME.rpb of several programs; returns their number."""
    pathlib.Path("model.mlir").write_text(tool("reprise-zoo", *zoo))
    step = tool("reprise-opt", "model.mlir", "--reprise-to=autodiff", "--mlir-print-local-scope")
    pathlib.Path("step.mlir").write_text(step)
    pathlib.Path("programs.mlir").write_text(tool("python3", CUT, "step.mlir", cuts))
    tool("reprise-compile", "programs.mlir", "-o", f"{name}.rpb", "--threads=1", *flags)
    return len(cuts.split(",")) + 1


def together(count, bundle, folder, *flags):
    return json.loads(tool(*MPIRUN, "-n", count, "reprise-run", bundle, f"--output-dir={folder}", "--json", *flags))


SAME = ("loss", "hash", "next_offset", "commands", "arena_bytes", "workspace_bytes", "persistent_bytes", "programs")


def check_bits(name, count):
    bundle, flags = f"{name}.rpb", ["--steps=4", "--seed=5", "--save-every=2"]
    one = run(bundle, f"{name}.one", *flags, f"--log={name}.one.csv")
    all_of_them = together(count, bundle, f"{name}.all", *flags, f"--log={name}.all.csv")
    same_folder(f"{name}: {count} processes write the folder of one", f"{name}.one", f"{name}.all")
    differing = [key for key in SAME if one[key] != all_of_them[key]]
    check(f"{name}: the figures of one process", not differing, str(differing))
    logs = [pathlib.Path(f"{name}.{which}.csv").read_bytes() for which in ("one", "all")]
    check(f"{name}: the log of one process", logs[0] == logs[1] and logs[0].count(b"\n") == 5)


def check_stack():
    """Checks layers as one loop: each process has the rows of its own layers."""
    pathlib.Path("model.mlir").write_text(tool("reprise-zoo", *GPT2, "--loop"))
    tool("reprise-compile", "model.mlir", "-o", "stack.rpb", "--threads=1", "--stages=3")
    check_bits("stack", 3)
    check_going_on("stack", 3)


def check_measurements(name, count):
    """Checks for one trace and one profile with the parts of all programs."""
    flags = ["--steps=3", "--trace=trace.json", "--profile-out=profile.json"]
    calls = []
    for runs in (run, lambda *words: together(count, *words)):
        runs(f"{name}.rpb", "measured", *flags)
        events = json.loads(pathlib.Path("trace.json").read_text())["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        check(f"{name}: the trace has all programs", [names[pid].split()[0] for pid in sorted(names)] == [f"stage{i}" for i in range(count)])
        commands = [(event["pid"], event["args"]["step"], event["args"]["command"]) for event in events if event["ph"] == "X"]
        kernels = json.loads(pathlib.Path("profile.json").read_text())["kernels"]
        calls.append((len(names), len(set(commands)), sorted((kernel["kernel"], kernel["calls"]) for kernel in kernels)))
    check(f"{name}: trace and profile of several processes are those of one", calls[0] == calls[1] and calls[0][1] > 100)


def check_going_on(name, count):
    bundle = f"{name}.rpb"
    together(count, bundle, "half", "--steps=2", "--seed=5")
    together(count, bundle, "rest", "--steps=2", "--input-dir=half")
    same_folder(f"{name}: 2 + 2 steps", "rest", f"{name}.one")
    run(bundle, "alone", "--steps=2", "--input-dir=half")
    same_folder(f"{name}: 2 steps of several processes and 2 of one", "alone", f"{name}.one")
    together(count, bundle, "half", "--steps=2", "--input-dir=half")
    same_folder(f"{name}: 2 + 2 steps in one folder", "half", f"{name}.one")


def fails(name, command, code, text):
    """Checks that all processes together print one error."""
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    check(f"{name}: one error", len(errors) == 1 and text in errors[0], done.stderr)
    check(f"{name}: exit code {code}", done.returncode == code, str(done.returncode))
    check(f"{name}: soon", time.monotonic() - begin < 10)


def each(*commands):
    """Checks that a different command line in each process is an error."""
    words = []
    for command in commands:
        words += [":"] * bool(words) + ["-n", "1", "reprise-run", *command]
    return MPIRUN + words


def check_refusals():
    two = "gpt2.rpb"
    fails("too many processes", [*MPIRUN, "-n", "3", "reprise-run", two], 2, f"{two}: 3 processes run 2 programs: start one")
    fails("another bundle", each([two], ["replays.rpb"]), 1, f"{two}: the checksum of the bundle is ")
    fails("another seed", each([two, "--seed=1"], [two, "--seed=2"]), 1, f"{two}: the seed is 1 in 'stage0', and 2 in 'stage1'")
    fails("other steps", each([two], [two, "--steps=2"]), 1, "the number of steps is 1 in 'stage0', and 2 in 'stage1'")
    fails("another folder", each([two, "--output-dir=a"], [two]), 1, "--output-dir is 'a' in 'stage0', and none in 'stage1'")
    given = sorted(pathlib.Path("gpt2.one").glob("*.npy"))[0]
    shutil.copy(given, "other.npy")
    with open("other.npy", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x3f")
    name = given.stem.replace(".", "/")
    inputs = [[two, "--input-dir=gpt2.one", "--input", f"{name}={path}"] for path in (given, "other.npy")]
    fails("another input", each(*inputs), 1, f"{two}: the value of '{name}' is ")
    fails("a missing folder", [*MPIRUN, "-n", "2", "reprise-run", two, "--input-dir=none"], 1, "cannot read 'none'")
    fails("standard input", [*MPIRUN, "-n", "2", "reprise-run", "-"], 1, "cannot read one standard input")
    check("nothing is written", not os.path.exists("a"))
    fails("an unknown option", [*MPIRUN, "-n", "4", "reprise-run", two, "--nosuch"], 2, "unknown option '--nosuch'")
    fails("options that do not fit", [*MPIRUN, "-n", "2", "reprise-run", two, "--save-every=2"], 2, "--save-every needs --output-dir")
    fails("wrong usage of one", each([two], [two, "--steps=0"]), 2, "expected --steps=N, ")
    text = tool(*MPIRUN, "-n", "4", "reprise-run", "--help")
    check("help comes once", text == tool("reprise-run", "--help"))


def check_module():
    """Checks that a missing MPI module, or a process started by another MPI, is an error."""
    os.mkdir("lib")
    for library in pathlib.Path(BUILD, "lib").glob("libRepriseRuntime.so.0"):
        shutil.copy(library, "lib")
    environment = ["env", "LD_LIBRARY_PATH=lib", "PMI_SIZE=2"]
    fails("no module", [*environment, "PMI_RANK=0", "reprise-run", "gpt2.rpb"], 1, "cannot run as one of 2 processes: this build has no MPI")
    second = subprocess.run([*environment, "PMI_RANK=1", "reprise-run", "gpt2.rpb"], stderr=subprocess.PIPE)
    check("no module: one process says so", second.returncode == 1 and not second.stderr)


LOSSY = """
#include <mpi.h>
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  static int values = 0;
  if (count < 4000 || ++values != 3)
    return PMPI_Isend(data, count, type, to, tag, comm, request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
"""


def check_lost_message():
    """The third value that each process sends never arrives."""
    pathlib.Path("lossy.c").write_text(LOSSY)
    tool("mpicc", "-shared", "-fPIC", "-o", "lossy.so", "lossy.c")
    command = [*MPIRUN, "-n", "2", "-x", f"LD_PRELOAD={os.getcwd()}/lossy.so", "reprise-run", "gpt2.rpb", "--steps=5"]
    fails("a lost message", command, 1, "step 1, a message is lost, or programs wait for each other: 'stage0' waits ")


class Running:
    """Processes that make steps until a signal or an error ends them."""

    def __init__(self, folder, *flags, count=2, command=("reprise-run", "gpt2.rpb")):
        shutil.rmtree(folder, ignore_errors=True)
        self.count = count
        command = [*MPIRUN, "-n", str(count), *command, "--steps=100000000", "--seed=5", f"--output-dir={folder}", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not os.path.exists(f"{folder}/run.json") and time.monotonic() < until:
            time.sleep(0.01)
        self.ranks = self.find_ranks()
        self.begin = time.monotonic()

    def find_ranks(self):
        """The processes, by rank."""
        ranks = {}
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for child in children:
            found = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", pathlib.Path(f"/proc/{child}/environ").read_bytes())
            if found:
                ranks[int(found.group(1))] = int(child)
        return ranks

    def ends(self, name, code, text):
        """Checks that all processes end soon, with one error or, if there is no text, with mpirun's error."""
        error = self.process.communicate(timeout=60)[1]
        while any(os.path.exists(f"/proc/{rank}") for rank in self.ranks.values()) and time.monotonic() < self.begin + 10:
            time.sleep(0.01)
        left = [rank for rank in self.ranks.values() if os.path.exists(f"/proc/{rank}")]
        check(f"{name}: all processes end", len(self.ranks) == self.count and not left and time.monotonic() < self.begin + 10, str(left))
        check(f"{name}: exit code {code}", self.process.returncode == code, str(self.process.returncode))
        lines = [line for line in error.splitlines() if "reprise-run: error:" in line]
        check(f"{name}: one error", len(lines) == 1 and lines[0].count(text) == 1 if text else not lines, error)
        return error


def reached(folder):
    return json.loads(pathlib.Path(folder, "run.json").read_text())["next_step"]


def check_whole(name, folder):
    """Checks that the folder equals the one of a single process after the same number of steps, without other files."""
    run("gpt2.rpb", "as-one", f"--steps={reached(folder)}", "--seed=5")
    same_folder(f"{name}: the folder is whole", folder, "as-one")
    shutil.rmtree("as-one")


def check_ends():
    running = Running("killed", "--save-every=1")
    os.kill(running.ranks[1], signal.SIGKILL)
    error = running.ends("a killed process", 137, None)
    check("a killed process: mpirun names it", "rank 1 " in error and "signal 9" in error, error)
    check_whole("a killed process", "killed")

    running = Running("full", "--save-every=1")
    resource.prlimit(running.ranks[1], resource.RLIMIT_FSIZE, (1000, 1000))
    running.ends("a full disk", 1, "cannot write 'full/")
    check_whole("a full disk", "full")

    running = Running("stopped", "--save-every=5")
    os.kill(running.ranks[1], signal.SIGTERM)
    error = running.ends("a stopped process", 143, "results are in 'stopped', --input-dir=stopped goes on")
    check("a stopped process: the error counts the steps", f"error: stopped after {reached('stopped'):,} steps; " in error, error)
    check_whole("a stopped process", "stopped")

    # Killed processes may have left any file; the next run removes it.
    together(2, "gpt2.rpb", "killed", "--steps=1", "--input-dir=killed")
    left = [path.name for path in pathlib.Path().iterdir() if ".reprise-" in path.name]
    check("nothing is left beside the folders", not left, str(left))


def check_replays():
    """Checks that replays are compared in the process that computes them."""
    together(2, "replays.rpb", "replays", "--steps=4", "--seed=5")
    same_folder("replays are checked in each process", "replays", "gpt2.one")


def need_mpi():
    if not (shutil.which("mpirun") and shutil.which("mpicc")) or not os.path.exists(os.path.join(BUILD, "lib", "libRepriseMpi.so")):
        skip("several processes", "no mpirun, or a build without MPI")
        finish()


def main():
    need_mpi()
    for name, zoo, cuts in (("gpt2", GPT2, "2"), ("four", GPT2, "1,2,4"), ("resnet18", RESNET, "3,6")):
        check_bits(name, compile_cut(name, zoo, cuts))
    check_stack()
    check_measurements("four", 4)
    check_going_on("four", 4)
    compile_cut("replays", [*GPT2, "--checkpoint=layer"], "2", "--verify-replays")
    check_replays()
    check_refusals()
    check_module()
    check_lost_message()
    check_ends()
    finish()


if __name__ == "__main__":
    main()
