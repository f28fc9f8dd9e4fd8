"""PyTorch's optimizers as ops of the dialect: their state, and how a parameter is updated."""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch

from .._errors import UsageError
from ._export_shards import Whole, whole_tensor
from ._names import STATES, power_after
from .aten import Builder, Value


class Slot:
    """State of a parameter or of the whole step: its name, its initial value, its next value.

    ``held`` is the state of an optimizer that has already made steps; without it the state begins with ``initial``.
    """

    def __init__(self, name: str, value: Value, initial: float, held: torch.Tensor | None = None) -> None:
        self.name = name
        self.value = value
        self.initial = initial
        self.held = held
        self.next = value


class Rates:
    """The learning rates, scalar inputs, one for each group; powers of Adam's betas, scalar state."""

    def __init__(self) -> None:
        self.inputs: list[Slot] = []
        self.state: list[Slot] = []

    def input(self, name: str, initial: float) -> Value:
        slot = Slot(name, Value(f"%o_{name}", (), torch.float32), initial)
        self.inputs.append(slot)
        return slot.value

    def power(self, b: Builder, name: str, base: float, steps: int) -> Value:
        """Returns base to the power of the step number, from 1 on, after the steps made before."""
        known = [slot for slot in self.state if slot.name == name]
        if known:
            return known[0].next
        slot = Slot(name, Value(f"%o_{name}", (), torch.float32), power_after(base, steps))
        slot.next = b.binary("mul", slot.value, base)
        self.state.append(slot)
        return slot.next

    def like(self, parameter: Value, name: str, number: int, kind: str, held: torch.Tensor | None) -> Slot:
        slot = Slot(f"{kind}/{name}", Value(f"%o_{kind}_{number}", parameter.shape, parameter.dtype), 0.0, held)
        self.state.append(slot)
        return slot


def _check(name: str, group: dict[str, Any], *unsupported: str) -> None:
    for key in unsupported:
        if group.get(key):
            raise UsageError(f"export of {name} with {key} is not supported")


def _sgd(b: Builder, rates: Rates, group: dict[str, Any], suffix: str) -> Callable[..., Value]:
    _check("SGD", group, "dampening", "maximize")
    rate = rates.input(f"learning_rate{suffix}", float(group["lr"]))
    momentum, decay = group["momentum"], group["weight_decay"]

    def update(parameter: Value, gradient: Value, name: str, number: int, state: dict[str, Any]) -> Value:
        if decay:
            gradient = b.binary("add", gradient, b.binary("mul", parameter, decay))
        if momentum:
            slot = rates.like(parameter, name, number, "momentum", state.get(STATES["momentum"]))
            slot.next = b.binary("add", b.binary("mul", slot.value, momentum), gradient)
            nesterov = group["nesterov"]
            gradient = b.binary("add", gradient, b.binary("mul", slot.next, momentum)) if nesterov else slot.next
        return b.binary("sub", parameter, b.binary("mul", gradient, rate))

    return update


def clip_norm(b: Builder, gradients: list[Value], max_norm: float) -> tuple[list[Value], Value]:
    """Returns the gradients scaled as ``torch.nn.utils.clip_grad_norm_`` does, and their norm before."""
    dtype = torch.float64 if any(each.dtype == torch.float64 for each in gradients) else torch.float32
    wide = [b.cast(each, dtype) for each in gradients]
    squares = [b.reduce("sum", b.binary("mul", each, each), None) for each in wide]
    norm = b.unary("sqrt", functools.reduce(lambda total, each: b.binary("add", total, each), squares))
    factor = b.binary("minimum", b.binary("div", b.constant(max_norm, dtype), b.binary("add", norm, 1e-6)), 1.0)
    return [b.binary("mul", each, b.cast(factor, each.dtype)) for each in gradients], norm


def _steps_of(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> int:
    """Returns the number of steps that the parameters of a group have made; a parameter without a state counts as the
    others do."""
    made = {int(optimizer.state[each]["step"]) for each in group["params"] if "step" in optimizer.state.get(each, {})}
    if len(made) > 1:
        raise UsageError(f"export of Adam needs parameters with one number of steps, and a group has {sorted(made)}")
    return made.pop() if made else 0


def _adam(b: Builder, rates: Rates, group: dict[str, Any], suffix: str, is_decoupled: bool, steps: int) -> Callable[..., Value]:
    _check("Adam", group, "amsgrad", "maximize")
    rate = rates.input(f"learning_rate{suffix}", float(group["lr"]))
    (beta1, beta2), epsilon, decay = group["betas"], group["eps"], group["weight_decay"]
    power1, power2 = (rates.power(b, f"beta{i + 1}_power{suffix}", group["betas"][i], steps) for i in (0, 1))
    speed = b.binary("div", rate, b.binary("sub", 1.0, power1))
    root = b.unary("sqrt", b.binary("sub", 1.0, power2))

    def update(parameter: Value, gradient: Value, name: str, number: int, state: dict[str, Any]) -> Value:
        if decay and not is_decoupled:
            gradient = b.binary("add", gradient, b.binary("mul", parameter, decay))
        first, second = (rates.like(parameter, name, number, kind, state.get(STATES[kind])) for kind in ("first_moment", "second_moment"))
        first.next = b.binary("add", b.binary("mul", first.value, beta1), b.binary("mul", gradient, 1 - beta1))
        square = b.binary("mul", b.binary("mul", gradient, gradient), 1 - beta2)
        second.next = b.binary("add", b.binary("mul", second.value, beta2), square)
        below = b.binary("add", b.binary("div", b.unary("sqrt", second.next), root), epsilon)
        if decay and is_decoupled:
            parameter = b.binary("sub", parameter, b.binary("mul", parameter, b.binary("mul", rate, decay)))
        return b.binary("sub", parameter, b.binary("mul", b.binary("div", first.next, below), speed))

    return update


def updates_of(b: Builder, rates: Rates, optimizer: torch.optim.Optimizer, whole: Whole) -> dict[int, Callable[..., Value]]:
    """Returns the update of each parameter, by the address of the memory that it has in the whole model."""
    found: dict[int, Callable[..., Value]] = {}
    for number, group in enumerate(optimizer.param_groups):
        suffix = f"_{number}" if len(optimizer.param_groups) > 1 else ""
        if type(optimizer) is torch.optim.SGD:
            update = _sgd(b, rates, group, suffix)
        elif type(optimizer) in (torch.optim.Adam, torch.optim.AdamW):
            is_decoupled = type(optimizer) is torch.optim.AdamW or bool(group.get("decoupled_weight_decay"))
            update = _adam(b, rates, group, suffix, is_decoupled, _steps_of(optimizer, group))
        else:
            raise UsageError(f"unsupported optimizer {type(optimizer).__name__}: export takes SGD, Adam and AdamW")
        for parameter in group["params"]:
            state = {key: whole_tensor(each) for key, each in optimizer.state.get(parameter, {}).items()}
            found[whole.find(parameter).data_ptr()] = functools.partial(update, state=state)
    return found
