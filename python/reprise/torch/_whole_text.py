"""Writes the functions of a graph: its forward pass, and its gradients for given cotangents of its outputs."""

from __future__ import annotations

from typing import Sequence

import torch

from .aten import Builder, Value


class Text:
    """A module of one entry, with the names of its arguments and results."""

    def __init__(self, text: str, entry: str, arguments: list[tuple[str, Value]], results: list[tuple[str, Value]],
                 draws: bool) -> None:
        self.text = text
        self.entry = entry
        self.arguments = arguments
        #: Each is an argument, too: state that is written and never read, so that it lies in memory of the caller.
        self.results = results
        self.draws = draws


def _signature(arguments: Sequence[tuple[str, Value]], results: Sequence[tuple[str, Value]]) -> str:
    given = [f'{value.name}: {value.type} {{reprise.name = "{name}", reprise.role = "input"}}'
             for name, value in arguments]
    given += [f'%s{number}: {value.type} {{reprise.name = "{name}", reprise.role = "state"}}'
              for number, (name, value) in enumerate(results)]
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


def _sum_of_products(builder: Builder, pairs: Sequence[tuple[Value, Value]]) -> Value:
    """Σ <output, cotangent>, whose gradient is what a backward pass returns."""
    is_wide = any(torch.float64 in (output.dtype, cotangent.dtype) for output, cotangent in pairs)
    dtype = torch.float64 if is_wide else torch.float32
    total = None
    for output, cotangent in pairs:
        product = builder.binary("mul", builder.cast(output, dtype), builder.cast(cotangent, dtype))
        product = builder.reduce("sum", product, None)
        total = product if total is None else builder.binary("add", total, product)
    return total


def write_step(builder: Builder, arguments: Sequence[tuple[str, Value]], pairs: Sequence[tuple[Value, Value]],
               names: Sequence[str], wanted: Sequence[tuple[str, Value]]) -> Text:
    """The gradients ``wanted`` (names, and arguments that they are of) for pairs of outputs and cotangents (names)."""
    before = len(builder.lines)
    total = _sum_of_products(builder, pairs)
    lines = builder.live_lines([total])
    del builder.lines[before:]
    used = {operand for line in lines for operand in line.operands} | {value for _, value in wanted}
    twins = {twin: value for value, twin in builder.frozen_arguments.items()}
    used |= {twins[value] for value in used if value in twins}
    given = [(name, value) for name, value in arguments if value in used]
    frozen = [twin for twin in twins if twin in used]
    cotangents = [(name, value) for name, (_, value) in zip(names, pairs)]
    formal = [value for _, value in given] + frozen + [value for _, value in cotangents]
    actual = [value for _, value in given] + [twins[twin] for twin in frozen] + [value for _, value in cotangents]
    wrt = [formal.index(value) for _, value in wanted]
    body = "".join(f"    {line.text}\n" for line in lines)
    loss = f"  func.func private @loss({_plain(formal)}) -> {total.type} {{\n{body}{_return([total])}  }}\n"
    results = [(name, Value(f"%r#{number + 1}", value.shape, value.dtype)) for number, (name, value) in enumerate(wanted)]
    call = (f"    %r:{1 + len(wrt)} = reprise.value_and_grad @loss({', '.join(value.name for value in actual)}) "
            f"wrt [{', '.join(map(str, wrt))}] : ({', '.join(value.type for value in actual)}) -> "
            f"({', '.join([total.type] + [value.type for _, value in results])})\n")
    step = (f"  func.func @step{_signature(given + cotangents, results)} {{\n{call}"
            f"{_return([value for _, value in results])}  }}\n")
    return Text("module {\n" + loss + step + "}\n", "step", given + cotangents, results, any(line.draws for line in lines))
