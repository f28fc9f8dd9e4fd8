#!/usr/bin/env python3
"""Measures the peak memory of Inductor's code of plans: prints one row for each model and share of the budget.

Usage: torch_codes.py [--shares=100%,60%,40%] [MODEL]...    MODEL: of test/Frameworks/models.py; default: all

Runs in the environment of `make test-frameworks` (build/frameworks-venv/bin/python). The figure is the CPU
allocator's peak in a step. The bits are compared with those of Inductor's code of the plan without a budget.
"""
import argparse
import os
import sys
import warnings
from unittest import mock

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "test", "Frameworks"))

import memory
import models
import torch

from reprise.torch import plans
from reprise.torch._plan_partition import Partitioner


def train(case, share, buffers):
    """Loss and gradients of a step within a share, the warnings, the number of codes, and the allocator's peak."""
    torch._dynamo.reset()
    case.restore(buffers)
    codes = []
    make = Partitioner._make_candidate

    def count(self, settings):
        codes.append(settings)
        return make(self, settings)
    with warnings.catch_warnings(record=True) as said, mock.patch.object(Partitioner, "_make_candidate", count):
        warnings.simplefilter("always")
        forward = torch.compile(case.model, backend="reprise_plan", options={"budget": share})
        results = [case.step(forward), *case.state()[0].values()]
    case.model.zero_grad(set_to_none=True)
    return results, " ".join(str(each.message) for each in said), len(set(codes)), memory.measure_peak(lambda: case.step(forward))


def measure(name, shares):
    case = models.build(name)
    _, buffers = case.state()
    expected, *_ = train(case, "100%", buffers)
    for share in shares:
        found, said, codes, executed = train(case, share, buffers)
        plan = plans()[-1]
        notes = [", the least" * ("the least budget that was met" in said), ", with a warning" * ("is not met" in said)]
        unlike = sum(not torch.equal(*pair) for pair in zip(found, expected, strict=True))
        print(f"| {name} | {share}{''.join(notes)} | {plan.budget} | {executed} | {100 * (executed / plan.budget - 1):+.1f} % | {codes} "
              f"| {plan.replays} | {unlike or 'none'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", default="100%,60%,40%", help="budgets as shares of the step without replays (100%%,60%%,40%%)")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="model of test/Frameworks/models.py (all)")
    arguments = parser.parse_args()
    models.prepare()
    print("| model | share | budget | executed | above it | codes | replays | tensors of other bits |\n"
          "|---|---|---:|---:|---:|---:|---:|---|")
    for name in arguments.models or models.CASES:
        measure(name, arguments.shares.split(","))


if __name__ == "__main__":
    main()
