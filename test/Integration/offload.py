#!/usr/bin/env python3
"""Values that wait in the memory of the host change memory and time, never a bit: on the CPU, on GPUs and in pipelines.

The labels of users and policies move the values. If a device has a link to the host, a planner moves values by
itself.
"""

import json

from checks import check, compile_model, finish, run, same_folder, tool
from gpu import RUN, run_emulated
from zoo_models import write_model

SIZES = {
    "gpt2": {"layers": 4, "width": 32, "heads": 2, "batch": 4, "seq": 16, "vocab": 64},
    "resnet18": {"width": 4, "batch": 4, "image": 16, "classes": 10},
    "lstm": {"layers": 2, "width": 8, "batch": 4, "seq": 6, "vocab": 37},
}
RULES = {
    "contractions": [{"match": {"kind": kind}, "label": "must_offload"} for kind in ("contraction", "convolution")],
    "all": [{"match": {"op": "*"}, "label": "prefer_offload"}],
    "some": [{"match": {"kind": "elementwise", "every": 3}, "label": "prefer_offload"}, {"match": {"kind": "elementwise"}, "label": "prefer_recompute"}],
}


def write_rules():
    for name, rules in RULES.items():
        with open(f"{name}.json", "w") as file:
            json.dump({"version": 1, "rules": rules}, file)


def count_offloaded(report):
    return sum(value["decision"] == "offloaded" for value in report["values"])


def check_labels(name, flags):
    """Checks that every set of rules gives the bits of save-all, in the predicted arena and with fewer bytes."""
    model = f"{name}.mlir"
    saved = compile_model(model, "saved.rpb", "--policy=save-all", *flags)
    run("saved.rpb", "saved", *RUN)
    for rules in RULES:
        report = compile_model(model, "plan.rpb", f"--policy={rules}.json", "--allow-unmatched-rules", *flags)
        run("plan.rpb", "moved", *RUN)
        same_folder(f"{name}, {rules}: the folder of save-all", "saved", "moved")
        executed = int(tool("executed-arena", "plan.rpb", 1).split()[0])
        # No derivative reads a contraction's result in the LSTM.
        is_moved = (name, rules) != ("lstm", "contractions")
        check(f"{name}, {rules}: values are moved, the arena is as predicted",
              (count_offloaded(report) > 0) == ("host_bytes" in report) == is_moved and executed == report["arena_bytes"], str(executed))
        if rules == "contractions" and is_moved:
            check(f"{name}, {rules}: fewer bytes are saved", report["saved_bytes"] < saved["saved_bytes"])


def check_devices(name, flags):
    """Checks that on emulated GPUs copies run beside kernels, and in a pipeline beside transfers."""
    model = f"{name}.mlir"
    for rules, order in zip(RULES, ("forwards", "backwards", "shuffled")):
        compile_model(model, "gpu.rpb", f"--policy={rules}.json", "--allow-unmatched-rules", "--target=cuda:sm_90", *flags)
        run_emulated("gpu.rpb", "gpu", order, 1)
        same_folder(f"{name}, {rules}, {order}: a GPU gives the folder of the CPU", "saved", "gpu")
    cut = ["--microbatches=2", "--stages=2", "--allow-unmatched-rules", *flags]
    compile_model(model, "one.rpb", "--microbatches=2", *flags)
    run("one.rpb", "one", *RUN)
    compile_model(model, "stages.rpb", "--policy=contractions.json", *cut)
    run("stages.rpb", "stages", *RUN)
    same_folder(f"{name}: two stages give the folder of one device", "one", "stages")
    compile_model(model, "gpus.rpb", "--policy=contractions.json", "--target=cuda:sm_90", *cut)
    run_emulated("gpus.rpb", "gpus", "shuffled", 2)
    same_folder(f"{name}: two stages on GPUs do, too", "one", "gpus")


def check_budgets():
    """A device with a fast link: the planner moves values by itself, for less time than replays take."""
    write_model("wide.mlir", "gpt2", {"layers": 4, "width": 128, "heads": 4, "batch": 4, "seq": 64, "vocab": 64}, "--dropout=0.1")
    rates = {"version": 1, "name": "linked", "flops": {"f32": 1e10, "f64": 1e10}, "elementwise_flops": 1e10, "bytes_per_second": 1e10,
             "launch_seconds": 1e-7}
    for name, link in (("linked", {"host_bytes_per_second": 1e9}), ("alone", {})):
        with open(f"{name}.device.json", "w") as file:
            json.dump({**rates, **link}, file)
    run_of = {}
    for name in ("alone", "linked"):
        plans = [compile_model("wide.mlir", f"{name}.rpb", f"--device-file={name}.device.json", f"--budget={budget}%", f"--plan-out={name}.plan.json")
                 for budget in (60, 40)]
        run_of[name] = plans
        run(f"{name}.rpb", name, *RUN)
    alone, linked = run_of["alone"], run_of["linked"]
    check("without a link nothing is moved", not any(count_offloaded(plan) for plan in alone))
    check("with one, values are", all(count_offloaded(plan) for plan in linked))
    check("which takes less time", all(one["cost_increase"] < other["cost_increase"] for one, other in zip(linked, alone)))
    check("and not less than the bound", all(plan["bound"] <= plan["cost_increase"] + 1e-9 for plan in linked))
    check("and holds the budgets", all(plan["arena_bytes"] + plan["workspace_bytes"] <= plan["budget"]["bytes"] for plan in linked))
    same_folder("the bits are the same", "alone", "linked")
    compile_model("wide.mlir", "again.rpb", "--device-file=linked.device.json", "--budget=40%", "--plan-in=linked.plan.json")
    with open("linked.rpb", "rb") as one, open("again.rpb", "rb") as other:
        check("a plan from its file is the same bundle", one.read() == other.read())


def main():
    write_rules()
    for name in SIZES:
        flags = ["--unroll"] if name == "lstm" else []
        write_model(f"{name}.mlir", name, SIZES[name], "--optimizer=momentum", *([] if name == "resnet18" else ["--dropout=0.1"]))
        check_labels(name, flags)
        if name == "gpt2":
            check_devices(name, flags)
    check_budgets()
    finish()


if __name__ == "__main__":
    main()
