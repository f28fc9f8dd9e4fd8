"""Compares plans of the zoo's training steps within budgets with named policies at their bytes."""

import json
import os
import re
import subprocess
import time

from common import mebibytes, print_table

# Name: flags of reprise-zoo.
STEPS = {
    "gpt2 124M": ["gpt2", "--layers=12", "--width=768", "--heads=12", "--vocab=50257", "--batch=4", "--seq=512", "--dropout=0.1",
                  "--optimizer=adamw"],
    "llama": ["llama", "--layers=12", "--width=768", "--heads=12", "--vocab=32000", "--batch=4", "--seq=512", "--optimizer=adamw"],
    "bert 4 x 128": ["bert", "--layers=4", "--width=128", "--optimizer=adamw"],
    "bert 12 x 768": ["bert", "--layers=12", "--width=768", "--heads=12", "--vocab=30522", "--batch=4", "--seq=512", "--optimizer=adamw"],
    "resnet50": ["resnet50", "--batch=32", "--image=224", "--classes=1000", "--width=64", "--optimizer=momentum"],
    "unet": ["unet", "--batch=8", "--image=128", "--optimizer=adamw"],
}
SHARES = [90, 80, 70, 60, 50, 40, 30, 20]
DEEP = ["gpt2 124M", "llama", "bert 12 x 768", "resnet50", "unet"]
POLICIES = ["recompute-all", "dots_saveable", "dots_with_no_batch_dims_saveable", "every-nth-contraction(2)"]
LAYERS = "a checkpoint per layer"
MOST_GAP, MOST_SECONDS = 1, 2
PLENTY = "--budget=1TiB"


class Estimate:
    """Result of `reprise-compile --estimate` for a model. If no plan fits, `report` is None and `least` the smallest
    budget that fits."""

    def __init__(self, bench, model, *flags):
        path = bench.out / "budgets.report.json"
        command = [bench.build / "bin" / "reprise-compile", model, "--estimate", f"--report={path}", *flags]
        start, before = time.perf_counter(), os.times()
        done = subprocess.run(command, capture_output=True, text=True)
        self.wall_seconds, after = time.perf_counter() - start, os.times()
        self.seconds = after.children_user + after.children_system - before.children_user - before.children_system
        least = re.search(r"([\d,]+) bytes is known to fit", done.stderr)
        if done.returncode and not least:
            raise SystemExit(f"error: reprise-compile {' '.join(flags)} failed: {done.stderr.strip()}")
        self.least = int(least[1].replace(",", "")) if least else None
        self.report = None if done.returncode else json.loads(path.read_text())

    @property
    def bytes(self):
        return self.report["arena_bytes"] + self.report["workspace_bytes"]

    @property
    def cost(self):
        """Returns percent of the step without a budget, by the planner's costs."""
        return 100 * self.report["budget"]["cost_increase"]

    @property
    def step_seconds(self):
        """Returns the seconds of the program's launches."""
        return sum(self.report["cost"].values())

    def launch_cost(self, base):
        """Returns percent of the step of `base`."""
        return 100 * (self.step_seconds / base.step_seconds - 1)


def plan(bench, model, budget, base):
    """A row's figures for a budget in bytes; `base` is the estimate without one."""
    found = Estimate(bench, model, f"--budget={budget}")
    row = {"budget_bytes": budget, "seconds": found.seconds - base.seconds, "wall_seconds": found.wall_seconds - base.wall_seconds}
    if found.report is None:
        return row | {"bytes": None, "least_bytes": found.least}
    row |= {"bytes": found.bytes, "cost_percent": found.cost, "launch_cost_percent": found.launch_cost(base),
            "bound_percent": 100 * found.report["bound"], "gap_points": 100 * found.report["gap"],
            "rounds": found.report["budget"]["rounds"], "saved_bytes": found.report["saved_bytes"]}
    return row | {"reached": row["gap_points"] <= MOST_GAP and row["seconds"] < MOST_SECONDS}


def measure_shares(bench, models):
    """Measures budgets as shares of the step's bytes without a policy."""
    rows = []
    for name, model in models.items():
        base = Estimate(bench, model)
        for share in SHARES:
            rows.append({"model": name, "share": share} | plan(bench, model, base.bytes * share // 100, base))
    cells = []
    for row in rows:
        found = [f"least {mebibytes(row['least_bytes'])}", "", "", ""] if row["bytes"] is None else [
            f"{row['cost_percent']:.2f} %", f"{row['bound_percent']:.2f} %", f"{row['gap_points']:.2f}", row["rounds"]]
        goal = "" if row["bytes"] is None else "yes" if row["reached"] else "no"
        cells.append([row["model"], f"{row['share']} %", mebibytes(row["budget_bytes"]), *found, f"{row['seconds']:.2f}", goal])
    print_table(f"Training steps within shares of what no policy takes (goal: gap of {MOST_GAP} point in {MOST_SECONDS} s of one core)",
                ["", "budget", "MiB", "cost", "bound", "gap", "rounds", "seconds", "goal"], cells, name="budgets.shares")
    return rows


def follow(bench, name, model, policy):
    """Measures the bytes and the cost of a policy, which is followed because everything fits."""
    if policy != LAYERS:
        return Estimate(bench, model, f"--policy={policy}", PLENTY)
    return Estimate(bench, bench.zoo("budgets.layers.mlir", *STEPS[name], "--checkpoint=layer"), PLENTY)


def compare_policy(bench, name, model, policy, base):
    theirs = follow(bench, name, model, policy)
    row = {"model": name, "policy": policy, "their_launch_cost_percent": theirs.launch_cost(base)}
    row |= {"share": 100 * theirs.bytes / base.bytes} | plan(bench, model, theirs.bytes, base)
    # The last digits of two sums of the same seconds differ.
    return row | {"holds": row["bytes"] is not None and row["launch_cost_percent"] <= row["their_launch_cost_percent"] + 1e-9}


def measure_policies(bench, models):
    """Our plans at the bytes of named policies."""
    rows, cells = [], []
    for name in (name for name in DEEP if name in models):
        base = Estimate(bench, models[name])
        rows += [compare_policy(bench, name, models[name], policy, base) for policy in [*POLICIES, LAYERS]]
    for row in rows:
        ratio = ""
        if row["bytes"] is None:
            ours = f"least {mebibytes(row['least_bytes'])}"
        else:
            ours = f"{row['launch_cost_percent']:.2f} %"
            if row["their_launch_cost_percent"] > 0:
                ratio = f"{row['launch_cost_percent'] / row['their_launch_cost_percent']:.2f}"
        cells.append([row["model"], row["policy"], mebibytes(row["budget_bytes"]), f"{row['share']:.0f} %",
                      f"{row['their_launch_cost_percent']:.2f} %", ours, ratio, "yes" if row["holds"] else "no"])
    print_table("Plans at the bytes of named policies, by the launches of the programs beside no policy (goal: no dearer than they)",
                ["", "policy", "MiB", "share", "cost", "ours", "ratio", "goal"], cells, name="budgets.policies")
    return rows


def measure(bench, only=None):
    names = [name for name in STEPS if only in (None, STEPS[name][0])]
    models = {name: bench.zoo(f"budgets.{number}.mlir", *STEPS[name]) for number, name in enumerate(names)}
    rows = measure_shares(bench, models) + measure_policies(bench, models)
    bench.save("budgets", rows)
