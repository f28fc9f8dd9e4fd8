#!/usr/bin/env python3
"""Trains one model on 1, 2, 4 and 8 replicas, each a process, with Reprise and with FSDP2 of PyTorch, and prints a table.

Usage: replicas.py [--ranks=1,2,4,8] [--steps=N] [--turns=N]
       replicas.py --cores     two replicas with a thread each, beside one device with two threads

Runs in the environment of `make test-frameworks`, with Open MPI and the tools in build/bin. The model is a transformer
without dropout, whose layers FSDP2 shards one by one over gloo. Each process has one thread. The two run in
turns. A row has the median seconds of a step without the first two of each turn, the bytes of the fullest process, and
a hash of all parameters behind the last step. Bytes of FSDP2 are the peak of the resident bytes beyond those before the
model is made. Bytes of Reprise are arena, workspace, parameters and inputs, as planned.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build" / "bin"
WIDTH, LAYERS, HEADS, WORDS, BATCH, LENGTH, RATE = 256, 4, 4, 512, 8, 128, 0.05
# Open MPI refuses root without being told twice.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.mix, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = [part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.mix(self.norms[0](x)).chunk(3, dim=2)]
        x = x + self.join(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        x = self.embed(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def make():
    torch.manual_seed(3)
    model = Model()
    return model, torch.randint(WORDS, (BATCH, LENGTH)), torch.randint(WORDS, (BATCH, LENGTH))


def find_loss(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def hash_of(parts):
    made = hashlib.sha256()
    for part in parts:
        made.update(part)
    return made.hexdigest()[:12]


def read_status(name):
    """Returns bytes that the kernel counts of this process."""
    line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def run_rank(steps):
    """A rank of FSDP2: rank 0 prints seconds and hash as JSON."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))
    before = read_status("VmRSS")
    model, words, labels = make()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    own = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    seconds = []
    for _ in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        find_loss(model(words[own]), labels[own]).backward()
        optimizer.step()
        dist.barrier()
        seconds.append(time.perf_counter() - begin)
    grown = torch.tensor(read_status("VmHWM") - before)
    dist.all_reduce(grown, dist.ReduceOp.MAX)
    whole = [parameter.full_tensor().detach().numpy().tobytes() for parameter in model.parameters()]
    if rank == 0:
        print(json.dumps({"seconds": seconds[2:], "hash": hash_of(whole), "bytes": grown.item()}))
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # a thread of gloo may abort a process that ends otherwise


def run_tool(command):
    """Returns the object that a command prints as its last line."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure_torch(ranks, steps):
    return run_tool([sys.executable, "-W", "ignore", "-m", "torch.distributed.run", f"--nproc-per-node={ranks}", __file__, "--rank",
                     f"--steps={steps}"])


def compile_reprise(bundle, ranks, threads=1, *flags):
    cut = [f"--microbatches={BATCH}", f"--lanes={BATCH}", f"--threads={threads}"] + ([f"--mesh=data={ranks}"] if ranks > 1 else [])
    subprocess.run([TOOLS / "reprise-compile", "model.mlir", "-o", bundle, *(flags or cut)], check=True)


def run_reprise(bundle, ranks, steps):
    launch = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    made = run_tool([*launch, TOOLS / "reprise-run", bundle, "--input-dir=model", "--output-dir=out", "--json", f"--steps={steps}"])
    whole = [path.read_bytes() for path in sorted(pathlib.Path("out").rglob("*.npy")) if path.stem != "loss"]
    own = [sum(each[f"{kind}_bytes"] for kind in ("arena", "workspace", "persistent")) for each in made.get("programs") or [made]]
    return {"seconds": made["step_seconds"][2:], "hash": hash_of(whole), "bytes": max(own)}


def take_turns(turns, *measures):
    """Returns the results of each measure: seconds of all turns, and the rest of the last one."""
    results = [[] for _ in measures]
    for _ in range(turns):
        for measure, made in zip(measures, results):
            made.append(measure())
    return [made[-1] | {"seconds": statistics.median(each for one in made for each in one["seconds"])} for made in results]


def compare_torch(given):
    print("| ranks | Reprise, step (s) | bytes of a rank (MiB) | parameters | FSDP2, step (s) | bytes of a rank (MiB) | parameters | FSDP2 / Reprise |")
    print("| ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |")
    for ranks in map(int, given.ranks.split(",")):
        compile_reprise("model.rpb", ranks)
        both = take_turns(given.turns, lambda: run_reprise("model.rpb", ranks, given.steps), lambda: measure_torch(ranks, given.steps))
        cells = [f"{made['seconds']:.3f} | {made['bytes'] / 2 ** 20:.1f} | `{made['hash']}`" for made in both]
        print(f"| {ranks} | {' | '.join(cells)} | {both[1]['seconds'] / both[0]['seconds']:.2f} |", flush=True)


def compare_cores(given):
    """Prints what one device with two threads takes beside two replicas with a thread each."""
    cases = {"one device, 2 threads, batch whole": (1, 2, "--threads=2"), "one device, 2 threads, 8 lanes": (1, 2),
             "two replicas in two processes, 1 thread each, 8 lanes": (2, 1), "one device, 1 thread, 8 lanes": (1, 1)}
    for number, case in enumerate(cases.values()):
        compile_reprise(f"{number}.rpb", *case)
    measures = [lambda number=number, ranks=case[0]: run_reprise(f"{number}.rpb", ranks, given.steps) for number, case in enumerate(cases.values())]
    made = take_turns(given.turns, *measures)
    print("| devices | step (s) | beside the first | bytes of a device (MiB) | parameters |\n| --- | ---: | ---: | ---: | --- |")
    for name, each in zip(cases, made):
        print(f"| {name} | {each['seconds']:.3f} | {each['seconds'] / made[0]['seconds']:.2f} | {each['bytes'] / 2 ** 20:.1f} | `{each['hash']}` |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="1,2,4,8")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--cores", action="store_true", help="compare one device with two threads and two replicas")
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank:
        run_rank(given.steps)
        return
    import reprise.torch
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        model, words, labels = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        reprise.torch.export(model, {"words": words}, path="model.mlir", optimizer=optimizer,
                             loss=lambda logits: find_loss(logits, labels), batch_dim={"words": 0, "captured/0": 0})
        compare_cores(given) if given.cores else compare_torch(given)


if __name__ == "__main__":
    main()
