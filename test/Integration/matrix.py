#!/usr/bin/env python3
"""Prints the hashes of steps on meshes: replicas, plans of gathers, stages, schedules, and parts of the model.

Each model must have one hash. Every mesh runs in the interpreter. Budgets, and every n-th mesh, are also compiled: for
the CPU in one process, in a process per device under mpirun, and for emulated GPUs that exchange values by NCCL. A mesh
that the compiler refuses is shown with the reason. Exit code 1 if a model has two hashes, or if a mesh fails.

Without an argument the test runs some meshes of each model. `matrix.py all` runs all meshes of up to --devices devices.
"""

import argparse
import collections
import hashlib
import itertools
import os
import pathlib
import shutil
import subprocess

import checks
from checks import check, compile_fitting, finish, skip, tool, write_json, zoo
from processes import BUILD, MPIRUN

TEXT = ["--layers=2", "--width=32", "--seq=8", "--batch=8", "--vocab=64", "--dropout=0.1"]
MODELS = {
    "gpt2": ["gpt2", "--heads=8", "--optimizer=adamw", "--clip-norm=0.5", *TEXT],
    "gpt2-loop": ["gpt2", "--heads=8", "--loop", "--optimizer=momentum", *TEXT],
    "llama": ["llama", "--precision=bf16", "--optimizer=adamw", "--clip-norm=0.5", "--heads=16", *TEXT],
    "moe": ["moe", "--heads=8", "--route-samples", *TEXT],
    "resnet18": ["resnet18", "--batch=16", "--image=16", "--optimizer=momentum"],
    "masks": [],
}
COLUMNS, ROWS, HEADS, EXPERTS = [None, "model"], ["model", None], [None, "model", None], ["model", None, None]
LAYER = {"query": HEADS, "key": HEADS, "value": HEADS, "projection": EXPERTS, "up": COLUMNS, "gate": COLUMNS, "down": ROWS}
RULES = {
    "gpt2": {"embedding": ROWS, **{f"layer/*/{name}/weight": dims for name, dims in LAYER.items() if name != "gate"}},
    "gpt2-loop": {f"layers/{name}/weight": [None, *dims] for name, dims in LAYER.items() if name != "gate"},
    "llama": {f"layer/*/{name}/weight": dims for name, dims in LAYER.items()},
    "moe": {"layer/*/up/weight": EXPERTS, "layer/*/down/weight": EXPERTS, "layer/*/query/weight": HEADS},
    "resnet18": {"head/weight": ROWS},
    "masks": {"up*": COLUMNS, "down*": ROWS},
}
LANES = {"llama": 4, "moe": 4}  # fewer heads of keys, and fewer experts, than eight
SCHEDULES = ("gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zb-v")
PLANS = {"saved": ["--gathers=saved"], "replayed": ["--gathers=replayed"], "recompute-all": ["--policy=recompute-all"],
         "budget": ["--budget=70%"], "labels": []}
