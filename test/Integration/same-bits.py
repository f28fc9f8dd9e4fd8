#!/usr/bin/env python3
"""Plans and threads change memory and time, never a bit: gpt2 under every policy, at 1, 2 and 5 threads."""

import pathlib

from checks import check, compile_model, count_kernels, finish, run, same_folder, tool, zoo

POLICIES = ["none", "save-all", "dots-saveable", "recompute-all"]


def policy_flags(policy):
    return [] if policy == "none" else [f"--policy={policy}"]


def compare_policies(model, entry, steps, reference):
    """Runs the entry under all policies and thread counts against one folder; returns the reports."""
    reports = {}
    for policy in POLICIES:
        bundle = f"{entry}.{policy}.rpb"
        reports[policy] = compile_model(model, bundle, "--threads=5", f"--entry={entry}", *policy_flags(policy))
        for threads in (1, 2, 5):
            folder = f"{entry}.{policy}.{threads}"
            run(bundle, folder, "--seed=7", f"--steps={steps}", f"--threads={threads}")
            same_folder(f"{model} {entry}: {policy}, {threads} threads", folder, reference or f"{entry}.none.1")
    return reports


def check_plans(reports):
    chain = [reports[policy] for policy in ("save-all", "dots-saveable", "recompute-all")]
    saved = [report["saved_bytes"] for report in chain]
    replays = [report["replayed_ops"] for report in chain]
    check("saved_bytes falls", saved[0] > saved[1] > saved[2], str(saved))
    check("replayed_ops rises from 0", 0 == replays[0] < replays[1] < replays[2], str(replays))
    check("recompute-all saves at most a quarter", saved[2] <= saved[0] / 4, str(saved))
    arenas = [report["arena_bytes"] for report in chain]
    check("recompute-all's arena is at most 0.6 of save-all's", arenas[2] <= 0.6 * arenas[0], str(arenas))


def check_kernels(flags):
    """Checks that layers differ only in buffers and streams: more layers need no further kernel."""
    zoo("short.mlir", "gpt2", "--layers=3", *flags)
    for policy in ("save-all", "recompute-all"):
        compile_model("short.mlir", "short.rpb", f"--policy={policy}")
        counts = [count_kernels("short.rpb"), count_kernels(f"train.{policy}.rpb")]
        check(f"{policy}: equal kernels are compiled once", counts[0] == counts[1], str(counts))


def check_output(model, *flags):
    """Checks that equal input gives equal bytes, whatever addresses the compiler has."""
    files = []
    for copy in ("first", "second"):
        names = [f"{copy}.{kind}" for kind in ("rpb", "json", "html", "txt")]
        tool("reprise-compile", model, "-o", names[0], *[f"--report={name}" for name in names[1:]], *flags)
        files.append([pathlib.Path(name).read_bytes() for name in names])
    check(f"{' '.join([model, *flags])}: bundle and reports are the same bytes, twice", files[0] == files[1])


def check_outputs():
    check_output("m.mlir", "--policy=dots-saveable")
    # Convolutions of single positions: of one sample, some contract to a single row or column.
    zoo("resnet.mlir", "resnet18", "--batch=6", "--image=8", "--width=8", "--classes=2", "--deferred-statistics", "--dropout=0.5")
    check_output("resnet.mlir", "--microbatches=4", "--stages=3", "--schedule=zb-h1", "--checkpoint=except-last")


def main():
    size = ["--layers=6", "--width=64"]
    zoo("m.mlir", "gpt2", *size, "--dropout=0.1")
    check_plans(compare_policies("m.mlir", "train", 3, None))
    check_outputs()
    check_kernels(["--width=64", "--dropout=0.1"])

    tool("reprise-compile", "m.mlir", "--interpret", "--seed=7", "--steps=1", "--output-dir=interpreted")
    run("train.none.rpb", "one-step", "--seed=7", "--steps=1")
    same_folder("the interpreter's step", "interpreted", "one-step")

    hash_of = lambda *flags: run("train.none.rpb", "other", *flags)["hash"]
    reference = hash_of("--seed=7", "--steps=3")
    check("another seed gives another hash", hash_of("--seed=8", "--steps=3") != reference)
    zoo("rate.mlir", "gpt2", *size, "--dropout=0.2")
    compile_model("rate.mlir", "rate.rpb", "--threads=5")
    check("another dropout rate gives another hash", run("rate.rpb", "rate", "--seed=7", "--steps=3")["hash"] != reference)

    zoo("layer.mlir", "gpt2", *size, "--dropout=0.1", "--checkpoint=layer")
    compile_model("layer.mlir", "layer.rpb", "--threads=5")
    run("layer.rpb", "layer", "--seed=7", "--steps=3")
    same_folder("--checkpoint=layer", "layer", "train.none.1")

    hvp = compare_policies("m.mlir", "hvp", 1, None)
    arenas = [hvp[policy]["arena_bytes"] for policy in ("save-all", "recompute-all")]
    check("hvp: recompute-all's arena is at most 0.8 of save-all's", arenas[1] <= 0.8 * arenas[0], str(arenas))
    compile_model("layer.mlir", "hvp.layer.rpb", "--threads=5", "--entry=hvp")
    run("hvp.layer.rpb", "hvp.layer", "--seed=7", "--steps=1")
    same_folder("hvp: --checkpoint=layer", "hvp.layer", "hvp.none.1")
    finish()


if __name__ == "__main__":
    main()
