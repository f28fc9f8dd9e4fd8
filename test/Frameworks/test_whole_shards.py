"""reprise.torch.export for meshes: rules by PyTorch's names and by placements of DTensors, and the bits of one device."""
import contextlib
import filecmp
import json
import os
import pathlib
import tempfile

import checks
import numpy
import torch
import torch.distributed as dist
from test_whole_export import tool
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import reprise
import reprise.torch

RULES = {"*.up.weight": 0, "*.up.bias": 0, "*.down.weight": 1}
CUT = ["--microbatches=4", "--lanes=4", "--model-lanes=4"]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down, self.dropout = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16), nn.Dropout(0.25)

    def forward(self, x):
        return x + self.down(self.dropout(torch.relu(self.up(self.norm(x)))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        for each in self.blocks:
            x = each(x)
        return x.square().mean()


def build():
    """Returns a model, an optimizer that has made a step, and a batch."""
    torch.manual_seed(2)
    model, x = Model(), torch.randn(8, 16)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2), x


def step(model, optimizer, x):
    torch.manual_seed(5)
    model(x).backward()
    optimizer.step()
    optimizer.zero_grad()


def run(exported, output, *flags):
    """Runs three steps; returns what the run tells."""
    bundle = exported.path.with_suffix(".rpb")
    tool("reprise-compile", exported.path, "-o", bundle, "--entry=train", "--threads=1", *CUT, f"--shards={exported.shards}", *flags)
    return json.loads(tool("reprise-run", bundle, f"--input-dir={exported.arrays}", "--steps=3", "--json", f"--output-dir={output}"))


def try_meshes():
    """Steps of PyTorch on parts of the model, replicas and stages have one hash."""
    model, optimizer, x = build()
    exported = reprise.torch.export(model, (x,), path="named.mlir", optimizer=optimizer, shards=RULES)
    rules = {each["match"]["name"]: each["shard"] for each in json.loads(exported.shards.read_text())["rules"]}
    checks.check("rules by PyTorch's names", len(rules) == 6 and rules["blocks/1/down/weight"] == [None, "model"]
                 and rules["blocks/0/up/bias"] == ["model"], str(rules))
    one = run(exported, "one")
    checks.check("a step with lanes learns", one["loss"][-1] < one["loss"][0], str(one["loss"]))
    for flags in (["--mesh=model=4"], ["--mesh=data=2,model=2"], ["--mesh=data=2,model=2", "--stages=2"], ["--mesh=data=4", "--stages=2"]):
        told = run(exported, "mesh", *flags)
        same = not filecmp.dircmp("one", "mesh").diff_files and told["hash"] == one["hash"]
        checks.check(f"PyTorch's step on {' '.join(flags)} has the hash of one device", same, f"{told['hash']}, {one['hash']}")
    plain = reprise.torch.export(model, (x,), path="plain.mlir", optimizer=optimizer)
    checks.check("no file without rules", plain.shards is None and not pathlib.Path("plain.shards.json").exists())


def placed(sizes=(1, 1)):
    """Returns what build() returns, with tensor parallel layers on a mesh of one process."""
    model, optimizer, x = build()
    mesh = init_device_mesh("cpu", sizes, mesh_dim_names=("data", "tp"))
    for each in model.blocks:
        parallelize_module(each, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2), x


def try_placements():
    """The placements of tensor parallel layers are the rules, and the files are those of the whole model."""
    model, optimizer, x = build()
    step(model, optimizer, x)
    named = reprise.torch.export(model, (x,), path="files/step.mlir", optimizer=optimizer, shards=RULES)
    others = [named.path.read_bytes(), named.shards.read_bytes(), named.names.read_bytes()]
    arrays = {each.name: each.read_bytes() for each in named.arrays.iterdir()}
    model, optimizer, x = placed()
    step(model, optimizer, x)
    read = reprise.torch.export(model, (x,), path="files/step.mlir", optimizer=optimizer)
    checks.check("placements are the rules", read.shards.read_bytes() == others[1], read.shards.read_text())
    checks.check("the step of DTensors is that of whole tensors", [read.path.read_bytes(), read.names.read_bytes()] == [others[0], others[2]])
    checks.check("so are parameters and states", {each.name: each.read_bytes() for each in read.arrays.iterdir()} == arrays)
    checks.check("the model keeps its DTensors, and runs", isinstance(model.blocks[0].up.weight, DTensor) and bool(torch.isfinite(model(x))))


def expect_error(name, message, model, **options):
    try:
        reprise.torch.export(model, (torch.randn(8, 16),), path="no.mlir", **options)
        checks.check(name, False, "no error")
    except reprise.UsageError as error:
        checks.check(name, message in str(error) and not pathlib.Path("no.mlir").exists(), str(error))


def place(names, sizes, placements, shape=(32, 16)):
    """Returns a model with one placed parameter."""
    model = Model()
    mesh = init_device_mesh("cpu", sizes, mesh_dim_names=names)
    part = torch.randn(shape).chunk(mesh.size())[mesh.get_rank()]
    weight = DTensor.from_local(part, mesh, placements, run_check=False, shape=shape, stride=(shape[1], 1))
    model.blocks[1].up.weight = nn.Parameter(weight)
    return model


def try_errors():
    """Conflicts name the parameter and the dimension."""
    name = "blocks.1.up.weight"
    expect_error("a name of nothing", "shards= names 'head.*', and no parameter or buffer matches", Model(), shards={"head.*": 0})
    expect_error("no such dimension", f"shards= cuts dimension 2 of '{name}', which has 2 dimensions", Model(), shards={name: 2})
    expect_error("a partial sum", f"parameter '{name}' is a partial sum along mesh dimension 'tp'", place(("tp",), (1,), [Partial()]))
    expect_error("two cuts", f"parameter '{name}' is cut twice, dimension 0 along 'model' and dimension 1 along 'tp'",
                 place(("model", "tp"), (1, 1), [Shard(0), Shard(1)]))
    expect_error("a mesh without names", f"the mesh of parameter '{name}' has no names", place(None, (1,), [Shard(0)]))
    expect_error("another cut", f"shards= cuts dimension 1 of '{name}', and its placements cut dimension 0",
                 place(("tp",), (1,), [Shard(0)]), shards={name: 1})
    expect_error("FSDP2", "the model is under fully_shard", fully_shard(Model()))
    rows = reprise.torch.export(place(("data", "tp"), (1, 1), [Shard(0), Replicate()]), (torch.randn(8, 16),), path="rows.mlir")
    checks.check("rows of replicas are no rule", rows.shards is None)


def in_two(function):
    """Runs a function in two processes of one group; returns whether it is true in both."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(2):
            processes.append(os.fork())
            if processes[-1] == 0:
                code = 1
                try:
                    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
                    code = 0 if function() else 1
                    dist.destroy_process_group()
                finally:
                    os._exit(code)
        return all(os.waitpid(each, 0)[1] == 0 for each in processes)


def export_in_two():
    """Exports layers of which each process holds a half; both gather, and the first one writes."""
    model, optimizer, x = placed((1, 2))
    step(model.eval(), optimizer, x)  # other masks in two processes
    reprise.torch.export(model, (x,), path="halves.mlir", optimizer=optimizer)
    return model.blocks[0].up.weight.to_local().shape == (16, 16)


def is_uneven():
    try:
        reprise.torch.export(place(("tp",), (2,), [Shard(0)], (33, 16)), (torch.randn(8, 16),), path="no.mlir")
    except reprise.UsageError as error:
        return "dimension 0 of parameter 'blocks.1.up.weight' has size 33, which the 2 parts of mesh dimension 'tp' do not divide" in str(error)
    return False


def try_processes():
    """Two processes with a half of each layer export what one process exports."""
    checks.check("two processes export", in_two(export_in_two))
    model, optimizer, x = build()
    step(model.eval(), optimizer, x)
    named = reprise.torch.export(model, (x,), path="whole.mlir", optimizer=optimizer, shards=RULES)
    checks.check("two processes write the rules of one", pathlib.Path("halves.shards.json").read_bytes() == named.shards.read_bytes())
    differing = filecmp.dircmp("halves", "whole").diff_files
    # The sums of a step in two processes have another order, so low bits of what the step has changed may differ.
    near = all(numpy.allclose(numpy.load(f"halves/{each}"), numpy.load(f"whole/{each}"), rtol=1e-4, atol=1e-6) for each in differing)
    checks.check("two processes write whole arrays", near and len(list(pathlib.Path("halves").iterdir())) > 20, str(differing))
    checks.check("parts that are uneven: an error with parameter, dimension and mesh dimension", in_two(is_uneven))


def main():
    torch.set_num_threads(1)
    try_meshes()
    try_processes()
    with tempfile.NamedTemporaryFile() as file, contextlib.ExitStack() as stack:
        dist.init_process_group("gloo", init_method=f"file://{file.name}", rank=0, world_size=1)
        stack.callback(dist.destroy_process_group)
        try_placements()
        try_errors()
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
