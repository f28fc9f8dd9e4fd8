"""Gives fake tensors the memory layout of the results of eager ops.

AOTAutograd traces a model on PyTorch's fake tensors. The strides of some fake results differ from those of the op's
kernel, for example of a batch norm or a loss's gradient with transposed operands. Such a trace treats a reshape as a
view although eager code copies, and places gradients in another layout. So each op runs once on made-up operands, and
fake results get the strides of that run.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch
from torch import fx

from ._plan_nodes import results
from ._plan_workspace import is_measurable, run
from ._seam import patches
from ._seam.core import OpOverload, tree_flatten, tree_leaves, tree_map_only, tree_unflatten
from ._seam.graphs import FakeTensor, FakeTensorMode, no_dispatch

_known: dict[tuple, list[tuple | None]] = {}


def _has_choice(made: list[Any]) -> bool:
    """Returns whether some result has two dimensions of more than one element, which may lie in either order."""
    return any(isinstance(each, FakeTensor) and sum(size != 1 for size in each.shape) > 1 for each in made)


def _describe(value: Any) -> Any:
    return (value.dtype, value.device, value.shape, value.stride()) if isinstance(value, torch.Tensor) else value


def _is_plain(value: Any) -> bool:
    """Returns whether an operand can be made up: no symbolic size, no subclass, no generator."""
    if isinstance(value, torch.Tensor):
        return type(value) is FakeTensor and value.layout == torch.strided and all(
            type(each) is int for each in (*value.shape, *value.stride()))
    return not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, torch.Generator))


def _as_node(target: OpOverload, args: tuple, kwargs: dict, made: Any) -> fx.Node:
    """A node for one call on fake tensors."""
    graph = fx.Graph()

    def place(value: torch.Tensor) -> fx.Node:
        node = graph.placeholder("operand")
        node.meta["val"] = value
        return node
    args, kwargs = tree_map_only(torch.Tensor, place, (args, kwargs))
    node = graph.call_function(target, args, kwargs)
    node.meta["val"] = made
    return node


def _run(node: fx.Node) -> list[tuple | None]:
    """Returns the strides of an op's results in order, or none if the op refuses all made-up operands."""
    gpus = sorted({each.device.index for each in results(node) if each is not None and each.device.type == "cuda"})
    with no_dispatch(), torch.no_grad(), torch.random.fork_rng(gpus):
        made = run(node)
    return [each.stride() if isinstance(each, torch.Tensor) and each.layout == torch.strided else None for each in tree_leaves(made or ())]


def _lay(made: Any, strides: tuple | None) -> Any:
    """Returns a fake result, in its own memory if its layout differs."""
    if not isinstance(made, FakeTensor) or strides is None or made.is_conj() or made.is_neg() or not made.numel() or all(
            size == 1 or mine == its for size, mine, its in zip(made.shape, made.stride(), strides)):
        return made
    with no_dispatch():
        return FakeTensor(made.fake_mode, torch.empty_strided(made.shape, strides, dtype=made.dtype, device="meta"), made.device)


def _correct(target: Any, args: tuple, kwargs: dict, made: Any) -> Any:
    """The results of one call on fake tensors, with the strides that its kernel gives."""
    results, shape = tree_flatten(made)
    if not isinstance(target, OpOverload) or not _has_choice(results):
        return made
    operands = tree_leaves((args, kwargs))
    if not all(map(_is_plain, operands)) or not any(isinstance(each, torch.Tensor) for each in operands):
        return made
    key = (target, len(args), *kwargs, *map(_describe, operands))
    if key not in _known:
        node = _as_node(target, args, kwargs, made)
        _known[key] = _run(node) if is_measurable(node) else []
    if len(_known[key]) != len(results):
        return made
    return tree_unflatten(list(map(_lay, results, _known[key])), shape)


@contextlib.contextmanager
def as_eager() -> Iterator[None]:
    """Gives fake tensors the strides of eager ops while the context is open, except inside the fake form of an op."""
    dispatch, depth = FakeTensorMode.dispatch, 0

    def run_and_correct(self: FakeTensorMode, target: Any, types: Any, args: tuple = (), kwargs: Any = {}) -> Any:
        nonlocal depth
        depth += 1
        try:
            made = dispatch(self, target, types, args, kwargs)
        finally:
            depth -= 1
        return made if depth else _correct(target, args, dict(kwargs or {}), made)
    with patches.FAKE.replaced(run_and_correct):
        yield