FLAGS = ["--steps=2", "--seed=5"]
#: Phrases of errors that refuse a mesh, and the reasons that the table shows.
REFUSALS = {
    "--gathers is for replicas of a whole model": "gathers are not planned with parts",
    "expected the schedule gpipe, 1f1b or interleaved-1f1b": "parts run by schedules with whole backward passes",
    "needs a multiple of": "more parts than lanes",
    "can be cut into at most": "too few stages in the model",
}
WAYS = ("interpreter", "cpu", "mpirun", "gpus")
Mesh = collections.namedtuple("Mesh", "model replicas plan stages schedule parts")
#: Meshes of `make test`, and the ways to run each beside the interpreter.
PART = {
    ("gpt2", 8, "replayed", 1, "", 1): ("cpu",), ("gpt2", 2, "recompute-all", 2, "zb-v", 1): (), ("gpt2", 1, "labels", 1, "", 8): (),
    ("gpt2", 2, "labels", 2, "1f1b", 2): ("mpirun",), ("gpt2", 4, "labels", 1, "", 4): (), ("gpt2", 2, "labels", 2, "gpipe", 4): (),
    ("gpt2", 4, "budget", 1, "", 1): ("cpu",), ("gpt2", 4, "saved", 2, "zb-h1", 1): (),
    ("gpt2-loop", 4, "saved", 1, "", 1): (), ("gpt2-loop", 2, "replayed", 2, "1f1b", 1): (), ("gpt2-loop", 2, "labels", 1, "", 4): (),
    ("llama", 4, "recompute-all", 1, "", 1): (), ("llama", 2, "replayed", 4, "interleaved-1f1b", 1): (),
    ("llama", 1, "recompute-all", 2, "1f1b", 4): (), ("llama", 2, "labels", 1, "", 2): (),
    ("moe", 2, "labels", 2, "gpipe", 1): (), ("moe", 1, "labels", 1, "", 4): (), ("moe", 2, "labels", 2, "zb-h1", 2): (),
    ("resnet18", 2, "saved", 1, "", 1): (), ("resnet18", 1, "labels", 2, "1f1b", 2): (),
    ("masks", 8, "saved", 1, "", 1): (), ("masks", 2, "labels", 1, "", 2): ("gpus",), ("masks", 2, "labels", 2, "1f1b", 4): (), ("masks", 1, "recompute-all", 4, "zb-v", 1): (),
    ("masks", 1, "labels", 1, "", 8): (),
}


def list_meshes(model, devices):
    """All meshes of up to `devices` devices; those of a budget with one schedule."""
    for replicas, stages, parts in itertools.product((1, 2, 4, 8), (1, 2, 4), (1, 2, 4, 8)):
        if replicas * stages * parts > devices:
            continue
        for schedule in SCHEDULES if stages > 1 else [""]:
            for plan in PLANS:
                gathers = "--gathers" in "".join(PLANS[plan])
                once = plan == "budget" and schedule in ("", "1f1b")  # a compilation takes seconds
                if plan == "recompute-all" or once or (plan != "budget" and gathers == (replicas > 1)):
                    yield Mesh(model, replicas, plan, stages, schedule, parts)
            if replicas > 1 and parts > 1:
                yield Mesh(model, replicas, "labels", stages, schedule, parts)


def make_masks():
    """Returns a model whose results hold the dropout masks of its layers, beside the loss and the next parameters."""
    layers, width, hidden, batch = 8, 16, 32, 8
    x, up, down, mask = (f"tensor<{a}x{b}xf32>" for a, b in ((batch, width), (width, hidden), (hidden, width), (batch, hidden)))
    weights = [(f"{name}{i}", kind) for i in range(layers) for name, kind in (("up", up), ("down", down))]
    body, value = ['%one = reprise.constant dense<1.0> : tensor<f32>'], "%x"
    for i in range(layers):
        body += [f"%ones{i} = reprise.broadcast %one dims [] : (tensor<f32>) -> {mask}",
                 f"%mask{i} = reprise.dropout %ones{i} {{rate = 0.25 : f64}} : {mask}",
                 f"%u{i} = reprise.dot_general {value}, %up{i} contracting [1] x [0] : ({x}, {up}) -> {mask}",
                 f"%r{i} = reprise.relu %u{i} : {mask}", f"%h{i} = reprise.mul %r{i}, %mask{i} : {mask}",
                 f"%d{i} = reprise.dot_general %h{i}, %down{i} contracting [1] x [0] : ({mask}, {down}) -> {x}"]
        value = f"%d{i}"
    body += [f"%square = reprise.mul {value}, {value} : {x}", f"%loss = reprise.mean %square dims [0, 1] : ({x}) -> tensor<f32>"]
    masks, kinds = ", ".join(f"%mask{i}" for i in range(layers)), ", ".join([mask] * layers)
    own = ", ".join(f"%{name}: {kind}" for name, kind in weights)
    body += [f"return %loss, {masks} : tensor<f32>, {kinds}"]
    init = "#reprise.normal<0.000000e+00, 2.500000e-01>"
    named = ", ".join(f'%{name}: {kind} {{reprise.init = {init}, reprise.name = "{name}", reprise.role = "parameter"}}' for name, kind in weights)
    types = ", ".join(kind for _, kind in weights)
    first = 1 + layers
    step = [f"%g:{first + len(weights)} = reprise.value_and_grad @loss(%x, {', '.join('%' + name for name, _ in weights)}) "
            f"wrt [{', '.join(str(i + 1) for i in range(len(weights)))}] : ({x}, {types}) -> (tensor<f32>, {kinds}, {types})"]
    step += [f"%next{i} = reprise.sub %{name}, %g#{first + i} : {kind}" for i, (name, kind) in enumerate(weights)]
    results = ["tensor<f32> {reprise.name = \"loss\"}"] + [f'{mask} {{reprise.name = "mask{i}"}}' for i in range(layers)]
    results += [f'{kind} {{reprise.name = "{name}"}}' for name, kind in weights]
    step += [f"return {', '.join(f'%g#{i}' for i in range(first))}, {', '.join(f'%next{i}' for i in range(len(weights)))} : "
             f"tensor<f32>, {kinds}, {types}"]
    return "\n".join([f"func.func private @loss(%x: {x}, {own}) -> (tensor<f32>, {kinds}) {{", *body, "}",
                      f"func.func @train(%x: {x} {{reprise.batch_dim = 0 : i64, reprise.init = {init}, reprise.name = \"x\", "
                      f"reprise.role = \"input\"}}, {named}) -> ({', '.join(results)}) {{", *step, "}"])


