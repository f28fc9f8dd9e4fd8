#!/usr/bin/env python3
"""Plans of PyTorch's partitioners and of ours: the same joint graphs, cost model and allocator's figure, in one run.

Usage: torch_plans.py [--models=NAME,…] [--steps] [--output=FILE.json] [--figure=FILE.svg --figure-model=NAME]

Runs in the environment of `make test-frameworks` (build/frameworks-venv/bin/python). All plans run as eager ops, so that
the planner alone is compared. For each plan the table has the allocator's peak on the CPU, the bytes saved between the
passes, and the time that replays add by the cost model. A column tells whether the gradients have the bits of a step
without replays. If another plan needs less memory than ours at no more time, we also plan within its bytes.

--steps: instead, the time of a step with Inductor, with backend="reprise_plan" at 100 and 60 %, and with backend="reprise",
as a share of eager's. All take turns on one thread; each share is the median of those of the rounds.
"""
import argparse
import contextlib
import copy
import json
import os
import statistics
import sys
import time
import warnings

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "test", "Frameworks"))

import memory
import models
import torch
import torch._functorch.config
from torch import fx, nn
from torch._functorch import partitioners
from torch._functorch.compile_utils import fx_graph_cse
from torch._functorch.aot_autograd import aot_module_simplified
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from reprise.torch._plan_backend import run_eager
from reprise.torch._plan_costs import seconds
from reprise.torch._plan_gradients import keep_gradients
from reprise.torch._plan_nodes import is_view, root, storage_bytes
from reprise.torch._plan_partition import Partitioner

SHARES = [round(0.1 * tenth, 1) for tenth in range(10, -1, -1)]
OURS = ["100%", "95%", "90%", "85%", "80%", "70%", "60%", "50%", "45%", "40%", "35%", "30%"]
PRODUCTS = ("mm", "bmm", "addmm", "convolution", "_scaled_dot_product", "_grouped_mm")
BAR = "ours"
ROUNDS = 15


class Counted:
    """Partition function that counts the saved bytes and the cost of its two graphs."""

    def __init__(self, partition):
        self.partition, self.saved, self.seconds = partition, 0, 0.0

    def __call__(self, joint, inputs, *, num_fwd_outputs, **more):
        if not isinstance(self.partition, Partitioner):
            # Autograd copies these gradients behind PyTorch's graphs; our graphs contain the copies.
            copied = fx.GraphModule(joint, copy.deepcopy(joint.graph))
            self.seconds += sum(map(seconds, keep_gradients(copied, more["static_lifetime_input_indices"])))
        forward, backward = self.partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **more)
        outputs = next(iter(forward.graph.find_nodes(op="output"))).args[0]
        held = {root(each)[0] for each in outputs[:num_fwd_outputs] if isinstance(each, fx.Node)}
        kept = {root(each): each.meta.get("val") for each in outputs[num_fwd_outputs:] if isinstance(each, fx.Node)}
        self.saved += sum(storage_bytes(value) for (node, _), value in kept.items()
                          if node.op != "placeholder" and node not in held and isinstance(value, torch.Tensor))
        self.seconds += sum(seconds(node) for graph in (forward, backward) for node in graph.graph.nodes
                            if node.op == "call_function" and not is_view(node) and "getitem" not in str(node.target))
        return forward, backward


def save_all(joint, inputs, *, num_fwd_outputs, **ignored):
    joint.graph = fx_graph_cse(joint.graph)
    return partitioners.default_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs)


def min_cut(joint, inputs, *, num_fwd_outputs, static_lifetime_input_indices=None, **ignored):
    return partitioners.min_cut_rematerialization_partition(
        joint, inputs, num_fwd_outputs=num_fwd_outputs, static_lifetime_input_indices=static_lifetime_input_indices)


def find_layers(model):
    """The modules that torch.utils.checkpoint is put around: the children of the longest lists of modules."""
    lists = [each for each in model.modules() if isinstance(each, (nn.ModuleList, nn.Sequential)) and len(each) > 1]
    layers = [child for each in lists for child in each if any(True for _ in child.parameters())]
    inner = {part for each in layers for part in each.modules() if part is not each}
    return [each for each in layers if each not in inner]


