"""Writes the functions of a graph: its forward pass, and its gradients for given cotangents of its outputs."""

from __future__ import annotations

import itertools
from typing import Iterable, Sequence

import torch

from ._plan_regions import Bound
from .aten import Builder, Line, Value


class Text:
    """A module of one entry, with the names of its arguments and results."""

    def __init__(self, text: str, entry: str, arguments: list[tuple[str, Value]], results: list[tuple[str, Value]],
                 draws: bool, taken: int = 0) -> None:
        self.text = text
        self.entry = entry
        self.arguments = arguments
        #: Results. Each but the last ``taken`` is also an argument: state that is written and never read, so that it
        #: lies in memory of the caller. The others lie in the arena, from which the caller takes them.
        self.results, self.taken = results, taken
        self.draws = draws


def _signature(arguments: Sequence[tuple[str, Value]], results: Sequence[tuple[str, Value]], taken: int = 0) -> str:
    given = [f'{value.name}: {value.type} {{reprise.name = "{name}", reprise.role = "input"}}'
             for name, value in arguments]
    given += [f'%s{number}: {value.type} {{reprise.name = "{name}", reprise.role = "state"}}'
              for number, (name, value) in enumerate(results[:len(results) - taken])]
    returned = [f'{value.type} {{reprise.name = "{name}"}}' for name, value in results]
    return f"({', '.join(given)}) -> ({', '.join(returned)})"


def _return(results: Sequence[Value]) -> str:
    return f"    return {', '.join(value.name for value in results)} : {', '.join(value.type for value in results)}\n"


def _plain(values: Sequence[Value]) -> str:
    return ", ".join(f"{value.name}: {value.type}" for value in values)


def write_forward(builder: Builder, arguments: Sequence[tuple[str, Value]], results: Sequence[tuple[str, Value]]) -> Text:
    """``arguments`` and ``results`` are names and values of the builder."""
    values = [value for _, value in results]
    lines = builder.live_lines(values)
    used = {operand for line in lines for operand in line.operands} | set(values)
    arguments = [(name, value) for name, value in arguments
                 if value in used or builder.frozen_arguments.get(value) in used]
    copies = "".join(f"    {twin.name} = \"reprise.reshape\"({value.name}) : ({value.type}) -> {value.type}\n"
                     for value, twin in builder.frozen_arguments.items() if twin in used)
    body = "".join(f"    {line.text}\n" for line in lines)
    text = (f"module {{\n  func.func @forward{_signature(arguments, results)} {{\n{copies}{body}"
            f"{_return(values)}  }}\n}}\n")
    return Text(text, "forward", arguments, list(results), any(line.draws for line in lines))


def write_lines(lines: Sequence[Line], roots: Iterable[Value]) -> str:
    """The ops of a body that returns ``roots``; regions of torch.utils.checkpoint are checkpoints, regions with a budget
    are blocks."""
    return _write_units(lines, set(roots), 0)


def _write_units(lines: Sequence[Line], needed: set[Value], depth: int) -> str:
    """Writes the ops in a unit, and adds what they read to ``needed``, the values that later ops read."""
    text = []
    runs = [(unit, list(run)) for unit, run in itertools.groupby(lines, lambda line: line.region[depth:depth + 1])]
    for unit, run in reversed(runs):
        if not unit:
            needed.update(operand for line in run for operand in line.operands)
            text.append("".join(map(_write_line, run)))
            continue
        made = [result for line in run for result in line.results if result in needed]
        body = _write_units(run, needed, depth + 1)
        text.append(_unit("block" if isinstance(unit[0], Bound) else "checkpoint", body, made) if made else body)
    return "".join(reversed(text))


def _write_line(line: Line) -> str:
    names = [f"    %name_{each.name[1:]} = reprise.name {each.name} \"region/{each.name[1:]}\" : {each.type}\n"
             for each in (line.results if line.is_named else ())]
    return "".join([f"    {line.text}\n", *names])


def _unit(name: str, body: str, made: Sequence[Value]) -> str:
    names, types = ", ".join(value.name for value in made), ", ".join(value.type for value in made)
    return f"    {names} = reprise.{name} {{\n{body}    reprise.yield {names} : {types}\n    }} : {types}\n"


