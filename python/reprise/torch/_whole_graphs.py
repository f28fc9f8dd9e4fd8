"""AOTAutograd's graphs: compiled, and the two graphs that call what was compiled."""

from __future__ import annotations

import itertools
import operator
import weakref
from typing import Any, Callable, Sequence

import torch
import torch.fx as fx
from torch._functorch import partitioners
from torch._functorch._aot_autograd.descriptors import InputMutationAOTOutput, SavedForBackwardsAOTOutput

from ._whole_import import Importer
from ._whole_step import Entry, compile_entry
from ._whole_text import write_forward, write_step
from .aten import Builder, Value

_library = torch.library.Library("reprise", "FRAGMENT")
_library.define("forward(int graph, Tensor[] inputs, Tensor seed) -> Tensor[]")
_library.define("backward(int graph, Tensor[] inputs, Tensor seed) -> Tensor[]")
_library.define("draw_seed() -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
#: By number, as long as code that calls them is there.
_graphs: "weakref.WeakValueDictionary[int, CompiledGraph]" = weakref.WeakValueDictionary()
_numbers = itertools.count()


class CompiledGraph:
    """A graph of Dynamo's: its forward pass, and its step, None where no gradient is wanted."""

    def __init__(self, forward: Entry | None, step: Entry | None, texts: list[str]) -> None:
        self.forward = forward
        self.step = step
        #: The modules of the dialect that were compiled.
        self.texts = texts
        self.number = next(_numbers)
        _graphs[self.number] = self

    @property
    def report(self) -> Any:
        """What the step takes; that of the forward pass where there is no step."""
        return (self.step or self.forward).program.report


def graphs() -> list[CompiledGraph]:
    """The compiled graphs that there is code for, in order: their forward pass, their step, their texts."""
    return [_graphs[number] for number in sorted(_graphs.keys())]


def draw_seed(draws: bool) -> int:
    """A Philox seed out of PyTorch's generator, which torch.manual_seed sets; 0 where nothing is drawn."""
    return int(torch.randint(0, 1 << 62, ())) if draws else 0


@torch.library.impl(_library, "draw_seed", "CompositeExplicitAutograd")
def _draw_seed() -> torch.Tensor:
    return torch.randint(0, 1 << 62, (), dtype=torch.int64)


@torch.library.impl(_library, "forward", "CPU")
def _forward(graph: int, inputs: Sequence[torch.Tensor], seed: torch.Tensor) -> list[torch.Tensor]:
    return _graphs[graph].forward(inputs, int(seed))


@torch.library.impl(_library, "backward", "CPU")
def _backward(graph: int, inputs: Sequence[torch.Tensor], seed: torch.Tensor) -> list[torch.Tensor]:
    return _graphs[graph].step(inputs, int(seed))


class _Joint:
    """A joint graph, imported: what its halves take and give."""

    def __init__(self, module: fx.GraphModule, outputs: int, static: Any) -> None:
        info = partitioners.classify_nodes(module, static or [], outputs)
        self.module = module
        self.outputs, self.gradients, self.output_descs, self.gradient_descs = (
            partitioners._extract_fwd_bwd_outputs(module, num_fwd_outputs=outputs))
        placeholders = module.graph.find_nodes(op="placeholder")
        self.primals = [node for node in placeholders if partitioners._is_primal(node)]
        self.tangents = [node for node in placeholders if partitioners._is_tangent(node)]
        of = {node.meta["desc"]: node for node in self.primals}
        self.wanted = [(number, of[desc.grad_of]) for number, (node, desc)
                       in enumerate(zip(self.gradients, self.gradient_descs)) if isinstance(node, fx.Node)]
        importer = Importer(module, self.primals, {primal for _, primal in self.wanted})
        self.builder = importer.run(node for node in module.graph.nodes
                                    if node in info._required_fw_nodes and node.op != "placeholder")

    def value(self, node: Any) -> Any:
        return self.builder.values[node] if isinstance(node, fx.Node) else None

    def arguments(self) -> list[tuple[str, Value]]:
        named = [(f"primal/{number}", self.value(node)) for number, node in enumerate(self.primals)]
        return [(name, value) for name, value in named if isinstance(value, Value)]

    def pairs(self) -> list[tuple[str, fx.Node, Value, Value]]:
        """Outputs with their cotangents, where a gradient may pass."""
        tangent_of = {node.meta["desc"].output: (number, node) for number, node in enumerate(self.tangents)}
        found = []
        for node, desc in zip(self.outputs, self.output_descs):
            output = self.value(node)
            if desc in tangent_of and isinstance(output, Value) and output.active:
                number, tangent = tangent_of[desc]
                shape, dtype = tangent.meta["val"].shape, tangent.meta["val"].dtype
                found.append((f"cotangent/{number}", tangent, output, Value(f"%t{number}", shape, dtype)))
        return found


def _results(named: Sequence[Any], prefix: str) -> list[tuple[str, Value]]:
    return [(f"{prefix}/{number}", value) for number, value in enumerate(named) if isinstance(value, Value)]


def compile_joint(module: fx.GraphModule, outputs: int, keywords: dict[str, Any],
                  options: dict[str, Any]) -> tuple[CompiledGraph, fx.GraphModule, fx.GraphModule]:
    """The compiled graph, and the forward and the backward graph that call it."""
    joint = _Joint(module, outputs, keywords.get("static_lifetime_input_indices"))
    results = _results([joint.value(node) for node in joint.outputs], "output")
    pairs, arguments = joint.pairs(), joint.arguments()
    forward_text = write_forward(joint.builder, arguments, results)
    wanted = [(f"gradient/{number}", joint.value(primal)) for number, primal in joint.wanted]
    step_text = None
    if pairs and wanted:
        step_text = write_step(joint.builder, arguments, [(output, cotangent) for _, _, output, cotangent in pairs],
                               [name for name, *_ in pairs], wanted)
    forward = compile_entry(forward_text) if results else None
    step = compile_entry(step_text, **options) if step_text else None
    graph = CompiledGraph(forward, step, [text.text for text in (forward_text, step_text) if text])
    return graph, *_calling_graphs(joint, graph, forward_text.draws)


def _nodes_of(entry: Entry | None, joint: _Joint) -> list[fx.Node]:
    """The primals and tangents that a program takes, in its order."""
    places = {f"primal/{number}": node for number, node in enumerate(joint.primals)}
    places |= {f"cotangent/{number}": node for number, node in enumerate(joint.tangents)}
    return [places[name] for name in entry.arguments] if entry else []


def _copied(graph: fx.Graph, node: fx.Node) -> fx.Node:
    placeholder = graph.placeholder(node.name)
    placeholder.meta = node.meta
    return placeholder


def _items(graph: fx.Graph, call: fx.Node | None, names: Sequence[str], prefix: str, like: Sequence[Any]) -> list[Any]:
    """What a call returns at the places of the results' names; other places hold what is no tensor."""
    index = {name: number for number, name in enumerate(names)}
    made = []
    for number, node in enumerate(like):
        at = index.get(f"{prefix}/{number}")
        item = None
        if at is not None:
            item = graph.call_function(operator.getitem, (call, at))
            item.meta = dict(node.meta)
        made.append(item)
    return made


def _calling_graphs(joint: _Joint, compiled: CompiledGraph, draws: bool) -> tuple[fx.GraphModule, fx.GraphModule]:
    seed_value = _fake_seed(joint)
    graph = fx.Graph()
    inputs = {node: _copied(graph, node) for node in joint.primals}
    seed = graph.call_function(torch.ops.reprise.draw_seed.default if draws else torch.ops.aten.full.default,
                               () if draws else ([], 0), {} if draws else {"dtype": torch.int64})
    seed.meta["val"] = seed_value
    results = [node if not isinstance(node, fx.Node) else None for node in joint.outputs]
    if compiled.forward:
        call = graph.call_function(torch.ops.reprise.forward.default, (
            compiled.number, [inputs[node] for node in _nodes_of(compiled.forward, joint)], seed))
        made = _items(graph, call, [name for name, *_ in compiled.forward.results], "output", joint.outputs)
        results = [old if new is None else new for old, new in zip(results, made)]
    results = [_number(joint.value(node)) if result is None else result
               for result, node in zip(results, joint.outputs)]
    kept = [node for node in _nodes_of(compiled.step, joint) if node in inputs]
    saved = _saved(graph, joint, kept, inputs)
    output = graph.output(tuple(results + saved + [seed]))
    output.meta["desc"] = list(joint.output_descs) + [SavedForBackwardsAOTOutput(n) for n in range(len(saved) + 1)]
    return fx.GraphModule(joint.module, graph), _backward_graph(joint, compiled, kept, seed_value)


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else None


def _saved(graph: fx.Graph, joint: _Joint, kept: Sequence[fx.Node], inputs: dict[fx.Node, fx.Node]) -> list[fx.Node]:
    """An argument that the step overwrites is kept as it was."""
    written = {desc.mutated_input for desc in joint.output_descs if isinstance(desc, InputMutationAOTOutput)}
    saved = []
    for node in kept:
        if node.meta["desc"] in written:
            clone = graph.call_function(torch.ops.aten.clone.default, (inputs[node],))
            clone.meta = dict(node.meta)
            saved.append(clone)
        else:
            saved.append(inputs[node])
    return saved


def _backward_graph(joint: _Joint, compiled: CompiledGraph, kept: Sequence[fx.Node], seed_value: Any) -> fx.GraphModule:
    graph = fx.Graph()
    inputs = {node: _copied(graph, node) for node in kept}
    seed = graph.placeholder("seed")
    seed.meta["val"] = seed_value
    inputs |= {node: _copied(graph, node) for node in joint.tangents}
    results: list[Any] = [None] * len(joint.gradients)
    if compiled.step:
        call = graph.call_function(torch.ops.reprise.backward.default, (
            compiled.number, [inputs[node] for node in _nodes_of(compiled.step, joint)], seed))
        results = _items(graph, call, [name for name, *_ in compiled.step.results], "gradient", joint.gradients)
    output = graph.output(tuple(results))
    output.meta["desc"] = list(joint.gradient_descs)
    return fx.GraphModule(joint.module, graph)


def _fake_seed(joint: _Joint) -> Any:
    values = [node.meta["val"] for node in joint.primals if isinstance(node.meta["val"], torch.Tensor)]
    with torch._guards.detect_fake_mode(values):
        return torch.empty((), dtype=torch.int64)


def compile_inference(module: fx.GraphModule, options: dict[str, Any]) -> Callable[..., Any]:
    """The boxed function that runs a graph without gradients."""
    primals = module.graph.find_nodes(op="placeholder")
    outputs = next(iter(module.graph.find_nodes(op="output"))).args[0]
    builder: Builder = Importer(module, primals, set()).run(
        node for node in module.graph.nodes if node.op not in ("placeholder", "output"))
    values = [builder.values[node] if isinstance(node, fx.Node) else node for node in outputs]
    results = _results(values, "output")
    arguments = [(f"primal/{n}", builder.values[node]) for n, node in enumerate(primals)]
    text = write_forward(builder, [each for each in arguments if isinstance(each[1], Value)], results)
    forward = compile_entry(text, **options) if results else None
    graph = CompiledGraph(forward, None, [text.text])
    order = [int(name.split("/")[1]) for name in forward.arguments] if forward else []

    def run(inputs: list[Any]) -> list[Any]:
        tensors = [inputs[number] for number in order]
        inputs.clear()
        made = iter(graph.forward(tensors, draw_seed(text.draws)) if forward else [])
        return [next(made) if isinstance(value, Value) else value for value in values]

    return run