@contextlib.contextmanager
def checkpointed(model, is_selective):
    """Runs all layers under torch.utils.checkpoint; a selective one saves contractions."""
    def policy(context, op, *args, **kwargs):
        saves = str(op).split(".")[1].startswith(PRODUCTS)
        return CheckpointPolicy.MUST_SAVE if saves else CheckpointPolicy.PREFER_RECOMPUTE
    more = {"context_fn": lambda: create_selective_checkpoint_contexts(policy)} if is_selective else {}
    kinds = {type(layer): type(layer).forward for layer in find_layers(model)}

    def wrap(kind, forward):
        def run(self, *args, **kwargs):
            return checkpoint(lambda *given: forward(self, *given, **kwargs), *args, use_reentrant=False, **more)
        kind.forward = run
    for kind, forward in kinds.items():
        wrap(kind, forward)
    try:
        yield
    finally:
        for kind, forward in kinds.items():
            kind.forward = forward


def measure(case, partition, expected, is_whole):
    """Measures one plan: bytes, seconds by the cost model, and whether the bits are the expected ones."""
    torch._dynamo.reset()
    counted = Counted(partition)

    def backend(graph, inputs):
        return aot_module_simplified(graph, inputs, fw_compiler=run_eager, bw_compiler=run_eager, partition_fn=counted,
                                     decompositions={})
    run = torch.compile(case.model, backend=backend, fullgraph=is_whole)
    case.step(run)
    found = [each.grad.clone() for each in case.model.parameters() if each.grad is not None]
    case.model.zero_grad(set_to_none=True)
    peak = memory.measure_peak(lambda: case.step(run))
    case.model.zero_grad(set_to_none=True)
    row = {"peak": peak, "saved": counted.saved, "seconds": counted.seconds}
    if expected is not None:
        row["bits_equal"] = all(map(torch.equal, found, expected))
    return row, found


def plans_of(case):
    """(name, context, partition function) of each plan."""
    nothing = contextlib.nullcontext
    yield "PyTorch, default partition", nothing, save_all
    yield "PyTorch, min-cut", nothing, min_cut
    for share in SHARES[1:]:
        yield f"PyTorch, budget {share}", lambda share=share: torch._functorch.config.patch(activation_memory_budget=share), min_cut
    yield "selective checkpointing", lambda: checkpointed(case.model, True), min_cut
    yield "torch.utils.checkpoint", lambda: checkpointed(case.model, False), min_cut
    for budget in OURS:
        yield f"{BAR} {budget}", nothing, Partitioner(budget, None, False)


