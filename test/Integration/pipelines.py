#!/usr/bin/env python3
"""Steps that are cut into stages have the bits of one device: losses, gradients, parameters and states.

Without an argument the test runs a part of the table. `pipelines.py all` also runs all of it: five models on 1, 2, 3, 4
and 8 devices by every schedule, in every checkpoint mode, and within half of the bytes of save-all, or within the
smallest possible budget above it.
"""

import checks
from checks import check, compile_fitting, compile_model, estimate_model, finish, run, same_folder, taken, tool, write_json, zoo

TEXT = ["--width=32", "--heads=2", "--seq=16", "--batch=5", "--vocab=64"]
MODELS = {
    "gpt2": ["gpt2", "--layers=4", "--dropout=0.1", "--optimizer=momentum", *TEXT],
    "gpt2-loop": ["gpt2", "--layers=4", "--dropout=0.1", "--loop", *TEXT],
    "llama": ["llama", "--layers=4", *TEXT],
    "resnet18": ["resnet18", "--batch=8", "--image=16"],
    "unet": ["unet", "--batch=5", "--image=16"],
}
MORE = {
    # A micro-batch of one sample has one value per channel in the last layers.
    "resnet18-deferred": ["resnet18", "--batch=5", "--image=16", "--deferred-statistics"],
    "moe": ["moe", "--dropout=0.1", "--route-samples", *TEXT],
}
SCHEDULES = ["gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zb-h2", "zb-v", "dualpipe-v"]
TABLE = {"never": ["--checkpoint=never"], "except-last": ["--checkpoint=except-last"], "always": ["--checkpoint=always"],
         "half": ["--budget=50%"]}
PLANS = TABLE | {policy: [f"--policy={policy}"] for policy in ("save-all", "recompute-all")}
PART = [("gpt2", 3, schedule, None) for schedule in SCHEDULES]
PART += [("gpt2", 2, "zb-v", None), ("gpt2", 2, "1f1b", "recompute-all"), ("gpt2-loop", 2, "zb-h1", None),
         ("gpt2-loop", 3, "zb-v", "recompute-all"), ("llama", 4, "1f1b", None),
         ("resnet18", 3, "interleaved-1f1b", None),
         ("resnet18-deferred", 2, "zb-h1", None), ("resnet18-deferred", 3, "1f1b", "recompute-all"),
         ("moe", 2, "zb-v", None), ("moe", 3, "1f1b", "recompute-all"), ("unet", 2, "zb-v", None), ("unet", 4, "gpipe", None)]
ALL = [(model, 1, "1f1b", plan) for plan in ("save-all", "recompute-all", "half") for model in MODELS]
ALL += [(model, devices, schedule, plan) for devices in (2, 3, 4, 8) for schedule in SCHEDULES for plan in TABLE for model in MODELS]
FLAGS = ["--steps=2", "--seed=5"]


def check_bits(cases):
    known = set()
    for model, devices, schedule, plan in cases:
        if model not in known:
            known.add(model)
            zoo(f"{model}.mlir", *(MODELS | MORE)[model])
            compile_model(f"{model}.mlir", "one.rpb", "--microbatches=3")
            run("one.rpb", f"one-{model}", *FLAGS)
        name = f"{model} on {devices} by {schedule}, {plan or 'no policy'}"
        error = compile_cut(model, devices, schedule, PLANS.get(plan, []))
        if check(f"{name}: compiles", not error, error):
            run("cut.rpb", "cut", *FLAGS)
            same_folder(name, f"one-{model}", "cut")


def compile_cut(model, devices, schedule, flags):
    """Returns the error, if there is one."""
    cut = ["--microbatches=3", f"--stages={devices}", f"--schedule={schedule}"]
    return compile_fitting(f"{model}.mlir", "cut.rpb", cut, flags)


def check_judge():
    """The interpreter runs all programs of a pipeline."""
    tool("reprise-compile", "gpt2.mlir", "--interpret", "--microbatches=3", "--stages=3", "--schedule=zb-h1", *FLAGS,
         "--output-dir=judge")
    same_folder("the interpreter", "one-gpt2", "judge")


def check_hidden():
    """Replays that run while their device waits change no bit."""
    cut = ["--microbatches=3", "--stages=3", "--schedule=1f1b", "--checkpoint=always"]
    report = compile_model("gpt2.mlir", "cut.rpb", *cut)
    hidden = [(stage["hidden"], stage["replay"]) for stage in report["pipeline"]["stages"]]
    check("replays hide on all devices but the last", all(0 < a <= 1.001 * b for a, b in hidden[:2]) and hidden[2][0] == 0, str(hidden))
    run("cut.rpb", "cut", *FLAGS)
    same_folder("hidden replays", "one-gpt2", "cut")
    tool("reprise-compile", "gpt2.mlir", "--interpret", *cut, *FLAGS, "--output-dir=judge")
    same_folder("hidden replays in the interpreter", "one-gpt2", "judge")


