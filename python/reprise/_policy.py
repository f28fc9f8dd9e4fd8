"""Runs policies that are Python callables, on the forward graph that plugins get."""

from __future__ import annotations

from typing import Any, Callable

from ._errors import suggest
from ._plan_enums import LABELS

KINDS = ["attention", "contraction", "batched", "convolution", "elementwise", "normalization", "random", "reduction", "view"]


class Value:
    """A tensor of the graph."""

    def __init__(self, number: int, dtype: str, shape: tuple[int, ...], bytes: int, names: list[str]) -> None:
        self.number = number
        self.dtype = dtype
        self.shape = shape
        self.bytes = bytes
        #: Names by reprise.name.
        self.names = names
        #: Op that computes it; None for an argument or a constant.
        self.op: Op | None = None
        #: Ops that read it, each once.
        self.users: list[Op] = []

    def __repr__(self) -> str:
        return f"<Value {self.number}: {self.dtype}{list(self.shape)}>"


class Op:
    """Op of the forward pass. A policy may set its label, which applies to all of its results."""

    def __init__(self, number: int, name: str, scope: str, location: str, bytes: int, flops: int, kinds: int) -> None:
        self.number = number
        #: Name such as "reprise.dot_general".
        self.name = name
        #: Scope such as "layer/3/attention"; empty without one.
        self.scope = scope
        #: "FILE:LINE:COLUMN"; empty: unknown.
        self.location = location
        #: Bytes of all results.
        self.bytes = bytes
        self.flops = flops
        #: Kinds such as {"contraction", "batched"}.
        self.kinds = frozenset(kind for bit, kind in enumerate(KINDS) if kinds >> bit & 1)
        self.operands: list[Value] = []
        self.results: list[Value] = []
        #: "must_save", "prefer_save", "prefer_recompute", "must_recompute", or None.
        self.label: str | None = None
        #: Reason of the label, for reports.
        self.reason = ""

    def __repr__(self) -> str:
        return f"<Op {self.number}: {self.name}{' in ' + self.scope if self.scope else ''}>"


class Graph:
    """The forward pass, in program order."""

    def __init__(self, ops: list[tuple], values: list[tuple]) -> None:
        self.values = [Value(number, dtype, shape, size, names)
                       for number, (dtype, shape, _, size, _, names) in enumerate(values)]
        self.ops = [Op(number, *entry[:6]) for number, entry in enumerate(ops)]
        for op, entry in zip(self.ops, ops):
            op.operands = [self.values[number] for number in entry[6]]
            op.results = [self.values[number] for number in entry[7]]
        for value, (_, _, maker, _, users, _) in zip(self.values, values):
            value.op = None if maker is None else self.ops[maker]
            value.users = [self.ops[number] for number in users]


def adapt(policy: Callable[[Graph], Any]) -> Callable[[list, list], list[tuple[int, str]]]:
    """Returns the callback of the extension: the policy sets labels of ops, or returns a dictionary from ops to
    labels."""

    def decide(ops: list[tuple], values: list[tuple]) -> list[tuple[int, str]]:
        graph = Graph(ops, values)
        for op, label in (policy(graph) or {}).items():
            op.label = label
        for op in graph.ops:
            if op.label and op.label not in LABELS:
                raise ValueError(f"{op!r} has the unknown label {op.label!r}{suggest(op.label, LABELS)}")
        return [(LABELS[op.label] if op.label else 0, op.reason) for op in graph.ops]

    return decide
