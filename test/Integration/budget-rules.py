#!/usr/bin/env python3
"""Budgets of small models: every notation, what is refused and what would fit, curves, loops, several gradients."""

import pathlib
import re

from checks import (check, compile_model, estimate_model, finish, read_json, read_least, refuses, run, same_file, taken,
                    tool, zoo)

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs"


def compile_here(model, bundle, *flags):
    return compile_model(model, bundle, "--threads=2", *flags)


def estimate(model, *flags):
    return estimate_model(model, "--threads=2", *flags)


def plan_twice(name, model, *flags):
    """Compiles, and compiles again with the plan; the report and its bundle are those of `first.rpb`."""
    first = compile_here(model, "first.rpb", *flags, "--plan-out=plan.json")
    again = compile_here(model, "again.rpb", *flags, "--plan-in=plan.json", "--plan-out=copy.json")
    same_file(f"{name}: the same bundle", "first.rpb", "again.rpb")
    same_file(f"{name}: the same plan", "plan.json", "copy.json")
    return first, again


def same_bits(name, *bundles):
    hashes = [run(bundle, "results", "--steps=2", "--seed=3")["hash"] for bundle in bundles]
    check(f"{name}: the same bits", len(set(hashes)) == 1, str(hashes))


def check_notations(labels, everything):
    check("without a budget there is no bound", "budget" not in labels and labels["bound"] is labels["gap"] is None)
    budget = everything * 7 // 10 // 1024 * 1024
    plain, quick = (estimate("m.mlir", f"--budget={budget}", *flags) for flags in ([], ["--time-limit=0"]))
    check("the share is of all values", plain["budget"]["save_all_bytes"] == everything)
    for text in (f"{budget}B", f"{budget / 1024}KiB", f"{budget / 2**20!r}MiB", f"{budget / 2**30!r}GiB", f"{budget / 1000!r}kB"):
        check(f"{text} is {budget} bytes", estimate("m.mlir", "--time-limit=0", f"--budget={text}") == quick)
    for text, bytes in ("70%", everything * 7 // 10), ("100%", everything), ("4095TiB", 4095 << 40):
        check(f"{text} is {bytes} bytes", estimate("m.mlir", "--time-limit=0", f"--budget={text}")["budget"]["bytes"] == bytes)
    for report in (plain, compile_here("m.mlir", "a.rpb", f"--budget={budget}"), estimate("m.mlir", "--budget=5000%")):
        told = report["budget"]
        check("predicted bytes are within", taken(report) == told["predicted_bytes"] <= told["bytes"], str(told))
        check("bound, gap and cost agree", abs(report["bound"] + report["gap"] - told["cost_increase"]) < 1e-12 and report["gap"] >= 0)
        check("told beside the step", report["cost_increase"] == told["cost_increase"] and told["usual_bytes"] == taken(labels) and not told["truncated"])
    # Reports price launches as the planner does.
    seconds = [sum(report["cost"].values()) for report in (labels, plain)]
    check("seconds are the planner's", abs(seconds[1] / seconds[0] - 1 - plain["cost_increase"]) < 0.01, str(seconds))
    more = estimate("m.mlir", "--budget=100%")
    check("more bytes than without a budget are cheaper", more["cost_increase"] < 0 and taken(more) > taken(labels), str(more["budget"]))
    check("and the result says both", re.search(r"cost -\S+ % compared with no budget, \S+ \S+ more than without a budget",
                                                tool("reprise-compile", "m.mlir", "--threads=2", "--estimate", "--budget=100%")))


def check_plans(everything):
    """A plan is carried out to the byte, under the same budget; its report has the same values; a plan of labels is one, too."""
    for flags in [], ["--budget=65%", "--policy=recompute-all"], ["--budget=65%"]:
        first, again = plan_twice(f"plan {flags}", "m.mlir", *flags)
        check(f"plan {flags}: the same values", first["values"] == again["values"])
        # The cost of a plan beyond the one without a budget does not depend on who made the plan.
        check(f"plan {flags}: the same cost", abs(again["cost_increase"] - first.get("cost_increase", 0)) < 1e-9)
    given = estimate("m.mlir", "--budget=65%", "--plan-in=plan.json")
    check("a plan's budget has no search", given["budget"] == {"bytes": everything * 65 // 100})
    for limit in ("0", "1e-9", "1000", "inf"):
        report = estimate("m.mlir", "--budget=75%", f"--time-limit={limit}")
        check(f"in {limit} s the budget is met", taken(report) <= report["budget"]["bytes"])
        check(f"in {limit} s the end is told", report["budget"]["truncated"] == (limit in ("0", "1e-9")))


def check_refusals(everything):
    for small, limit in ("0%", []), ("0.5%", ["--time-limit=0"]):
        bytes = int(everything * float(small[:-1]) // 100)
        said = refuses(small, f"does not fit in {bytes:,} bytes ({small[:-1]} % of {everything:,}): ", "reprise-compile", "m.mlir", "--threads=2", "-o",
                       "no.rpb", f"--budget={small}", "--report=no.json", "--plan-out=no.plan.json", *limit)
        least = read_least(said)
        check(f"{small}: the flag to set", f"--budget={least:,}" in said, said)
        check(f"{small}: what is named is met", taken(estimate("m.mlir", f"--budget={least}")) <= least)


def check_curve(labels, everything):
    """The curve stands alone, or comes with a bundle; all costs are those beyond the plan without a budget."""
    tool("reprise-compile", "m.mlir", "--threads=2", "--pareto=curve.json")
    curve = read_json("curve.json")
    points, named = curve["points"], {point["policy"]: point for point in curve["policies"]}
    check("the curve has points", len(points) > 2 and curve["save_all_bytes"] == everything)
    for less, more in zip(points, points[1:]):
        check("more bytes cost less", less["bytes"] < more["bytes"] and less["cost_increase"] > more["cost_increase"] and less["cost_increase"] >= more["bound"] - 1e-9)
    check("bytes are arena and workspace", all(point["bytes"] == taken(point) and point["gap"] >= 0 for point in points))
    check("policies: bytes", named["save-all"]["bytes"] == everything > named["recompute-all"]["bytes"])
    check("policies: costs", named["save-all"]["cost_increase"] < named["recompute-all"]["cost_increase"] > 0)
    check("no budget is the base", curve["default"]["cost_increase"] == 0 and curve["default"]["bytes"] == taken(labels))
    cheapest = points[-1]["cost_increase"]
    check("the cheapest plan", cheapest <= min(0, *(point["cost_increase"] for point in named.values())) + 1e-9, str(cheapest))
    help = tool("reprise-compile", "--help")
    check("five policies of the table", len(named) == 5 and all(policy.split("(")[0] in help for policy in named), str(list(named)))
    tool("reprise-compile", "m.mlir", "--threads=2", "--time-limit=0", "--pareto=alone.json")
    compile_here("m.mlir", "a.rpb", "--time-limit=0", "--pareto=beside.json")
    same_file("the curve beside a bundle", "alone.json", "beside.json")
    # A user's policy does not hide the named ones; their costs are then beside its own.
    tool("reprise-compile", "m.mlir", "--threads=2", "--time-limit=0", "--pareto=under.json", "--policy=recompute-all")
    both = [[{key: point[key] for key in point if key not in ("cost_increase", "summary")} for point in policies]
            for policies in (curve["policies"], read_json("under.json")["policies"])]
    check("a user's policy hides none", both[0] == both[1])


def check_loops():
    """A loop is one op of the plan, unless no such plan fits."""
    zoo("loop.mlir", "gpt2", "--loop", "--layers=2", "--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32")
    for policy in [], ["--policy=recompute-all"]:
        least = read_least(refuses(f"a loop {policy}", "is known to fit", "reprise-compile", "loop.mlir", "--threads=2", "-o", "no.rpb", "--budget=1", *policy))
        report, _ = plan_twice(f"a loop {policy}", "loop.mlir", f"--budget={least}", *policy)
        check(f"a loop {policy}: its iterations are planned", taken(report) <= least and report["budget"]["unrolled"])
    # Bodies that make their rows again fit less than loops as they are, and cost what they replay.
    zoo("lstm.mlir", "lstm", "--width=32", "--seq=32")
    for share in (60, 55):
        report, _ = plan_twice(f"bodies within {share} %", "lstm.mlir", f"--budget={share}%")
        if report["budget"]["bodies_recomputed"]:
            break
    told = report["budget"]
    check("bodies compute their rows again", told["bodies_recomputed"] and not told["unrolled"] and taken(report) <= told["bytes"], str(told))
    check("at a cost", told["cost_increase"] > max(0, report["bound"]), str(told))
    compile_here("lstm.mlir", "all.rpb")
    same_bits("bodies", "all.rpb", "first.rpb")
    tool("reprise-compile", "lstm.mlir", "--threads=2", "--pareto=loops.json")
    curve = read_json("loops.json")
    policies = [point["policy"] for point in curve["policies"]]
    check("the curve has such plans", curve["points"][0]["bytes"] <= taken(report))
    check("and no policy that tells iterations apart", len(policies) == 4 and "every-nth-contraction(2)" not in policies, str(policies))


def check_forms_of_loops():
    """Loops, plans of their bodies and their iterations compete for every budget; N% is of one number of bytes."""
    zoo("rows.mlir", "gpt2", "--layers=3", "--width=32", "--seq=32", "--batch=2", "--vocab=64", "--loop")
    everything = taken(estimate("rows.mlir", "--policy=save-all"))
    budget = everything * 90 // 100
    plain, *others = (estimate("rows.mlir", f"--budget={budget}", *flags) for flags in ([], ["--policy=save-all"], ["--unroll"]))
    # Shares are of the plan without a budget of the same labels and loops, so seconds are compared.
    seconds = [sum(report["cost"].values()) for report in (plain, *others)]
    check("no plan of the labels or of iterations is cheaper", taken(plain) <= budget and seconds[0] <= 1.005 * min(seconds), str(seconds))
    check("the cost is low", plain["bound"] <= plain["budget"]["cost_increase"] < 0.03, str(plain["budget"]))
    for share in (90, 60):
        first, _ = plan_twice(f"loops within {share} %", "rows.mlir", f"--budget={share}%")
        check(f"{share} % of the step as it is given", first["budget"]["save_all_bytes"] == everything)
    zoo("deep.mlir", "gpt2", "--layers=6", "--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32", "--loop")
    reports = [estimate("deep.mlir", f"--budget={share}%") for share in (95, 90, 80)]
    costs = [report["budget"]["cost_increase"] for report in reports]
    for i, more in enumerate(reports[:-1]):
        check("a smaller budget is not cheaper", costs[i + 1] >= more["bound"] - 1e-9 and costs[i] - costs[i + 1] <= more["gap"] + 1e-9, str(costs))


def check_gradients():
    """Two gradients of the same weights are planned together; a budget takes no more time by the model than none."""
    model = INPUTS / "two-gradients.mlir"
    costs = [estimate(model, f"--budget={share}%")["budget"]["cost_increase"] for share in (85, 70, 60)]
    check("two gradients: costs rise", costs == sorted(costs) and costs[-1] < 0.15, str(costs))
    plan_twice("two gradients", model, "--budget=60%")
    compile_here(model, "all.rpb", "--policy=save-all")
    same_bits("two gradients", "all.rpb", "first.rpb")
    # The error stands at an op of the model, in the gradient that needs most.
    refuses("two gradients", "more bytes are needed at reprise.", "reprise-compile", model, "--threads=2", "-o", "no.rpb", "--budget=20%")
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=48")
    free, within = (estimate("gpt2.mlir", "--entry=hvp", *flags) for flags in ([], ["--budget=60%"]))
    check("second order: no budget would take what fits", taken(free) <= within["budget"]["bytes"])
    seconds = [sum(report["cost"].values()) for report in (free, within)]
    check("second order: a budget takes no more time", seconds[1] <= seconds[0] * (1 + 1e-12), str(seconds))


def main():
    zoo("m.mlir", "gpt2", "--layers=2", "--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32")
    labels, everything = estimate("m.mlir"), taken(estimate("m.mlir", "--policy=save-all"))
    check_notations(labels, everything)
    check_plans(everything)
    check_refusals(everything)
    check_curve(labels, everything)
    check_loops()
    check_forms_of_loops()
    check_gradients()
    finish()


main()