def write_model(model):
    if model == "masks":
        pathlib.Path("masks.mlir").write_text(make_masks())
    else:
        zoo(f"{model}.mlir", *MODELS[model])
    write_rules(model)


def write_rules(model):
    """Writes the shardings of a model; stacked parameters have a dimension of layers before all others."""
    write_json(f"{model}.json", {"version": 1, "rules": [{"match": {"name": name}, "shard": dims} for name, dims in RULES[model].items()]})


def flags_of(mesh):
    flags = ["--microbatches=8", "--lanes=8", f"--model-lanes={LANES.get(mesh.model, 8)}", f"--shards={mesh.model}.json",
             f"--mesh=data={mesh.replicas},model={mesh.parts}", f"--stages={mesh.stages}"]
    return flags + ([f"--schedule={mesh.schedule}"] if mesh.schedule else [])


def hash_folder(folder):
    """Returns a hash of all files of a run: losses, results, states and the record of the run."""
    whole = hashlib.sha256()
    for path in sorted(pathlib.Path(folder).iterdir()):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    shutil.rmtree(folder)
    return whole.hexdigest()[:12]


class Refusal(Exception):
    """The reason why the compiler refuses a mesh."""


def refuse(said):
    for phrase, reason in REFUSALS.items():
        if phrase in said:
            raise Refusal(reason)
    raise RuntimeError(said[:600])


