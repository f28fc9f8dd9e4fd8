"""``reprise.torch.export``: a training step as a model of the dialect, and its parameters as arrays."""

from __future__ import annotations

import inspect
import json
import math
import os
import pathlib
from typing import Any, Callable, Mapping, Sequence

import numpy
import torch
import torch.fx as fx

from .. import _compile
from .._errors import UsageError
from ._export_batch import BatchDim, batch_dims
from ._export_norms import averages_by_tensors
from ._export_optimizers import Rates, Slot, clip_norm, updates_of
from ._export_shards import Whole, cut_dims, rules_of
from ._names import STATES, all_names, array_name
from ._plan_regions import list_bounds, mark
from ._seam.dynamo import reset
from ._seam.joint import InputMutationAOTOutput
from ._whole_coarse import keep_whole
from ._whole_errors import Unsupported
from ._whole_functional import Functional, hidden, make_functional
from ._whole_graphs import Imported
from ._whole_text import _return, write_lines
from ._whole_untraced import traceable
from .aten import Builder, Value

#: Ops that are computed of each micro-batch, whatever its rows are.
STATISTICS = ("batch_norm", "batch_statistics")


class _Captured:
    """The graph of a model, and the tensors that its primals are."""

    def __init__(self) -> None:
        self.graph: Imported | None = None
        self.tensors: list[Any] = []

    def backend(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        """Captures the graph, for which it returns eager code."""
        try:
            return self._capture(module, inputs)
        except Unsupported as error:
            raise Unsupported(error.missing, ", and an exported model cannot call PyTorch, as backend=\"reprise\" does") from None

    def _capture(self, module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if self.graph is not None:
            raise UsageError("the model breaks into several graphs, where export needs a single one: TORCH_LOGS=graph_breaks shows the breaks")
        keep_whole(module)
        mark(module)
        if list_bounds(module):
            raise UsageError("the model has a region(budget=…), which an exported model cannot have: leave the region out, and give "
                             "reprise-compile a budget or a policy")

        def compiler(functional: Functional) -> Callable[[list[Any]], list[Any]]:
            self.graph = Imported(functional, may_call=False)

            def run(arguments: list[Any]) -> list[Any]:
                self.tensors = list(arguments)
                with torch.no_grad():
                    outputs = functional.module(*arguments)
                return [hidden(functional, number, output) for number, output in enumerate(outputs)]

            return run

        return make_functional(module, inputs, compiler)


class Exported:
    """Written files: the model, and the folder of its arrays."""

    def __init__(self, path: pathlib.Path, arrays: pathlib.Path, batch_dims: dict[str, int]) -> None:
        #: The .mlir file.
        self.path = path
        #: Names of tensors for ``reprise-run --names``.
        self.names = path.with_suffix(".names.json")
        #: The folder for ``reprise-run --input-dir``.
        self.arrays = arrays
        #: Inputs that micro-batches divide, and the dimension along which they do.
        self.batch_dims = batch_dims
        #: Rules for ``reprise-compile --shards``; None if no parameter is cut.
        self.shards: pathlib.Path | None = None


def _given(model: torch.nn.Module, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The input tensors by the names of the model's arguments."""
    bound = inspect.signature(model.forward).bind(*arguments, **keywords).arguments
    found: dict[str, torch.Tensor] = {}
    for name, value in bound.items():
        leaves = value if isinstance(value, dict) else {"": value}
        for key, each in leaves.items():
            for number, tensor in enumerate(each if isinstance(each, (list, tuple)) else [each]):
                if isinstance(tensor, torch.Tensor):
                    label = key if isinstance(value, dict) else name
                    found[f"{label}/{number}" if isinstance(each, (list, tuple)) else label] = tensor
    return found


class _Step:
    """The arguments of the step by name and role, and the module's text."""

    def __init__(self, captured: _Captured, model: torch.nn.Module, given: dict[str, torch.Tensor],
                 batch_dim: BatchDim) -> None:
        self.graph, self.tensors = captured.graph, captured.tensors
        self.builder: Builder = self.graph.builder
        known = [("parameter", array_name(name), each) for name, each in model.named_parameters()]
        known += [("state", array_name(name), each) for name, each in model.named_buffers()]
        known += [("input", name, each) for name, each in given.items()]
        #: The optimizer's state.
        self.slots: list[Slot] = []
        #: (role, name, value, tensor) of each primal.
        self.arguments: list[tuple[str, str, Value, torch.Tensor]] = []
        for node, tensor in zip(self.graph.functional.primals, self.tensors):
            value = self.graph.value(node)
            if isinstance(value, Value):
                self.arguments.append((*self._name(known, tensor), value, tensor))
        self._choose_results()
        #: The batch dimension of each input that has one, by its name.
        self.batch_dims = batch_dims([(name, value.shape) for role, name, value, _ in self.arguments if role == "input"],
                                     batch_dim, any(line.name in STATISTICS for line in self.lines))

    def _name(self, known: list[tuple[str, str, torch.Tensor]], tensor: torch.Tensor) -> tuple[str, str]:
        """Adds an input captured/N for any other tensor that the loss reads, such as labels."""
        for role, name, each in known:
            if each.data_ptr() == tensor.data_ptr() and each.shape == tensor.shape and each.dtype == tensor.dtype:
                return role, name
        return "input", f"captured/{sum(name.startswith('captured/') for _, name, *_ in self.arguments)}"

    def _choose_results(self) -> None:
        index = {node.meta["desc"]: self.graph.value(node) for node in self.graph.functional.primals}
        self.mutated: list[tuple[Value, Value]] = []
        self.loss: Value | None = None
        for node, desc in zip(self.graph.functional.outputs, self.graph.functional.output_descs):
            if isinstance(desc, InputMutationAOTOutput):
                self.mutated.append((index[desc.mutated_input], self.graph.value(node)))
            elif self.loss is None:
                self.loss = self.graph.value(node)
        if not isinstance(self.loss, Value) or self.loss.shape or not self.loss.active:
            raise UsageError("the model returns no scalar loss that depends on its parameters; give loss=")
        wanted = {self.graph.value(node) for node in self.graph.wanted}
        self.parameters = [each for each in self.arguments if each[0] == "parameter" and each[2] in wanted]
        self.lines = self.builder.live_lines([self.loss] + [value for _, value in self.mutated])
        twins = self.builder.frozen_arguments
        used = {operand for line in self.lines for operand in line.operands} | {old for old, _ in self.mutated}
        used |= {value for value, twin in twins.items() if twin in used} | {each[2] for each in self.parameters}
        self.arguments = [each for each in self.arguments if each[2] in used]
        self.twins = [(value, twin) for value, twin in twins.items() if twin in used]

    def body(self) -> str:
        """The loss and the next buffers, of all arguments and then the copies without gradients."""
        formal = [each[2] for each in self.arguments] + [twin for _, twin in self.twins]
        results = [self.loss] + [value for _, value in self.mutated]
        arguments = ", ".join(f"{value.name}: {value.type}" for value in formal)
        lines = write_lines(self.lines, results)
        types = ", ".join(value.type for value in results)
        return f"  func.func private @loss({arguments}) -> ({types}) {{\n{lines}{_return(results)}  }}\n"

    def call(self, is_differentiated: bool) -> tuple[str, Value, list[Value], list[Value]]:
        """The call, the loss, the next buffers and the gradients."""
        actual = [each[2] for each in self.arguments] + [value for value, _ in self.twins]
        wrt = [[each[2] for each in self.arguments].index(each[2]) for each in self.parameters] if is_differentiated else []
        types = [self.loss.type] + [value.type for _, value in self.mutated] + [each[2].type for each in self.parameters
                                                                               if is_differentiated]
        name = "reprise.value_and_grad" if is_differentiated else "func.call"
        choice = f" wrt [{', '.join(map(str, wrt))}]" if is_differentiated else ""
        text = (f"    %r:{len(types)} = {name} @loss({', '.join(value.name for value in actual)}){choice} : "
                f"({', '.join(value.type for value in actual)}) -> ({', '.join(types)})\n")
        shown = "%r" if len(types) == 1 else "%r#0"
        loss = Value(shown, (), self.loss.dtype)
        buffers = [Value(f"%r#{1 + n}", value.shape, value.dtype) for n, (_, value) in enumerate(self.mutated)]
        first = 1 + len(buffers)
        gradients = [Value(f"%r#{first + n}", each[2].shape, each[2].dtype) for n, each in enumerate(self.parameters)]
        return text, loss, buffers, gradients

    def entry(self, name: str, text: str, results: list[tuple[str, Value]], extra: Sequence[str] = ()) -> str:
        arguments = [f'{value.name}: {value.type} {{reprise.name = "{label}", reprise.role = "{role}"{self._batch(label)}}}'
                     for role, label, value, _ in self.arguments] + list(extra)
        returned = ", ".join(f'{value.type} {{reprise.name = "{label}"}}' for label, value in results)
        return (f"  func.func @{name}({', '.join(arguments)}) -> ({returned}) {{\n{text}"
                f"{_return([value for _, value in results])}  }}\n")

    def _batch(self, label: str) -> str:
        return f", reprise.batch_dim = {self.batch_dims[label]} : i64" if label in self.batch_dims else ""

    def buffer_names(self) -> list[str]:
        names = {each[2]: each[1] for each in self.arguments}
        return [names[old] for old, _ in self.mutated]

    def train(self, optimizer: torch.optim.Optimizer, max_norm: float | None, whole: Whole) -> str:
        text, loss, buffers, gradients = self.call(True)
        builder, rates = Builder(), Rates()
        updates = updates_of(builder, rates, optimizer, whole)
        self.slots = rates.state
        results = [("loss", loss), *zip(self.buffer_names(), buffers)]
        if max_norm is not None:
            gradients, norm = clip_norm(builder, gradients, max_norm)
            results.append(("gradient_norm", norm))
        for number, ((_, name, value, tensor), gradient) in enumerate(zip(self.parameters, gradients)):
            update = updates.get(tensor.data_ptr())
            if update is not None:
                results.append((name, update(value, gradient, name, number)))
        results += [(slot.name, slot.next) for slot in self.slots]
        extra = [f'{slot.value.name}: {slot.value.type} {{reprise.name = "{slot.name}", reprise.role = "{role}", '
                 f'reprise.init = #reprise.fill<{slot.initial!r}>}}'
                 for role, slots in (("input", rates.inputs), ("state", rates.state)) for slot in slots]
        return self.entry("train", text + "".join(f"    {line.text}\n" for line in builder.lines), results, extra)

    def module(self, optimizer: torch.optim.Optimizer | None, max_norm: float | None, whole: Whole) -> str:
        text, loss, _, _ = self.call(False)
        entries = self.body() + self.entry("forward", text, [("loss", loss)])
        text, loss, buffers, gradients = self.call(True)
        results = [("loss", loss), *zip(self.buffer_names(), buffers)]
        results += [(f"gradient/{each[1]}", gradient) for each, gradient in zip(self.parameters, gradients)]
        entries += self.entry("grad", text, results)
        return "module {\n" + entries + (self.train(optimizer, max_norm, whole) if optimizer else "") + "}\n"

    def tensor_names(self, model: torch.nn.Module) -> dict[str, list[str]]:
        """Names of tensors for ``reprise-run --names``: those of PyTorch, with all names of a shared parameter."""
        names = {array_name(first): each for first, each in all_names(model).items()}
        for slot in self.slots:
            kind, _, parameter = slot.name.partition("/")
            if parameter in names:
                names[slot.name] = [f"state.{names[parameter][0]}.{STATES[kind]}"]
        return names

    def write_arrays(self, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for _, name, value, tensor in self.arguments:
            _save(folder, name, tensor, value.dtype)
        for slot in self.slots:
            held = slot.held if slot.held is not None else torch.full(slot.value.shape, slot.initial)
            _save(folder, slot.name, held, slot.value.dtype)
        (folder / "run.json").write_text(json.dumps({"seed": 0, "next_offset": 0, "next_step": 0}) + "\n")


def _save(folder: pathlib.Path, name: str, tensor: torch.Tensor, dtype: torch.dtype) -> None:
    array = tensor.detach().to("cpu", dtype).contiguous()
    array = array.view(torch.uint16) if array.dtype is torch.bfloat16 else array
    numpy.save(folder / f"{name.replace('/', '.')}.npy", array.numpy())


@traceable
def _scalar(output: Any) -> torch.Tensor:
    if isinstance(output, torch.Tensor):
        return output
    return output.loss if hasattr(output, "loss") else output[0]


def export(model: torch.nn.Module, example_inputs: Sequence[Any] | Mapping[str, Any], *,
           path: str | os.PathLike[str], optimizer: torch.optim.Optimizer | None = None,
           loss: Callable[[Any], torch.Tensor] = _scalar, batch_dim: BatchDim = "guessed",
           shards: Mapping[str, int | None] | None = None, max_norm: float | None = None) -> Exported:
    """Writes a training step: entries @forward and @grad, and @train if there is an ``optimizer`` (SGD, Adam, AdamW).

    ``example_inputs`` are the positional or the named arguments of one batch. ``loss`` computes a scalar from the
    model's result; by default the result is a scalar, or has one. Parameters, buffers and the batch go to the folder
    beside ``path`` with the same name without its suffix, for ``reprise-run --input-dir``, and names of tensors to the
    file with the suffix .names.json. The model and its buffers stay unchanged.

    ``batch_dim`` is the dimension that ``--microbatches`` cuts: a dimension of the first input, and of all inputs of
    the same size there; or a dictionary from names of inputs to their dimensions, in which other inputs are whole; or
    None. By default it is 0, or None for a model whose batch norms compute statistics.

    ``max_norm`` scales the gradients before the update so that their common norm is at most that, as
    ``torch.nn.utils.clip_grad_norm_`` does; @train returns the norm before as ``gradient_norm``.

    ``shards`` maps PyTorch's names of parameters, as globs, to the dimension that ``--mesh=model=P`` cuts, or to None.
    The first glob that matches holds. A parameter that is a DTensor is cut as its placements along the dimension "model"
    or "tp" of its mesh say. The rules go to the file with the suffix .shards.json. All processes of the mesh must call
    export; the first one writes.
    """
    if max_norm is not None and not (optimizer and 0 < max_norm < math.inf):
        raise UsageError(f"export with max_norm={max_norm!r}: expected a positive number, and an optimizer")
    path, dims, whole = pathlib.Path(path), cut_dims(model, shards), Whole(model)
    model = whole.model
    arguments = () if isinstance(example_inputs, Mapping) else tuple(example_inputs)
    keywords = dict(example_inputs) if isinstance(example_inputs, Mapping) else {}
    captured, before = _Captured(), {name: each.clone() for name, each in model.named_buffers()}
    reset()
    with torch.random.fork_rng(devices=[]), averages_by_tensors(model):
        forward = traceable(lambda *a, **k: loss(model(*a, **k)))
        torch.compile(forward, backend=captured.backend, fullgraph=True)(*arguments, **keywords)
    if captured.graph is None or not captured.graph.wanted:
        raise UsageError("the model has no parameter that needs a gradient")
    with torch.no_grad():
        for name, each in model.named_buffers():
            each.copy_(before[name])
    step = _Step(captured, model, _given(model, arguments, keywords), batch_dim)
    text = _compile.verify(step.module(optimizer, max_norm, whole), name=path.name)
    exported = Exported(path, path.with_suffix(""), step.batch_dims)
    rules = rules_of(model, dims)
    exported.shards = path.with_suffix(".shards.json") if rules["rules"] else None
    if not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0:
        _write(exported, text, step, json.dumps(step.tensor_names(model), indent=1), json.dumps(rules, indent=1))
    return exported


def _write(exported: Exported, text: str, step: _Step, names: str, rules: str) -> None:
    exported.path.parent.mkdir(parents=True, exist_ok=True)
    exported.path.write_text(text)
    step.write_arrays(exported.arrays)
    exported.names.write_text(names + "\n")
    if exported.shards:
        exported.shards.write_text(rules + "\n")
