#!/usr/bin/env python3
"""Steps on parts of a model have the bits of one device with equal lanes of contractions.

Without an argument the test runs a part of the table. `model_axis.py all` runs each model on 1, 2, 4 and 8 parts, with
each plan.
"""

import itertools
import pathlib
import re

import checks
from checks import check, compile_fitting, compile_model, finish, refuses, run, same_folder, tool, write_json, zoo
from processes import MPIRUN, need_mpi

TEXT = ["--layers=2", "--width=64", "--heads=8", "--seq=8", "--batch=8", "--vocab=64"]
MODELS = {
    "gpt2": ["gpt2", "--dropout=0.1", "--optimizer=adamw", *TEXT],
    "gpt2-loop": ["gpt2", "--loop", "--optimizer=momentum", *TEXT],
    "llama": ["llama", "--precision=bf16", "--layers=2", "--width=128", "--heads=16", "--seq=8", "--batch=4", "--vocab=64"],
    "moe": ["moe", "--dropout=0.1", "--route-samples", "--layers=2", "--width=32", "--heads=4", "--seq=8", "--batch=8", "--vocab=64"],
    "mlp": ["mlp", "--layers=3", "--width=64", "--batch=16", "--classes=16", "--dropout=0.1"],
}
HEADS, COLUMNS, ROWS = [None, "model", None], [None, "model"], ["model", None]
LAYER = {"query": HEADS, "key": HEADS, "value": HEADS, "projection": ["model", None, None], "up": COLUMNS, "gate": COLUMNS,
         "down": ROWS}
LANES = {"llama": 4, "moe": 4}  # llama has fewer heads of keys than of queries
FLAGS = ["--steps=2", "--seed=5"]
PLANS = {"none": [], "recompute-all": ["--policy=recompute-all"], "half": ["--budget=60%"]}
PART = [("gpt2", 2, "none"), ("gpt2", 8, "half"), ("gpt2-loop", 4, "none"), ("llama", 4, "recompute-all"), ("moe", 4, "none"), ("mlp", 2, "none")]
ALL = [(model, parts, plan) for model, parts, plan in itertools.product(MODELS, (1, 2, 4, 8), PLANS) if parts <= LANES.get(model, 8)]
CUT = ["--microbatches=4", "--lanes=4"]
PART_MESHES = [("gpt2", 1, 2, 1, ""), ("gpt2", 2, 1, 2, "zb-h1"), ("gpt2", 2, 2, 2, ""), ("gpt2", 4, 4, 1, "")]
ALL_MESHES = [(model, *sizes, schedule) for model, sizes, schedule in
              itertools.product(("gpt2", "gpt2-loop", "llama"), itertools.product((1, 2, 4), (1, 2, 4), (1, 2)), ("gpipe", "1f1b"))
              if sizes[2] > 1 or schedule == "1f1b"]


def write_rules(model):
    """Writes the shardings of a model; stacked parameters have a dimension of layers before all others."""
    if model == "mlp":
        rules = {"layer/0/weight": COLUMNS, "layer/1/weight": ROWS}
    elif model == "moe":
        rules = {"layer/*/up/weight": ["model", None, None], "layer/*/down/weight": ["model", None, None], "layer/*/query/weight": HEADS}
    elif model == "gpt2-loop":
        rules = {f"layers/{name}/weight": [None, *dims] for name, dims in LAYER.items() if name != "gate"}
    else:
        rules = {f"layer/*/{name}/weight": dims for name, dims in LAYER.items() if name != "gate" or model == "llama"}
    write_json(f"{model}.json", {"version": 1, "rules": [{"match": {"name": name}, "shard": dims} for name, dims in rules.items()]})


def flags_of(model, parts=1, replicas=1):
    return [f"--model-lanes={LANES.get(model, 8)}", f"--shards={model}.json", f"--mesh=data={replicas},model={parts}"]