class Scalar:
    """Function whose single result is differentiated: private functions end with it."""

    def __init__(self, level: int, dtype: torch.dtype, arguments: list[tuple[str, Value]], twins: dict[Value, Value],
                 draws: bool) -> None:
        self.level = level
        self.dtype = dtype
        self.functions = ""
        #: Arguments by name.
        self.arguments = arguments
        #: Further arguments, and the arguments with equal values: the former have no gradients.
        self.twins = twins
        self.draws = draws

    @property
    def formal(self) -> list[Value]:
        return [value for _, value in self.arguments] + list(self.twins)

    def gradients(self, wanted: Sequence[Value], actual: Sequence[Value]) -> tuple[str, list[Value]]:
        """Returns the call that computes the gradients for some arguments, and its results."""
        formal = self.formal
        wrt = [formal.index(value) for value in wanted]
        made = [value.like(f"%r#{number + 1}", True) for number, value in enumerate(wanted)]
        call = (f"    %r:{1 + len(wrt)} = reprise.value_and_grad @loss{self.level}("
                f"{', '.join(value.name for value in actual)}) wrt [{', '.join(map(str, wrt))}] : "
                f"({', '.join(value.type for value in formal)}) -> "
                f"({', '.join([Value('', (), self.dtype).type] + [value.type for value in made])})\n")
        return call, made


def _total_type(dtypes: Iterable[torch.dtype]) -> torch.dtype:
    return torch.float64 if torch.float64 in dtypes else torch.float32


def _sum_of_products(builder: Builder, pairs: Sequence[tuple[Value, Value]], dtype: torch.dtype) -> Value:
    """Returns Σ <output, cotangent>, whose gradient is the result of a backward pass."""
    total = None
    for output, cotangent in pairs:
        product = builder.binary("mul", builder.cast(output, dtype), builder.cast(cotangent, dtype))
        product = builder.reduce("sum", product, None)
        total = product if total is None else builder.binary("add", total, product)
    return total


class _Body:
    """Ops of a graph that ``outputs`` and Σ <output, cotangent> need: their arguments, and the ops that form that
    sum."""

    def __init__(self, builder: Builder, arguments: Sequence[tuple[str, Value]], pairs: Sequence[tuple[Value, Value]],
                 outputs: Sequence[Value], wanted: Sequence[Value]) -> None:
        before = len(builder.lines)
        self.dtype = _total_type(cotangent.dtype for _, cotangent in pairs)
        self.total = _sum_of_products(builder, pairs, self.dtype)
        lines, added = builder.live_lines([self.total, *outputs]), set(map(id, builder.lines[before:]))
        del builder.lines[before:]
        self.lines = [line for line in lines if id(line) not in added]
        self.sum = [line for line in lines if id(line) in added]
        used = {operand for line in lines for operand in line.operands} | {*outputs, *wanted}
        #: Further arguments behind ``given``, and the arguments with equal values.
        self.twins = {twin: value for value, twin in builder.frozen_arguments.items() if twin in used}
        used |= set(self.twins.values())
        self.given = [(name, value) for name, value in arguments if value in used]
        self.draws = any(line.draws for line in lines)


def first_scalar(builder: Builder, arguments: Sequence[tuple[str, Value]],
                 pairs: Sequence[tuple[Value, str, Value]], wanted: Sequence[Value]) -> Scalar:
    """Makes the scalar of a graph, whose outputs are paired with names and values of cotangents."""
    body = _Body(builder, arguments, [(output, value) for output, _, value in pairs], [], wanted)
    made = Scalar(0, body.dtype, body.given + [(name, value) for _, name, value in pairs], body.twins, body.draws)
    made.functions = _function(made, write_lines(body.lines + body.sum, [body.total]), body.total)
    return made


