"""Measures bytes saved for the backward pass against the recomputed share of the forward pass, for comparison with
PyTorch's partitioner.

Our plans minimize saved bytes, for any arena. The problem is that of reprise-compile, with two launches more between
the passes, whose additional buffer limits the remaining room. The plans are applied by --plan-in and counted in the
program.
"""

import collections
import json
import subprocess

from budgets import Estimate
from common import peer, print_table
from models import MODELS

COMPARED = ["mlp", "gpt2", "llama", "resnet18"]
PRODUCTS = ("dot_general", "convolution", "attention")


def export(bench, model):
    """The planner's problem of a model's step."""
    path = bench.out / "saved.problem.json"
    bench.tool("reprise-opt", model, "--reprise-to=autodiff", f"--reprise-export-problem=target=cpu output={path}", "-o", "/dev/null")
    return keep_order(json.loads(path.read_text()))


def keep_order(problem):
    """Leaves out that launches may run in other orders."""
    problem.pop("waits", None)
    for result in (result for op in problem["operations"] for result in op["results"] if "read_by" in result):
        result["read_until"] = max(result.pop("read_by"))
    for each in problem["other_buffers"]:
        each.pop("read_by", None)
    return problem


def put_between(problem):
    """Adds two empty launches between the passes, with a buffer as large as all others; returns the bytes that no
    longer fit."""
    operations, buffers = problem["operations"], problem["other_buffers"]
    border = min(op["launch"] for op in operations if op.get("backward") and op["launch"] is not None)
    if any(op["launch"] is not None and op["launch"] >= border for op in operations if not op.get("backward")):
        raise SystemExit("error: the passes are not one after the other")
    move = lambda launch: launch if launch is None or launch < border else launch + 2
    crossing = sum(each["bytes"] for each in buffers if each["first"] < border <= each["last"])
    for op in operations:
        op["launch"] = move(op["launch"])
        for result in op["results"]:
            if "read_until" in result:
                result["read_until"] = move(result["read_until"])
            if result.get("outlives") and not op.get("backward") and (result.get("read_until") or border) >= border:
                crossing += result["bytes"]
    for each in buffers:
        each |= {"first": move(each["first"]), "last": move(each["last"])}
    most = sum(result["bytes"] for op in operations for result in op["results"]) + sum(each["bytes"] for each in buffers)
    buffers.append({"first": border, "last": border + 1, "bytes": most})
    problem["launches"] += 2
    return most + crossing


def find_choices(problem, plan):
    """Returns choices by value id, as --plan-in reads them."""
    choices = iter(plan["values"])
    for op in problem["operations"]:
        for result in op["results"]:
            choice = next(choices)["choice"]
            if not op.get("backward"):
                yield {"id": result["name"], "choice": choice}


def describe(report, share):
    """(share of the products' FLOPs that is computed again in percent, saved bytes, extra cost in percent, arena) of a program."""
    cost = report["cost"]
    return share, report["saved_bytes"], 100 * cost["replay"] / (cost["forward"] + cost["backward"]), report["arena_bytes"]


def follow_nothing(bench, model):
    """The program that no label and no budget changes."""
    report = Estimate(bench, model).report
    if any(value["decision"] == "replayed" and value["op"].endswith(PRODUCTS) for value in report["values"]):
        raise SystemExit("error: a product is replayed for nothing")
    return describe(report, 0)


def carry_out(bench, model, problem, plan):
    path = bench.out / "saved.plan.json"
    Estimate(bench, model, f"--plan-out={path}")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"values": list(find_choices(problem, plan))}))
    report = Estimate(bench, model, f"--plan-in={path}").report
    operations = problem["operations"]
    flops = lambda op: op["flops"] if op["name"] in PRODUCTS else 0
    again = sum(flops(operations[each["operation"]]) for each in plan["executions"] if each["replay"])
    return describe(report, 100 * again / sum(flops(op) for op in operations if not op.get("backward")))


def find_plans(bench, model, limits):
    """Returns the plans that save at most that many bytes, if there are any, and the lower bound of saved bytes."""
    problem, found = export(bench, model), [follow_nothing(bench, model)]
    taken = put_between(problem)
    path, answer = bench.out / "saved.problem.json", bench.out / "saved.answer.json"
    path.write_text(json.dumps(problem))
    for limit in limits:
        command = [bench.build / "bin" / "reprise-plan", "checkpoint", path, f"--budget={taken + limit}", "-o", answer]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"error: reprise-plan failed: {done.stderr.strip()}")
        if done.returncode == 0:
            found.append(carry_out(bench, model, problem, json.loads(answer.read_text())))
    return found


def their_share(row, rows):
    """Returns percent of the forward pass at budget 1, which computes no product twice."""
    return 100 * (row["flops"] - rows[0]["flops"]) / rows[0]["forward_flops"]


def compare(bench, name):
    theirs = peer("torch_budget.py", name)
    if not theirs:
        return []
    # We add limits above, to see by how much a goal is missed.
    near = lambda count: (count * 99 // 100, count, count * 101 // 100, count + 100_000)
    limits = sorted({limit for row in theirs["rows"] for limit in near(row["saved_bytes"])})
    plans, rows = find_plans(bench, bench.zoo("saved.mlir", *MODELS[name][0]), limits), []
    for row in theirs["rows"]:
        share = their_share(row, theirs["rows"])
        ours = min((plan for plan in plans if plan[0] <= share + 1e-9), key=lambda plan: (plan[1], plan[2]), default=None)
        rows.append({"model": name, "torch_budget": row["budget"], "torch_share": share, "torch_saved_bytes": row["saved_bytes"]})
        if ours:
            rows[-1] |= dict(zip(("share", "saved_bytes", "cost_percent", "arena_bytes"), ours))
    return rows


def judge(row):
    if "saved_bytes" not in row:
        return "none found"
    ours, theirs = row["saved_bytes"], row["torch_saved_bytes"]
    return "yes" if ours < theirs else "equal" if ours == theirs else "no"


def measure(bench, only=None):
    rows = [row for name in COMPARED if only in (None, name) for row in compare(bench, name)]
    if not rows:
        return
    bench.save("saved-budgets", rows)
    cells = []
    for row in rows:
        ours = [""] * 4
        if "saved_bytes" in row:
            ours = [f"{row['saved_bytes'] / 1e6:.2f}", f"{row['share']:.1f} %", f"{row['cost_percent']:.2f} %", f"{row['arena_bytes'] / 1e6:.1f}"]
        cells.append([row["model"], f"{row['torch_budget']:.2f}", f"{row['torch_share']:.1f} %", f"{row['torch_saved_bytes'] / 1e6:.2f}", *ours, judge(row)])
    print_table("Bytes saved for the backward pass, MB, where no more products of the forward pass are computed again than by PyTorch's partitioner",
                ["", "its budget", "again", "PyTorch", "ours", "again", "extra cost", "arena", "goal: fewer"], cells, name="budgets.partitioner")