def check_bits(cases):
    known = set()
    for model, parts, plan in cases:
        if model not in known:
            known.add(model)
            zoo(f"{model}.mlir", *MODELS[model])
            write_rules(model)
            compile_model(f"{model}.mlir", "one.rpb", *flags_of(model))
            run("one.rpb", f"one-{model}", *FLAGS)
        name = f"{model} in {parts} parts, {plan}"
        error = compile_fitting(f"{model}.mlir", "parts.rpb", flags_of(model, parts), PLANS[plan])
        if check(f"{name}: compiles", not error, error):
            run("parts.rpb", "parts", *FLAGS)
            same_folder(name, f"one-{model}", "parts")


def check_judge():
    for parts in (1, 4):
        tool("reprise-compile", "gpt2.mlir", "--interpret", *flags_of("gpt2", parts), *FLAGS, f"--output-dir=judge{parts}")
        same_folder(f"the interpreter runs {parts} parts", "one-gpt2", f"judge{parts}")


def check_order():
    """Lanes are another order of sums, so a test of bits can fail."""
    compile_model("gpt2.mlir", "chain.rpb")
    chain = run("chain.rpb", "chain", *FLAGS)["hash"]
    check("lanes change bits", chain != run("one.rpb", "again", *FLAGS)["hash"], chain)


def check_meshes(cases):
    """Replicas, stages and parts of the model have the bits of one device with equal micro-batches and lanes."""
    known = set()
    for model, replicas, parts, stages, schedule in cases:
        if model not in known:
            known.add(model)
            compile_model(f"{model}.mlir", "cut.rpb", *flags_of(model), *CUT)
            run("cut.rpb", f"cut-{model}", *FLAGS)
        flags = [f"--stages={stages}", f"--schedule={schedule}"] if schedule else [f"--stages={stages}"]
        compile_model(f"{model}.mlir", "mesh.rpb", *flags_of(model, parts, replicas), *CUT, *flags)
        run("mesh.rpb", "mesh", *FLAGS)
        same_folder(f"{model} on {replicas} replicas, {stages} stages {schedule}, {parts} parts", f"cut-{model}", "mesh")


def check_elastic():
    """Steps on parts, then on stages, then on one device equal as many steps on one device."""
    folder = []
    for flags in (flags_of("gpt2", 4), [*flags_of("gpt2", 2, 2), "--stages=2"], flags_of("gpt2")):
        compile_model("gpt2.mlir", "part.rpb", *CUT, *flags)
        run("part.rpb", "elastic", "--steps=2", *(folder or ["--seed=5"]))
        folder = ["--input-dir=elastic"]
    run("part.rpb", "six", "--steps=6", "--seed=5")
    same_folder("2 steps on 4 parts, 2 on 2 x 2 x 2 and 2 on 1", "six", "elastic")


def check_entries():
    """Gradients, and gradients of gradients, which have four passes."""
    for entry in ("grad", "hvp") if checks.everything else ("grad",):
        for parts in (1, 2):
            compile_model("gpt2.mlir", "entry.rpb", *flags_of("gpt2", parts), f"--entry={entry}")
            run("entry.rpb", f"{entry}{parts}", "--seed=5")
        same_folder(f"{entry} on 2 parts", f"{entry}1", f"{entry}2")


def check_processes():
    """Four processes write the folder of one device."""
    compile_model("gpt2.mlir", "parts.rpb", *flags_of("gpt2", 4), "--threads=1")
    tool(*MPIRUN, "-n", 4, "reprise-run", "parts.rpb", *FLAGS, "--output-dir=ranks")
    same_folder("4 parts in four processes", "one-gpt2", "ranks")


def check_shares():
    """Each part holds its share of parameters and states."""
    held = {}
    for parts in (1, 4):
        report = compile_model("gpt2.mlir", "parts.rpb", *flags_of("gpt2", parts))
        held[parts] = [program["persistent_bytes"] for program in report.get("programs", [report])]
    check("4 parts hold a quarter each", max(held[4]) < 0.4 * held[1][0] and sum(held[4]) < 1.05 * held[1][0], str(held))


