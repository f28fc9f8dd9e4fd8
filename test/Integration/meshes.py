#!/usr/bin/env python3
"""Replicas of stages: what they send and hold, runs that continue on other meshes, processes that end, errors.

matrix.py compares their bits with those of one device.
"""

import itertools
import os
import pathlib
import re
import signal
import struct
import subprocess

from arrays import write_npy
from checks import check, compile_model, finish, refuses, run, same_folder, tool, zoo
from processes import MPIRUN, Running, need_mpi, reached

GPT2 = ["gpt2", "--layers=2", "--dropout=0.1", "--optimizer=adamw", "--width=32", "--heads=2", "--seq=8", "--batch=8", "--vocab=64"]
CUT = ["--microbatches=8", "--lanes=8"]
FLAGS = ["--steps=2", "--seed=5"]
BYTES = {"f32": 4, "i64": 8}


def count_bytes(text):
    """Bytes that each program sends, by program."""
    sent = []
    for program in text.split("reprise.program @")[1:]:
        types = re.findall(r"exec\.send .*: tensor<([^>]*)>", program)
        shapes = [kind.split("x") for kind in types]
        sent.append(sum(BYTES[shape[-1]] * eval("*".join(shape[:-1]) or "1") for shape in shapes))
    return sent


def check_bytes():
    """Each replica sends (R - 1)/R of the bytes of gradients, and as many of parameters."""
    zoo("plain.mlir", "mlp", "--layers=4", "--width=64", "--batch=16", "--classes=64", "--optimizer=adamw")
    parameters = 5 * 64 * 64 * 4
    small = 5 * 64 * 4 + 4  # biases and the loss have one owner each
    for replicas in (2, 4, 8):
        text = tool("reprise-opt", "plain.mlir", f"--reprise-to=partition microbatches=8 lanes=8 replicas={replicas}")
        sent = count_bytes(text)
        least = 2 * parameters * (replicas - 1) // replicas
        check(f"{replicas} replicas send what a reduce-scatter and a gather send",
              len(sent) == replicas and all(least <= each <= least + 2 * small * (replicas - 1) for each in sent), f"{sent}, {least}")
        total = (2 * parameters + 2 * small - 4 + 8) * (replicas - 1)  # and two bias corrections
        check(f"{replicas} replicas send nothing else", sum(sent) == total, f"{sum(sent)} of {total}")
    sent = {}
    for how in ("saved", "replayed"):
        sent[how] = sum(count_bytes(tool("reprise-opt", "plain.mlir", "--reprise-to=checkpoint microbatches=8 lanes=8 replicas=8 gathers=" + how)))
    check("replayed gathers send the weights that the backward pass reads once more",
          sent["replayed"] - sent["saved"] == 7 * 4 * 64 * 64 * 4, str(sent))


def check_shares():
    """Each replica holds its share of parameters and states, and its rows of inputs."""
    held = {}
    for replicas in (1, 4):
        report = compile_model("gpt2.mlir", "mesh.rpb", *CUT, f"--mesh=data={replicas}")
        held[replicas] = [program["persistent_bytes"] for program in report.get("programs", [report])]
        check(f"the report names {replicas} replicas", report.get("programs", [report])[0]["replicas"] == replicas)
    arena = {}
    for how in ("saved", "replayed"):
        report = compile_model("gpt2.mlir", "mesh.rpb", *CUT, "--mesh=data=8", f"--gathers={how}")
        arena[how] = max(program["arena_bytes"] for program in report["programs"])
    check("replayed gathers need less memory", arena["replayed"] < 0.9 * arena["saved"], str(arena))
    check("4 replicas hold a quarter each", max(held[4]) < 0.28 * held[1][0] and sum(held[4]) < 1.02 * held[1][0], str(held))


#: Bundles that continue one run: the number of programs, and the flags.
ELASTIC = {"eight.rpb": (8, ["--mesh=data=8"]), "four.rpb": (4, ["--mesh=data=2", "--stages=2"]), "single.rpb": (1, [])}
#: Outputs of each part of the run, and flags.
FORMS = {"elastic": [], "elastic.safetensors": [], "elastic-shards": ["--shard-size=30kB"]}


def continue_on_meshes(output, flags, as_processes):
    """Three steps on each mesh; each one continues from the output of the one before."""
    before = ["--seed=5"]
    for bundle, (count, _) in ELASTIC.items():
        command = [*MPIRUN, "-n", count] if as_processes else []
        tool(*command, "reprise-run", bundle, "--steps=3", *before, f"--output-dir={output}", *flags)
        before = [f"--input-dir={output}"]


def check_elastic():
    """Three steps on eight replicas, three on two of two stages and three on one device equal nine steps on one."""
    for bundle, (_, flags) in ELASTIC.items():
        compile_model("gpt2.mlir", bundle, *CUT, "--threads=1", *flags)
    run("single.rpb", "nine", "--steps=9", "--seed=5")
    continue_on_meshes("elastic", [], as_processes=False)
    same_folder("3 steps on 8, 3 on 2 x 2 and 3 on 1", "nine", "elastic")


def check_elastic_processes():
    """Checks processes whose number changes twice, through each form of output."""
    for output, flags in FORMS.items():
        run("single.rpb", f"nine-{output}", "--steps=9", "--seed=5", *flags)
        continue_on_meshes(output, flags, as_processes=True)
        if output.endswith(".safetensors"):
            check(f"8, 4 and 1 processes write {output}", pathlib.Path(output).read_bytes() == pathlib.Path(f"nine-{output}").read_bytes())
        else:
            same_folder(f"8, 4 and 1 processes write {output}", f"nine-{output}", output)