def check_second():
    """A Hessian-vector product goes up and down the pipeline twice."""
    zoo("hvp.mlir", "gpt2", "--layers=2", "--dropout=0.1", *TEXT)
    for bundle, flags in (("one.rpb", []), ("cut.rpb", ["--stages=2"])):
        tool("reprise-compile", "hvp.mlir", "--entry=hvp", "-o", bundle, "--microbatches=2", "--policy=recompute-all", *flags)
        run(bundle, f"hvp-{bundle}", "--seed=5")
    same_folder("a Hessian-vector product on 2", "hvp-one.rpb", "hvp-cut.rpb")


def check_stacks():
    """Devices have the rows of their own layers: of parameters, gradients and states; runs have whole arrays."""
    for model, optimizer in (("gpt2", "adamw"), ("llama", "momentum")):
        zoo("stack.mlir", model, "--layers=4", "--loop", "--dropout=0.1", f"--optimizer={optimizer}", *TEXT)
        one = compile_model("stack.mlir", "one.rpb", "--microbatches=3")["persistent_bytes"]
        reports = compile_model("stack.mlir", "cut.rpb", "--microbatches=3", "--stages=4", "--schedule=1f1b")["programs"]
        held = [report["persistent_bytes"] for report in reports]
        check(f"{model}: each of 4 devices holds a share", max(held) < 0.4 * one and sum(held) < 1.01 * one, f"{held} of {one}")
        run("one.rpb", "stack-one", *FLAGS)
        run("cut.rpb", "stack-cut", *FLAGS)
        same_folder(f"{model}: rows on 4 devices", "stack-one", "stack-cut")
        run("one.rpb", "stack-half", "--steps=1", "--seed=5")
        run("cut.rpb", "stack-cut", "--steps=1", "--input-dir=stack-half")
        same_folder(f"{model}: 1 step on one device and 1 on 4", "stack-one", "stack-cut")
    tool("reprise-compile", "stack.mlir", "--interpret", "--microbatches=3", "--stages=2", *FLAGS, "--output-dir=stack-judge")
    same_folder("the interpreter has whole arrays", "stack-one", "stack-judge")
    for entry in ("grad", "hvp"):
        tool("reprise-compile", "stack.mlir", f"--entry={entry}", "-o", "one.rpb")
        tool("reprise-compile", "stack.mlir", f"--entry={entry}", "-o", "cut.rpb", "--stages=2")
        for bundle in ("one.rpb", "cut.rpb"):
            run(bundle, f"stack-{bundle}", "--seed=5")
        same_folder(f"rows of the results of {entry}", "stack-one.rpb", "stack-cut.rpb")


def check_memory():
    """Checks that 1f1b keeps fewer micro-batches than gpipe, and that each device within its budget needs the predicted
    bytes."""
    taken = {}
    for schedule in ("gpipe", "1f1b"):
        reports = estimate_model("gpt2.mlir", "--microbatches=5", "--stages=2", f"--schedule={schedule}")
        taken[schedule] = [report["arena_bytes"] for report in reports["programs"]]
    check("1f1b takes less than gpipe on each device", all(a < b for a, b in zip(taken["1f1b"], taken["gpipe"])), str(taken))
    reports = estimate_model("gpt2.mlir", "--microbatches=5", "--stages=2", "--budget=90%")["programs"]
    held = [report["arena_bytes"] + report["workspace_bytes"] <= report["budget"]["bytes"] for report in reports]
    check("each device holds its budget", all(held), str(held))
    check("stages are named", [r["stages"] for r in reports] == [2, 2])


def check_tied():
    """Within the bytes of whole replays, plans are faster, though a tied weight fills the first and the last device."""
    zoo("tied.mlir", "gpt2", "--layers=4", "--width=64", "--seq=32", "--vocab=2048")
    cut = ["--microbatches=8", "--stages=4", "--threads=1"]
    always = estimate_model("tied.mlir", *cut, "--checkpoint=always")
    most = max(report["arena_bytes"] + report["workspace_bytes"] for report in always["programs"])
    planned = estimate_model("tied.mlir", *cut, f"--budget={most}")
    seconds = [report["pipeline"]["makespan"] for report in (planned, always)]
    check("plans beside whole replays", seconds[0] < 0.95 * seconds[1], str(seconds))


