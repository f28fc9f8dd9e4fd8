"""Cuts a graph around a user's torch.autograd.Function, whose own backward pass runs unchanged.

The dialect differentiates by the rules of its ops. A user's backward pass need not be the derivative of its forward
pass, nor linear in its cotangents. So the parts before and behind such a function are separate graphs, and between them
is a function of PyTorch's autograd that calls two compiled graphs without gradients.
"""

from __future__ import annotations

import copy
import operator
from typing import Any, Callable, Sequence

import torch
import torch.fx as fx

from ._seam.core import enter_autocast, exit_autocast, set_grad_enabled, tree_leaves
from ._seam.dynamo import propagate_dynamo_source, propagate_metadata, to_fake_tensor
from ._seam.graphs import FakeTensor, detect_fake_mode, split_module
from ._tracing import tracing
from ._whole_autocast import without_autocast
from ._whole_errors import Unsupported, source_line
from ._whole_regions import is_function, open_regions
from ._whole_twice import refuse, why_not_twice
from ._whole_untraced import Untraced

Compiler = Callable[[fx.GraphModule, Sequence[Any]], Callable[..., Any]]


def _gather(graph: fx.Graph) -> None:
    """Moves users of a function's results directly behind it, and its reads of the module directly before it."""
    for node in [each for each in graph.nodes if is_function(each)]:
        for each in node.args:
            if isinstance(each, fx.Node) and each.op == "get_attr":
                node.prepend(each)
        for each in list(node.users):
            if each.target is operator.getitem:
                node.append(each)


def _parts(graph: fx.Graph) -> dict[fx.Node, int]:
    """Returns the number of the part of each node: functions, with the users that take their results apart, have odd
    ones."""
    parts, part = {}, 0
    for node in graph.nodes:
        if is_function(node):
            part += 2
            parts[node] = part - 1
            parts.update((each, part - 1) for each in node.args if isinstance(each, fx.Node) and each.op == "get_attr")
        elif node.target is operator.getitem and is_function(node.args[0]):
            parts[node] = parts[node.args[0]]
        else:
            parts[node] = part
    return parts


def _split(module: fx.GraphModule) -> fx.GraphModule:
    """Returns the parts. PyTorch leaves autocast and no_grad before a cut, and enters them again behind it."""
    _gather(module.graph)
    parts = _parts(module.graph)
    return split_module(module, None, lambda node: parts[node])


class Called(torch.nn.Module):
    """Code in place of a part."""

    def __init__(self, code: Callable[..., Any], is_single: bool) -> None:
        super().__init__()
        self._code = code
        self._is_single = is_single

    def forward(self, *arguments: Any) -> Any:
        made = self._code(*arguments)
        return made[0] if self._is_single else made


class _User(Untraced):
    """The user's function: both of its passes are compiled."""

    @staticmethod
    def forward(ctx: Any, passes: "_Passes", *arguments: Any) -> tuple[Any, ...]:
        made = passes.run_forward(arguments)
        outputs, kept = made[:passes.outputs], made[passes.outputs:]
        by_place = {("argument", number): each for number, each in enumerate(arguments)}
        by_place |= {("output", number): each for number, each in enumerate(outputs)}
        saved = [by_place[place] if place in by_place else kept[place[1]] for place in passes.saved]
        ctx.others = [None if isinstance(each, torch.Tensor) else each for each in saved]
        ctx.save_for_backward(*(each for each in saved if isinstance(each, torch.Tensor)))
        ctx.mark_non_differentiable(*(outputs[number] for number in passes.without_gradient))
        ctx.passes = passes
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        tensors = iter(ctx.saved_tensors)
        given = [*cotangents, *(next(tensors) if each is None else each for each in ctx.others)]
        is_differentiable = torch.is_grad_enabled() and any(isinstance(each, torch.Tensor) and each.requires_grad
                                                            for each in given)
        return None, *(ctx.passes.backward_twice if is_differentiable else ctx.passes.run_backward)(given)


