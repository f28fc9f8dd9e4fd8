"""Outputs of runs, and the files of others: safetensors and transformers read what a run wrote, and the reverse; FSDP2
continues a run by torch.distributed.checkpoint, and the reverse."""
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import checks
import models
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from safetensors.torch import load_file, save_file
from test_whole_export import tool
from test_whole_models import without_dropout
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

import reprise
import reprise.torch

BATCH = 8


class Small(torch.nn.Module):
    """Model with a shared parameter, one whose rows two processes cannot halve, and buffers of both kinds."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(12, 6)
        self.middle = torch.nn.Sequential(torch.nn.Linear(6, 7), torch.nn.Tanh(), torch.nn.Linear(7, 6))
        self.head = torch.nn.Linear(6, 12, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.full((6,), 0.5), persistent=False)

    def forward(self, tokens):
        self.seen += 1
        logits = self.head(self.middle(self.embed(tokens) * self.scale))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())


def make_small(name="adamw"):
    torch.manual_seed(7)
    model = Small()
    return model, {"adamw": lambda: torch.optim.AdamW([{"params": model.embed.parameters()}, {"params": model.middle.parameters(), "betas": (0.8, 0.99)}], lr=1e-2),
                   "momentum": lambda: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)}[name]()


def tokens():
    return torch.arange(BATCH * 3).reshape(BATCH, 3) % 12


def equal_states(one, other):
    """Tells whether parameters, buffers and the states of optimizers have equal bits."""
    first, second = ({**model, **{(name, key): each for name, state in optim["state"].items() for key, each in state.items()}}
                     for model, optim in (one, other))
    whole = {key: each.full_tensor() if hasattr(each, "full_tensor") else each for key, each in second.items()}
    return set(first) == set(whole) and all(torch.equal(torch.as_tensor(each), torch.as_tensor(whole[key])) for key, each in first.items())


def export_small(name):
    model, optimizer = make_small(name)
    exported = reprise.torch.export(model, {"tokens": tokens()}, path=pathlib.Path(f"{name}.mlir"), optimizer=optimizer)
    tool("reprise-compile", exported.path, "--entry=train", "-o", f"{name}.rpb", "--threads=1")
    return exported


def train(bundle, output, steps, *flags):
    tool("reprise-run", bundle, f"--output-dir={output}", f"--steps={steps}", *flags)


def try_small(name):
    """A run's output becomes a model and comes back with the same bits, in each form of file."""
    exported = export_small(name)
    names = f"--names={exported.names}"
    outputs = {f"{name}.out": [], f"{name}.safetensors": [], f"{name}.named.safetensors": [names], f"{name}.shards": ["--shard-size=400", names]}
    states = []
    for output, flags in outputs.items():
        train(f"{name}.rpb", output, 3, f"--input-dir={exported.arrays}", *flags)
        model, optimizer = make_small(name)
        state = reprise.torch.read_run(output, model, optimizer)
        checks.check(f"{output}: the state of the run", state["step"] == 3 and model.seen == 3, f"{state}, {model.seen}")
        states.append(get_state_dict(model, optimizer))
    checks.check(f"{name}: each form has the same bits", all(equal_states(states[0], each) for each in states))
    loaded = load_file(f"{name}.named.safetensors")
    model, optimizer = make_small(name)
    missing, _ = model.load_state_dict(loaded, strict=False)
    own = states[0][0]
    checks.check(f"{name}: safetensors reads the names of PyTorch", missing == ["head.weight"]
                 and all(torch.equal(each, own[key]) for key, each in model.state_dict().items()), f"{missing}")
    checks.check(f"{name}: states have PyTorch's names", f"state.embed.weight.{'exp_avg' if name == 'adamw' else 'momentum_buffer'}" in loaded, f"{list(loaded)}")
    for form in (f"{name}.back", f"{name}.back.safetensors"):
        reprise.torch.write_run(form, *load_small(name, f"{name}.out"), state=state)
        train(f"{name}.rpb", f"{name}.on", 2, f"--input-dir={exported.arrays}", f"--input-dir={form}")
        train(f"{name}.rpb", f"{name}.straight", 2, f"--input-dir={exported.arrays}", f"--input-dir={name}.out")
        checks.check(f"{name}: a run goes on from {form} with its bits", not os.system(f"diff -r {name}.on {name}.straight"))


def load_small(name, output):
    model, optimizer = make_small(name)
    reprise.torch.read_run(output, model, optimizer)
    return model, optimizer


