"""The forward and the backward graph that carry out a plan."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from .._errors import Error
from ._plan_hosts import arrive, from_host, to_host
from ._plan_nodes import is_mutation, is_python_object, is_wait, replay_form, root, tangent_bytes
from ._plan_problem import Problem, state_bytes
from ._seam.generators import run_and_save_rng_state, run_with_rng_state
from ._seam.graphs import FakeTensorMode, detect_fake_mode, make_graph_module
from ._seam.joint import (SavedForBackwardsAOTOutput, SavedForBackwardsNoVcCheckAOTOutput, extract_graph, extract_outputs,
                          is_backward_seed, is_backward_state, is_forward_seed, is_primal, is_tangent, raise_getitems)

if TYPE_CHECKING:
    from ._plan_tally import Surroundings


def _skips_version_check(node: fx.Node) -> bool:
    return node.meta.get("saved_tensor_with_no_vc_check", False)


def _maker(node: fx.Node) -> fx.Node:
    """The call that has a result; equal calls that were made one have several nodes for each of theirs."""
    while node.target is operator.getitem or is_wait(node):
        node = node.args[0]
    return node


def _find_waits(node: fx.Node) -> list[fx.Node]:
    """Returns the calls that wait for a collective."""
    found = []
    for user in node.users:
        found += [user] if is_wait(user) else _find_waits(user) if user.target is operator.getitem else []
    return found


class Carrier:
    """Writer of both graphs of a plan, in the order of the planner's executions.

    AOTAutograd's own extraction makes the forward graph. The body of the backward graph is written in the plan's order:
    replays at their places in the plan, and new views for each buffer that they show.
    """

    def __init__(self, problem: Problem, executions: list[dict[str, Any]], num_fwd_outputs: int) -> None:
        self.problem, self.executions, self.num_fwd_outputs = problem, executions, num_fwd_outputs
        originals = [i for i, each in enumerate(executions) if each["replay"] == 0]
        self.start = 1 + max(i for i in originals if executions[i]["operation"] < problem.border)
        if any(each["replay"] or each["operation"] >= problem.border for each in executions[:self.start]):
            raise Error("internal error: the plan replays inside the forward pass")
        self.made_by = {executions[i]["operation"]: i for i in originals}
        self.states = {executions[i]["sources"][-1]: None for i in range(self.start, len(executions)) if self._redraws(i)}
        #: Values on the host that a replay reads, by the operation that puts them there.
        self.hosts = {executions[i]["operation"]: None for i in range(self.start, len(executions)) if self._operation(i).offloads is not None}
        self.saved = self._find_saved()
        self._state: torch.Tensor | None = None

    def _operation(self, index: int):
        return self.problem.operations[self.executions[index]["operation"]]

    def _redraws(self, index: int) -> bool:
        return self.executions[index]["replay"] > 0 and self._operation(index).is_redrawn

    def _anchor(self, node: fx.Node, result: int) -> fx.Node:
        """The joint graph's node of one result; behind the wait for a collective."""
        nodes = [node]
        for each in nodes:
            if isinstance(each.meta["val"], torch.Tensor):
                if root(each)[1] == result:
                    return next((user for user in each.users if is_wait(user)), each)
            else:
                nodes += [user for user in each.users if user.target is operator.getitem]
        raise Error(f"internal error: nothing reads result {result} of {node}")

    def _source_of_output(self, output: fx.Node) -> int | None:
        return self.made_by.get(self.problem.maker.get(root(output)[0]))

    def _find_saved(self) -> list[fx.Node]:
        """Returns arguments and forward values that the backward graph reads, in AOTAutograd's order."""
        saved: dict[fx.Node, None] = {}

        def need(node: fx.Node, index: int | None) -> None:
            base, result = root(node)
            if index is None and base.op == "placeholder" and is_primal(base):
                saved.setdefault(base)
            if index is not None and index < self.start:
                saved.setdefault(self._anchor(base, result))
        for index in range(self.start, len(self.executions)):
            for node, source in zip(self._operation(index).reads, self.executions[index]["sources"]):
                need(node, source)
        for output in self.problem.backward_outputs:
            if isinstance(output, fx.Node):
                need(output, self._source_of_output(output))
        return sorted(saved, key=lambda node: (is_python_object(node), _skips_version_check(node), node.op != "placeholder"))

    def forward(self) -> fx.GraphModule:
        """(arguments) -> (outputs, states of the generator, saved tensors)."""
        joint = self.problem.joint
        outputs, _, descriptions, _ = extract_outputs(joint, num_fwd_outputs=self.num_fwd_outputs)
        places = [each for each in joint.graph.find_nodes(op="placeholder")
                  if is_primal(each) or is_forward_seed(each)]
        kinds = [SavedForBackwardsAOTOutput] * (len(self.states) + len(self.hosts))
        kinds += [SavedForBackwardsNoVcCheckAOTOutput if _skips_version_check(each) else SavedForBackwardsAOTOutput
                  for each in self.saved]
        # The random ops themselves hold the places of the states, and are replaced when all nodes exist.
        holders = [self._operation(index).node for index in self.states]
        anchors = [self._anchor(node, 0) for node in holders] + [self._offloaded(place) for place in self.hosts]
        graph = extract_graph(
            joint.graph, places, outputs + anchors + self.saved,
            descriptions + [kind(i) for i, kind in enumerate(kinds)], "forward")
        self._move_to_host(graph, len(outputs) + len(holders))
        self._save_states(graph, {node.name for node in holders}, len(outputs))
        return raise_getitems(make_graph_module(joint, graph))

    def _offloaded(self, place: int) -> fx.Node:
        operation = self.problem.operations[place]
        return self._anchor(operation.node, operation.offloads)

    def _move_to_host(self, graph: fx.Graph, first: int) -> None:
        """Replaces outputs from ``first`` on, the offloaded values, by their copies on the host."""
        output = next(iter(graph.find_nodes(op="output")))
        values = list(output.args[0])
        for place in range(first, first + len(self.hosts)):
            value = values[place]
            with graph.inserting_after(value):
                values[place] = graph.call_function(to_host, (value,))
            values[place].meta["val"] = to_host(value.meta["val"])
        output.args = (tuple(values),)

    def _save_states(self, graph: fx.Graph, names: set[str], first: int) -> None:
        """Makes each replayed random op return the generator's state before it."""
        states = {}
        for node in [each for each in graph.nodes if each.name in names and each.op == "call_function"]:
            with graph.inserting_before(node):
                both = graph.call_function(run_and_save_rng_state, (node.target, *node.args), node.kwargs)
                state = graph.call_function(operator.getitem, (both, 0))
                state.meta["val"] = self._state_sample()
                value = graph.call_function(operator.getitem, (both, 1))
            value.meta = dict(node.meta)
            states[node.name] = state
            node.replace_all_uses_with(value)
            graph.erase_node(node)
        output = next(iter(graph.find_nodes(op="output")))
        values = list(output.args[0])
        for place, index in enumerate(self.states):
            values[first + place] = states[self._operation(index).node.name]
        output.args = (tuple(values),)
        graph.lint()

    def _state_sample(self) -> torch.Tensor:
        if self._state is None:
            places = self.problem.joint.graph.find_nodes(op="placeholder")
            mode = detect_fake_mode([each.meta.get("val") for each in places]) or FakeTensorMode()
            self._state = mode.from_tensor(torch.get_rng_state())
        return self._state.clone()

    def backward(self) -> fx.GraphModule:
        """(states of the generator, saved tensors, tangents) -> gradients."""
        joint, self.graph = self.problem.joint, fx.Graph()
        self.inputs: dict[fx.Node, fx.Node] = {}
        self.made: dict[int, fx.Node] = {}
        #: Values from the host by the execution that begins their copy, where it has ended.
        self.arrived: dict[int, fx.Node] = {}
        self.views: dict[tuple[fx.Node, int | None], fx.Node] = {}
        for index in self.states:
            place = self.states[index] = self.graph.placeholder(f"rng_state_of_{self._operation(index).node.name}")
            place.meta["val"] = self._state_sample()
        for operation in self.hosts:
            value = self._offloaded(operation)
            place = self.hosts[operation] = self.graph.placeholder(f"host_{value.name}")
            place.meta["val"] = to_host(value.meta["val"])
        late = [each for each in joint.graph.find_nodes(op="placeholder") if is_tangent(each)
                or is_backward_seed(each) or is_backward_state(each)]
        for node in [*self.saved, *late]:
            self.inputs[node] = self.graph.placeholder(node.name)
            self.inputs[node].meta = node.meta
        for index in range(self.start, len(self.executions)):
            self.made[index] = self._execute(index)
            for wait in _find_waits(self._operation(index).node):
                self._stands_for(wait, index)
        outputs = [self._stands_for(each, self._source_of_output(each)) if isinstance(each, fx.Node) else each
                   for each in self.problem.backward_outputs]
        output = self.graph.output(tuple(outputs))
        *_, descriptions = extract_outputs(joint, num_fwd_outputs=self.num_fwd_outputs)
        output.meta = {"desc": descriptions}
        self.graph.eliminate_dead_code()
        self.graph.lint()
        for node in self.graph.nodes:
            if node.op in ("call_function", "get_attr"):
                node.meta["autograd_backward"] = True
        return raise_getitems(make_graph_module(joint, self.graph))

    def _execute(self, index: int) -> fx.Node:
        operation, execution = self._operation(index), self.executions[index]
        if operation.offloads is not None:
            return self._fetch(execution["operation"])
        node, sources = operation.node, dict(zip(operation.reads, execution["sources"]))
        target, args = replay_form(node) if execution["replay"] else (node.target, node.args)
        args, kwargs = fx.node.map_arg((args, node.kwargs), lambda each: self._stands_for(each, sources.get(each)))
        if self._redraws(index):
            target, args = run_with_rng_state, (self.states[execution["sources"][-1]], target, *args)
        made = self.graph.create_node("call_function", target, args, kwargs, node.name)
        made.meta = dict(node.meta)
        if execution["replay"]:
            made.meta["reprise_replay"] = execution["replay"]
        return made

    def _fetch(self, place: int) -> fx.Node:
        """Begins the copy of a value on the host to its device."""
        value, host = self._offloaded(place), self.hosts[place]
        made = self.graph.call_function(from_host, (host, value.meta["val"].device))
        made.meta["val"] = value.meta["val"]
        return made

    def _await(self, index: int) -> fx.Node:
        """Returns the copy of a value on the host, which is waited for before its first reader."""
        if index not in self.arrived:
            made = self.arrived[index] = self.graph.call_function(arrive, (self.made[index],))
            made.meta["val"] = self.made[index].meta["val"]
        return self.arrived[index]

    def _stands_for(self, node: fx.Node, index: int | None) -> fx.Node:
        """Returns the new node for a joint node whose memory an execution computed (None: it existed)."""
        if node.op != "call_function":
            if node not in self.inputs:
                self.inputs[node] = self.graph.node_copy(node)
            return self.inputs[node]
        base, result = root(node)
        if is_mutation(node):
            return self.made[self.made_by[self.problem.maker[node]]]
        if base in self.problem.maker and index is not None:
            if index < self.start and _maker(node) is base and isinstance(node.meta["val"], torch.Tensor):
                return self.inputs[self._anchor(base, result)]
            is_fetched = self._operation(index).offloads is not None
            if node is base or (is_fetched and node is self._anchor(base, result)):
                return self._await(index) if is_fetched else self.made[index]
        if (node, index) not in self.views:
            self.views[node, index] = self.graph.node_copy(node, lambda each: self._stands_for(each, index))
        return self.views[node, index]

    def saved_bytes(self) -> int:
        """Returns the bytes between the passes for the backward pass, without arguments and outputs, which exist
        anyway."""
        outputs = {self.problem.holder(each) for each in self.problem.forward_outputs if isinstance(each, fx.Node)}
        kept = {self.problem.holder(each) for each in self.saved if each.op != "placeholder"} - outputs
        return sum(self.problem.returned(node)[result] for node, result in kept)

    def host_bytes(self) -> int:
        """Returns the bytes that wait in the memory of the host."""
        return sum(sum(self.problem.sizes(self.problem.operations[place])) for place in self.hosts)

    def _bytes(self, saved: fx.Node) -> int:
        node, result = self.problem.holder(saved)
        return self.problem.returned(node)[result]

    def surroundings(self) -> "Surroundings":
        """Returns facts about the memory of the two graphs that Inductor's code does not have."""
        from ._plan_tally import Surroundings
        problem = self.problem
        held = {value for value, until in problem.read_until.items()
                if until >= len(problem.operations) and problem.value_makers[value] < problem.border}
        saved = {self.inputs[each].name: self._bytes(each) for each in self.saved
                 if each.op != "placeholder" and problem.value(each) not in held}
        saved.update({place.name: state_bytes(self._operation(index).node) for index, place in self.states.items()})
        saved.update({place.name: tangent_bytes(place.meta["val"]) for node, place in self.inputs.items()
                      if is_tangent(node) and isinstance(place.meta.get("val"), torch.Tensor)})
        outputs = sum(size for operation in problem.operations for value, size in problem.valued(operation) if value in held)
        return Surroundings(outputs, saved, {node.name: each for node, each in problem.measured.items()})
