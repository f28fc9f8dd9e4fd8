#!/usr/bin/env python3
"""Trains one model on 1, 2, 4 and 8 replicas, each a process, with Reprise and with FSDP2 of PyTorch, and prints a table.

Usage: replicas.py [--ranks=1,2,4,8] [--steps=N]

Runs in the environment of `make test-frameworks`, with Open MPI and the tools in build/bin. The model is a transformer
without dropout, whose layers FSDP2 shards one by one over gloo. Each process has one thread. A row has the median
seconds of a step without the first two, the peak of resident bytes of a process, and a hash of all parameters behind
the last step. The peak is that of the first process of FSDP2, and the mean of the processes of Reprise.
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


def run_rank(steps):
    """A rank of FSDP2: rank 0 prints seconds and hash as JSON."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))
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
    whole = [parameter.full_tensor().detach().numpy().tobytes() for parameter in model.parameters()]
    if rank == 0:
        peak = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        print(json.dumps({"seconds": statistics.median(seconds[2:]), "hash": hash_of(whole), "resident": 1024 * int(peak.split()[1])}))
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


def measure_reprise(ranks, steps):
    tools = ROOT / "build" / "bin"
    flags = [f"--microbatches={BATCH}", f"--lanes={BATCH}", "--threads=1"] + ([f"--mesh=data={ranks}"] if ranks > 1 else [])
    subprocess.run([tools / "reprise-compile", "model.mlir", "-o", "model.rpb", *flags], check=True)
    launch = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []
    run = [*launch, tools / "reprise-run", "model.rpb", "--input-dir=model", "--output-dir=out", "--json", f"--steps={steps}"]
    made = run_tool(run)
    whole = [path.read_bytes() for path in sorted(pathlib.Path("out").rglob("*.npy")) if path.stem != "loss"]
    return {"seconds": statistics.median(made["step_seconds"][2:]), "hash": hash_of(whole), "resident": made["peak_rss_bytes"] / ranks}


def print_row(ranks, reprise, peer):
    def cells(made):
        return f"{made['seconds']:.3f} | {made['resident'] / 2 ** 20:.0f} | `{made['hash']}`"
    print(f"| {ranks} | {cells(reprise)} | {cells(peer)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="1,2,4,8")
    parser.add_argument("--steps", type=int, default=8)
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
        print("| ranks | Reprise, step (s) | resident (MiB) | parameters | FSDP2, step (s) | resident (MiB) | parameters |")
        print("| ---: | ---: | ---: | --- | ---: | ---: | --- |")
        for ranks in map(int, given.ranks.split(",")):
            print_row(ranks, measure_reprise(ranks, given.steps), measure_torch(ranks, given.steps))


if __name__ == "__main__":
    main()