def check_kills():
    """If any of eight processes is killed, all end with one error, and what they saved is whole."""
    for rank in range(8):
        behind = ["--save-behind"] if rank % 2 else []
        running = Running("killed", "--save-every=1", *behind, count=8, command=("reprise-run", "eight.rpb"))
        os.kill(running.ranks[rank], signal.SIGKILL)
        error = running.ends(f"replica {rank} is killed", 137, None)
        check(f"mpirun names replica {rank}, once", error.count(f"rank {rank} ") == 1 and error.count("signal 9") == 1, error)
    steps = reached("killed")
    tool("reprise-run", "single.rpb", f"--steps={steps}", "--seed=5", "--output-dir=unhurt")
    same_folder("what killed replicas saved is whole", "killed", "unhurt")
    left = [path.name for path in pathlib.Path().iterdir() if ".reprise-" in path.name]
    tool("reprise-run", "single.rpb", "--input-dir=killed", "--output-dir=killed")
    check("the next run removes what killed replicas left", not [name for name in left if os.path.exists(name)], str(left))


def check_norm():
    """A norm of all gradients sends numbers, and the blocks on the borders of parts."""
    sent = []
    for flags in ([], ["--clip-norm=0.5"]):
        zoo("norm.mlir", "mlp", "--layers=4", "--width=256", "--batch=16", "--classes=64", *flags)
        sent.append(sum(count_bytes(tool("reprise-opt", "norm.mlir", "--reprise-to=checkpoint microbatches=8 lanes=8 replicas=8"))))
    check("a norm sends few bytes", 0 < sent[1] - sent[0] < 0.01 * sent[0], str(sent))


def check_feed():
    """Micro-batch m of 8 begins at sample m·⌊B/8⌋ + min(m, B mod 8), whatever the mesh: an index that is wrong in two
    neighbouring samples is told by the replica that reads them, once for each micro-batch."""
    batch, length = 19, 4
    begins = [m * (batch // 8) + min(m, batch % 8) for m in range(9)]
    zoo("feed.mlir", "gpt2", "--layers=2", "--width=16", "--heads=2", f"--seq={length}", "--vocab=32", f"--batch={batch}")
    for replicas, flags in ((1, []), (2, []), (8, []), (2, ["--stages=2", "--schedule=1f1b"])):
        compile_model("feed.mlir", "feed.rpb", *CUT, "--threads=1", f"--mesh=data={replicas}", *flags)
        stages, wrong = 2 if flags else 1, []
        for sample in range(batch - 1):
            micro, other = (max(m for m in range(8) if begins[m] <= each) for each in (sample, sample + 1))
            replica, size = micro * replicas // 8, begins[micro + 1] - begins[micro]
            if replica != other * replicas // 8:
                continue  # two replicas read the samples, and either may be first
            rows = [[1, 1, 100 + i if i in (sample, sample + 1) else 1, 1] for i in range(batch)]
            write_npy("tokens.npy", "<i4", (batch, length), struct.pack(f"<{batch * length}i", *itertools.chain(*rows)))
            done = subprocess.run(["reprise-run", "feed.rpb", "--check-indices", "--input=tokens=tokens.npy"], stderr=subprocess.PIPE, text=True)
            place = f": {1 + (micro == other)} of {size * length}, the first is {100 + sample} at position {(sample - begins[micro]) * length + 2}"
            program = f"program 'train_{replica * stages}'" if replicas * stages > 1 else "feed.rpb: step 0"
            if place not in done.stderr or program not in done.stderr:
                wrong.append((sample, place, done.stderr))
        check(f"{replicas} replicas {' '.join(flags)} read the samples of their micro-batches", not wrong, str(wrong[:2]))


def check_refusals():
    def refused(name, message, *flags, code=2):
        refuses(name, message, "reprise-compile", "gpt2.mlir", "-o", "no.rpb", *flags, code=code)

    refused("too few lanes", "expected replicas of 1, 2, 4, 8, ... lanes each, got 4 replicas for 2 lanes: set --lanes",
            "--microbatches=8", "--lanes=2", "--mesh=data=4", code=1)
    refused("blocks of three lanes", "got 2 replicas for 6 lanes", "--microbatches=6", "--lanes=6", "--mesh=data=2", code=1)
    refused("no batch", "got 2 replicas for 1 lanes", "--mesh=data=2", code=1)
    refused("gathers without replicas", "--gathers needs replicas or parts: add --mesh=data=2 or --mesh=model=2 or more", "--gathers=saved")
    refused("unknown gathers", "unknown gathers 'twice'", "--gathers=twice", "--mesh=data=2")
    refused("an unknown axis", "unknown axis 'pipe' in --mesh=pipe=2: expected data=R, the number of replicas", "--mesh=pipe=2")
    refused("no number", "expected replicas from 1 to 1024 in --mesh=data=R, got 'x'", "--mesh=data=x")
    refused("an axis twice", "names the axis 'data' twice", "--mesh=data=2,data=2")
    refused("too many devices", "--mesh and --stages need 2048 devices, expected at most 1024", "--mesh=data=512", "--stages=4")


def main():
    zoo("gpt2.mlir", *GPT2)
    check_bytes()
    check_shares()
    check_elastic()
    check_norm()
    check_feed()
    check_refusals()
    need_mpi()
    check_elastic_processes()
    check_kills()
    finish()


if __name__ == "__main__":
    main()
