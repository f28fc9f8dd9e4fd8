"""Private names of torch.distributed.pipelining: trial passes of a stage, and what stages hold between micro-batches."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Iterator

import torch

from .core import tree_leaves
from .patches import STAGES

_STAGE, _SCHEDULE = "torch.distributed.pipelining.stage", "torch.distributed.pipelining.schedules"


def _frames(name: str) -> Iterator[FrameType]:
    """Yields the frames of functions of one name in which this thread is, if the program has pipelines."""
    frame = sys._getframe() if _STAGE in sys.modules else None
    while frame is not None:
        if frame.f_code.co_name == name:
            yield frame
        frame = frame.f_back


def finds_sizes() -> bool:
    """Returns whether a stage runs a pass for sizes only. Since 2.12, a schedule begins with one, in both directions."""
    name = "_forward_metadata_inference"
    return any(each.f_globals.get("__name__") == _STAGE for each in _frames(name))


def _stages() -> Iterator[Any]:
    """Yields the stages of the schedules that run in this thread."""
    for frame in _frames("_step_microbatches"):
        if frame.f_globals.get("__name__") == _SCHEDULE:
            STAGES.check()
            schedule = frame.f_locals["self"]
            yield from schedule._stages if hasattr(schedule, "_stages") else [schedule._stage]


def results() -> list[torch.Tensor]:
    """Returns the results of earlier micro-batches. The last stage keeps them until the next step of its schedule begins."""
    return [each for stage in _stages() for each in tree_leaves(stage.output_chunks) if isinstance(each, torch.Tensor)]


def parameters() -> list[torch.Tensor]:
    """Returns the parameters of stages, also those that no graph reads. Each micro-batch adds to their gradients."""
    return [each for stage in _stages() for each in stage.submod.parameters()]
