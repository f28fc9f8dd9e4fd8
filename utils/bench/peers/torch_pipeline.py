"""Measures GPT-2 in torch.distributed.pipelining, as one JSON line: torch_pipeline.py LAYERS WIDTH HEADS BATCH TOKENS
VOCAB PARTS STEPS.

Four processes with a thread each, gloo, Schedule1F1B; layers in equal runs, embedding on the first stage, head on the
last one. {peaks}: per stage, the largest resident bytes beyond those before the stage was made. {seconds}: of a step,
the median.
"""

import json
import os
import resource
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from models import Attention, FeedForward, PreNorm, text_loss
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

STAGES = 4


class Part(nn.Module):
    """The layers of one stage."""

    def __init__(self, stage, layers, width, heads, tokens, vocab):
        super().__init__()
        first, last = stage * layers // STAGES, (stage + 1) * layers // STAGES
        self.embedding = nn.Embedding(vocab, width) if stage == 0 else None
        self.position = nn.Embedding(tokens, width) if stage == 0 else None
        self.layers = nn.ModuleList(PreNorm(width, Attention(width, heads, 0.0, True), FeedForward(width, "tanh")) for _ in range(first, last))
        self.norm = nn.LayerNorm(width) if stage == STAGES - 1 else None
        self.head = nn.Linear(width, vocab, bias=False) if stage == STAGES - 1 else None

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x) + self.position.weight[: x.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return x if self.head is None else self.head(self.norm(x))


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def work(rank, port, numbers, results):
    layers, width, heads, batch, tokens, vocab, parts, steps = numbers
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", rank=rank, world_size=STAGES)
    before = resident()
    model = Part(rank, layers, width, heads, tokens, vocab)
    rate = 0.1
    stage = PipelineStage(model, rank, STAGES, torch.device("cpu"))
    schedule = Schedule1F1B(stage, parts, loss_fn=text_loss)
    x, labels = torch.randint(0, vocab, (batch, tokens)), torch.randint(0, vocab, (batch, tokens))
    times = []
    for _ in range(1 + steps):
        dist.barrier()
        start = time.perf_counter()
        if rank == 0:
            schedule.step(x)
        elif rank == STAGES - 1:
            schedule.step(target=labels)
        else:
            schedule.step()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= rate * parameter.grad
        model.zero_grad(set_to_none=True)
        dist.barrier()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    results.put((rank, peak, sorted(times[1:])[steps // 2]))
    dist.destroy_process_group()


def main():
    numbers = [int(text) for text in sys.argv[1:]]
    results = processes.get_context("spawn").SimpleQueue()
    processes.spawn(work, (20000 + os.getpid() % 20000, numbers, results), nprocs=STAGES)
    found = sorted(results.get() for _ in range(STAGES))
    print(json.dumps({"version": torch.__version__, "peaks": [peak for _, peak, _ in found], "seconds": max(time for _, _, time in found)}))


if __name__ == "__main__":
    main()
