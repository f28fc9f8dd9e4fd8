#!/usr/bin/env python3
"""A plan file makes the same bundle, to the byte, without the budget, threads, target and policies that it was made with.

Plans in other orders of their launches keep the order and change no bit. Damaged plans are refused.
"""

import json
import pathlib
import re

from checks import (check, compile_model, estimate_model, finish, read_json, refuses, run, same_file, same_folder, taken,
                    tool, write_json, zoo)

HOST = {"version": 1, "name": "small", "flops": {"f32": 1e11}, "elementwise_flops": 1e10, "bytes_per_second": 2e10, "launch_seconds": 1e-6,
        "host_bytes_per_second": 1e10}


def plan_again(what, model, *flags, keep=()):
    """Gives the plan of one compilation to another one that has of its flags those in `keep` alone; returns the plan."""
    tool("reprise-compile", model, "-o", "first.rpb", "--plan-out=plan.json", *keep, *flags)
    tool("reprise-compile", model, "-o", "again.rpb", "--plan-in=plan.json", "--plan-out=copy.json", *keep)
    same_file(f"{what}: the bundle", "first.rpb", "again.rpb")
    same_file(f"{what}: the plan", "plan.json", "copy.json")
    return read_json("plan.json")


def plan_gpt2():
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=16", "--heads=2", "--seq=8", "--batch=2", "--vocab=16")
    plan = plan_again("a budget", "gpt2.mlir", "--budget=70%", "--threads=3")
    check("a plan has threads, budget and choices", plan["threads"] == 3 and plan["budget_bytes"] > 0 and not plan["labels"] and
          (plan["values"] or plan["executions"]), str(plan)[:300])
    plan = plan_again("threads", "gpt2.mlir", "--threads=1")
    check("without a budget nothing is chosen", (plan["threads"], plan["budget_bytes"], plan["values"]) == (1, None, None))
    plan_again("labels and a budget", "gpt2.mlir", "--policy=save-all", "--budget=80%", "--threads=2")
    plan_again("a target", "gpt2.mlir", "--target=cpu:x86-64-v3", "--threads=1", "--budget=90%", "--time-limit=0")
    for budget in [], ["--budget=90%"]:
        plan_again(f"offloads by a policy {budget}", "gpt2.mlir", "--policy=offload_dot_with_no_batch_dims", *budget, "--threads=1", "--time-limit=0")
    free = estimate_model("gpt2.mlir", "--threads=1")
    write_json("host.json", {**HOST, "memory": free["persistent_bytes"] + free["step_bytes"] * 9 // 10})
    plan = plan_again("a device's memory", "gpt2.mlir", "--device-file=host.json", "--threads=1", "--time-limit=0")
    check("a device's memory is a budget", plan["budget_bytes"] < free["step_bytes"])
    plan = plan_again("labels", "gpt2.mlir", "--policy=recompute-all", "--threads=1")
    check("a plan has the labels", plan["values"] is None and plan["labels"]["prefer_recompute"])
    write_json("must.json", {"version": 1, "rules": [{"match": {"op": "gelu"}, "label": "must_save"}]})
    refuses("labels that the step must have", re.compile("gpt2.mlir:.* error: .*the plan follows other labels: the value '.*' has 'must_save' here "
            "and 'prefer_recompute' in the plan"), "reprise-compile", "gpt2.mlir", "-o", "no.rpb", "--plan-in=plan.json", "--policy=must.json")


def plan_others():
    zoo("loop.mlir", "lstm", "--width=16", "--seq=4", "--batch=2", "--vocab=8")
    zoo("mlp.mlir", "mlp", "--width=16", "--batch=4", "--layers=6")
    plan_again("second order", "mlp.mlir", "--budget=85%", "--threads=2", keep=["--entry=hvp"])
    for flags in ["--policy=recompute-all"], ["--budget=90%", "--policy=recompute-all"], ["--budget=70%"]:
        plan_again(f"loops {flags}", "loop.mlir", *flags, "--threads=1")
    plan_again("unrolled loops", "loop.mlir", "--unroll", "--policy=recompute-all", "--threads=1")
    plan_again("stages", "mlp.mlir", "--policy=recompute-all", "--threads=3", "--target=cpu:x86-64-v3", "--target=cpu",
               keep=["--stages=2", "--microbatches=2"])
    plan_again("stages within a budget", "mlp.mlir", "--threads=1", "--budget=12KiB", keep=["--stages=2", "--microbatches=2"])


def plan_beside_flags():
    """Flags beside the file hold: other threads have no budget of the file's, another budget is kept or refused."""
    plan = plan_again("a budget for two threads", "gpt2.mlir", "--budget=70%", "--threads=2", "--time-limit=0")
    more = compile_model("gpt2.mlir", "more.rpb", "--plan-in=plan.json", "--threads=5")
    check("other threads have no budget", more["threads"] == 5 and "budget" not in more)
    check("the budget is kept", compile_model("gpt2.mlir", "again.rpb", "--plan-in=plan.json")["budget"] == {"bytes": plan["budget_bytes"]})
    refuses("a smaller budget", "error: ", "reprise-compile", "gpt2.mlir", "-o", "no.rpb", "--plan-in=plan.json", "--budget=1000")
    other = compile_model("gpt2.mlir", "v3.rpb", "--plan-in=plan.json", "--target=cpu:x86-64-v3")
    check("another target", other["target"] == "cpu:x86-64-v3")
    for key, value in ("threads", 0), ("threads", "many"), ("target", 7), ("budget_bytes", -1), ("labels", []), ("units", {}), ("labels", {"must": []}):
        write_json("wrong.json", {**plan, key: value})
        refuses(f"{key} {value}", "error: ", "reprise-compile", "gpt2.mlir", "-o", "no.rpb", "--plan-in=wrong.json")


def damage(plan):
    """Yields what may be wrong with a plan, and the message."""
    expected = "the plan is malformed: expected what --plan-out writes, version 1"
    unlike, values, ops = "is for another graph: op 3 of this one, reprise.", plan["values"], plan["ops"]
    yield "a list", [plan], expected
    yield "version 2", {**plan, "version": 2}, expected
    yield "no version", {key: value for key, value in plan.items() if key != "version"}, expected
    yield "no values", {key: value for key, value in plan.items() if key != "values"}, expected
    yield "a negative arena", {**plan, "enough_arena": -1}, expected
    yield "no choice", {**plan, "values": values + [{"id": "x"}]}, 'the plan is malformed: expected "id" and "choice" per value'
    yield "two choices", {**plan, "values": values + values[:1]}, "the plan has two choices for the value '"
    yield "an unknown choice", {**plan, "values": values[:5] + [{**values[5], "choice": "offload"}] + values[6:]}, "has the unknown choice 'offload'"
    yield "an unknown value", {**plan, "values": values + [{"id": "nowhere#0:0", "choice": "save"}]}, "the value 'nowhere#0:0' of the plan does not exist in this graph"
    yield "a missing value", {**plan, "values": values[:7] + values[8:]}, "has no choice for the value '"
    yield "no value", {**plan, "values": []}, "has no choice for the value '"
    yield "another op", {**plan, "ops": ops[:3] + ["0123456789abcdef"] + ops[4:]}, unlike
    yield "an op more", {**plan, "ops": ops + ["0123456789abcdef"]}, re.compile(r"the plan is for another graph of \d+ ops, this one has \d+")


def refuse_damaged():
    """Checks that each mistake is one error."""
    size = ["--width=32", "--heads=2", "--seq=16", "--batch=2", "--vocab=32"]
    zoo("two.mlir", "gpt2", "--layers=2", *size)
    zoo("three.mlir", "gpt2", "--layers=3", *size)
    tool("reprise-compile", "two.mlir", "-o", "two.rpb", "--threads=2", "--budget=70%", "--plan-out=plan.json")
    plan = read_json("plan.json")
    pathlib.Path("text.json").write_text("plan")
    mistakes = [("a word", "two.mlir", "text.json", "text.json:1:1: error: syntax error: expected a value"),
                ("no file", "two.mlir", "nosuch.json", "error: --plan-in=nosuch.json: no such file"),
                ("another model", "three.mlir", "plan.json", re.compile(r"the plan 'plan.json' is for another graph: op \d+ of this one, reprise\.\w+, differs"))]
    for name, changed, message in damage(plan):
        path = name.replace(" ", "-") + ".json"
        write_json(path, changed)
        mistakes.append((name, "two.mlir", path, message))
    for name, model, path, message in mistakes:
        said = refuses(name, message, "reprise-compile", model, "-o", "no.rpb", "--threads=2", f"--plan-in={path}", "--report=no.json")
        check(f"{name}: one error", len(re.findall("(?:^|: )error: ", said, re.M)) == 1, said)


def step(name, model, *flags, steps=3):
    """Compiles a model and runs it; returns the report."""
    report = compile_model(model, f"{name}.rpb", "--threads=2", *flags)
    run(f"{name}.rpb", name, f"--steps={steps}")
    return report


def defer():
    """Budgets cost fewer replays if the gradient of a large vocabulary waits."""
    zoo("wide.mlir", "gpt2", "--layers=4", "--width=32", "--heads=2", "--vocab=2048", "--batch=2", "--seq=32", "--dropout=0.1")
    budget = taken(step("plain", "wide.mlir")) * 108 // 100
    deferred = step("deferred", "wide.mlir", f"--budget={budget}", "--plan-out=plan.json")
    found, plan = deferred["budget"], read_json("plan.json")
    check("the gradient waits, within the budget", found["deferred"] and not found["reordered"] and
          found["predicted_bytes"] == taken(deferred) <= budget, str(found))
    # The bound does not know the operands that replays inside their readers load.
    check("near the bound", 0 <= deferred["gap"] < 0.03, deferred["gap"])
    check("the plan says so", plan["deferred"] and plan["values"])
    step("again", "wide.mlir", "--plan-in=plan.json", f"--budget={budget}")
    same_file("a gradient that waits: the bundle", "deferred.rpb", "again.rpb")
    for name in ("deferred", "again"):
        same_folder(f"a gradient that waits: {name}", "plain", name)
    write_json("plan.json", {**plan, "deferred": False})
    refuses("a plan of another order", "error: ", "reprise-compile", "wide.mlir", "--threads=2", "--plan-in=plan.json", "-o", "no.rpb")


def slice_head():
    """A large vocabulary in slices of rows costs next to nothing, and nothing of a result changes."""
    for precision, flags in (("f32", ()), ("bf16", ()), ("f32", ("--microbatches=2",))):
        zoo("head.mlir", "gpt2", "--layers=2", "--width=32", "--heads=2", "--vocab=4096", "--batch=6", "--seq=256", "--dropout=0.1",
            f"--precision={precision}")
        name = " ".join((precision, *flags))
        plain = step("whole", "head.mlir", *flags, steps=2)
        budget = taken(plain) * 60 // 100
        sliced = step("sliced", "head.mlir", *flags, f"--budget={budget}", "--plan-out=plan.json", steps=2)
        check(f"{name}: slices meet the budget", sliced["budget"]["sliced"] and taken(sliced) <= budget, str(sliced["budget"]))
        check(f"{name}: at a low cost", sliced["budget"]["cost_increase"] < 0.1, sliced["budget"]["cost_increase"])
        check(f"{name}: the plan says so", read_json("plan.json")["sliced"])
        step("sliced-again", "head.mlir", *flags, "--plan-in=plan.json", f"--budget={budget}", steps=2)
        same_file(f"{name}: slices: the bundle", "sliced.rpb", "sliced-again.rpb")
        same_folder(f"{name}: slices", "whole", "sliced")
        write_json("plan.json", {**read_json("plan.json"), "sliced": False})
        refuses(f"{name}: a plan of a whole head", "error: ", "reprise-compile", "head.mlir", *flags, "--threads=2", "--plan-in=plan.json",
                "-o", "no.rpb")


def reorder():
    """A budget that another order of the launches meets costs no replay."""
    zoo("llama.mlir", "llama", "--layers=2", "--width=32", "--heads=2", "--vocab=4096", "--batch=2", "--seq=32")
    # Saving is cheapest here, so that only another order is as cheap.
    plain = step("saved", "llama.mlir", "--policy=save-all")
    budget = taken(plain) * 88 // 100
    ordered = step("ordered", "llama.mlir", "--policy=save-all", f"--budget={budget}", "--plan-out=plan.json")
    check("another order meets the budget", taken(ordered) <= budget < taken(plain), taken(ordered))
    check("without replays", ordered["replayed_ops"] == plain["replayed_ops"] and read_json("plan.json")["values"] is None)
    check("again in that order", taken(step("ordered-again", "llama.mlir", "--policy=save-all", "--plan-in=plan.json")) == taken(ordered))
    for name in ("ordered", "ordered-again"):
        same_folder(f"another order: {name}", "saved", name)


def reorder_second_order():
    """Second derivatives are planned in other orders of their launches and with replays together."""
    zoo("hvp.mlir", "mlp", "--layers=4", "--width=64", "--batch=256")
    plain = step("hvp", "hvp.mlir", "--entry=hvp", "--plan-out=first.json", steps=1)
    ordered = step("hvp-ordered", "hvp.mlir", "--entry=hvp", "--budget=80%", "--plan-out=plan.json", steps=1)
    found, plan = ordered["budget"], read_json("plan.json")
    check("second order: the budget is met in another order, with replays", taken(ordered) <= found["bytes"] and found["reordered"] and ordered["replayed_ops"] > 0)
    # In program order this budget costs a third of the step.
    check("second order: at a low cost", found["cost_increase"] < 0.2, found["cost_increase"])
    check("second order: the plan has the order", sorted(plan["order"]) == list(range(len(plan["ops"]))))
    check("second order: again in that order", taken(step("hvp-again", "hvp.mlir", "--entry=hvp", "--plan-in=plan.json", steps=1)) == taken(ordered))
    for name in ("hvp-ordered", "hvp-again"):
        same_folder(f"second order: {name}", "hvp", name)
    order = plan["order"]
    for wrong in (order[::-1], order[:-1] + order[:1], order[:-1], [], [2**32] + order[1:], ["x"] + order[1:]):
        write_json("wrong.json", {**plan, "order": wrong})
        refuses(f"the order {json.dumps(wrong[:3])}, …", 'its "order" runs an op before one that it reads from',
                "reprise-compile", "hvp.mlir", "--entry=hvp", "-o", "no.rpb", "--plan-in=wrong.json")
    # A file from before there were orders, bodies and forms is read as before.
    write_json("old.json", {key: value for key, value in read_json("first.json").items() if key in ("version", "enough_arena", "ops", "values")})
    check("a file without forms", taken(compile_model("hvp.mlir", "old.rpb", "--entry=hvp", "--threads=2", "--plan-in=old.json")) == taken(plain))
    # Replays of a gelu's second derivative run inside their readers' kernels, as the planner counts on.
    zoo("gelu.mlir", "gpt2", "--layers=2", "--width=48", "--batch=4", "--seq=64")
    report = compile_model("gelu.mlir", "gelu.rpb", "--entry=hvp", "--threads=2", "--budget=60%")
    check("second order: replays inside their readers", report["budget"]["cost_increase"] < 0.01)


def main():
    plan_gpt2()
    plan_others()
    plan_beside_flags()
    refuse_damaged()
    defer()
    slice_head()
    reorder()
    reorder_second_order()
    finish()


main()
