"""Counts the memory of Inductor's code: graphs are lowered up to the text of their code, and no kernel is compiled.

The text of the code that is chosen is compiled later, so that no graph of that code is lowered twice.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from typing import TYPE_CHECKING, Any, Callable, Iterator

import torch
from torch import fx

from ._plan_tally import Surroundings, Tally
from ._seam import patches
from ._seam.core import disable_current_modes
from ._seam.hooks import CustomSchedulerPass
from ._seam.inductor import V, compile_fx_inner, config, ir, list_given, pick_vec_isa, wrapper as code

if TYPE_CHECKING:
    from ._plan_fused import Candidate

#: Settings of Inductor that this package sets to objects of its own.
OWN = ("custom_partitioner_fn", "_post_fusion_custom_pass")
#: Strides of the outputs of a graph; None for an output that is no tensor.
Strides = list[tuple[int, ...] | None]


class Counted(BaseException):
    """Signal that a graph is counted, so that its lowering ends. Inductor would wrap an `Exception`."""


@dataclasses.dataclass
class Lowered:
    """Result of the lowering of one graph."""

    strides: Strides = dataclasses.field(default_factory=list)
    #: Graph that was lowered, its inputs, and its visible outputs, as a text.
    source: str = ""
    #: Graph of Inductor's nodes, with the text of its code; None if the code needs more than the limit.
    graph: Any = None
    text: Any = None

    def is_of(self, graph: fx.GraphModule, inputs: Any, named: dict[str, Any]) -> bool:
        """Returns whether Inductor would make the same text of a graph."""
        is_python = not named.get("cpp_wrapper") and not named.get("fx_wrapper") and named.get("layout_opt") is None
        return self.graph is not None and is_python and self.source == _describe_graph(graph, inputs)

    @contextlib.contextmanager
    def taken(self, named: dict[str, Any]) -> Iterator[None]:
        """Makes Inductor compile the text within this context, instead of lowering a graph."""
        self.graph.graph_id = named.get("graph_id")
        self.graph.run = lambda *inputs: None
        self.graph.codegen = lambda: self.text
        with patches.LOWERED.replaced(lambda *given, **ignored: self.graph):
            yield


class Meter(CustomSchedulerPass):
    """Counter of the memory of both graphs' code, when Inductor has chosen which buffers are reused.

    At that time all lines of the code exist, and no kernel has been compiled.
    """

    def __init__(self, key: str, num_results: int = 0) -> None:
        self.key = key
        #: Number of results of Dynamo's graph, and their places among the outputs of the forward pass.
        self.num_results, self.visible = num_results, range(num_results)
        self.around: Surroundings | None = None
        #: Bytes that the code may need. If it needs more, no buffer waits for the next buffer of its size.
        self.limit = 0
        self.peaks: dict[bool, int] = {}
        #: The chosen code: None while codes are only counted.
        self.code: "Candidate | None" = None
        #: Graph that is being counted.
        self.lowered = Lowered()
        #: Name of the answer in the cache.
        self.name = ""

    def __deepcopy__(self, memo: dict) -> "Meter":
        return self  # Inductor copies its configuration, which contains this object.

    def __reduce__(self) -> tuple:
        return Meter, (self.key, self.num_results)

    def uuid(self) -> str:
        """Returns the key of Inductor's caches: the settings decide what is fused, and the limit what is abandoned."""
        return f"{self.key} {self.code and self.code.settings} {self.limit}"

    def start(self, around: Surroundings, limit: int) -> None:
        """Starts the count of a code."""
        patches.LINES.check()
        self.around, self.limit, self.peaks, self.code = around, limit, {}, None

    def choose(self, code: "Candidate") -> None:
        """Sets the code that is compiled. Graphs that are lowered again are counted again."""
        self.start(code.around, code.limit)
        self.code, self.lowered = code, Lowered()

    def compile(self, graph: fx.GraphModule, inputs: Any, **named: Any) -> Any:
        """Compiles one graph of the chosen code, as the `inner_compile` of Inductor."""
        if self.code is None:
            return compile_fx_inner(graph, inputs, **named)
        is_backward = bool(named.get("is_backward"))
        lowered = self.code.lowered.pop(is_backward, Lowered())
        is_known = lowered.is_of(graph, inputs, named)
        with self.code.settings[is_backward].choices(self.code.limit), lowered.taken(named) if is_known else contextlib.nullcontext():
            return compile_fx_inner(graph, inputs, **named)

    def __call__(self, nodes: list[Any]) -> list[Any]:
        lines, is_backward = V.graph.wrapper_code, V.graph.is_backward
        if self.around and not isinstance(lines, code.SubgraphPythonWrapperCodegen):
            lines.memory_plan_reuse = self._follow(lines.memory_plan_reuse, lines, is_backward)
            if self.code is None:
                lines.generate = self._keep(lines.generate)
        return nodes

    def _follow(self, plan_reuse: Callable, lines: Any, is_backward: bool) -> Callable:
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
                self.lowered.strides = [_strides(each) for each in V.graph.graph_outputs]
                if peak > self.limit:
                    raise Counted
        return run

    def _keep(self, generate: Callable) -> Callable:
        def run(is_inference: bool) -> None:
            text = generate(is_inference)
            self.lowered.graph, self.lowered.text = V.graph, text
            raise Counted
        return run

    def lower(self, graph: fx.GraphModule, is_backward: bool, strides: Strides) -> Lowered:
        """Lowers one graph of a plan up to the text of its code; only up to its lines if these need more than the limit.

        `strides` are those of the values that the forward pass saves, which are the first arguments of the backward pass.
        """
        with disable_current_modes():
            copied = copy.deepcopy(graph)
        output = next(iter(copied.graph.find_nodes(op="output")))
        places = range(len(output.args[0])) if is_backward else self.visible
        output.meta["user_visible_output_idxs"] = [place for place in places if isinstance(output.args[0][place], fx.Node)]
        values = [each.meta.get("val") for each in copied.graph.find_nodes(op="placeholder")]
        if is_backward:
            values = [_restride(value, strides[place] if place < len(strides) else None) for place, value in enumerate(values)]
        self.lowered = Lowered(source=_describe_graph(copied, values))
        try:
            with config.patch(fx_graph_cache=False, fx_graph_remote_cache=False):
                compile_fx_inner(copied, values, is_backward=is_backward)
        except Counted:
            pass  # a graph without ops has no code, and is not counted
        return self.lowered


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


def _describe(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}{list(value.stride())}{value.device}" if isinstance(value, torch.Tensor) else str(value)


def _describe_graph(graph: fx.GraphModule, values: Any) -> str:
    """Returns the text of a graph with the graphs in it, of its inputs, and of the places of its visible outputs and of the
    saved values that may be overwritten."""
    graphs = [str(each.graph) for each in graph.modules() if isinstance(each, fx.GraphModule)]
    visible = next(iter(graph.graph.find_nodes(op="output"))).meta.get("user_visible_output_idxs")
    return "\n".join([*graphs, *map(_describe, values), f"{visible} {list_given()}"])


def settings(joint: fx.GraphModule, meter: Meter) -> list[str]:
    """Returns all that the count of a code depends on, except the plan: the graph, and the settings of Inductor."""
    values = [node.meta.get("val") for each in joint.modules() if isinstance(each, fx.GraphModule)
              for node in each.graph.find_nodes(op="placeholder")]
    own = sorted(f"{name}={value!r}" for name, value in config.save_config_portable().items() if name not in OWN)
    return [meter.key, torch.__version__, str(pick_vec_isa()), str(torch.get_num_threads()), _describe_graph(joint, values), *own]
