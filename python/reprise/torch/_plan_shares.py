"""Shares of a budget in bytes, where Dynamo breaks a model into several graphs."""

from __future__ import annotations

import re
import warnings
from typing import Any

from .._errors import Error, RepriseWarning
from ._seam.dynamo import CompileContext

#: Limit above the memory of any step, so that all labels are followed.
UNLIMITED = "1048576GiB"
UNITS = {"": 1, "B": 1, "kB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "TB": 10 ** 12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
         "TiB": 1 << 40}


class _Call:
    """Call of torch.compile: bytes that its graphs save, and how often each frame was compiled."""

    def __init__(self, options: Any) -> None:
        # We keep the options alive, so that their id is not reused.
        self.options = options
        self.saved: dict[tuple, int] = {}
        self.last: tuple = ()
        self.has_warned = False


_calls: dict[int, _Call] = {}


class Share:
    """Share of one graph of a model: the budget minus the bytes that the other graphs save for the backward pass."""

    def __init__(self, options: dict[str, Any] | None, budget: str, is_followed: bool = False) -> None:
        self.text, self._is_followed = budget, is_followed
        self.call = _calls.setdefault(id(options), _Call(options)) if options else _Call(None)
        identity = CompileContext.current_compile_id()
        compiled = (identity.frame_id, identity.frame_compile_id) if identity else (None, None)
        # DDP hands over several graphs of one frame.
        ordinal = self.call.last[2] + 1 if self.call.last[:2] == compiled else 0
        self.call.last = (*compiled, ordinal)
        self.key = (compiled[0], ordinal)

    def budget(self) -> str:
        others = [size for key, size in self.call.saved.items() if key != self.key]
        if self.text == UNLIMITED:
            return self.text
        if others and not self.call.has_warned:
            self.call.has_warned = True
            warnings.warn("the model is compiled as several graphs, and each graph has its own plan: "
                          + ("the percentage applies to each graph by itself" if self.text.endswith("%") else
                             "each graph gets the bytes that earlier graphs have not saved; gradients of other graphs are not counted"),
                          RepriseWarning, stacklevel=2)
        if self.text.endswith("%") or not others:
            return self.text
        number, unit = re.fullmatch(r"([\d.]+)(\D*)", self.text).groups()
        left = int(float(number) * UNITS[unit]) - sum(others)
        if left <= 0:
            raise Error(f"earlier graphs of the model save {sum(others):,} bytes, which exhausts the budget of {self.text}")
        return str(left)

    def limits(self) -> str:
        """Returns the bytes that the smallest budget of one graph excludes, for the end of an error; empty for a share
        and for a single graph."""
        if self.text.endswith("%"):
            return ""
        saved = sum(size for key, size in self.call.saved.items() if key != self.key)
        return (f" beside the {saved:,} bytes that earlier graphs save" if saved else "") + (
            " for this graph; later graphs, behind a graph break, are not counted" if self._is_followed else "")

    def took(self, saved_bytes: int) -> None:
        self.call.saved[self.key] = saved_bytes
