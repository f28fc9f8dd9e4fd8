"""``backend="reprise_plan"``: Reprise plans, PyTorch's eager ops or Inductor run."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any, Callable, Sequence

import torch
from torch import fx

from .._errors import Error, RepriseWarning, UsageError, suggest
from . import _plan_labels as labels
from . import _plan_passes as passes
from . import _plan_regions as regions
from . import _replayed_writes as writes
from ._plan_budgets import UNLIMITED, parse_budget
from ._plan_layouts import as_eager
from ._plan_partition import Partitioner, sources
from ._plan_sizes import copy, find_floats, placeholders, specialize
from ._raising import raising
from ._region_budgets import check_open
from ._seam.core import tree_leaves
from ._seam.dynamo import count_compilation
from ._seam.generators import run_and_save_rng_state, run_with_rng_state
from ._seam.graphs import BoxedCodeGen
from ._seam.joint import aot_module_simplified, config as joint_config
from ._seam.versions import ROUNDS_16_BITS, is_tested
from ._step_graphs import StepGraph
from ._step_ledger import ledger_of
from ._tracing import tracing

OPTIONS = ("budget", "policy", "codegen", "bits", "offload")
CODEGENS = ("inductor", "eager")
#: Bits of Inductor's code: equal under every plan, or those of Inductor's own fusion.
BITS = ("plan", "inductor")


def _on_own_device(draw: Callable) -> Callable:
    """Wraps PyTorch's functions, which keep and set the state of the current GPU's generator, for the op's own GPU."""
    def run(*arguments: Any, **named: Any) -> Any:
        devices = [each if isinstance(each, torch.device) else each.device for each in tree_leaves((arguments, named))
                   if isinstance(each, (torch.device, torch.Tensor))]
        gpu = next((each for each in devices if each.type == "cuda"), None)
        with torch.cuda.device(gpu) if gpu else contextlib.nullcontext():
            return draw(*arguments, **named)
    return run