def compare(name):
    case, expected, rows = models.build(name), None, []
    if hasattr(getattr(case.model, "config", None), "use_cache"):
        case.model.config.use_cache = False  # regions of torch.utils.checkpoint cannot fill a cache
    # A model's first step settles properties such as the kind of its loss, which would otherwise cause a second
    # compilation.
    case.step()
    def add(title, context, partition):
        nonlocal expected
        try:
            with context(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # If a region breaks the graph, its ops are in no plan.
                row, found = measure(case, partition, expected, "checkpoint" in title)
        except Exception as error:  # a plan that PyTorch cannot make becomes a row with the error
            row, found = {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}, None
        expected = found if expected is None else expected
        rows.append({"model": name, "plan": title, **row})
        if "seconds" in row:
            rows[-1]["extra_percent"] = 100 * (row["seconds"] / rows[0]["seconds"] - 1)
        print(show(rows[-1]), flush=True)
    for plan in plans_of(case):
        add(*plan)
    for row, _ in list(find_exceptions(rows)):
        add(f"{BAR} {row['peak']} bytes", contextlib.nullcontext, Partitioner(str(row["peak"]), None, False))
    return rows


def show(row):
    if "error" in row:
        return f"| {row['model']} | {row['plan']} | {row['error']} | | | |"
    bits = {True: "equal", False: "**not equal**", None: ""}[row.get("bits_equal")]
    return (f"| {row['model']} | {row['plan']} | {row['peak'] / 1e6:.3f} MB | {row['saved'] / 1e6:.3f} MB | "
            f"{row['extra_percent']:+.1f} % | {bits} |")


def find_exceptions(rows):
    """Returns plans of others that need less memory than ours at no more time, and our plans within their bytes."""
    ours = [row for row in rows if row["plan"].startswith(BAR) and "peak" in row]
    for row in rows:
        if row in ours or "peak" not in row:
            continue
        best = min((each["peak"] for each in ours if each["model"] == row["model"]
                    and each["extra_percent"] <= row["extra_percent"] + 0.05), default=None)
        if best is None or best > row["peak"]:
            yield row, best


def time_steps(name):
    """Seconds of a step as a share of eager's."""
    case = models.build(name)
    if hasattr(getattr(case.model, "config", None), "use_cache"):
        case.model.config.use_cache = False
    torch._dynamo.reset()
    planned = {share: torch.compile(case.model, backend="reprise_plan", options={"budget": share}) for share in ("100%", "60%")}
    runs = {"eager": case.model, "inductor": torch.compile(case.model), **planned,
            "reprise": torch.compile(case.model, backend="reprise")}
    shares = {kind: [] for kind in runs}
    for number in range(2 + ROUNDS):  # the first rounds compile, and settle properties of a first step
        seconds = {}
        for kind, run in runs.items():
            begin = time.perf_counter()
            case.step(run)
            seconds[kind] = time.perf_counter() - begin
        for kind in runs if number >= 2 else ():
            shares[kind].append(seconds[kind] / seconds["eager"])
    row = {"model": name, **{kind: statistics.median(each) for kind, each in shares.items()}}
    print(f"| {name} |" + "|".join(f" {100 * row[kind]:.0f} % " for kind in runs if kind != "eager") + "|", flush=True)
    return row


def draw(rows, name, path):
    """Peak against time for one model, as SVG."""
    chosen = [row for row in rows if row["model"] == name and "peak" in row]
    right, top = max(row["extra_percent"] for row in chosen) * 1.05 + 1, max(row["peak"] for row in chosen) * 1.05
    place = lambda row: (70 + 560 * max(0, row["extra_percent"]) / right, 330 - 290 * row["peak"] / top)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 400" font-family="sans-serif" font-size="12">',
           '<rect width="660" height="400" fill="white"/>', '<path d="M70 40V330H630" fill="none" stroke="black"/>',
           f'<text x="70" y="24">{name}: peak of a step against the time that replays add</text>']
    out += [f'<text x="62" y="{334 - 290 * part / 4:.0f}" text-anchor="end">{top * part / 4e6:.1f} MB</text>' for part in range(5)]
    out += [f'<text x="{70 + 140 * part}" y="348" text-anchor="middle">+{right * part / 4:.0f} %</text>' for part in range(5)]
    kinds = [("ours", "#c0392b"), ("PyTorch, budget", "#2c5f9e"), ("PyTorch, min-cut", "#1a1a1a"),
             ("selective checkpointing", "#2e8b57"), ("torch.utils.checkpoint", "#d98e04")]
    for number, (kind, color) in enumerate(kinds):
        points = [(*place(row), row.get("bits_equal", True)) for row in chosen if row["plan"].startswith(kind)]
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" stroke="{color}" fill="{color if bits else "white"}"/>' for x, y, bits in points]
        x, y = 70 + 190 * (number % 3), 370 + 18 * (number // 3)
        out.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{color}"/><text x="{x + 10}" y="{y}">{kind}</text>')
    out.append('<text x="460" y="388">hollow: other gradients</text></svg>')
    with open(path, "w") as stream:
        stream.write("\n".join(out) + "\n")


def write(rows, path):
    if path:
        with open(path, "w") as stream:
            json.dump({"version": 1, "rows": rows}, stream, indent=1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--models", default=",".join(models.CASES), help="models of test/Frameworks/models.py (all)")
    parser.add_argument("--steps", action="store_true", help="measure the time of steps instead of plans")
    parser.add_argument("--output", help="JSON file for the rows (none)")
    parser.add_argument("--figure", help="SVG file for memory against time (none)")
    parser.add_argument("--figure-model", default="gpt2", help="model of the figure (gpt2)")
    given = parser.parse_args()
    models.prepare()
    if given.steps:
        print("| model | Inductor | reprise_plan, 100 % | 60 % | reprise |\n|---|---:|---:|---:|---:|")
        write([time_steps(name) for name in given.models.split(",")], given.output)
        return
    print("| model | plan | peak | saved | time | gradients |\n|---|---|---:|---:|---:|---|")
    rows = [row for name in given.models.split(",") for row in compare(name)]
    for row, best in find_exceptions(rows):
        print(f"exception: {row['model']}: {row['plan']} takes {row['peak']} bytes at {row['extra_percent']:+.1f} %, ours {best}")
    write(rows, given.output)
    if given.figure:
        draw(rows, given.figure_model, given.figure)


if __name__ == "__main__":
    main()
