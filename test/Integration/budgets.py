#!/usr/bin/env python3
"""Budgets on four models, from the bytes of a step without a budget down to the smallest budget that can be met.

The program holds the budget, runs in the predicted arena, and gives the same bits. Over a row of budgets, every
budget below a refused one is refused, too, a budget that an error names is met, and less memory is not cheaper.
`budgets.py all` tests ten budgets of each model, every model of the zoo at 80 and 50 % of save-all, and longer rows.
"""

import pathlib
import re
import subprocess

from checks import check, everything, finish, first_difference, read_json, read_least, run, taken, tool
from wide_skip import write_wide_skip
from zoo_models import LARGER_SIZES, SIZES, write_model

BUDGETS = {"gpt2": 4, "llama": 3, "resnet18": 3, "unet": 3}
FLAGS = {"gpt2": ["--dropout=0.1", "--optimizer=adamw"], "llama": [], "resnet18": [], "resnet50": [], "unet": []}


def compile_within(*flags):
    """The report; or None and the bytes of the smallest budget that was found to be met."""
    pathlib.Path("plan.rpb").unlink(missing_ok=True)
    done = subprocess.run(["reprise-compile", "model.mlir", "-o", "plan.rpb", "--report=plan.json", "--threads=2", *flags],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return read_json("plan.json"), None
    if done.returncode != 1 or "is known to fit" not in done.stderr or pathlib.Path("plan.rpb").exists():
        check(" ".join(flags), False, f"exit code {done.returncode}: {done.stderr}")
        finish()
    return None, read_least(done.stderr)


def check_run(name, report):
    """The plan at hand runs in its arena and gives the bits of the plan that saves all."""
    executed = int(tool("executed-arena", "plan.rpb", 1).split()[0])
    check(f"{name}: the arena is as predicted", executed == report["arena_bytes"], f"{executed} instead of {report['arena_bytes']}")
    run("plan.rpb", "within", "--seed=3", "--steps=2")
    difference = first_difference("reference", "within")
    check(f"{name}: the same bits", difference is None, f"{difference} differs")
    return executed


def write_reference():
    report, _ = compile_within("--policy=save-all")
    run("plan.rpb", "reference", "--seed=3", "--steps=2")
    return report


def check_budgets(model):
    write_model("model.mlir", model, SIZES[model], *FLAGS[model])
    whole = write_reference()
    free, _ = compile_within()
    _, least = compile_within("--budget=1")
    most, previous = taken(free), None
    count = 10 if everything else BUDGETS[model]
    for i in range(count):
        budget = most - (most - least) * i // (count - 1)
        report, smaller = compile_within(f"--budget={budget}")
        name = f"{model} within {budget} bytes"
        if not check(f"{name}: there is a plan", report is not None, f"the smallest was {smaller}"):
            continue
        plan = report["budget"]
        check(f"{name}: it is held", taken(report) <= budget == plan["bytes"], str(taken(report)))
        check(f"{name}: it is what was predicted", taken(report) == plan["predicted_bytes"])
        check(f"{name}: the percentages are of save-all", plan["save_all_bytes"] == taken(whole))
        check(f"{name}: bound, cost and gap agree", report["bound"] <= plan["cost_increase"] and
              abs(plan["cost_increase"] - report["bound"] - report["gap"]) < 1e-9)
        if previous:
            fall = previous["budget"]["cost_increase"] - plan["cost_increase"]
            check(f"{name}: a smaller budget costs no less", fall <= previous["gap"] + 1e-9, f"{fall} less")
        check_run(name, report)
        previous = report
    check(f"{model}: budgets change the plan", previous and previous["replayed_ops"] != free["replayed_ops"])


def check_shares(model):
    """Checks that at 50 % of save-all the step runs in less memory than at 80 %, possibly above the half."""
    # The gradients of few weights and many rows are small beside the values that the rows keep.
    size = {**LARGER_SIZES[model], "batch": 1000} if model == "mlp" else LARGER_SIZES[model]
    write_model("model.mlir", model, size)
    write_reference()
    peaks = []
    for share in (80, 50):
        report, least = compile_within(f"--budget={share}%")
        if report is None:
            report, _ = compile_within(f"--budget={least}")
        peaks.append(check_run(f"{model} at {share} %" + ("" if least is None else f", no plan below {least} bytes"), report))
    check(f"{model}: 50 % runs in less than 80 %", peaks[1] < peaks[0], str(peaks))


def estimate(model, entry, budget):
    """Cost and gap in percent; or None and the smallest budget that was found to be met."""
    done = subprocess.run(["reprise-compile", model, f"--entry={entry}", "--threads=2", "--estimate", f"--budget={budget}"],
                          capture_output=True, text=True)
    if "is known to fit" in done.stderr:
        return None, read_least(done.stderr)
    cost = re.search(r"cost (\S+) % compared with.*; (?:(\S+) percentage points|no plan)", done.stdout)
    if done.returncode != 0 or not cost:
        check(f"{model} within {budget}", False, f"exit code {done.returncode}: {done.stderr}")
        finish()
    return float(cost.group(1)), float(cost.group(2) or 0)


def check_row(model, entry, step):
    """Returns budgets in equal steps from the bytes of save-all down to 30 % of them."""
    rounding = 0.02
    known, least, was_refused = None, None, False
    for share in range(100, 29, -step):
        name = f"{model} {entry} at {share} %"
        cost, other = estimate(model, entry, f"{share}%")
        check(f"{name}: what is refused once is refused below, too", cost is None or not was_refused)
        if cost is None:
            least = other if least is None else min(least, other)
            was_refused = True
            continue
        check(f"{name}: a smaller budget costs no less", known is None or cost >= known[0] - known[1] - rounding, f"{cost} after {known}")
        known = cost, other
    if least is not None:
        check(f"{model} {entry} within {least} bytes: what an error names is met", estimate(model, entry, least)[0] is not None)


def check_rows():
    for layers, seed in ((12, 1), (16, 2), (20, 3), (24, 4)) if everything else ((12, 1),):
        write_wide_skip(f"skip{layers}.mlir", layers, seed)
        check_row(f"skip{layers}.mlir", "train", 2 if everything else 10)
    write_model("mlp.mlir", "mlp", {"layers": 4, "width": 64, "batch": 256})
    check_row("mlp.mlir", "hvp", 2 if everything else 14)
    for model, entry in (("unet", "train"), ("lstm", "train"), ("gpt2", "hvp")) if everything else ():
        write_model(f"{model}.mlir", model, SIZES[model])
        check_row(f"{model}.mlir", entry, 2)


def main():
    for model in FLAGS if everything else BUDGETS:
        check_budgets(model)
    check_rows()
    if everything:
        for model in LARGER_SIZES:
            check_shares(model)
    finish()


if __name__ == "__main__":
    main()
