"""Prices calls of PyTorch's operators: seconds and bytes, measured once per operator and kept on disk."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from typing import Any, Callable

import torch
from torch import fx

from . import _plan_cache as cache
from . import _plan_workspace as workspace
from ._plan_costs import seconds as modelled_seconds
from ._plan_nodes import results, storage_bytes, tensor_operands
from ._seam.core import disable_current_modes, tree_leaves


@dataclasses.dataclass(frozen=True)
class Price:
    """Seconds and workspace in bytes of a call and of its derivative, which holds for all further derivatives."""

    seconds: tuple[float, float]
    workspace: tuple[int, int]


_known: dict[str, float] = {}
#: Cost of a derivative that is not measured, which runs the operator again, in calls of the operator.
_DERIVATIVE = 3
#: Seconds of a call beside the operator's: Python, and copies of views.
_CALL = 2e-5


def _differentiate(operator: Callable, *args: Any, **kwargs: Any) -> None:
    """Runs an operator and its derivative by all operands, as an opaque call does."""
    points = [each.requires_grad_() for each in tree_leaves((args, kwargs))
              if isinstance(each, torch.Tensor) and (each.is_floating_point() or each.is_complex())]
    with torch.enable_grad():
        made = [each for each in tree_leaves(operator(*args, **kwargs)) if isinstance(each, torch.Tensor) and each.requires_grad]
        torch.autograd.grad(made, points, list(map(torch.ones_like, made)), allow_unused=True)


def _measured_seconds(node: fx.Node, call: Callable) -> float | None:
    """Returns the least seconds of three runs of a call, or None if it takes no made-up operands. A power of two, so that
    equal models mostly have equal texts."""
    begins: list[float] = []
    least = math.inf
    gpus = sorted({each.device.index for each in results(node) if each is not None and each.is_cuda})

    def wait() -> None:
        for gpu in gpus:
            torch.cuda.synchronize(gpu)

    def begin() -> None:
        wait()
        begins.append(time.perf_counter())

    with torch.random.fork_rng(gpus), disable_current_modes(), torch.no_grad():
        for _ in range(3):
            if workspace.run(node, "", begin, call) is None:
                return None
            wait()
            least = min(least, time.perf_counter() - begins[-1])
    return 2.0 ** round(math.log2(max(least, 1e-7)))


def _is_measurable(node: fx.Node) -> bool:
    """Returns whether an operator may run on made-up operands: a user's operator may not."""
    return getattr(node.target, "namespace", "") == "aten" and workspace.is_measurable(node)


def _known_seconds(key: str, measure: Callable[[], float]) -> float:
    if not _known:
        _known.update(cache.read("calls") or {})
    if key not in _known:
        _known[key] = measure()
        cache.write("calls", _known)
    return _known[key]


def _seconds(node: fx.Node) -> tuple[float, float]:
    """Returns the seconds of an operator and of its derivative, which runs the operator again."""
    if not _is_measurable(node):
        return modelled_seconds(node), _DERIVATIVE * modelled_seconds(node)
    key = workspace.key_of(node)
    own = _known_seconds(key, lambda: _measured_seconds(node, node.target) or modelled_seconds(node))
    derive = functools.partial(_differentiate, node.target)
    return own, max(own, _known_seconds(f"{key}/vjp", lambda: _measured_seconds(node, derive) or _DERIVATIVE * own))


def price_of(node: fx.Node) -> Price:
    """Returns the price of a node of a graph."""
    own_seconds, derivative_seconds = _seconds(node)
    measured = workspace.measure([node]).get(node) if _is_measurable(node) else None
    read = sum(storage_bytes(each.meta["val"]) for each in tensor_operands(node))
    made = sum(storage_bytes(each) for each in results(node) if each is not None)
    # The results of PyTorch's operator are copied to their buffers.
    bytes = (read if measured is None else measured.workspace) + made
    return Price((_CALL + own_seconds, _CALL + derivative_seconds), (int(bytes), int(_DERIVATIVE * bytes + read)))
