"""Measures the allocations of an op, inside itself and for its results: once per op, and caches them."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import operator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterable, Iterator

import torch
from torch import fx
from torch.autograd import ProfilerConfig, ProfilerState
from torch.profiler import record_function

from . import _plan_cache as cache
from ._plan_nodes import block_bytes, is_collective, is_mutation, is_view, results, storage_bytes, tensor_operands
from ._seam.core import ExperimentalConfig, OpOverload, disable_current_modes, disable_profiler, enable_profiler, tree_leaves



@dataclasses.dataclass(frozen=True)
class Measured:
    """Measurement of the memory of one run of an op."""

    #: Bytes that the op allocates in addition to its results.
    workspace: int
    #: Bytes of the storage of each result, which may be larger than the result. A shared storage counts with the first
    #: of its results.
    returned: list[int]
    #: First result with the same storage, for each result.
    holders: list[int]


#: Bytes and holders, as in `Measured`.
Storages = tuple[list[int], list[int]]
_known: dict[str, Measured] = {}
#: Part of the cache key: a new number for each method of measurement.
METHOD = 5
#: Operands that determine the amount of work; an op that is measured with zeros for them does nothing.
COUNTS = ("bag_size",)
#: Operand that only another op of the same library can compute: possibly addresses and sizes.
OPAQUE = "workspace"
#: Operands that describe the draws of a forward op. They lie on a GPU or on the host, whatever PyTorch's fake results
#: say, and are read there.
STATES = ("philox_seed", "philox_offset", "rng_state")
#: Ops that Inductor calls in addition to its fallbacks.
LIBRARY = (torch.ops.aten.convolution.default, torch.ops.aten.mm.default, torch.ops.aten.addmm.default,
           torch.ops.aten.bmm.default)


def is_measurable(node: fx.Node) -> bool:
    """Returns whether a run of only this op shows its allocations. For sparse tensors, which have no storage, it does
    not."""
    if any(each is not None and each.layout is not torch.strided for each in results(node)):
        return False
    return isinstance(node.target, OpOverload) and not is_mutation(node) and not is_collective(node) and not is_view(node)


def calls_library(node: fx.Node) -> bool:
    """Returns whether Inductor's code calls the eager op instead of its own kernel. Inductor falls back for all ops
    that it does not know, such as a user's, when it meets the first of them."""
    from ._seam.inductor import lowering
    return node.target in (*LIBRARY, *lowering.fallbacks) or node.target not in lowering.lowerings


def _describe(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}{list(value.stride())}{value.device}"
    return value


def _arguments(node: fx.Node, change) -> tuple[tuple, dict]:
    def value(argument):
        return change(argument.meta.get("val") if isinstance(argument, fx.Node) else argument)
    return fx.node.map_aggregate(node.args, value), fx.node.map_aggregate(dict(node.kwargs), value)


def key_of(node: fx.Node) -> str:
    """Returns the key of an op: its operands' shapes and layouts, its attributes, and the hardware, on which a
    library's algorithm depends."""
    device = _device(node)
    hardware = torch.cuda.get_device_name(device) if device.type == "cuda" else torch.get_num_threads()
    text = repr((METHOD, str(node.target), _arguments(node, _describe), torch.__version__, hardware,
                 torch.backends.cudnn.benchmark, torch.are_deterministic_algorithms_enabled()))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _real(value: Any, takes_all: bool, integer: int, counts: list[torch.Tensor]) -> Any:
    """Returns a tensor like a fake one: ones, so that logarithms and divisions are defined, and index 0."""
    if not isinstance(value, torch.Tensor):
        return value
    size = storage_bytes(value) // value.element_size() if value.numel() else 0
    if value.dtype == torch.bool:
        content = takes_all
    elif value.dtype.is_floating_point or value.dtype.is_complex or any(value is each for each in counts):
        content = 1
    else:
        content = integer
    return torch.full((size,), content, dtype=value.dtype, device=value.device).as_strided(value.shape, value.stride())


def _states(node: fx.Node) -> dict[int, Any]:
    """Returns, by place, the operands that describe the draws of a forward op, from a run of that op. LookupError if
    there is none."""
    states: dict[int, Any] = {}
    for place, (each, value) in enumerate(zip(node.target._schema.arguments, node.args)):
        if each.name in STATES and isinstance(value, fx.Node):
            if value.target is not operator.getitem:
                raise LookupError(value.name)
            forward, number = value.args
            made = _made(forward)
            if made is None:
                raise LookupError(value.name)
            states[place] = made[0][number]
    return states


def _made(node: fx.Node, name: str = "", begin: Callable[[], None] = lambda: None, call: Callable | None = None) -> tuple[Any] | None:
    """Returns the results of an op, or of a call in its place, for made-up operands, in a range of that name, behind
    `begin`; None if it refuses all."""
    try:
        for args, kwargs in _real_arguments(node):
            begin()
            try:
                with record_function(name or "made up"):
                    return ((call or node.target)(*args, **kwargs),)
            except (RuntimeError, IndexError, ValueError):
                continue
    except LookupError:
        pass
    return None


def _real_arguments(node: fx.Node) -> Iterator[tuple[tuple, dict]]:
    """Yields operands for which an op does the most work: a mask selects all elements, unless there are too few values.

    Some ops need integers from 1 on, such as the pivots of a factorization.
    """
    names = [each.name for each in node.target._schema.arguments]
    counts = [each.meta["val"] for name, each in zip(names, node.args) if name in COUNTS and isinstance(each, fx.Node)]
    states = _states(node)
    for takes_all, integer in ((True, 0), (False, 0), (True, 1)):
        args, kwargs = _arguments(node, lambda value: _real(value, takes_all, integer, counts))
        yield tuple(states.get(place, each) for place, each in enumerate(args)), kwargs


