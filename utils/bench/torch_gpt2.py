#!/usr/bin/env python3
"""Trains GPT-2 of 124 million parameters on a CPU with eager code, Inductor, PyTorch's means to save memory, and Reprise.

Usage: torch_gpt2.py [--batch=2] [--length=512] [--threads=N] [--only="NAME;…"] [--output=FILE.json]
       torch_gpt2.py --one=NAME …

Runs in the environment of `make test-frameworks`. Each way runs in a process of its own, since the resident memory of a process
never falls. Eager code runs first and last, so that a change of the machine's speed shows. A row has the seconds of a step
(median of the last three of six), of the first two steps together, the peak of the allocator and of the resident memory, and a
hash of loss and gradients.
"""
import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "test", "Frameworks"))

import memory
import models
import torch
import torch._functorch.config

STEPS, TIMED = 6, 3
#: transformers looks for torchvision, whose declared operators live as long as this value.
VISION = models.vision_library()
#: Backend and options of torch.compile; other settings of PyTorch.
WAYS = {
    "eager": (None, {}),
    "eager, layers checkpointed": ("checkpoint", {}),
    "Inductor": ("inductor", {}),
    "Inductor, activation_memory_budget 0.5": ("inductor", {"activation_memory_budget": 0.5}),
    "Inductor, activation_memory_budget 0.2": ("inductor", {"activation_memory_budget": 0.2}),
    "Inductor, layers checkpointed": ("inductor", {"checkpoint": True}),
    **{f"reprise_plan, {share}": ("reprise_plan", {"budget": share}) for share in ("100%", "60%", "40%")},
    **{f"reprise_plan, eager, {share}": ("reprise_plan", {"budget": share, "codegen": "eager"}) for share in ("100%", "60%", "40%")},
    **{f"reprise, {share}": ("reprise", {"budget": share}) for share in ("100%", "60%", "40%")},
    "eager again": (None, {}),
}


def make_model():
    from transformers import GPT2Config, GPT2LMHeadModel
    torch.manual_seed(3)
    return GPT2LMHeadModel(GPT2Config(use_cache=False)).train()


def compile_model(model, way):
    backend, options = WAYS[way]
    if backend == "checkpoint" or options.get("checkpoint"):
        model.gradient_checkpointing_enable({"use_reentrant": False})
    if "activation_memory_budget" in options:
        torch._functorch.config.activation_memory_budget = options["activation_memory_budget"]
    if backend == "inductor":
        return torch.compile(model)
    return model if backend in (None, "checkpoint") else torch.compile(model, backend=backend, options=options)


def hash_of(loss, model):
    made = hashlib.sha256(loss.detach().numpy().tobytes())
    for each in model.parameters():
        made.update(each.grad.contiguous().numpy().tobytes())
    return made.hexdigest()[:12]


def run_one(way, batch, length):
    model = make_model()
    tokens = torch.randint(0, model.config.vocab_size, (batch, length))
    forward = compile_model(model, way)

    def step():
        model.zero_grad(set_to_none=True)
        torch.manual_seed(7)
        loss = forward(input_ids=tokens, labels=tokens).loss
        loss.backward()
        return loss

    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - start)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    made = hash_of(loss, model)
    del loss
    model.zero_grad(set_to_none=True)
    return {"way": way, "step": statistics.median(times[-TIMED:]), "first": times[0] + times[1], "resident": resident, "hash": made,
            "allocator": memory.measure_peak(step)}


def print_table(rows):
    eager = next((row["step"] for row in rows if row["way"] == "eager"), None)
    print("| way | step (s) | of eager's | first two steps (s) | allocator (GB) | resident (GB) | bits |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for row in rows:
        share = f"{row['step'] / eager:.2f}" if eager else ""
        print(f"| {row['way']} | {row['step']:.2f} | {share} | {row['first']:.1f} | {row['allocator'] / 1e9:.2f} | {row['resident'] / 1e9:.2f} "
              f"| `{row['hash']}` |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only")
    parser.add_argument("--output", default="torch_gpt2.json")
    parser.add_argument("--one")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.one:
        print(json.dumps(run_one(given.one, given.batch, given.length)))
        return
    rows = []
    for way in given.only.split(";") if given.only else WAYS:
        command = [sys.executable, __file__, f"--one={way}", f"--batch={given.batch}", f"--length={given.length}",
                   f"--threads={given.threads}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{way}: {(done.stderr.strip().splitlines() or ['?'])[-1]}", file=sys.stderr)
            continue
        rows.append(json.loads(done.stdout.strip().splitlines()[-1]))
        print(rows[-1], file=sys.stderr, flush=True)
        with open(given.output, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    print_table(rows)


if __name__ == "__main__":
    main()
