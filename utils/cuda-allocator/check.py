#!/usr/bin/env python3
"""Compares predicted peaks with the bytes of PyTorch's caching allocator for CUDA, for the steps of `reprise_plan`.

Usage: check.py [--codegen=eager|inductor] [--budgets=100%,60%,40%] [--device=0|1] [--hardware] [MODEL]...
MODEL: of test/Frameworks/models.py; default: all; --hardware: on the machine's GPU, where bits are compared, too

Runs on a machine with or without a GPU, in a Python environment that has PyTorch's CUDA build, Reprise's package
and those of test/Frameworks/requirements.txt. NullRuntime.c, NullMemory.c and NullDriver.c replace the CUDA runtime and driver
and launch nothing: allocations of a step do not depend on the values that kernels write. cuDNN is off. The table has for each
plan the predicted peak, the budget, the bytes that the allocator gave (max_memory_allocated), and the bytes that were
requested from it. The exit code is 1 in these cases:

- the requested bytes differ from the prediction by more than 10 %, or exceed the budget;
- a random op finds the generator at another offset than in the step without replays, so that it would draw other
  words;
- a kernel that sums is not one of the step without replays.

On hardware cuDNN is on, PyTorch runs its deterministic algorithms, and the loss, gradients and buffers of a step must
be those of the step without replays, to the bit.
"""
import argparse
import ast
import contextlib
import os
import re
import sys
import tempfile
import warnings
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import null_cuda  # noqa: E402

SOURCE = null_cuda.SOURCE
#: Bytes computed outside of the graphs: a loss, or everything that follows the model.
OUTSIDE = 1024
REDUCTION = re.compile(r"triton_heuristics\.(\w*reduction|split_scan)\(")
#: Parts that follow from a kernel's name and place, and from which of its results are stored.
ELSEWHERE = re.compile(r"#.*|'(?:optimize_mem|num_store|num_reduction)': \w+|'kernel_name': '\w*'|'tiling_scores': \{.*?\}|"
                       r"'signature': \{.*?\}|'configs': \[\{.*?\}\]|filename=\S*|out_ptr\d+, |tl\.store\(.*")
SIGNATURE, CONFIGS = re.compile(r"'signature': (\{.*?\})"), re.compile(r"'configs': (\[\{.*?\}\])")


def on_gpu(value, device):
    import torch
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda each: each.cuda(device), value)


@contextlib.contextmanager
def draws():
    """Records all random ops that run meanwhile: their names, and the seed and offset of the generator before each."""
    import torch
    found, call, generators = [], torch._ops.OpOverload.__call__, torch.cuda.default_generators

    def record(self, *arguments, **named):
        before = [(each.initial_seed(), each.get_offset()) for each in generators]
        result = call(self, *arguments, **named)
        drawn = [(str(self), *place) for place, each in zip(before, generators) if each.get_offset() != place[1]]
        if found[-1:] != drawn:  # not by an op within this one
            found.extend(drawn)
        return result
    with mock.patch.object(torch._ops.OpOverload, "__call__", record):
        yield found


def draw_step(case, forward):
    """Returns the draws of a step. Generators of both devices, if there are two, start at different places."""
    import torch
    other = torch.device("cuda", 1 - next(case.model.parameters()).device.index)

    def run(*arguments, **named):
        if torch.cuda.device_count() > 1:
            torch.rand(1, device=other)
        return forward(*arguments, **named)
    with draws() as found:
        run_step(case, run)
    return found


def order_of_sums(name, code):
    """Returns the parts of a kernel's code that decide the order of its sums: all but the name, and its stores."""
    names, aligned = (ast.literal_eval(each.search(code).group(1)) for each in (SIGNATURE, CONFIGS))
    operands = [(each, aligned[0].get((i,))) for i, each in enumerate(names) if each.startswith("in")]
    return "\n".join([*filter(str.strip, ELSEWHERE.sub("", code.replace(name, "")).splitlines()), str(operands)])


@contextlib.contextmanager
def reductions():
    """Records the sums and scans of all kernels that are made meanwhile."""
    from torch._inductor.async_compile import AsyncCompile
    found, make = set(), AsyncCompile.triton

    def record(self, name, code, *more, **named):
        if REDUCTION.search(code):
            found.add(order_of_sums(name, code))
        return make(self, name, code, *more, **named)
    with mock.patch.object(AsyncCompile, "triton", record):
        yield found


def run_step(case, forward):
    """Returns loss, gradients and buffers of a step, and restores the buffers."""
    buffers = {name: each.clone() for name, each in case.model.named_buffers()}
    loss = case.step(forward)
    gradients, after = case.state()
    case.restore(buffers)
    return {"loss": loss, **gradients, **after}


def differing(found, expected):
    import torch
    return [name for name in expected if name not in found or not torch.equal(found[name], expected[name])]