def next_scalar(scalar: Scalar, wanted: Sequence[Value], cotangents: Sequence[tuple[str, Value] | None]) -> Scalar:
    """Makes the scalar of a scalar's gradients, with cotangents of some of them."""
    builder = Builder()
    kept = [(value, each) for value, each in zip(wanted, cotangents) if each is not None]
    call, made = scalar.gradients([value for value, _ in kept], scalar.formal)
    dtype = _total_type(value.dtype for value in made)
    following = Scalar(scalar.level + 1, dtype, scalar.arguments + [each for _, each in kept], scalar.twins, scalar.draws)
    total = _sum_of_products(builder, [(value, cotangent) for value, (_, (_, cotangent)) in zip(made, kept)], dtype)
    body = call + "".join(f"    {line.text}\n" for line in builder.lines)
    following.functions = scalar.functions + _function(following, body, total)
    return following


def _function(scalar: Scalar, body: str, total: Value) -> str:
    return (f"  func.func private @loss{scalar.level}({_plain(scalar.formal)}) -> {total.type} "
            f"{{\n{body}{_return([total])}  }}\n")


def write_step(scalar: Scalar, wanted: Sequence[tuple[str, Value]]) -> Text:
    """Writes the function of the gradients ``wanted``: names, and their arguments."""
    actual = [value for _, value in scalar.arguments] + list(scalar.twins.values())
    call, made = scalar.gradients([value for _, value in wanted], actual)
    results = [(name, value) for (name, _), value in zip(wanted, made)]
    step = (f"  func.func @step{_signature(scalar.arguments, results)} {{\n{call}"
            f"{_return([value for _, value in results])}  }}\n")
    return Text("module {\n" + scalar.functions + step + "}\n", "step", scalar.arguments, results, scalar.draws)


def write_pausing(builder: Builder, arguments: Sequence[tuple[str, Value]], results: Sequence[tuple[str, Value]],
                  pairs: Sequence[tuple[Value, str, Value]], wanted: Sequence[tuple[str, Value]], takes: bool) -> Text:
    """Writes one step for both passes: it returns the outputs ``results`` at its pause, and the gradients ``wanted``
    behind it, which lie in the arena if the caller ``takes`` them."""
    outputs, gradients = ([value for _, value in named] for named in (results, wanted))
    cotangents = [(name, value) for _, name, value in pairs]
    late = [value.like(f"%late#{number}", True) for number, (_, value) in enumerate(cotangents)]
    body = _Body(builder, arguments, [(output, value) for (output, _, _), value in zip(pairs, late)], outputs, gradients)
    given = body.given + cotangents
    formal, actual = ([value for _, value in given] + list(each) for each in (body.twins, body.twins.values()))
    made = [value.like(f"%r#{number + 1}") for number, value in enumerate([*outputs, *gradients])]
    named = [(name, value) for (name, _), value in zip([*results, *wanted], made)]
    returned, taken = [body.total, *outputs], len(wanted) if takes else 0
    lines = (write_lines(body.lines, [*outputs, *(output for output, _, _ in pairs)])
             + _pause(outputs, [value for _, value in cotangents], late) + write_lines(body.sum, [body.total]))
    call = (f"    %r:{1 + len(made)} = reprise.value_and_grad @whole({', '.join(value.name for value in actual)}) "
            f"wrt [{', '.join(str(formal.index(value)) for value in gradients)}] : "
            f"({', '.join(value.type for value in formal)}) -> "
            f"({', '.join(value.type for value in [body.total, *made])})\n")
    text = (f"module {{\n  func.func private @whole({_plain(formal)}) -> ({', '.join(value.type for value in returned)}) "
            f"{{\n{lines}{_return(returned)}  }}\n"
            f"  func.func @step{_signature(given, named, taken)} {{\n{call}{_return(made)}  }}\n}}\n")
    return Text(text, "step", given, named, body.draws, taken)


def _pause(early: Sequence[Value], cotangents: Sequence[Value], late: Sequence[Value]) -> str:
    names = [", ".join(value.name for value in values) for values in (early, cotangents)]
    types = [", ".join(value.type for value in values) for values in ([*early, *cotangents], late)]
    return f"    %late:{len(late)} = reprise.pause ({names[0]}) then ({names[1]}) : ({types[0]}) -> ({types[1]})\n"
