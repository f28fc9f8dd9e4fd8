"""Names of a model's tensors: in PyTorch, and as arguments and results of an exported step."""

from __future__ import annotations

import numpy
import torch

#: State of a parameter in an exported step, and in PyTorch's optimizers.
STATES = {"momentum": "momentum_buffer", "first_moment": "exp_avg", "second_moment": "exp_avg_sq"}


def array_name(name: str) -> str:
    """Returns the name of a parameter or buffer as an argument."""
    return name.replace(".", "/")


def bare(name: str) -> str:
    """Returns the name of a parameter or buffer without what torch.compile puts in front of names."""
    return name.replace("_orig_mod.", "")


def all_names(model: torch.nn.Module) -> dict[str, list[str]]:
    """Returns the names of each parameter and buffer by its first name, which export takes."""
    names: dict[int, list[str]] = {}
    for listed in (model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False)):
        for name, tensor in listed:
            names.setdefault(id(tensor), []).append(bare(name))
    return {each[0]: each for each in names.values()}


def trained_names(model: torch.nn.Module) -> set[str]:
    """Returns the first names of the parameters that need gradients."""
    return {bare(name) for name, each in model.named_parameters() if each.requires_grad}


def power_after(base: float, steps: int) -> float:
    """Returns the power of a beta that a compiled run has after so many steps: each step multiplies in f32."""
    power, factor = numpy.float32(1), numpy.float32(base)
    for _ in range(steps):
        before, power = power, power * factor
        if power == before:
            break
    return float(power)


def steps_of_power(base: float, power: float) -> int | None:
    """Returns the number of steps after which a compiled run has a power of a beta; None if it never has. From some
    number of steps on the power does not change: the smallest one is returned."""
    value, factor, steps = numpy.float32(1), numpy.float32(base), 0
    while value != numpy.float32(power):
        before, value, steps = value, value * factor, steps + 1
        if value == before:
            return None
    return steps
