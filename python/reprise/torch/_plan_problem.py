"""A joint graph of AOTAutograd as a planning problem (docs/reference/PlanningProblems.md)."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, Iterable

import torch
from torch import fx

from .._errors import Error
from . import _plan_costs as costs
from . import _plan_regions as regions
from ._plan_labels import OFFLOAD, Policy, join, label
from ._plan_nodes import (describe, is_mutation, is_random, is_view, mutated_inputs, replay_form, replayed_results, results, root,
                          runs_once, storage_bytes, tangent_bytes, tensor_operands, written_arguments)
from ._plan_workspace import Measured
from ._seam.core import tree_leaves
from ._seam.joint import classify_nodes, is_tangent


@dataclasses.dataclass
class Operation:
    """Operation of the problem: a call that allocates memory, or the state of the generator before a random call."""

    node: fx.Node
    is_backward: bool
    is_state: bool = False
    is_pinned: bool = False  # must be saved, whatever the user requests
    offloads: int | None = None  # the result of `node` that waits on the host; a replay copies it back
    region: regions.Region = ()
    first_value: int = 0
    reads: list[fx.Node] = dataclasses.field(default_factory=list)
    #: Bytes of the results, and seconds by the cost model, once they are known.
    sizes: list[int] | None = None
    price: float | None = None

    @property
    def is_copy(self) -> bool:
        """Returns whether the operation is no call of its node: a state of the generator, or a value on the host."""
        return self.is_state or self.offloads is not None

    @property
    def is_redrawn(self) -> bool:
        """Returns whether a replay needs the generator's old state."""
        return not self.is_backward and not self.is_copy and is_random(self.node) and not runs_once(self.node)


def state_bytes(node: fx.Node) -> int:
    """The generator's state that a replay of a random op reads. That of a GPU lies on the host."""
    first = next(each for each in results(node) if each is not None)
    return torch.get_rng_state().nbytes if first.device.type == "cpu" else 0


