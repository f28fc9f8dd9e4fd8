#!/usr/bin/env python3
"""A loop and its unrolled iterations are one model: equal bits under every plan and number of threads."""

import os
import pathlib

from checks import check, compile_model, count_kernels, everything, finish, read_json, run, same_folder, tool, zoo

STEP = """
func.func @train(%w: tensor<{n}x16x16xf32> {{reprise.role = "parameter", reprise.name = "w", reprise.init = #reprise.normal<0.0, 0.1>}},
                 %x: tensor<16x16xf32> {{reprise.role = "input", reprise.name = "x", reprise.init = #reprise.normal<0.0, 1.0>}})
    -> (tensor<f32> {{reprise.name = "loss"}}, tensor<{n}x16x16xf32> {{reprise.name = "w"}}) {{
  %0:2 = reprise.value_and_grad @loss(%w, %x) wrt [0] : (tensor<{n}x16x16xf32>, tensor<16x16xf32>) -> (tensor<f32>, tensor<{n}x16x16xf32>)
  %1 = reprise.sub %w, %0#1 : tensor<{n}x16x16xf32>
  return %0#0, %1 : tensor<f32>, tensor<{n}x16x16xf32>
}}
func.func private @loss(%w: tensor<{n}x16x16xf32>, %x: tensor<16x16xf32>) -> tensor<f32> {{
  %0 = reprise.loop {n} (%h = %x) over (%v = %w) : (tensor<16x16xf32>, tensor<{n}x16x16xf32>) -> tensor<16x16xf32> {{
    %1 = reprise.dot_general %h, %v contracting [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = reprise.tanh %1 : tensor<16x16xf32>
    reprise.yield %2 : tensor<16x16xf32>
  }}
  %3 = reprise.mean %0 dims [0, 1] : (tensor<16x16xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}}
"""
# Two values of the state change places: neither can be stored before the other one is read.
SWAP = """
func.func @train(%a: tensor<64xf32> {reprise.role = "state", reprise.name = "a", reprise.init = #reprise.normal<0.0, 1.0>},
                 %b: tensor<64xf32> {reprise.role = "state", reprise.name = "b", reprise.init = #reprise.normal<0.0, 1.0>})
    -> (tensor<64xf32> {reprise.name = "a"}, tensor<64xf32> {reprise.name = "b"}) {
  %0 = reprise.neg %b : tensor<64xf32>
  return %0, %a : tensor<64xf32>, tensor<64xf32>
}
"""
POLICIES = ["none", "save-all", "dots-saveable", "recompute-all"]


def policy_flags(policy):
    return [] if policy == "none" else [f"--policy={policy}"]


def compare(name, model, entry, steps):
    """Compares loop and iterations under policies, for a whole step all of them, and thread counts with one folder;
    returns the reports."""
    reports, reference = {}, None
    for policy in POLICIES if entry == "train" else ("none", "recompute-all"):
        for form, flags in (("loop", []), ("unrolled", ["--unroll"])):
            bundle = f"{name}.{entry}.{policy}.{form}.rpb"
            report = compile_model(model, bundle, "--threads=5", f"--entry={entry}", *policy_flags(policy), *flags)
            reports[policy, form] = report
            executed = int(tool("executed-arena", bundle, 7).split()[0])
            check(f"{bundle}: executed arena", executed == report["arena_bytes"], f"{executed}, {report['arena_bytes']}")
            for threads in (1, 2, 5) if form == "loop" else (2,):
                folder = f"{name}.{entry}.{policy}.{form}.{threads}"
                run(bundle, folder, "--seed=7", f"--steps={steps}", f"--threads={threads}")
                reference = reference or folder
                same_folder(f"{name} {entry}: {form}, {policy}, {threads} threads", folder, reference)
    interpreted = f"{name}.{entry}.interpreted"
    for flags in ([], ["--unroll"]) if entry == "train" else ([],):
        tool("reprise-compile", model, "--interpret", f"--entry={entry}", "--seed=7", f"--steps={steps}",
             f"--output-dir={interpreted}", *flags)
        same_folder(f"{name} {entry}: the interpreter, {flags}", interpreted, reference)
    return reports


def check_plans(reports):
    chain = [reports[policy, "loop"] for policy in ("save-all", "dots-saveable", "recompute-all")]
    saved = [report["saved_bytes"] for report in chain]
    replays = [report["replayed_ops"] for report in chain]
    check("saved_bytes falls", saved[0] > saved[1] > saved[2], str(saved))
    check("replayed_ops rises from 0", 0 == replays[0] < replays[1] < replays[2], str(replays))
    unrolled = reports["recompute-all", "unrolled"]
    check("recompute-all saves little more than unrolled", saved[2] <= 1.2 * unrolled["saved_bytes"],
          f"{saved[2]}, {unrolled['saved_bytes']}")
    arenas = [report["arena_bytes"] for report in chain]
    check("recompute-all's arena is at most 0.8 of save-all's", arenas[2] <= 0.8 * arenas[0], str(arenas))


