#!/usr/bin/env python3
"""Hashes that are checked in must be the result of every run, compiled for AVX2 and, if the CPU has it, for AVX-512.

Usage: golden.py [--update]      --update writes golden.json again, from AVX2 programs that the interpreter agrees with.

AVX-512 programs in f16 and f64 run at night.

A change of these hashes is a change of the results' bits: allowed between compiler versions, never unnoticed.
"""

import json
import pathlib
import re
import sys

from checks import check, compile_model, everything, finish, run, same_folder, skip, tool, zoo

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden.json"
SIZES = {
    "mlp": ["--layers=2", "--width=48", "--batch=10", "--classes=7", "--dropout=0.1"],
    "gpt2": ["--layers=2", "--width=48", "--heads=3", "--batch=2", "--seq=19", "--vocab=37", "--dropout=0.1"],
}
# Ops that earlier phases inline or expand, and policies.
GONE_BY_THEN = {"reprise.block", "reprise.checkpoint", "reprise.dot_bias", "reprise.policy", "reprise.rule",
                "reprise.custom_vjp", "reprise.value_and_grad"}
# Ops that only plans make; plans.py compares their results.
MADE_BY_PLANS = {"reprise.dot_accumulate"}
# Functions that the host computes, which the interpreter lacks; test_whole_calls.py compares their results.
OF_THE_HOST = {"reprise.custom_call"}
# Ops of programs of several devices; meshes.py compares their results.
OF_DEVICES = {"reprise.pull"}
AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


def programs():
    """Writes the models; yields (name, file, entry, steps)."""
    for model, size in SIZES.items():
        for optimizer in ("sgd", "momentum", "adamw"):
            path = f"{model}.{optimizer}.mlir"
            zoo(path, model, f"--optimizer={optimizer}", *size)
            yield f"{model} train {optimizer}", path, "train", 3
        for entry in ("grad", "hvp", "forward"):
            yield f"{model} {entry}", f"{model}.sgd.mlir", entry, 1
    zoo("loop.mlir", "gpt2", "--loop", *SIZES["gpt2"])
    yield "gpt2 loop train", "loop.mlir", "train", 3
    yield "gpt2 loop hvp", "loop.mlir", "hvp", 1
    for dtype in ("bf16", "f16", "f32", "f64"):
        for name in ("step", "ops", "indexing", "norms", "convolution"):
            text = (HERE / "Inputs" / f"{name}.mlir").read_text()
            statistics = "f64" if dtype == "f64" else "f32"
            pathlib.Path(f"{name}.{dtype}.mlir").write_text(text.replace("!stat", statistics).replace("bf16", dtype))
        yield f"{dtype} step", f"step.{dtype}.mlir", "train", 2
        for entry in ("elementwise", "draws", "reductions", "lanes", "pieces", "words", "pause"):
            yield f"{dtype} {entry}", f"ops.{dtype}.mlir", entry, 1
        for entry in ("functions", "sorted", "indexing"):
            yield f"{dtype} {entry}", f"indexing.{dtype}.mlir", entry, 1
        for entry in ("norms", "scores", "statistics"):
            yield f"{dtype} {entry}", f"norms.{dtype}.mlir", entry, 1
        for entry in ("convolutions", "pools"):
            yield f"{dtype} {entry}", f"convolution.{dtype}.mlir", entry, 1


def ops_in(path, entry):
    """Returns the ops of the model before norms expand, and those that the interpreter and the kernels execute."""
    texts = [tool("reprise-opt", path, f"--reprise-to={phase} entry={entry}") for phase in ("label", "checkpoint")]
    return set(re.findall(r"\breprise\.\w+", "".join(texts)))


def check_coverage(used):
    """Checks that a new op is part of a program above, so that its kernels are compared with the interpreter."""
    page = (HERE.parents[1] / "docs" / "reference" / "generated" / "RepriseDialect.md").read_text()
    ops = set(re.findall(r"^### `(reprise\.\w+)`", page, re.MULTILINE))
    missing = ops - used - GONE_BY_THEN - MADE_BY_PLANS - OF_THE_HOST - OF_DEVICES
    check("every op is in a program", len(ops) > 50 and not missing, str(sorted(missing)))


def has_avx512():
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    return AVX512 <= set(flags.split())


def hash_of(path, entry, steps, target):
    bundle = f"{path}.{entry}.{target}.rpb"
    compile_model(path, bundle, f"--entry={entry}", f"--target=cpu:{target}", "--threads=2")
    return run(bundle, "results", "--seed=11", f"--steps={steps}", "--threads=2")["hash"]


def ask_interpreter(name, path, entry, steps):
    tool("reprise-compile", path, "--interpret", f"--entry={entry}", "--seed=11", f"--steps={steps}", "--output-dir=judged")
    same_folder(f"{name}: the interpreter", "judged", "results")


def main():
    update = sys.argv[1:] == ["--update"]
    targets = ["x86-64-v3"] + (["x86-64-v4"] if has_avx512() else [])
    if len(targets) == 1:
        skip("hashes of x86-64-v4", "this CPU has no AVX-512")
    golden = {} if update else json.loads(GOLDEN.read_text())
    names, used = set(), set()
    for name, path, entry, steps in programs():
        names.add(name)
        # The programs of all types have the same ops.
        if not name.startswith(("f16 ", "f32 ", "f64 ")):
            used |= ops_in(path, entry)
        for target in targets[:1] if name.startswith(("f16 ", "f64 ")) and not everything else targets:
            found = hash_of(path, entry, steps, target)
            if update and name not in golden:
                golden[name] = found
                ask_interpreter(name, path, entry, steps)
            check(f"{name} on {target}", found == golden.get(name), f"{found}, expected {golden.get(name)}")
    check("every checked-in hash has its program", names == set(golden), str(names ^ set(golden)))
    check_coverage(used)
    if update:
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    finish()


if __name__ == "__main__":
    main()
