"""Warns of state that a region of torch.utils.checkpoint writes, if PyTorch and not a plan replays the region.

If Dynamo breaks the graph in a region, or if a region surrounds a compiled function, PyTorch runs the region a second
time as it does without torch.compile, and repeats its writes: a batch norm counts each batch as two.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import types
import warnings
from typing import Any, Callable, Iterator

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .._errors import Error, RepriseWarning
from ._seam import patches
from ._seam.core import OpOverload, TorchDispatchMode, tree_leaves
from ._seam.dynamo import eval_frame

BACKENDS = ("reprise", "reprise_plan")
#: Files of the frames between the user's call of a checkpoint and the request for its place.
INNER = (os.path.dirname(torch.__file__) + os.sep, contextlib.__file__, __file__)

#: Places of regions that were warned of, and regions that were watched: by place, module and whether that trains.
_told: set[str] = set()
_watched: set[tuple[str, int, bool]] = set()
_around = threading.local()


class _Watch(TorchDispatchMode):
    """Finder of the first op that writes memory from before the region."""

    def __init__(self) -> None:
        super().__init__()
        self.made: set[StorageWeakRef] = set()
        self.found: str | None = None

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    def __torch_dispatch__(self, op: Any, kinds: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        result = op(*args, **(kwargs or {}))
        if self.found is None:
            given = _find_storages((args, kwargs))
            for written in _find_written(op, args, kwargs or {}):
                if StorageWeakRef(written.untyped_storage()) not in self.made:
                    self.found = f"{op} writes a tensor of shape {list(written.shape)}"
            self.made.update(_find_storages(result) - given)
        return result


def _find_storages(values: Any) -> set[StorageWeakRef]:
    return {StorageWeakRef(each.untyped_storage()) for each in tree_leaves(values)
            if isinstance(each, torch.Tensor) and each.layout is torch.strided}


def _find_written(op: Any, args: tuple, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Returns the operands that an op writes. A batch norm's schema does not show that it writes its running
    statistics."""
    if not isinstance(op, OpOverload):
        return []
    given = {each.name: value for each, value in zip(op._schema.arguments, args)} | kwargs
    names = [each.name for each in op._schema.arguments if each.alias_info and each.alias_info.is_write]
    if "batch_norm" in op.name() and given.get("training", given.get("train")):
        names += ["running_mean", "running_var"]
    return [each for each in tree_leaves([given.get(name) for name in names])
            if isinstance(each, torch.Tensor) and each.layout is torch.strided]


def _find_place() -> tuple[str, str | None]:
    """Returns the user's line that calls the checkpoint, and the backend whose graph has broken there."""
    frame, broken = sys._getframe(1), None
    while frame.f_back and frame.f_code.co_filename.startswith(INNER):
        prior = frame.f_locals.get("prior") if frame.f_code.co_filename == eval_frame.__file__ else None
        broken = broken or getattr(eval_frame.innermost_backend(prior), "compiler_name", None) if callable(prior) else broken
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}", broken


def _tell(place: str, what: str) -> None:
    _told.add(place)
    warnings.warn(f"{place}: this region of torch.utils.checkpoint is not part of one compiled graph, so PyTorch runs it again in the "
                  f"backward pass, and the state that it writes is written twice ({what}); end the graph break in it "
                  "(TORCH_LOGS=graph_breaks shows it), or write the state outside of the region", RepriseWarning, stacklevel=2)


def _identify(function: Callable) -> tuple[int, bool] | None:
    """Returns the module of a function, and whether it trains; None for any other function, which may write elsewhere
    each time."""
    while isinstance(function, functools.partial):
        function = function.func
    owner = getattr(function, "__self__", function)
    return (id(owner), owner.training) if isinstance(owner, torch.nn.Module) else None


@contextlib.contextmanager
def _region(function: Callable) -> Iterator[None]:
    """Surrounds the first run of a region's function."""
    place, broken = _find_place()
    outer, _around.place = getattr(_around, "place", None), place
    key = _identify(function)
    try:
        if broken not in BACKENDS or place in _told or key and (place, *key) in _watched:
            yield
            return
        if key:
            _watched.add((place, *key))
        with _Watch() as watch:
            yield
        if watch.found:
            _tell(place, watch.found)
    finally:
        _around.place = outer


def install() -> None:
    """Watches each call of torch.utils.checkpoint outside of compiled graphs for such state."""
    (generate,), (forward,) = patches.REGION.originals(), patches.REENTRANT.originals()

    @functools.wraps(generate)
    def watched_generate(function: Callable, *arguments: Any, **named: Any) -> Iterator[None]:
        with _region(function) if torch.is_grad_enabled() else contextlib.nullcontext():
            return (yield from generate(function, *arguments, **named))

    @functools.wraps(forward)
    def watched_forward(context: Any, function: Callable, *arguments: Any) -> Any:
        with _region(function) if any(context.needs_input_grad) else contextlib.nullcontext():
            return forward(context, function, *arguments)
    if isinstance(getattr(generate, "__wrapped__", None), types.FunctionType):
        return
    try:
        patches.REGION.install(watched_generate)
        patches.REENTRANT.install(staticmethod(watched_forward))
    except Error as error:
        warnings.warn(str(error), RepriseWarning, stacklevel=2)


def watch(run: Callable) -> Callable:
    """Returns a compiled function that warns if it writes an argument in a region that PyTorch replays."""
    def call(*arguments: Any) -> Any:
        place = getattr(_around, "place", None)
        if place is None or place in _told:
            return run(*arguments)
        tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
        versions = [each._version for each in tensors]
        result = run(*arguments)
        for each, version in zip(tensors, versions):
            if each._version != version:
                _tell(place, f"the compiled function writes a tensor of shape {list(each.shape)}")
                break
        return result
    return call