def check_modes():
    """Checks that stages replay all micro-batches, all but the last one, or none."""
    zoo("mlp.mlir", "mlp", "--layers=6", "--width=64", "--batch=8")
    tool("reprise-compile", "mlp.mlir", "-o", "one.rpb", "--microbatches=4")
    run("one.rpb", "mlp-one", *FLAGS)
    reports = {}
    for mode in ("never", "except-last", "always"):
        reports[mode] = compile_model("mlp.mlir", "cut.rpb", "--microbatches=4", "--stages=2", "--schedule=gpipe",
                                      f"--checkpoint={mode}")["programs"]
        run("cut.rpb", "mlp-cut", *FLAGS)
        same_folder(f"checkpoint {mode}", "mlp-one", "mlp-cut")
    for device in (0, 1):
        replays = [reports[mode][device]["replayed_ops"] for mode in ("never", "except-last", "always")]
        check(f"device {device}: replays of 0, 3 and 4 micro-batches",
              replays[0] == 0 and replays[2] > 0 and 4 * replays[1] == 3 * replays[2], str(replays))


def check_places():
    """Checks that stages begin at scopes, and that parameters live on the device that reads them."""
    tool("reprise-compile", "gpt2.mlir", "-o", "cut.rpb", "--microbatches=3", "--stages=layer/1,layer/3")
    run("cut.rpb", "cut", *FLAGS)
    same_folder("stages from scopes", "one-gpt2", "cut")
    text = tool("reprise-opt", "gpt2.mlir", "--reprise-to=partition microbatches=3 stages=3 begin=layer/1,layer/3")
    programs = text.split("reprise.program @")[1:]
    owners = [[f'"layer/{layer}/up/weight"' in program for program in programs] for layer in range(4)]
    check("weights have homes", owners == [[True, False, False], [False, True, False], [False, True, False],
                                           [False, False, True]], str(owners))


def write_device(name, flops, rate=1e9, **memory):
    write_json(f"{name}.json", {"version": 1, "name": name, "flops": {"f32": flops}, "elementwise_flops": rate, "bytes_per_second": rate,
                                "launch_seconds": 0, **memory})
    return f"--device-file={name}.json"


def check_devices():
    """Rates of devices move the cut, and their memory bounds it."""
    zoo("deep.mlir", "mlp", "--layers=8", "--width=32", "--batch=8")
    slow, fast = write_device("slow", 1e9), write_device("fast", 4e9, 4e9)
    compile_model("deep.mlir", "one.rpb", "--microbatches=2")
    even, skew = (compile_model("deep.mlir", "cut.rpb", "--microbatches=2", "--stages=2", *devices) for devices in ([slow], [slow, fast]))
    for bundle in ("one", "cut"):
        run(f"{bundle}.rpb", f"devices-{bundle}", "--seed=3", "--steps=2")
    same_folder("devices of two rates", "devices-one", "devices-cut")
    held = [[program["persistent_bytes"] for program in report["programs"]] for report in (even, skew)]
    check("the fast device takes most of the layers", held[1][0] < held[0][0] and held[1][1] > held[0][1], str(held))
    check("and the step is faster", skew["pipeline"]["makespan"] < even["pipeline"]["makespan"])


def check_fitting():
    """A cut whose programs do not fit is made again; where no cut of a schedule fits, the next schedule is tried."""
    cut = ["--stages=2", "--target=cpu:x86-64-v3", "--threads=1"]
    memory = {"large": 45700, "small": 22850}
    files = [write_device(name, 1e10, memory=bytes) for name, bytes in memory.items()]
    again = compile_model("deep.mlir", "cut.rpb", *cut, "--schedule=zb-h1", *files)
    for program, (name, most) in zip(again["programs"], memory.items()):
        check(f"the {name} device holds its program", program["persistent_bytes"] + taken(program) <= most, str(taken(program)))
    compile_model("deep.mlir", "one.rpb", "--threads=1")
    for bundle in ("one", "cut"):
        run(f"{bundle}.rpb", f"fitting-{bundle}", "--seed=3")
    same_folder("a cut that was made again", "fitting-one", "fitting-cut")
    chosen = estimate_model("deep.mlir", *cut, "--microbatches=4", "--schedule=auto", write_device("tight", 1e10, memory=44500))["pipeline"]
    rows = chosen["schedules"]
    check("a faster schedule does not fit", rows[0]["fits"] and min(row["makespan"] for row in rows if not row["fits"]) < rows[0]["makespan"], str(rows))
    auto = estimate_model("deep.mlir", "--microbatches=4", "--stages=2", "--schedule=auto")["pipeline"]
    rows = auto["schedules"]
    check("the fastest schedule is taken", (auto["schedule"], auto["chunks"]) == (rows[0]["schedule"], rows[0]["chunks"]))
    check("schedules are in order of time", [row["makespan"] for row in rows] == sorted(row["makespan"] for row in rows))
    check("all schedules are tried", {row["schedule"] for row in rows} == {*SCHEDULES}, str(rows))


def main():
    check_bits(PART + ALL if checks.everything else PART)
    check_judge()
    check_hidden()
    check_second()
    check_stacks()
    check_memory()
    check_tied()
    check_modes()
    check_places()
    check_devices()
    check_fitting()
    finish()


if __name__ == "__main__":
    main()