class Problem:
    """Operations of a joint graph, and their problem.

    Each op is a kernel that reads and writes whole tensors, as in eager code; Inductor's code needs less.

    Views and the getitem of results are no operations: readers refer to the memory that they show. So the view of a
    saved value that autograd puts at the start of the backward pass requires nothing there.
    """

    def __init__(self, joint: fx.GraphModule, num_fwd_outputs: int, static_inputs: Iterable[int], policy: Policy,
                 measured: dict[fx.Node, Measured], moves: bool = False) -> None:
        self.joint, self.measured = joint, measured
        outputs = tree_leaves(next(iter(joint.graph.find_nodes(op="output"))).args)
        self.forward_outputs, self.backward_outputs = outputs[:num_fwd_outputs], outputs[num_fwd_outputs:]
        self.operations = list(self._order(static_inputs, num_fwd_outputs))
        self.border = sum(not each.is_backward for each in self.operations)
        self.written = written_arguments(joint)
        self._number_values()
        found = regions.find(joint)
        for each in self.operations:
            each.region = found[each.node]
        self.labels = [self._label(each, policy) for each in self.operations]
        self._join_views(found, policy)
        self._add_offloads(moves)
        #: Regions with a budget, the values that they must not save, and those of regions with a budget in bytes.
        self.bounded: list[Any] = []
        self.limited: set[int] = set()
        self.demanded: set[int] = set()
        self.gradients, self.read_until = self._find_late_reads()

    def _order(self, static_inputs: Iterable[int], num_fwd_outputs: int) -> Iterable[Operation]:
        """Forward, then backward, each in the order of the joint graph."""
        info = classify_nodes(self.joint, list(static_inputs or []), num_fwd_outputs)
        self.forward_views = [node for node in self.joint.graph.nodes
                              if is_view(node) and node in info._required_fw_nodes]
        calls = [node for node in self.joint.graph.nodes if node.op == "call_function" and not is_view(node)
                 and node.target is not operator.getitem]
        for node in calls:
            if not results(node) and not is_mutation(node) and node.users:
                raise Error(f"{describe(node)} makes sizes that are known only at run time; "
                            "reprise_plan needs sizes before the step")
        for is_backward in (False, True):
            for node in calls:
                if (node not in info._required_fw_nodes) == is_backward:
                    operation = Operation(node, is_backward)
                    if operation.is_redrawn:
                        yield Operation(node, False, is_state=True)
                    yield operation

    def _number_values(self) -> None:
        """Numbers the values as in the planner's format: in the order of the operations that compute them."""
        self.maker: dict[fx.Node, int] = {}
        self.value_makers: list[int] = []
        #: Values that readers find where they are copied back, by the value that their op computes.
        self.moved: dict[int, int] = {}
        self._shown: dict[fx.Node, int | None] = {}
        for place, operation in enumerate(self.operations):
            operation.first_value = len(self.value_makers)
            if operation.offloads is not None:
                first = self.operations[self.maker[operation.node]].first_value
                self.moved[first + operation.offloads] = operation.first_value
            elif not operation.is_state:
                self.maker[operation.node] = place
                operation.reads = tensor_operands(operation.node, replay_form(operation.node)[1])
            self.value_makers += [place] * len(self.sizes(operation))

    def sizes(self, operation: Operation) -> list[int]:
        """Returns the bytes of an operation's results."""
        if operation.sizes is None:
            operation.sizes = self._count_bytes(operation)
        return operation.sizes

    def _count_bytes(self, operation: Operation) -> list[int]:
        if operation.is_state:
            return [state_bytes(operation.node)]
        if operation.offloads is not None:
            return [self.returned(operation.node)[operation.offloads]]
        return [] if is_mutation(operation.node) else self.returned(operation.node)

    def returned(self, node: fx.Node) -> list[int]:
        """Returns the bytes of the storages of a call's results. A shared storage counts with the first of its
        results."""
        return self.measured[node].returned if node in self.measured else [storage_bytes(each) for each in results(node)]

    def scratch(self, operation: Operation) -> int:
        """Returns the bytes in addition to the results while an op runs. A random op runs with the generator's state
        saved."""
        if operation.is_copy:
            return 0
        workspace = self.measured[operation.node].workspace if operation.node in self.measured else 0
        return workspace + (state_bytes(operation.node) if operation.is_redrawn else 0)

    def value(self, node: fx.Node) -> int | None:
        """Returns the value whose memory a node shows; None for memory that exists anyway, such as arguments."""
        if not isinstance(node, fx.Node):
            return None
        if node not in self._shown:
            made_by, index = self.holder(node)
            value = self.operations[self.maker[made_by]].first_value + index if made_by in self.maker else None
            self._shown[node] = self.moved.get(value, value)
        return self._shown[node]

    def holder(self, node: fx.Node) -> tuple[fx.Node, int]:
        """Returns the node whose memory a node shows, and the first of its results with that storage."""
        made_by, index = root(node)
        return made_by, self.measured[made_by].holders[index] if made_by in self.measured else index

    def operands(self, operation: Operation) -> list[int | None]:
        """Returns the values in the order of `reads`; a random op also reads the state before it."""
        state = [operation.first_value - 1] if operation.is_redrawn else []
        return [self.value(each) for each in operation.reads] + state

    def _label(self, operation: Operation, policy: Policy) -> str | None:
        if operation.is_backward or operation.is_state:
            return "must_save" if operation.is_state else None
        reads_state = any(root(each)[0] in self.written for each in operation.reads)
        operation.is_pinned = reads_state or runs_once(operation.node) or operation.node.meta.get(regions.KEPT, False)
        return label(operation.node, reads_state, policy)

    def _join_views(self, found: dict[fx.Node, regions.Region], policy: Policy) -> None:
        """Applies labels of views to the memory that they show; a region's label applies to values computed in it."""
        for node in self.forward_views:
            made_by, _ = self.holder(node)
            place = self.maker.get(made_by)
            if place is None or self.operations[place].is_backward:
                continue
            operation = self.operations[place]
            is_inside = operation.region[:len(found[node])] == found[node]
            self.labels[place] = join(operation.node, self.labels[place], operation.is_pinned, node,
                                      label(node, False, policy), is_inside)

    def _add_offloads(self, moves: bool) -> None:
        """Adds an operation behind each value that waits on the host, or may: the backward pass reads its replay, a copy.
        Results of the graph are in memory in any case."""
        given = {self.value(each) for each in (*self.forward_outputs, *self.backward_outputs)}
        read = {value for each in self.operations[self.border:] for value in self.operands(each)}
        chosen = self._find_movable(read - given - {None}) if moves else set()
        operations, labels = [], []
        for operation, word in zip(self.operations, self.labels):
            operations.append(operation)
            labels.append(None if word == OFFLOAD else word)
            for value, _ in self.valued(operation):
                if value in read and value not in given and (word == OFFLOAD or value in chosen):
                    operations.append(Operation(operation.node, False, offloads=value - operation.first_value, region=operation.region))
                    labels.append("must_recompute" if word == OFFLOAD else None)
        self.operations, self.labels = operations, labels
        self.border = sum(not each.is_backward for each in operations)
        self._number_values()

    def _find_movable(self, values: set[int]) -> set[int]:
        """Returns the values without a label that are cheaper to move than to compute again: those that gain the most, as
        many as the link carries in a third of the step."""
        room, gains = sum(map(self.seconds, self.operations)) / 3, {}
        for value in sorted(values):
            maker = self.value_makers[value]
            operation = self.operations[maker]
            if self.labels[maker] is None and not operation.is_backward and not operation.is_copy:
                device = results(operation.node)[value - operation.first_value].device
                price = costs.copy_seconds(dict(self.valued(operation))[value], device)
                gains[value] = self.seconds(operation) / max(price, 1e-12), price
        chosen = set()
        for value, (gain, price) in sorted(gains.items(), key=lambda each: (-each[1][0], each[0])):
            if gain >= costs.LEAST_GAIN and price <= room:
                chosen.add(value)
                room -= price
        return chosen

    def _find_late_reads(self) -> tuple[set[int], dict[int, int]]:
        """Returns the values that are gradients, and for outputs the launch until which a caller holds them."""
        until: dict[int, int] = {}
        updates = len(list(mutated_inputs(self.joint)))
        for place, output in enumerate(self.forward_outputs):
            value = self.value(output)
            if value is not None:
                # The updates of arguments come first among the outputs and are copied at the end of the forward pass.
                last = self.border - 1 if place < updates else len(self.operations)
                until[value] = max(until.get(value, 0), last)
        found = {self.value(each) for each in self.backward_outputs} - {None}
        gradients = {each for each in found if self.value_makers[each] >= self.border}
        until.update({each: len(self.operations) for each in found})
        return gradients, until

    def list_tangents(self) -> list[torch.Tensor]:
        """Returns the gradients of outputs."""
        places = [each.meta.get("val") for each in self.joint.graph.find_nodes(op="placeholder")
                  if is_tangent(each)]
        return [each for each in places if isinstance(each, torch.Tensor)]

    def tangents(self) -> list[dict[str, int]]:
        """Returns the bytes of the gradients of outputs, which autograd holds during the whole backward pass, and of
        copies of them."""
        return [{"first": self.border, "last": len(self.operations) - 1, "bytes": tangent_bytes(each)}
                for each in self.list_tangents() if self.border < len(self.operations)]

    @property
    def gradient_bytes(self) -> int:
        return sum(size for operation in self.operations for value, size in self.valued(operation) if value in self.gradients)

    def valued(self, operation: Operation) -> list[tuple[int, int]]:
        """Returns the values that an operation computes, with their bytes."""
        return [(operation.first_value + place, size) for place, size in enumerate(self.sizes(operation))]

    def _result(self, value: int, size: int, label: str | None) -> dict[str, Any]:
        entry: dict[str, Any] = {"bytes": size}
        if value in self.read_until:
            entry["read_until"] = self.read_until[value]
        if label and not (label == "must_recompute" and value in self.read_until):
            entry["label"] = label
        return entry

    def label_of(self, value: int, obeys: bool = True) -> str | None:
        """Returns the label of a value, with or without the user's MUST labels and regions with a budget. A replay does not
        compute a batch norm's next running statistics."""
        maker = self.value_makers[value]
        operation = self.operations[maker]
        if not operation.is_copy and value - operation.first_value >= replayed_results(operation.node):
            return "must_save"
        if not obeys and self._is_asked(maker):
            return None
        return "must_recompute" if value in self.limited else self.labels[maker]

    def is_recomputed(self, place: int) -> bool:
        """Returns whether the label of a result of an operation asks for a replay."""
        return any(str(self.label_of(value)).endswith("recompute") for value, _ in self.valued(self.operations[place]))

    def seconds(self, operation: Operation) -> float:
        """Returns the seconds of one execution by the cost model; those of a value on the host are of two copies."""
        if operation.price is None:
            operation.price = self._find_price(operation)
        return operation.price

    def _find_price(self, operation: Operation) -> float:
        if operation.is_state:
            return 0.0
        return costs.seconds(operation.node) if operation.offloads is None else costs.copy_seconds(
            self.sizes(operation)[0], results(operation.node)[operation.offloads].device)

    def _is_asked(self, place: int) -> bool:
        """Returns whether the label of an operation is a MUST of the user, for whom a share is a goal."""
        operation = self.operations[place]
        is_demanded = any(value in self.demanded for value, _ in self.valued(operation))
        return (is_demanded or str(self.labels[place]).startswith("must")) and not operation.is_state and not operation.is_pinned

    def count_musts(self) -> int:
        """Returns the number of operations with a MUST label of the user."""
        return sum(self._is_asked(place) for place in range(len(self.operations)))

    def entry(self, place: int, obeys: bool = True) -> dict[str, Any]:
        """Returns an operation of the problem, without its unit."""
        operation = self.operations[place]
        entry: dict[str, Any] = {"name": operation.node.name, "cost": 0.0, "makes_all": True,
                                 "operands": self.operands(operation),
                                 "results": [self._result(value, size, self.label_of(value, obeys))
                                             for value, size in self.valued(operation)]}
        if not operation.is_state:
            entry["cost"] = self.seconds(operation)
            entry["scratch"] = self.scratch(operation)
        if operation.is_backward:
            entry["backward"] = True
        return entry

    def to_json(self, obeys: bool = True) -> dict[str, Any]:
        """Returns the problem, with or without the user's MUST labels. Gradients count from their computation to the
        end."""
        entries = [self.entry(place, obeys) for place in range(len(self.operations))]
        problem = {"version": 1, "operations": entries, "other_buffers": self.tangents()}
        if any(each.region for each in self.operations):
            problem["units"], units = regions.number(each.region for each in self.operations)
            for entry, unit in zip(entries, units):
                entry["unit"] = unit
        return problem