def try_mistakes():
    model, optimizer = make_small()
    wrong = torch.nn.Linear(3, 3)
    for text, call in (("has no parameter 'weight'", lambda: reprise.torch.read_run("adamw.out", wrong)),
                       ("there is no such file", lambda: reprise.torch.read_run("nowhere", model)),
                       ("the model of shape", lambda: reprise.torch.read_run("adamw.out", other_shape())),
                       ("has 'embed/weight' as F32, the model as torch.float64", lambda: reprise.torch.read_run("adamw.out", make_small()[0].double())),
                       ("the output is of a step with another optimizer", lambda: reprise.torch.read_run("momentum.out", model, optimizer)),
                       ("there is a file or folder", lambda: reprise.torch.write_run("adamw.out", model, optimizer))):
        try:
            call()
            checks.check(f"{text}: an error", False)
        except reprise.UsageError as error:
            checks.check(f"{text}: an error", text in str(error), str(error))


def try_bad_files():
    """Any change of a file's header is no error, or an error of ours."""
    picks, content = random.Random(1), pathlib.Path("adamw.safetensors").read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    told = collections.Counter()
    for _ in range(400):
        changed = bytearray(content)
        for _ in range(picks.choice((1, 2, 5))):
            changed[picks.randrange(picks.choice((8, end)))] = picks.choice(b"0123456789\"[]{},:x\xff\x00")
        pathlib.Path("bad.safetensors").write_bytes(changed[:picks.choice((len(content), end + 40, picks.randrange(end)))])
        try:
            reprise.torch.read_run("bad.safetensors", make_small()[0])
            told["read"] += 1
        except reprise.UsageError as error:
            told["refused" if "'bad.safetensors'" in str(error) else str(error)] += 1
    checks.check("damaged files are errors with their name", set(told) == {"read", "refused"} and min(told.values()) > 0, f"{told}")


def other_shape():
    model = make_small()[0]
    model.middle[0] = torch.nn.Linear(6, 9)
    return model


class Mixed(torch.nn.Module):
    """A parameter of each float type, and a buffer of each other type."""

    def __init__(self):
        super().__init__()
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
            self.register_parameter(f"of_{str(dtype)[6:]}", torch.nn.Parameter(torch.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3)))
        self.register_buffer("longs", torch.zeros(2, dtype=torch.int64))
        self.register_buffer("ints", torch.zeros((), dtype=torch.int32))
        self.register_buffer("flag", torch.tensor([True, False]))

    def forward(self, x):
        self.longs += 2
        self.ints += 3
        self.flag.logical_not_()
        return sum((each.float() * x).square().sum() for each in self.parameters())


