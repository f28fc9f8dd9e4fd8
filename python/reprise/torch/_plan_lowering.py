"""Counts the memory of Inductor's code without the code: graphs are lowered and scheduled, and no kernel is compiled."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from ._plan_tally import Surroundings, Tally
from ._seam import patches
from ._seam.core import disable_current_modes
from ._seam.hooks import CustomSchedulerPass
from ._seam.inductor import V, compile_fx_inner, config, ir, pick_vec_isa, wrapper as code

if TYPE_CHECKING:
    from ._plan_fused import Candidate, Try

#: Settings of Inductor that this package sets to objects of its own.
OWN = ("custom_partitioner_fn", "_post_fusion_custom_pass")


class Counted(BaseException):
    """Signal that a graph is counted, with the strides of its outputs. Inductor would wrap an `Exception`."""

    def __init__(self, strides: list[tuple[int, ...] | None]) -> None:
        super().__init__()
        self.strides = strides


class Exceeded(BaseException):
    """Signal that the first code needs more than the limit, so that other codes are counted."""


class Meter(CustomSchedulerPass):
    """Counter of the memory of both graphs' code, when Inductor has chosen which buffers are reused.

    At that time all lines of the code exist, and no kernel has been compiled.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.around: Surroundings | None = None
        #: Bytes that the code may need. If it needs more, no buffer waits for the next buffer of its size.
        self.limit = 0
        self.peaks: dict[bool, int] = {}
        #: The chosen code, and its settings: None while codes are only counted.
        self.code: "Candidate | None" = None
        self.chosen: "Try | None" = None
        #: Bytes of the first code, if it needs more than the limit: those of the forward pass, or of both passes.
        self.made: dict["Try", dict[bool, int]] = {}
        #: Name of the answer in the cache.
        self.name = ""

    def __deepcopy__(self, memo: dict) -> "Meter":
        return self  # Inductor copies its configuration, which contains this object.

    def __reduce__(self) -> tuple:
        return Meter, (self.key,)

    def uuid(self) -> str:
        """Returns the key of Inductor's caches: the settings decide what is fused, and the limit what is abandoned."""
        return f"{self.key} {self.chosen} {self.limit}"

    def start(self, around: Surroundings, limit: int) -> None:
        """Starts the count of a code."""
        patches.LINES.check()
        self.around, self.limit, self.peaks, self.code, self.chosen = around, limit, {}, None, None

    def choose(self, chosen: "Try", code: "Candidate") -> None:
        """Sets the code that is compiled, and counted again."""
        self.start(code.around, code.limit)
        self.code, self.chosen = code, chosen

    def compile(self, graph: fx.GraphModule, inputs: Any, **named: Any) -> Any:
        """Compiles one graph of the chosen code, as the `inner_compile` of Inductor."""
        if self.code is None:
            return compile_fx_inner(graph, inputs, **named)
        with self.chosen.choices(self.code.limit):
            return compile_fx_inner(graph, inputs, **named)

    def __call__(self, nodes: list[Any]) -> list[Any]:
        lines, is_backward = V.graph.wrapper_code, V.graph.is_backward
        if self.around and not isinstance(lines, code.SubgraphPythonWrapperCodegen):
            lines.memory_plan_reuse = self._follow(lines.memory_plan_reuse, lines, is_backward)
        return nodes

    def _follow(self, plan_reuse: Any, lines: Any, is_backward: bool) -> Any:
        def count() -> int:
            tally = Tally(self.around, is_backward)
            for line in lines.lines:
                tally.step(line)
            return tally.peak

        def run() -> None:
            before = list(lines.lines)
            plan_reuse()
            peak = count()
            if peak > self.limit and config.allow_buffer_reuse:
                _restore(lines, before)
                with config.patch(allow_buffer_reuse=False):
                    plan_reuse()
                    peak = count()
            self.peaks[is_backward] = peak
            if self.code is None:
                raise Counted([_strides(each) for each in V.graph.graph_outputs])
            is_expected = self.code.peaks and not self.code.fits
            if peak > self.limit and not self.made and not is_expected:
                self.made[self.chosen] = dict(self.peaks)
                raise Exceeded
        return run


def _restore(lines: Any, before: list[Any]) -> None:
    """Undoes the choice of buffers that are reused. Inductor lets a buffer wait for the next buffer of its size if its own
    estimate of the peak allows that, which knows neither the workspace of libraries nor the memory around the graph."""
    lines.lines = before
    for each in before:
        if isinstance(each, code.FreeIfNotReusedLine):
            each.is_reused = False


def _strides(output: Any) -> tuple[int, ...] | None:
    if isinstance(output, ir.IRNode) and output.has_tensor_output():
        return tuple(map(int, output.get_layout().stride))
    return None


def _restride(value: Any, strides: tuple[int, ...] | None) -> Any:
    """Returns a saved value with the strides that the forward pass's code gives it."""
    if strides is None or not isinstance(value, torch.Tensor) or value.stride() == strides:
        return value
    return value.as_strided(value.size(), strides)


def lower(graph: fx.GraphModule, is_backward: bool, num_fwd_outputs: int,
          strides: list[tuple[int, ...] | None]) -> list[tuple[int, ...] | None]:
    """Lowers one graph of a plan up to the lines of its code, for the meter. Returns the strides of the outputs.

    `strides` are those of the forward pass's outputs; the first arguments of the backward pass are the saved ones.
    """
    with disable_current_modes():
        copied = copy.deepcopy(graph)
    output = next(iter(copied.graph.find_nodes(op="output")))
    visible = output.args[0] if is_backward else output.args[0][:num_fwd_outputs]
    output.meta["user_visible_output_idxs"] = [place for place, each in enumerate(visible) if isinstance(each, fx.Node)]
    values = [each.meta.get("val") for each in copied.graph.find_nodes(op="placeholder")]
    if is_backward:
        saved = strides[num_fwd_outputs:]
        values = [_restride(value, saved[place] if place < len(saved) else None) for place, value in enumerate(values)]
    try:
        with config.patch(fx_graph_cache=False, fx_graph_remote_cache=False):
            compile_fx_inner(copied, values, is_backward=is_backward)
    except Counted as counted:
        return counted.strides
    return []  # a graph without ops has no code


def _describe(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}{list(value.stride())}" if isinstance(value, torch.Tensor) else str(value)


def settings(joint: fx.GraphModule, meter: Meter) -> list[str]:
    """Returns all that the count of a code depends on, except the plan: the graph, and the settings of Inductor."""
    graphs = [each for each in joint.modules() if isinstance(each, fx.GraphModule)]
    values = [_describe(node.meta.get("val")) for each in graphs for node in each.graph.nodes if node.op == "placeholder"]
    own = sorted(f"{name}={value!r}" for name, value in config.save_config_portable().items() if name not in OWN)
    return [meter.key, torch.__version__, str(pick_vec_isa()), str(torch.get_num_threads()), *(str(each.graph) for each in graphs),
            *values, *own]
