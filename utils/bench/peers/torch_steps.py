"""Seconds of PyTorch's training steps on the CPU, as one JSON line: torch_steps.py MODEL THREADS eager|compiled STEPS."""

import json
import sys
import time

import torch
from models import make

WARM_UP = 3


def main():
    name, threads, mode, steps = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    torch.set_num_threads(threads)
    model, inputs, optimizer = make(name)
    loss = torch.compile(model) if mode == "compiled" else model
    seconds = []
    for _ in range(WARM_UP + steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss(*inputs).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"first": seconds[0], "steps": seconds[WARM_UP:], "version": torch.__version__}))


main()