def run_eager(graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable:
    """The graph's ops one by one; each tensor dies at its last use, arguments too."""
    for node in graph.graph.nodes:
        if node.target in (run_and_save_rng_state, run_with_rng_state):
            node.target = _on_own_device(node.target)
    graph.graph.set_codegen(BoxedCodeGen())
    graph.recompile()

    def run(arguments: list) -> Any:
        return graph(arguments)
    run._boxed_call = True
    return run


def _draw(x: torch.Tensor, probability: float = 0.5, generator: torch.Generator | None = None) -> Any:
    if generator is not None:
        return NotImplemented
    return (torch.rand_like(x, dtype=torch.float32) < probability).to(x.dtype)


def _decompositions() -> dict:
    """Returns Inductor's decompositions, with draws of the generator instead of draws of a seed, whose order in its
    code depends on the plan."""
    from ._seam.inductor import config, select_decomp_table
    table = dict(select_decomp_table())
    if not config.fallback_random:
        table[torch.ops.aten.bernoulli.p] = _draw
    return table


def _compile_fused(graph: fx.GraphModule, inputs: Sequence[Any], partitioner: Partitioner) -> Callable:
    from ._plan_bits import alike
    from ._plan_fused import conclude
    from ._plan_lowering import Meter
    from ._seam.inductor import compile_fx
    on_gpu = any(isinstance(each, torch.Tensor) and each.device.type != "cpu" for each in inputs)
    # We disable other layouts for convolutions, because they copy all weights at once and keep the copies, which no
    # plan knows.
    patches = {"custom_partitioner_fn": partitioner, "layout_optimization": False}
    bits = alike(on_gpu) if partitioner.bits == "plan" else contextlib.nullcontext()
    # The backward pass is compiled at once, too.
    with bits, joint_config.patch(force_non_lazy_backward_lowering=True):
        if partitioner.budget == UNLIMITED and not regions.has_any(graph):
            return compile_fx(graph, inputs, config_patches=patches, decompositions=_decompositions())
        results = tree_leaves(next(iter(graph.graph.find_nodes(op="output"))).args)
        patches["_post_fusion_custom_pass"] = meter = partitioner.meter = Meter(sources(), len(results))
        made = compile_fx(graph, inputs, inner_compile=meter.compile, config_patches=patches, decompositions=_decompositions())
        conclude(partitioner)
        return made


def _compile_once(graph: fx.GraphModule, inputs: Sequence[Any], partitioner: Partitioner) -> Callable:
    with passes.kept():
        if partitioner.is_fused:
            return _compile_fused(graph, inputs, partitioner)
        count_compilation()
        with joint_config.patch(donated_buffer=False), as_eager():
            return aot_module_simplified(graph, inputs, fw_compiler=run_eager, bw_compiler=run_eager,
                                         partition_fn=partitioner, decompositions={})


def _has_16_bits(graph: fx.GraphModule, inputs: Sequence[Any]) -> bool:
    """Returns whether a value of Dynamo's graph is a float of 16 bits."""
    nodes = (node for part in graph.modules() if isinstance(part, fx.GraphModule) for node in part.graph.nodes)
    values = tree_leaves([*inputs, *(node.meta.get("example_value") for node in nodes)])
    return any(isinstance(each, torch.Tensor) and each.is_floating_point() and each.dtype.itemsize == 2 for each in values)


def _compile(graph: fx.GraphModule, inputs: Sequence[Any], make: Callable[[], Partitioner]) -> Callable:
    """Returns a compiled graph. If there is a budget, the graph is planned with the others of a step."""
    asked = make()
    is_eager = not ROUNDS_16_BITS and asked.is_fused and asked.bits == "plan" and _has_16_bits(graph, inputs)

    def make_partitioner() -> Partitioner:
        partitioner = make()
        partitioner.is_fused &= not is_eager
        return partitioner

    def compile_again(arguments: Sequence[Any], partitioner: Partitioner) -> Callable:
        with tracing(), joint_config.patch(enable_autograd_cache=False):
            return _compile_once(copy(graph)[0], arguments, partitioner)

    if is_eager:
        warnings.warn(f"the code of Inductor in PyTorch {torch.__version__} gives values of 16 bits other bits under other plans, so this "
                      'graph runs eager code; bits="inductor" runs the code of Inductor', RepriseWarning, stacklevel=2)
    try:
        first = make_partitioner()
        if first.budget == UNLIMITED:
            return _compile_once(graph, inputs, first)
        return StepGraph(ledger_of(first.budget), make_partitioner, compile_again).start(inputs)
    except Error as error:
        return raising(error)


class _PerSize:
    """Graph whose sizes vary: it is planned once for each combination of sizes, at its first call.

    Dynamo passes a varying float as a tensor, and reads it by ``item``. AOTAutograd traces that only with its own
    symbols, which sizes as numbers do not have, so that such floats become numbers, too.
    """

    def __init__(self, graph: fx.GraphModule, make_partitioner: Callable[[], Partitioner]) -> None:
        self.graph, self.make_partitioner = graph, make_partitioner
        self.compiled: dict[tuple, Callable] = {}
        self.places, self.floats = placeholders(graph), find_floats(graph)

    def __call__(self, *arguments: Any) -> Any:
        floats = {place: argument.item() for place, argument in zip(self.places, arguments) if place in self.floats}
        sizes = tuple(each if isinstance(each, int) else tuple(each.shape) for each in arguments
                      if isinstance(each, (int, torch.Tensor)))
        key = (sizes, *floats.values())
        if key not in self.compiled:
            numbers = floats | {place: each for place, each in zip(self.places, arguments) if isinstance(each, int)}
            with tracing():
                if key not in self.compiled:
                    self.compiled[key] = _compile(specialize(self.graph, numbers), arguments, self.make_partitioner)
        return self.compiled[key](*arguments)


def _has_symbols(inputs: Sequence[Any]) -> bool:
    return any(isinstance(each, torch.SymInt) or isinstance(each, torch.Tensor) and any(
        isinstance(size, torch.SymInt) for size in each.shape) for each in inputs)


def _check_nested(inputs: Sequence[Any]) -> None:
    if any(isinstance(each, torch.Tensor) and each.is_nested for each in inputs):
        raise Error("nested tensors are not planned, since their sizes are known only at run time; leave the function that "
                    "takes them to backend=\"inductor\", or give it their values and offsets")


def _read_choices(given: dict[str, Any]) -> tuple[str, str, bool]:
    """Returns the options ``codegen``, ``bits`` and ``offload``, checked."""
    codegen, bits, moves = given.get("codegen", "inductor"), given.get("bits", "plan"), given.get("offload", False)
    for name, value, known in ("codegen", codegen, CODEGENS), ("bits", bits, BITS):
        if value not in known:
            raise UsageError(f"unknown {name} {value!r}{suggest(value, known)}")
    if bits == "inductor" and codegen == "eager":
        raise UsageError('bits="inductor" needs codegen="inductor": eager ops have the same bits under every plan; remove one of the '
                         "two options")
    if not isinstance(moves, bool):
        raise UsageError(f"offload: expected True or False, got {moves!r}")
    if moves and codegen != "eager":
        raise UsageError('offload: values are moved in eager code only; set codegen="eager", too')
    return codegen, bits, moves


def _make_partitioner(options: dict[str, Any] | None, is_followed: bool, marks: str) -> Callable[[], Partitioner]:
    """Checks the options; the result makes a partitioner for each size of a graph."""
    given = dict(options or {})
    unknown = [name for name in given if name not in OPTIONS]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r}{suggest(unknown[0], OPTIONS)}")
    codegen, bits, moves = _read_choices(given)
    policy = given.get("policy")
    labels.check(policy)
    budget = parse_budget(given.get("budget"))
    # The code of an untested version might have other bits under each plan.
    is_fused = codegen == "inductor" and (bits == "inductor" or is_tested())
    return lambda: Partitioner(budget, policy, is_fused, is_followed, bits=bits, marks=marks, moves=moves)


def reprise_plan(graph: fx.GraphModule, example_inputs: Sequence[Any], *, options: dict[str, Any] | None = None) -> Callable:
    """A backend of torch.compile. Options: ``budget``, ``policy``, ``codegen`` ("inductor" or "eager"), ``bits`` ("plan" or
    "inductor"), ``offload``."""
    try:
        check_open()
        regions.mark(graph)
        _check_nested(example_inputs)
        reason = getattr(graph, "compile_subgraph_reason", None)
        make = _make_partitioner(options, bool(reason and reason.graph_break), regions.list_bounds(graph))
        return writes.watch(_PerSize(graph, make) if _has_symbols(example_inputs) else _compile(graph, example_inputs, make))
    except Error as error:
        return raising(error)
