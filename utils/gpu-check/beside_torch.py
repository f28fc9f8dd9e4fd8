#!/usr/bin/env python3
"""Times PyTorch on the shapes of a folder's bundles: single ops, then whole steps. Times are no tests, so the script
judges nothing.

Usage: beside_torch.py FOLDER [DEVICE]      FOLDER is that of make-bundles.py; needs reprise-run in PATH; DEVICE is cuda

Our time is the sum over an op's kernels, by the GPU's own clock. PyTorch's time is that of its fastest implementation
of an op.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

WARM_UP, STEPS = 3, 10
MODES = ("eager", "eager, checkpointed", "compiled", "compiled, checkpointed")


def our_seconds(folder, bundle):
    with tempfile.TemporaryDirectory() as work:
        profile = os.path.join(work, "profile.json")
        subprocess.run(["reprise-run", os.path.join(folder, bundle), "--device=cuda", f"--steps={STEPS}", "--seed=1", f"--profile-out={profile}"],
                       stdout=subprocess.DEVNULL, check=True)
        with open(profile) as stream:
            return sum(kernel["seconds"] for kernel in json.load(stream)["kernels"])


class Clock:
    """Seconds of a function on a device, the median of several."""

    def __init__(self, torch, device):
        self.torch, self.device = torch, device

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def measure(self, function):
        seconds = []
        for _ in range(WARM_UP + STEPS):
            self.wait()
            start = time.perf_counter()
            function()
            self.wait()
            seconds.append(time.perf_counter() - start)
        return sorted(seconds[WARM_UP:])[STEPS // 2]

    def measure_many(self, function, count=20):
        """Calls in a row, so that the time of the host to start one does not count."""
        return self.measure(lambda: [function() for _ in range(count)]) / count


def matmuls(torch, device, m, k, n, form):
    a = torch.randn((k, m) if form[0] == "t" else (m, k), device=device)
    b = torch.randn((n, k) if form[1] == "t" else (k, n), device=device)
    a, b = a.T if form[0] == "t" else a, b.T if form[1] == "t" else b
    yield lambda: a @ b


def attentions(torch, device, *shape):
    """Times both directions, by every implementation of PyTorch, including cuDNN's; f32 without TF32."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    *shape, name = shape
    dtype = {"bf16": torch.bfloat16, "f32": torch.float32}[name]
    q, k, v = (torch.randn(shape, device=device, dtype=dtype, requires_grad=True) for _ in range(3))
    out = torch.randn(shape, device=device, dtype=dtype)

    def run(backend):
        with sdpa_kernel(backend):
            result = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        torch.autograd.grad(result, (q, k, v), out)

    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
        yield lambda: run(backend)


def copies(torch, device, *shape):
    """Times a copy of as many bytes as an op with one operand of its result's shape reads and writes."""
    x = torch.randn(shape, device=device)
    y = torch.empty_like(x)
    yield lambda: y.copy_(x)


PEERS = {"matmul": matmuls, "attention": attentions, "copy": copies}


def measure_op(torch, device, peer, shape):
    seconds = []
    for function in PEERS[peer](torch, device, *shape):
        try:
            seconds.append(Clock(torch, device).measure_many(function))
        except RuntimeError:
            continue  # this implementation does not support the shape
    return min(seconds)


def measure_step(torch, device, model, precision, mode):
    """Seconds of a training step, and the most bytes that PyTorch's allocator held, or None on a CPU."""
    import models
    model, inputs, optimizer = models.make(model, device)
    model.checkpoint = mode.endswith("checkpointed")
    loss = torch.compile(model) if mode.startswith("compiled") else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=precision == "bf16"):
            value = loss(*inputs)
        value.backward()
        optimizer.step()

    step()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = Clock(torch, device).measure(step)
    return seconds, torch.cuda.max_memory_allocated() if device == "cuda" else None


def print_ops(torch, device, folder, ops):
    print("| op | seconds | PyTorch's, or a copy's | share of its rate | goal |", "|---|---|---|---|---|", sep="\n")
    for op in ops:
        ours, theirs = our_seconds(folder, op["bundle"]), measure_op(torch, device, op["peer"], op["shape"])
        print(f"| {op['name']} | {ours:.3g} | {theirs:.3g} | {theirs / ours:.2f} | {op['goal']} |", flush=True)


def print_steps(torch, device, steps):
    print("", "| step of PyTorch's | seconds | bytes at most |", "|---|---|---|", sep="\n")
    for step, mode in itertools.product(steps, MODES):
        torch.compiler.reset()
        try:
            seconds, peak = measure_step(torch, device, step["model"], step["precision"], mode)
            print(f"| {step['name']}, {mode} | {seconds:.3g} | {peak or '-'} |", flush=True)
        except torch.OutOfMemoryError:
            print(f"| {step['name']}, {mode} | out of memory | - |", flush=True)


def main():
    folder, device = sys.argv[1], (sys.argv[2:] or ["cuda"])[0]
    try:
        import torch
    except ImportError as error:
        return print(f"skipped: PyTorch is not here: {error}")
    if device == "cuda" and not torch.cuda.is_available():
        return print("skipped: PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    with open(os.path.join(folder, "beside.json")) as stream:
        cases = json.load(stream)
    print_ops(torch, device, folder, cases["ops"])
    print_steps(torch, device, cases["steps"])
    return None


if __name__ == "__main__":
    main()