def check_segments(model):
    """Checks that every k-th carry is kept if the value between iterations must be recomputed; the bits stay."""
    lines = pathlib.Path(model).read_text().split("\n")
    end = next(i for i, line in enumerate(lines) if "reprise.yield" in line)
    last = max(i for i in range(end) if "reprise.add" in lines[i])
    lines[last] = lines[last].replace(" : ", " {reprise.label = #reprise.label<must_recompute>} : ", 1)
    pathlib.Path("segments.mlir").write_text("\n".join(lines))
    for entry in ("train", "hvp"):
        for policy in ("none", "recompute-all"):
            flags = [f"--entry={entry}", *policy_flags(policy)]
            plain = compile_model(model, "plain.rpb", *flags)
            split = compile_model("segments.mlir", "segments.rpb", *flags)
            name = f"segments, {entry}, {policy}"
            check(f"{name}: fewer bytes are saved", split["saved_bytes"] < plain["saved_bytes"])
            check(f"{name}: more is replayed", split["replayed_ops"] > plain["replayed_ops"])
            for bundle in ("plain", "segments"):
                run(f"{bundle}.rpb", bundle, "--seed=7")
            same_folder(f"{name}: the same bits", "segments", "plain")
            compile_model("segments.mlir", "segments.rpb", "--verify-replays", *flags)
            run("segments.rpb", "segments", "--seed=7")


def check_replays(model):
    """Checks that every replay of every iteration equals its original, and that the check can find a wrong one."""
    report = compile_model(model, "replays.rpb", "--verify-replays", "--policy=recompute-all")
    check("replays are compared", report["replay_checks"] > 10, str(report["replay_checks"]))
    run("replays.rpb", "replays", "--steps=1", "--seed=7")


def check_kernels():
    for layers in (2, 7):
        zoo("layers.mlir", "gpt2", "--loop", f"--layers={layers}", "--width=32", "--batch=2", "--seq=16")
        compile_model("layers.mlir", f"layers.{layers}.rpb")
    counts = [count_kernels(f"layers.{layers}.rpb") for layers in (2, 7)]
    check("a longer loop has no more kernels", counts[0] == counts[1], str(counts))


def run_text(name, text):
    """Compiles, runs, and compares with the interpreter; the bundle's bytes and the run's figures."""
    pathlib.Path(f"{name}.mlir").write_text(text)
    compile_model(f"{name}.mlir", f"{name}.rpb", "--threads=2")
    figures = run(f"{name}.rpb", f"{name}.out", "--steps=3", "--seed=5")
    tool("reprise-compile", f"{name}.mlir", "--interpret", "--steps=3", "--seed=5", f"--output-dir={name}.ref")
    same_folder(f"{name}: the interpreter", f"{name}.ref", f"{name}.out")
    return os.path.getsize(f"{name}.rpb"), figures["commands"]


def check_commands():
    """Checks that the commands of a loop stand in the bundle once, and that state that no launch can overwrite is copied."""
    (few, few_commands), (many, many_commands) = (run_text(f"rows{n}", STEP.format(n=n)) for n in (3, 96))
    check("a longer loop runs more commands", many_commands > 20 * few_commands, f"{many_commands}, {few_commands}")
    check("and has no larger bundle", abs(many - few) < 256, f"{many}, {few}")
    run_text("swap", SWAP)
    run("swap.rpb", "traced", "--trace=swap.json")
    check("state is copied", any(event["name"] == "copy" for event in read_json("swap.json")["traceEvents"]))


def main():
    zoo("gpt2.mlir", "gpt2", "--loop", "--layers=4", "--width=32", "--batch=2", "--seq=24", "--dropout=0.1")
    check_plans(compare("gpt2", "gpt2.mlir", "train", 2))
    compare("gpt2", "gpt2.mlir", "grad", 1)
    compare("gpt2", "gpt2.mlir", "hvp", 1)
    # The model has one loop over time per layer, and a loop over the layers around it.
    # The gradient alone of these is compared at night.
    for name, flags in (("lstm", []), ("lstm-loop", ["--loop"])):
        zoo(f"{name}.mlir", "lstm", "--layers=3", "--width=16", "--batch=2", f"--seq={7 if everything else 5}", "--vocab=29", "--dropout=0.1", *flags)
        for entry, steps in (("train", 2), ("hvp", 1), *([("grad", 1)] if everything else [])):
            compare(name, f"{name}.mlir", entry, steps)
    check_replays("gpt2.mlir")
    check_segments("gpt2.mlir")
    check_kernels()
    check_commands()
    finish()


if __name__ == "__main__":
    main()
