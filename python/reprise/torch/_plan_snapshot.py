"""Writes the memory of a plan as a snapshot that PyTorch's viewer shows (https://pytorch.org/memory_viz)."""

from __future__ import annotations

import dataclasses
import os
import pickle
from typing import Any, Iterable

#: Distance of addresses, which the viewer compares.
ALIGNMENT = 512


@dataclasses.dataclass(frozen=True)
class Span:
    """Memory of a value or a workspace, from an execution of the plan to the end of a later one."""

    #: Op, with a word for a workspace or a replay, and the lines of the user's program that made the op, last call first.
    label: str
    lines: tuple[tuple[str, int, str], ...]
    bytes: int
    first: int
    last: int

    def frames(self) -> list[dict[str, Any]]:
        calls = [{"filename": path, "line": line, "name": name} for path, line, name in self.lines]
        return [{"filename": "plan", "line": self.first, "name": self.label}, *calls]


def _block(span: Span, address: int) -> dict[str, Any]:
    """Returns the segment of memory that is held at the end."""
    sizes = {"address": address, "requested_size": span.bytes}
    block = {**sizes, "size": span.bytes, "state": "active_allocated", "frames": span.frames()}
    return {**sizes, "device": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
            "total_size": span.bytes, "allocated_size": span.bytes, "active_size": span.bytes, "frames": [], "blocks": [block]}


def make_snapshot(spans: Iterable[Span], end: int) -> dict[str, Any]:
    """Returns a snapshot: allocations and frees in the order of executions. The time of an event is its execution."""
    events: list[tuple[int, int, dict[str, Any]]] = []
    held, address = [], ALIGNMENT
    for span in spans:
        event = {"addr": address, "size": span.bytes, "stream": 0, "frames": span.frames()}
        events.append((span.first, 0, {**event, "action": "alloc", "time_us": span.first}))
        if span.last < end:
            for action in ("free_requested", "free_completed"):
                events.append((span.last, 1, {**event, "action": action, "time_us": span.last}))
        else:
            held.append(_block(span, address))
        address += -(-span.bytes // ALIGNMENT) * ALIGNMENT
    events.sort(key=lambda each: each[:2])
    return {"segments": held, "device_traces": [[event for _, _, event in events]], "allocator_settings": {}, "external_annotations": []}


def write(path: str | os.PathLike[str], spans: Iterable[Span], end: int) -> None:
    """Writes a snapshot in the format of torch.cuda.memory._dump_snapshot."""
    with open(path, "wb") as stream:
        pickle.dump(make_snapshot(spans, end), stream)