def interpret(mesh):
    command = ["reprise-compile", f"{mesh.model}.mlir", "--interpret", *flags_of(mesh), *PLANS[mesh.plan], *FLAGS, "--output-dir=judge"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return hash_folder("judge") if done.returncode == 0 else refuse(done.stderr)


def run_compiled(mesh, way):
    """Compiles for a way to run, and runs the programs."""
    target = ["--target=cuda:sm_90:exact"] if way == "gpus" else []
    error = compile_fitting(f"{mesh.model}.mlir", "mesh.rpb", [*flags_of(mesh), *target, "--threads=1"], PLANS[mesh.plan])
    if error:
        refuse(error)
    devices = mesh.replicas * mesh.stages * mesh.parts
    command = [] if way == "cpu" else [*MPIRUN, "-n", str(devices)]
    if way == "gpus":
        libraries = os.pathsep.join(filter(None, [os.path.join(BUILD, "gpu-emulator"), os.environ.get("LD_LIBRARY_PATH")]))
        command += ["env", f"LD_LIBRARY_PATH={libraries}", f"REPRISE_EMULATED_DEVICES={devices}"]
    device = ["--device=cuda"] if way == "gpus" else []
    done = subprocess.run([*command, "reprise-run", "mesh.rpb", *FLAGS, *device, "--output-dir=ran"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:600])
    return hash_folder("ran")


class Table:
    """Rows of meshes, and what they sum up to."""

    def __init__(self):
        self.one = {}  # hash of one device, by model
        self.rows, self.hashes = collections.Counter(), collections.defaultdict(set)
        self.refused, self.ran, self.failures = collections.defaultdict(collections.Counter), collections.Counter(), 0

    def add(self, mesh, ways):
        """Runs one mesh, and prints its row."""
        if mesh.model not in self.one:
            write_model(mesh.model)
            self.one[mesh.model] = interpret(Mesh(mesh.model, 1, "labels", 1, "", 1))
            self.hashes[mesh.model].add(self.one[mesh.model])
        cells = dict.fromkeys(WAYS, "-")
        try:
            for way in ways:
                cells[way] = interpret(mesh) if way == "interpreter" else run_compiled(mesh, way)
                self.hashes[mesh.model].add(cells[way])
                self.ran[mesh.model, way] += 1
        except Refusal as refusal:
            cells[way] = f"refused: {refusal}"
            self.refused[mesh.model][str(refusal)] += 1
        except RuntimeError as error:
            cells[way] = f"FAILED: {error}"
            self.failures += 1
        self.rows[mesh.model] += 1
        print("| " + " | ".join(map(str, [*mesh[:4], mesh.schedule or "-", mesh.parts, *cells.values()])) + " |", flush=True)

    def finish(self):
        print("\n| model | meshes | " + " | ".join(WAYS) + " | refused | hashes |\n|" + " --- |" * (len(WAYS) + 4))
        for model, rows in self.rows.items():
            refused = "; ".join(f"{count}: {reason}" for reason, count in self.refused[model].items()) or "-"
            ran = [str(self.ran[model, way]) for way in WAYS]
            print(f"| {model} | {rows} | {' | '.join(ran)} | {refused} | {', '.join(sorted(self.hashes[model]))} |")
        total = sum(self.rows.values())
        print(f"\n{total} combinations, {sum(map(len, self.hashes.values()))} hashes of {len(self.hashes)} models, {self.failures} failures")
        check(f"{total} meshes have one hash per model", not self.failures and all(len(each) == 1 for each in self.hashes.values()),
              str(dict(self.hashes)))
        finish()


def ways_of(options, mesh, number):
    """Returns the ways to run a mesh; every n-th mesh has all of them."""
    devices = mesh.replicas * mesh.stages * mesh.parts
    ways = [way for way in options.on if way != "interpreter" and number % options.every == 0 and (way == "cpu" or devices > 1)]
    if mesh.plan == "budget":  # the interpreter runs no plan of a budget
        return ways or ["cpu"]
    return (["interpreter"] if "interpreter" in options.on else []) + ways


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["all"], help="run all meshes of up to --devices devices")
    parser.add_argument("--models", default=",".join(MODELS), help="models, with commas between them")
    parser.add_argument("--devices", type=int, default=8, help="largest number of devices of a mesh (8)")
    parser.add_argument("--every", type=int, default=16, help="compile every n-th mesh for each way of --on (16)")
    parser.add_argument("--on", default=",".join(WAYS), help="ways to run, with commas between them")
    options = parser.parse_args()
    options.on = options.on.split(",")
    if not shutil.which("mpirun") or not os.path.exists(os.path.join(BUILD, "lib", "libRepriseMpi.so")):
        skip("several processes", "no mpirun, or a build without MPI")
        options.on = [way for way in options.on if way in ("interpreter", "cpu")]
    table = Table()
    print("| model | replicas | plan | stages | schedule | parts | " + " | ".join(WAYS) + " |\n|" + " --- |" * (len(WAYS) + 6))
    for model in options.models.split(","):
        if checks.everything:
            for number, mesh in enumerate(list_meshes(model, options.devices)):
                table.add(mesh, ways_of(options, mesh, number))
        else:
            for mesh, more in PART.items():
                if mesh[0] == model:
                    ways = [way for way in more if way in options.on]
                    table.add(Mesh(*mesh), ways if mesh[2] == "budget" else ["interpreter", *ways])
    table.finish()


if __name__ == "__main__":
    main()