def run_alone(case, codegen):
    """Returns, for a step without replays, its results, its draws, and its reducing kernels."""
    import torch
    torch._dynamo.reset()
    forward = torch.compile(case.model, backend="aot_eager") if codegen == "eager" else torch.compile(
        case.model, backend="reprise_plan", options={"budget": "100%"})
    with reductions() as kernels:
        computed = run_step(case, forward)
    noise = differing(run_step(case, forward), computed)
    return computed, draw_step(case, forward), kernels, noise


def try_budget(name, case, budget, arguments, computed, draws_alone, kernels_alone, noise):
    """Checks that the peak of a step is as predicted, that it fits the budget unless a warning says otherwise, and that
    the draws are the same."""
    import torch
    from reprise.torch import plans
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as said, reductions() as kernels:
        warnings.simplefilter("always")
        forward = torch.compile(case.model, backend="reprise_plan", options={"budget": budget, "codegen": arguments.codegen})
        others = differing(run_step(case, forward), computed)
    drawn = draw_step(case, forward)
    case.model.zero_grad(set_to_none=True)
    device = next(case.model.parameters()).device
    buffers = {each: value.clone() for each, value in case.model.named_buffers()}
    before = torch.cuda.memory_stats(device)
    torch.cuda.reset_peak_memory_stats(device)
    case.step(forward)
    after, plan = torch.cuda.memory_stats(device), plans()[-1]
    case.restore(buffers)
    given, asked = (after[f"{each}_bytes.all.peak"] - before[f"{each}_bytes.all.current"] for each in ("allocated", "requested"))
    is_over = any("is not met" in str(each.message) for each in said)
    is_least = any("the least budget that was met" in str(each.message) for each in said)
    good = abs(given / plan.peak - 1) < 0.1 and (is_over or given <= plan.budget + OUTSIDE)
    same = drawn[:len(draws_alone)] == draws_alone and set(drawn) == set(draws_alone)
    print(f"| {name} | {budget}{', the least' * is_least}{', over' * is_over} | {plan.budget} | {plan.peak} | {given} "
          f"({100 * (given / plan.peak - 1):+.2f} %) | {asked} | {plan.replays} | {'yes' if good else '**no**'} "
          f"| {len(drawn) - len(draws_alone)} of {len(draws_alone)}{'' if same else ', **others**'} "
          f"| {len(kernels - kernels_alone)} of {len(kernels)} | {describe_bits(arguments, others, noise, computed)} |", flush=True)
    return good and same and kernels <= kernels_alone and not (arguments.hardware and set(others) - set(noise))


def describe_bits(arguments, others, noise, computed):
    if not arguments.hardware:
        return "-"
    wrong = sorted(set(others) - set(noise))
    text = f"**{', '.join(wrong[:3])}** and so on: {len(wrong)} of {len(computed)} differ" if wrong else "equal"
    return text + (f"; {len(noise)} differ without plans, too" if noise else "")


def check(arguments):
    sys.path[:0] = [os.path.join(SOURCE, "test", each) for each in ("Frameworks", "Integration")]
    import models
    import torch

    import reprise.torch  # noqa: F401  the entry point of an installed package imports it too
    cross_entropy = torch.nn.functional.cross_entropy
    torch.nn.functional.cross_entropy = lambda x, target, *more, **named: cross_entropy(x, target.to(x.device), *more, **named)
    if arguments.hardware:
        torch.use_deterministic_algorithms(True, warn_only=True)
    else:
        torch.backends.cudnn.enabled = False
    models.prepare()
    print("| model | budget | bytes | predicted | given | asked for | replays | within | draws again | other reductions | bits |\n"
          "|---|---|---:|---:|---:|---:|---:|---|---|---|---|")
    good = True
    for name in arguments.models or models.CASES:
        case = models.build(name)
        case.model.cuda(arguments.device)
        case.args, case.kwargs = on_gpu(case.args, arguments.device), on_gpu(case.kwargs, arguments.device)
        alone = run_alone(case, arguments.codegen)
        for budget in arguments.budgets.split(","):
            good &= try_budget(name, case, budget, arguments, *alone)
    return not good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codegen", default="eager", choices=("eager", "inductor"), help="the code to run (eager)")
    parser.add_argument("--budgets", default="100%,60%,40%", help="budgets as shares of the step without replays (100%%,60%%,40%%)")
    parser.add_argument("--device", default=0, type=int, choices=(0, 1), help="number of the CUDA device; the current device is 0 (0)")
    parser.add_argument("--hardware", action="store_true", help="run on the GPU of this machine and compare bits")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="model of test/Frameworks/models.py (all)")
    arguments = parser.parse_args()
    if arguments.hardware:
        os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    if arguments.hardware or null_cuda.STARTED in os.environ:
        return check(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return null_cuda.start(folder)


if __name__ == "__main__":
    sys.exit(main())
