"""A user's torch.autograd.Function in a graph: the graph is cut around it, and its own backward pass is run as it is.

The dialect differentiates by the rules of its ops. A backward pass that somebody wrote need not be the derivative of its
forward pass, nor linear in its cotangents. So the parts before and behind such a function are graphs of their own, and
between them stands a function of PyTorch's autograd that calls two compiled graphs without gradients.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Sequence

import torch
import torch.fx as fx
from torch._dynamo.backends.distributed import propagate_dynamo_source, propagate_metadata
from torch._dynamo.utils import to_fake_tensor
from torch._guards import detect_fake_mode
from torch._subclasses import FakeTensor
from torch.autograd.function import once_differentiable
from torch.fx.passes.split_module import split_module
from torch.utils._pytree import tree_leaves

from ._whole_errors import Unsupported, source_line

Compiler = Callable[[fx.GraphModule, Sequence[Any]], Callable[..., Any]]


def _is_function(node: fx.Node) -> bool:
    return node.op == "call_function" and getattr(node.target, "__name__", "") == "autograd_function_apply"


def has_functions(module: fx.GraphModule) -> bool:
    """Whether a function with a backward of its own is in the graph, outside of regions."""
    return any(_is_function(node) for node in module.graph.nodes)


def _gather(graph: fx.Graph) -> None:
    """Puts what takes a function's results apart right behind it, and what it reads of the module right before it."""
    for node in [each for each in graph.nodes if _is_function(each)]:
        for each in node.args:
            if isinstance(each, fx.Node) and each.op == "get_attr":
                node.prepend(each)
        for each in list(node.users):
            if each.target is operator.getitem:
                node.append(each)


def _parts(graph: fx.Graph) -> dict[fx.Node, int]:
    """The number of the part of each node: functions, with what takes their results apart, have odd ones."""
    parts, part, depth, enabled = {}, 0, 0, True
    for node in graph.nodes:
        name = getattr(node.target, "__name__", "")
        depth += (name == "_enter_autocast") - (name == "_exit_autocast")
        enabled = node.args[0] if node.target is torch._C._set_grad_enabled else enabled
        if _is_function(node):
            if depth or not enabled:
                raise Unsupported({"torch.autograd.Function inside of autocast or no_grad": [source_line(node)]})
            part += 2
            parts[node] = part - 1
            parts.update((each, part - 1) for each in node.args if isinstance(each, fx.Node) and each.op == "get_attr")
        elif node.target is operator.getitem and _is_function(node.args[0]):
            parts[node] = parts[node.args[0]]
        else:
            parts[node] = part
    return parts


class _Called(torch.nn.Module):
    """Code in place of a part."""

    def __init__(self, code: Callable[..., Any], is_single: bool) -> None:
        super().__init__()
        self._code = code
        self._is_single = is_single

    def forward(self, *arguments: Any) -> Any:
        made = self._code(*arguments)
        return made[0] if self._is_single else made


class _User(torch.autograd.Function):
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
    @once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        tensors = iter(ctx.saved_tensors)
        saved = [next(tensors) if each is None else each for each in ctx.others]
        return None, *ctx.passes.run_backward([*cotangents, *saved])


class _Passes:
    """The two passes of a function; the second is compiled when it is first run."""

    def __init__(self, module: fx.GraphModule, node: fx.Node, arguments: Sequence[Any], compiler: Compiler) -> None:
        forward, backward = (getattr(module, node.args[number].target) for number in (0, 1))
        if node.kwargs.get("dirty_idx"):
            raise Unsupported({"torch.autograd.Function with mark_dirty": [source_line(node)]})
        self.without_gradient = list(node.kwargs["non_differentiable_idx"])
        output = forward.graph.find_nodes(op="output")[0]
        results, saved = output.args[0]
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        self.outputs = len(results)
        given = {each: ("argument", number) for number, each in enumerate(forward.graph.find_nodes(op="placeholder"))}
        given |= {each: ("output", number) for number, each in reversed(list(enumerate(results))) if each not in given}
        kept = [each for each in dict.fromkeys(saved) if each not in given]
        #: Where each saved value is: it is an argument, an output, or one of what the forward graph returns besides.
        self.saved = [given.get(each) or ("kept", kept.index(each)) for each in saved]
        output.args = ((*results, *kept),)
        forward.recompile()
        self._compiler = compiler
        with torch.no_grad():
            made = forward(*arguments)
            places = {("argument", n): each for n, each in enumerate(arguments)}
            places |= {("output", n): each for n, each in enumerate(made[:self.outputs])}
            places |= {("kept", n): each for n, each in enumerate(made[self.outputs:])}
            self.run_forward = self._plain(forward, arguments)
            cotangents = [torch.empty_like(each) for each in made[:self.outputs]]
            self.run_backward = self._plain(backward, [*cotangents, *(places[each] for each in self.saved)])

    def _plain(self, module: fx.GraphModule, arguments: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """A graph without gradients; constants among its outputs stay."""
        for node in module.graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled):
            module.graph.erase_node(node)
        output = module.graph.find_nodes(op="output")[0]
        results = output.args[0] if isinstance(output.args[0], (tuple, list)) else (output.args[0],)
        output.args = (tuple(results),)
        module.recompile()
        detached = [each.detach() if isinstance(each, torch.Tensor) else each for each in arguments]
        code = self._compiler(module, detached)

        def run(given: Sequence[Any]) -> list[Any]:
            with torch.no_grad():
                return list(code(*(each.detach() if isinstance(each, torch.Tensor) else each for each in given)))

        return run


class _PartCompiler(fx.Interpreter):
    """Runs the parts with tensors without elements, and compiles each of them on the way."""

    def __init__(self, module: fx.GraphModule, compiler: Compiler) -> None:
        super().__init__(module)
        self._compiler = compiler
        self.made: dict[str, torch.nn.Module] = {}

    def call_module(self, target: str, arguments: Any, keywords: Any) -> Any:
        part = self.module.get_submodule(target)
        output = part.graph.find_nodes(op="output")[0]
        is_single = not isinstance(output.args[0], (tuple, list))
        functions = [node for node in part.graph.nodes if _is_function(node)]
        made = part(*arguments)
        if functions:
            code = self._function(part, functions[0], arguments)
            is_single = is_single and not isinstance(made, (tuple, list))
        else:
            if is_single:
                output.args = ((output.args[0],),)
                part.recompile()
            code = self._compiler(part, arguments)
        self.made[target] = _Called(code, is_single)
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
    """The code of a graph with such functions: ``compiler`` compiles the parts."""
    _gather(module.graph)
    parts = _parts(module.graph)
    split = split_module(module, None, lambda node: parts[node])
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