def _memory_peaks(records: Iterable[Iterable[Any]], names: list[str]) -> dict[str, int]:
    """Returns, for each named range, the highest sum of allocations since its begin, in the last range of that name."""
    peaks: dict[str, int] = {}
    name, thread, depth, live = "", 0, 0, 0
    for each in sorted(itertools.chain(*records), key=lambda each: each.start_us()):
        kind = each.kind()
        if not depth and kind == "push" and each.name() in names:
            name, thread, depth, live = each.name(), each.thread_id(), 1, 0
            peaks[name] = 0
        elif depth and kind == "memory_alloc":
            live += each.cpu_memory_usage()
            peaks[name] = max(peaks[name], live)
        elif depth and each.thread_id() == thread:
            depth += {"push": 1, "pop": -1}.get(kind, 0)
    return peaks


def run(node: fx.Node, name: str = "", begin: Callable[[], None] = lambda: None, call: Callable | None = None) -> tuple[Any] | None:
    """Returns the results of an op, or of a call in its place, for made-up operands, or None if it accepts none. Its run
    is the last range of that name, behind `begin`."""
    if any(each.name == OPAQUE for each in node.target._schema.arguments):
        return None
    return _made(node, name, begin, call)


def _find_storages(node: fx.Node, made: tuple[Any] | None) -> Storages | None:
    """Returns the storages of the results of a run, or None if they differ from the graph's."""
    leaves, said = tree_leaves(made or ()), results(node)
    if len(leaves) != len(said) or any((mine is None) != (its is None) for mine, its in zip(leaves, said)):
        return None
    storages = [each.untyped_storage() if isinstance(each, torch.Tensor) else None for each in leaves]
    addresses = [None if each is None else each._cdata for each in storages]
    holders = [addresses.index(each) for each in addresses]
    return [0 if each is None or holders[place] != place else each.nbytes() for place, each in enumerate(storages)], holders


def _measure_cpu(nodes: dict[str, fx.Node]) -> dict[str, tuple[int, Storages | None]]:
    """Runs in its own thread: one thread has one profiler, which may be the user's. PyTorch's other profiler, Kineto,
    prints lines that nothing turns off once PyTorch is loaded."""
    storages = {}
    enable_profiler(ProfilerConfig(ProfilerState.CPU, False, True, False, False, False, ExperimentalConfig()))
    try:
        for key, node in nodes.items():
            made = run(node, key)
            if made is not None:
                storages[key] = _find_storages(node, made)
    finally:
        records = disable_profiler()
    return {key: (peak, storages[key]) for key, peak in _memory_peaks(records, list(storages)).items()}


def _measure_cuda(nodes: dict[str, fx.Node]) -> dict[str, tuple[int, Storages | None]]:
    """Measures the second run of each op: in the first a library may allocate memory that it keeps, such as the
    workspace of cuBLAS.

    Requested bytes count, because the blocks of the allocator depend on what was freed before.
    """
    peaks = {}
    for key, node in nodes.items():
        device, before = _device(node), 0

        def begin() -> None:
            nonlocal before
            torch.cuda.reset_peak_memory_stats(device)
            before = torch.cuda.memory_stats(device)["requested_bytes.all.current"]
        if run(node, key) is not None and (made := run(node, key, begin)) is not None:
            peaks[key] = torch.cuda.memory_stats(device)["requested_bytes.all.peak"] - before, _find_storages(node, made)
    return peaks


def _device(node: fx.Node) -> torch.device:
    return next((each.device for each in results(node) if each is not None), torch.device("cpu"))


def _measure(nodes: dict[str, fx.Node]) -> dict[str, Measured]:
    """Measures the run of each op, and restores the generators."""
    peaks: dict[str, tuple[int, Storages | None]] = {}
    gpus = sorted({_device(node).index for node in nodes.values() if _device(node).type == "cuda"})
    with torch.random.fork_rng(gpus), disable_current_modes(), ThreadPoolExecutor(1) as thread:
        for device, measure in (("cpu", _measure_cpu), ("cuda", _measure_cuda)):
            chosen = {key: node for key, node in nodes.items() if _device(node).type == device}
            if chosen:
                peaks.update(thread.submit(torch.no_grad()(measure), chosen).result())
    return {key: _conclude(node, *peaks.get(key, (None, None))) for key, node in nodes.items()}


def _conclude(node: fx.Node, peak: int | None, storages: Storages | None) -> Measured:
    """Returns the measurement; sizes are those of the allocator's blocks. An op that refuses all made-up operands
    counts with a copy of its operands."""
    device = _device(node)
    said = [0 if each is None else int(each.untyped_storage().nbytes()) for each in results(node)]
    returned, holders = storages or (said, list(range(len(said))))
    bound = sum(storage_bytes(each.meta["val"]) for each in tensor_operands(node))
    workspace = bound if peak is None else block_bytes(max(0, peak - sum(returned)), device)
    return Measured(workspace, [block_bytes(each, device) for each in returned], holders)


def measure(nodes: Iterable[fx.Node]) -> dict[fx.Node, Measured]:
    """Returns the allocations and results of the ops of a graph, from memory, from the cache on disk, or by running
    each op once."""
    keys = {node: key_of(node) for node in nodes if is_measurable(node)}
    if not _known:
        _known.update({key: Measured(*each) for key, each in (cache.read("operations") or {}).items()})
    missing = {key: node for node, key in keys.items() if key not in _known}
    if missing:
        _known.update(_measure(missing))
        cache.write("operations", {key: dataclasses.astuple(each) for key, each in _known.items()})
    return {node: _known[key] for node, key in keys.items()}