def _stand_in(module: fx.GraphModule, autocasts: Sequence[tuple[Any, ...]]) -> None:
    """Puts a graph in regions of autocast, from the outermost on."""
    graph = module.graph
    first = next(node for node in graph.nodes if node.op != "placeholder")
    with graph.inserting_before(first):
        entered = [graph.call_function(enter_autocast, arguments) for arguments in autocasts]
    with graph.inserting_before(graph.find_nodes(op="output")[0]):
        for each in reversed(entered):
            graph.call_function(exit_autocast, (each,))


def _without_grad_modes(module: fx.GraphModule) -> fx.GraphModule:
    for node in module.graph.find_nodes(op="call_function", target=set_grad_enabled):
        module.graph.erase_node(node)
    output = module.graph.find_nodes(op="output")[0]
    results = output.args[0] if isinstance(output.args[0], (tuple, list)) else (output.args[0],)
    output.args = (tuple(results),)
    module.recompile()
    return module


class _Forward(fx.Interpreter):
    """Interpreter that runs a forward pass with tensors without elements, and records each node's value."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)

    def is_view_of(self, node: fx.Node, values: Sequence[Any]) -> bool:
        """Returns whether a node is one of the values, as itself or by an attribute such as T."""
        while node.target is getattr:
            node = node.args[0]
        return any(self.env[node] is each for each in values)


class _Passes:
    """Passes of a function, and its backward pass with gradients, which is compiled on demand."""

    def __init__(self, module: fx.GraphModule, node: fx.Node, arguments: Sequence[Any], compiler: Compiler) -> None:
        forward, backward = (getattr(module, node.args[number].target) for number in (0, 1))
        if node.kwargs.get("dirty_idx"):
            raise Unsupported({"torch.autograd.Function with mark_dirty": [source_line(node)]})
        self.without_gradient = list(node.kwargs["non_differentiable_idx"])
        self._compiler = compiler
        self._refusal = why_not_twice(node, backward)
        #: Backward passes for each combination of inputs with gradients.
        self._twice: dict[tuple[bool, ...], Callable[..., Any]] = {}
        _stand_in(forward, [each.args for each in module.graph.find_nodes(op="call_function", target=enter_autocast)])
        with torch.no_grad():
            given = self._run_forward(forward, arguments, source_line(node))
            # Autograd runs it outside of autocast, as eager does; custom_bwd is in the graph.
            with without_autocast(given):
                self._backward = _without_grad_modes(backward)
                self.run_backward = self._plain(copy.deepcopy(backward), given)

    def _run_forward(self, forward: fx.GraphModule, arguments: Sequence[Any], line: str) -> list[Any]:
        """Finds the place of each saved value, compiles the forward pass, and returns the inputs of the backward
        pass."""
        output = forward.graph.find_nodes(op="output")[0]
        results, saved = output.args[0]
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        self.outputs = len(results)
        run = _Forward(forward)
        made, _ = run.run(*arguments)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        places = {id(each): ("output", number) for number, each in reversed(list(enumerate(made)))}
        places |= {id(each): ("argument", number) for number, each in enumerate(arguments)}
        places = {each: places[id(run.env[each])] for each in saved if id(run.env[each]) in places}
        kept = [each for each in dict.fromkeys(saved) if each not in places]
        if any(run.is_view_of(each, [*arguments, *made]) for each in kept):
            self._refusal = self._refusal or f"{line}: its backward pass reads a view of what was saved"
        #: Place of each saved value: an argument, an output, or an additional result of the forward graph.
        self.saved = [places.get(each) or ("kept", kept.index(each)) for each in saved]
        given = [*map(torch.empty_like, made), *(run.env[each] for each in saved)]
        output.args = ((*results, *kept),)
        self.run_forward = self._plain(_without_grad_modes(forward), arguments)
        return given

    def _plain(self, module: fx.GraphModule, arguments: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """A graph without gradients; constants among its outputs stay."""
        detached = [each.detach() if isinstance(each, torch.Tensor) else each for each in arguments]
        code = self._compiler(module, detached)

        def run(given: Sequence[Any]) -> list[Any]:
            with torch.no_grad():
                return list(code(*(each.detach() if isinstance(each, torch.Tensor) else each for each in given)))

        return run

    def backward_twice(self, given: Sequence[Any]) -> list[Any]:
        """Runs the backward pass, whose gradients have gradients."""
        if self._refusal:
            return refuse(self._refusal, self.run_backward(given), given)
        wanted = tuple(isinstance(each, torch.Tensor) and each.requires_grad for each in given)
        with tracing():
            if wanted not in self._twice:
                points = [each.detach().requires_grad_(is_wanted) if isinstance(each, torch.Tensor) else each
                          for each, is_wanted in zip(given, wanted)]
                with without_autocast(points):
                    self._twice[wanted] = self._compiler(copy.deepcopy(self._backward), points)
        return list(self._twice[wanted](*given))


def compile_part(part: fx.GraphModule, arguments: Sequence[Any], compiler: Compiler) -> Called:
    """Returns the code of a part, whose graph then returns a tuple, as compilers expect."""
    output = part.graph.output_node()
    is_single = not isinstance(output.args[0], (tuple, list))
    if is_single:
        output.args = ((output.args[0],),)
        part.recompile()
    return Called(compiler(part, arguments), is_single)


class _PartCompiler(fx.Interpreter):
    """Interpreter that runs the parts with tensors without elements, and compiles each of them."""

    def __init__(self, module: fx.GraphModule, compiler: Compiler) -> None:
        super().__init__(module)
        self._compiler = compiler
        self.made: dict[str, torch.nn.Module] = {}

    def call_module(self, target: str, arguments: Any, keywords: Any) -> Any:
        part = self.module.get_submodule(target)
        functions = [node for node in part.graph.nodes if is_function(node)]
        made = part(*arguments)
        if functions:
            is_single = not isinstance(part.graph.output_node().args[0], (tuple, list)) and not isinstance(made, (tuple, list))
            self.made[target] = Called(self._function(part, functions[0], arguments), is_single)
        else:
            self.made[target] = compile_part(part, arguments, self._compiler)
        return made

    def _function(self, part: fx.GraphModule, node: fx.Node, arguments: Any) -> Callable[..., Any]:
        placeholders = part.graph.find_nodes(op="placeholder")
        passes = _Passes(part, node, [arguments[placeholders.index(each)] if isinstance(each, fx.Node) else each
                                      for each in node.args[2:]], self._compiler)
        results = [each.args[1] if each.target is operator.getitem else 0
                   for each in tree_leaves(part.graph.find_nodes(op="output")[0].args[0])]
        order = [placeholders.index(each) if isinstance(each, fx.Node) else None for each in node.args[2:]]
        constants = list(node.args[2:])

        def run(*given: Any) -> list[Any]:
            made = _User.apply(passes, *(constants[n] if at is None else given[at] for n, at in enumerate(order)))
            return [made[number] for number in results]

        return run


def compile_parts(module: fx.GraphModule, inputs: Sequence[Any], compiler: Compiler) -> Callable[..., Any]:
    """Returns the code of a graph with such functions: ``compiler`` compiles the parts."""
    open_regions(module, _split)
    split = _split(module)
    propagate_metadata(module, split)
    propagate_dynamo_source(module, split)
    mode = detect_fake_mode(inputs)
    runner = _PartCompiler(split, compiler)
    with mode:
        runner.run(*(to_fake_tensor(each, mode) if isinstance(each, torch.Tensor) and not isinstance(each, FakeTensor)
                     else each for each in inputs))
    for name, code in runner.made.items():
        setattr(split, name, code)
    split.recompile()
    return split