def try_types():
    """safetensors and a run agree about each type."""
    model = Mixed()
    exported = reprise.torch.export(model, (torch.ones(2, 3),), path="mixed.mlir", optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    tool("reprise-compile", exported.path, "--entry=train", "-o", "mixed.rpb", "--threads=1")
    save_file({**model.state_dict(), "byte": torch.ones(3, dtype=torch.uint8)}, "mixed.start.safetensors")
    train("mixed.rpb", "mixed.safetensors", 1, f"--input-dir={exported.arrays}", "--input-dir=mixed.start.safetensors")
    train("mixed.rpb", "mixed.out", 1, f"--input-dir={exported.arrays}")
    for output in ("mixed.safetensors", "mixed.out"):
        other = Mixed()
        reprise.torch.read_run(output, other)
        loaded = load_file("mixed.safetensors")
        same = {key: torch.equal(each, loaded[key]) and each.dtype is loaded[key].dtype for key, each in other.state_dict().items()}
        checks.check(f"each type in {output}", all(same.values()) and len(same) == 7 and not torch.equal(loaded["of_bfloat16"], model.of_bfloat16), f"{same}")


def try_transformers():
    """A model of transformers starts from its own file, by its own names, and reads what a run wrote."""
    from transformers import GPT2LMHeadModel
    case = models.build("gpt2")
    without_dropout(case.model)
    exported = reprise.torch.export(case.model, case.args or case.kwargs, path="hub.mlir", optimizer=torch.optim.AdamW(case.model.parameters(), lr=1e-3),
                                    loss=case.loss)
    tool("reprise-compile", exported.path, "--entry=train", "-o", "hub.rpb", "--threads=1")
    with torch.no_grad():
        for each in case.model.parameters():
            each.add_(torch.randn_like(each) * 0.02)
    case.model.save_pretrained("hub-one")
    case.model.save_pretrained("hub-many", max_shard_size="20KB")
    reprise.torch.write_run("hub-run", case.model)
    for folder in ("hub-one/model.safetensors", "hub-many", "hub-run"):
        train("hub.rpb", f"{folder.replace('/', '-')}.out", 2, f"--input-dir={exported.arrays}", f"--input-dir={folder}")
    checks.check("many files have an index", os.path.exists("hub-many/model.safetensors.index.json"))
    for folder in ("hub-one-model.safetensors.out", "hub-many.out"):
        checks.check(f"{folder}: a run from a model's own file", not os.system(f"diff -r {folder} hub-run.out"))
    train("hub.rpb", "hub-named.safetensors", 2, f"--input-dir={exported.arrays}", "--input-dir=hub-one", f"--names={exported.names}")
    shutil.copy("hub-named.safetensors", "hub-one/model.safetensors")
    loaded, own = GPT2LMHeadModel.from_pretrained("hub-one"), models.build("gpt2").model
    reprise.torch.read_run("hub-run.out", own)
    changed = not torch.equal(own.lm_head.weight, case.model.lm_head.weight)
    checks.check("transformers reads what a run wrote", changed and all(torch.equal(each, loaded.state_dict()[key]) for key, each in own.state_dict().items()))


def make_sharded(name="adamw"):
    model, optimizer = make_small(name)
    groups = [{key: each for key, each in group.items() if key != "params"} | {"names": [next(n for n, p in model.named_parameters() if p is one)
                                                                                        for one in group["params"]]} for group in optimizer.param_groups]
    fully_shard(model.middle)
    fully_shard(model)
    named = dict(model.named_parameters())
    return model, torch.optim.AdamW([{**{k: v for k, v in group.items() if k != "names"}, "params": [named[each] for each in group["names"]]} for group in groups])


def step(model, optimizer):
    optimizer.zero_grad()
    model(tokens()).backward()
    optimizer.step()


def shard_and_save():
    """Two processes: from the output of a run to a checkpoint, to a sharded model, and back after a step."""
    dist.init_process_group("gloo")
    model, optimizer = make_sharded()
    reprise.torch.run_to_checkpoint("adamw.out", "checkpoint", model, optimizer)
    expected = get_state_dict(*load_small("adamw", "adamw.out"))
    model, optimizer = make_sharded()
    states = dict(zip(("model", "optim"), get_state_dict(model, optimizer)))
    dcp.load(states, checkpoint_id="checkpoint")
    set_state_dict(model, optimizer, model_state_dict=states["model"], optim_state_dict=states["optim"])
    same = equal_states(expected, get_state_dict(model, optimizer))
    reprise.torch.checkpoint_to_run("checkpoint", "adamw.unchanged", *make_sharded())
    step(model, optimizer)
    dcp.save(dict(zip(("model", "optim"), get_state_dict(model, optimizer))), checkpoint_id="trained")
    reprise.torch.checkpoint_to_run("trained", "adamw.trained.safetensors", *make_sharded())
    whole = load_small("adamw", "adamw.trained.safetensors")
    again = equal_states(get_state_dict(*whole), get_state_dict(model, optimizer))
    model, optimizer = make_small()
    wrapped = torch.nn.parallel.DistributedDataParallel(torch.compile(model, backend="eager"))
    reprise.torch.write_run("adamw.ddp", wrapped, optimizer, state=reprise.torch.read_run("adamw.out", wrapped, optimizer))
    if dist.get_rank() == 0:
        print(json.dumps({"loaded": same, "back": again}))
    dist.destroy_process_group()


def try_sharded():
    """FSDP2 on two processes continues a run, and a run continues FSDP2."""
    environment = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT="0", WORLD_SIZE="2", OMP_NUM_THREADS="1")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", __file__, "sharded"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if not checks.check("two processes with FSDP2", done.returncode == 0, done.stderr[-3000:]):
        return
    for what, good in json.loads(done.stdout.splitlines()[-1]).items():
        checks.check(f"FSDP2: {what} with the bits of the run", good)
    arrays = "--input-dir=adamw"
    checks.check("DDP of a compiled model has the names of the model", not os.system("diff -r adamw.ddp adamw.unchanged"))
    train("adamw.rpb", "adamw.on", 2, arrays, "--input-dir=adamw.unchanged")
    train("adamw.rpb", "adamw.straight", 2, arrays, "--input-dir=adamw.out")
    checks.check("a run goes on from a checkpoint with its bits", not os.system("diff -r adamw.on adamw.straight"))
    train("adamw.rpb", "adamw.after", 1, arrays, "--input-dir=adamw.trained.safetensors")
    model, optimizer = load_small("adamw", "adamw.trained.safetensors")
    step(model, optimizer)
    other, _ = load_small("adamw", "adamw.after")
    close = [torch.allclose(each, other.state_dict()[key], rtol=1e-4, atol=1e-6) for key, each in model.state_dict().items()]
    checks.check("a run continues FSDP2", all(close), f"{close}")


def main():
    models.prepare()
    for name in ("adamw", "momentum"):
        try_small(name)
    try_mistakes()
    try_bad_files()
    try_types()
    try_sharded()
    try:
        try_transformers()
    except ImportError as error:
        checks.skip("transformers", str(error).splitlines()[0])
    checks.finish()


if __name__ == "__main__":
    if "sharded" in sys.argv[1:]:
        shard_and_save()
    else:
        main()
