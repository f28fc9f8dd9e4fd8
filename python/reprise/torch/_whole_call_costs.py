"""Prices calls of PyTorch's operators: seconds and bytes, measured once per operator and kept on disk."""

from __future__ import annotations

import dataclasses
import math
import time

import torch
from torch import fx

from . import _plan_cache as cache
from . import _plan_workspace as workspace
from ._plan_costs import seconds as modelled_seconds
from ._plan_nodes import results, storage_bytes, tensor_operands
from ._seam.core import disable_current_modes


@dataclasses.dataclass(frozen=True)
class Price:
    """Seconds and workspace in bytes of a call and of its derivative, which holds for all further derivatives."""

    seconds: tuple[float, float]
    workspace: tuple[int, int]


_known: dict[str, float] = {}
#: Cost of a derivative, which runs the operator again, in calls of the operator.
_DERIVATIVE = 3
#: Seconds of a call beside the operator's: Python, and copies of views.
_CALL = 2e-5


def _measured_seconds(node: fx.Node) -> float | None:
    """Returns the seconds of the second of two runs, or None for an operator that takes no made-up operands. A power
    of two, so that equal models mostly have equal texts."""
    ends: list[float] = []
    begins: list[float] = []
    gpus = sorted({each.device.index for each in results(node) if each is not None and each.is_cuda})

    def wait() -> None:
        for gpu in gpus:
            torch.cuda.synchronize(gpu)

    def begin() -> None:
        wait()
        begins.append(time.perf_counter())

    with torch.random.fork_rng(gpus), disable_current_modes(), torch.no_grad():
        for _ in range(2):
            if workspace.run(node, "", begin) is None:
                return None
            wait()
            ends.append(time.perf_counter())
    return 2.0 ** round(math.log2(max(ends[-1] - begins[-1], 1e-7)))


def _is_measurable(node: fx.Node) -> bool:
    """Returns whether an operator may run on made-up operands: a user's operator may not."""
    return getattr(node.target, "namespace", "") == "aten" and workspace.is_measurable(node)


def _seconds(node: fx.Node) -> float:
    if not _is_measurable(node):
        return modelled_seconds(node)
    key = workspace.key_of(node)
    if not _known:
        _known.update(cache.read("calls") or {})
    if key not in _known:
        measured = _measured_seconds(node)
        _known[key] = modelled_seconds(node) if measured is None else measured
        cache.write("calls", _known)
    return _known[key]


def price_of(node: fx.Node) -> Price:
    """Returns the price of a node of a graph."""
    seconds = _CALL + _seconds(node)
    own = workspace.measure([node]).get(node) if _is_measurable(node) else None
    read = sum(storage_bytes(each.meta["val"]) for each in tensor_operands(node))
    made = sum(storage_bytes(each) for each in results(node) if each is not None)
    # The results of PyTorch's operator are copied to their buffers.
    bytes = (read if own is None else own.workspace) + made
    return Price((seconds, _DERIVATIVE * seconds), (int(bytes), int(_DERIVATIVE * bytes + read)))
