"""Names of a model's tensors: in PyTorch, and as arguments and results of an exported step."""

from __future__ import annotations

from typing import Iterator

import numpy
import torch
from torch.nn.parallel import DistributedDataParallel

#: State of a parameter in an exported step, and in PyTorch's optimizers.
STATES = {"momentum": "momentum_buffer", "first_moment": "exp_avg", "second_moment": "exp_avg_sq"}


def array_name(name: str) -> str:
    """Returns the name of a parameter or buffer as an argument."""
    return name.replace(".", "/")


def named_tensors(model: torch.nn.Module, *, is_each: bool = False) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields parameters and buffers by the names of the model that torch.compile and DDP have wrapped; with ``is_each``,
    shared ones under each of their names."""
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    for listed in (inner.named_parameters, inner.named_buffers):
        for name, tensor in listed(remove_duplicate=not is_each):
            yield name.replace("_orig_mod.", ""), tensor


def all_names(model: torch.nn.Module) -> dict[str, list[str]]:
    """Returns the names of each parameter and buffer by its first name, which export takes."""
    names: dict[int, list[str]] = {}
    for name, tensor in named_tensors(model, is_each=True):
        names.setdefault(id(tensor), []).append(name)
    return {each[0]: each for each in names.values()}


def trained_names(model: torch.nn.Module) -> set[str]:
    """Returns the first names of the parameters that need gradients."""
    return {name for name, each in named_tensors(model) if each.requires_grad}


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