def check_wire():
    """A device sends what sequence parallelism sends: per layer 12 activations, less its own part of each.

    Two inputs of contractions are joined in the forward pass, and again in the backward pass, with the gradients of two
    outputs. Two sums are shared in the forward pass, and four in the backward pass. Gradients of six vectors add whole
    columns of parts.
    """
    parts, sends = 4, {}
    for layers in (1, 3):
        zoo("wire.mlir", "gpt2", *TEXT[1:], f"--layers={layers}")
        text = tool("reprise-opt", "wire.mlir", f"--reprise-to=partition model-lanes=8 shards=gpt2.json model-parts={parts}")
        for name, program in enumerate(text.split("reprise.program @")[1:]):
            for shape in ("2x8x64xf32", "2x8x16xf32"):
                sends[layers, name, shape] = len(re.findall(rf"exec\.send .*: tensor<{shape}>", program))
    for name in range(parts):
        for shape, count in (("2x8x64xf32", 12), ("2x8x16xf32", 6)):
            more = sends[3, name, shape] - sends[1, name, shape]
            check(f"device {name} sends {count} parts {shape} per layer to each other device", more == 2 * count * (parts - 1), str(more))


def check_refusals():
    def refused(name, message, *flags, code=2):
        refuses(name, message, "reprise-compile", "gpt2.mlir", "-o", "no.rpb", *flags, code=code)

    def refused_rules(name, message, rule):
        write_json("bad.json", {"version": 1, "rules": [rule]})
        refused(name, message, "--model-lanes=8", "--shards=bad.json", code=1)

    refused("three lanes", "expected 1, 2, 4, … lanes up to 1024 in --model-lanes, got 3", "--model-lanes=3")
    refused("no rules", "--model-lanes needs shardings: add --shards=RULES.json", "--model-lanes=2")
    refused("no lanes", "--shards needs lanes of contractions", "--shards=gpt2.json")
    refused("too few lanes", "--mesh=model=4 needs a multiple of 4 lanes, got --model-lanes=2", "--model-lanes=2",
            "--shards=gpt2.json", "--mesh=model=4")
    refused("labels of pieces", "--mesh=model=2 is for one stage per device: use it without --checkpoint", *flags_of("gpt2", 2),
            "--stages=2", "--checkpoint=always")
    refused("a schedule with weights", "expected the schedule gpipe or 1f1b, got 'zb-h1'", *flags_of("gpt2", 2), "--microbatches=4",
            "--stages=2", "--schedule=zb-h1", code=1)
    name = {"name": "layer/0/up/weight"}
    refused_rules("a rule without a match", "no argument of the step matches", {"match": {"name": "layer/9/*"}, "shard": ROWS})
    refused_rules("another rank", "expected 2 dimensions of 'layer/0/up/weight', got 3", {"match": name, "shard": HEADS})
    refused_rules("two cuts", "expected the axis \"model\" for one dimension", {"match": name, "shard": ["model", "model"]})
    refused_rules("another axis", "expected null or the axis \"model\"", {"match": name, "shard": [None, "data"]})
    write_json("bad.json", {"version": 1, "rules": [{"match": name, "shard": ROWS}]})
    refused("too many lanes", "expected a dimension that 128 lanes divide, dimension 0 of 'layer/0/up/weight' has 64",
            "--model-lanes=128", "--shards=bad.json", code=1)


def main():
    pathlib.Path("mesh").mkdir(exist_ok=True)
    check_bits(ALL if checks.everything else PART)
    check_judge()
    check_order()
    check_meshes(ALL_MESHES if checks.everything else PART_MESHES)
    check_elastic()
    check_entries()
    check_shares()
    check_wire()
    check_refusals()
    need_mpi()
    check_processes()
    finish()


if __name__ == "__main__":
    main()
