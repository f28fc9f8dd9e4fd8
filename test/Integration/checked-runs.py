#!/usr/bin/env python3
"""Checked runs: --verify-replays compares and changes no bit; --check-indices names indices that would be clamped."""

import array
import os
import pathlib
import subprocess

from arrays import read_npy, write_npy
from checks import check, compile_model, finish, run, same_folder, tool, zoo

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs"
POSITIONS = INPUTS / "positions.mlir"
ROWS = INPUTS / "positions-of-rows.mlir"


def compare_replays(model, policy, entry, steps):
    """Runs one program with and without the comparison; returns the reports."""
    reports = []
    for flags in ([], ["--verify-replays"]):
        bundle, folder = f"program{len(reports)}.rpb", f"results{len(reports)}"
        reports.append(compile_model(model, bundle, f"--entry={entry}", f"--policy={policy}", "--threads=2", *flags))
        for threads in (1, 2):
            run(bundle, f"{folder}.{threads}", "--seed=5", f"--steps={steps}", f"--threads={threads}")
    name = f"{model} {entry} {policy}"
    for threads in (1, 2):
        same_folder(f"{name}: compared, {threads} threads", f"results1.{threads}", f"results0.{threads}")
    plain, compared = reports
    # Originals without other readers are computed for the comparison.
    more = compared["commands"] - plain["commands"]
    check(f"{name}: the same commands", more == 0 or (entry == "hvp" and more > 0), str(more))
    check(f"{name}: nothing is compared unasked", plain["replay_checks"] == 0)
    return plain, compared


def replays():
    zoo("mlp.mlir", "mlp", "--layers=3", "--width=40", "--batch=12", "--classes=5", "--dropout=0.2", "--optimizer=adamw")
    zoo("gpt2.mlir", "gpt2", "--layers=2", "--width=32", "--heads=2", "--batch=2", "--seq=12", "--vocab=23", "--dropout=0.1")
    for model in ("mlp.mlir", "gpt2.mlir"):
        for entry, steps in (("train", 3), ("hvp", 1)):
            plain, compared = compare_replays(model, "recompute-all", entry, steps)
            name = f"{model} {entry}"
            check(f"{name}: most replays are compared", compared["replay_checks"] * 2 > compared["replayed_ops"] > 0,
                  str(compared["replay_checks"]))
            check(f"{name}: both values live to the end", compared["arena_bytes"] > plain["arena_bytes"])
            # Compared values are stored in memory.
            plans = [[{**value, "fused": None} for value in report["values"]] for report in (plain, compared)]
            check(f"{name}: the plan is the same", plans[0] == plans[1])
        plain, compared = compare_replays(model, "save-all", "train", 2)
        check(f"{model}: nothing to compare", compared["replay_checks"] == 0)
        check(f"{model}: nothing more to keep", compared["arena_bytes"] == plain["arena_bytes"])


def refusal(name, bundle, *flags):
    """Returns the message of a checked run that must stop without output."""
    done = subprocess.run(["reprise-run", bundle, "--check-indices", "--output-dir=refused", *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(f"{name}: exit code 1, nothing written", done.returncode == 1 and not os.path.exists("refused"))
    return done.stderr


def expect(name, message, part):
    check(name, part in message, f"'{part}' is not in '{message.strip()}'")


def labels_out_of_range():
    zoo("labels.mlir", "mlp", "--layers=1", "--width=8", "--batch=10", "--classes=7")
    compile_model("labels.mlir", "labels.rpb")
    write_npy("good.npy", "<i4", (10,), array.array("i", [0, 6, 1, 5, 2, 4, 3, 0, 6, 1]).tobytes())
    write_npy("bad.npy", "<i4", (10,), array.array("i", [0, 6, 1, 7, 2, -1, 3, 0, 99, 1]).tobytes())
    write_npy("clamped.npy", "<i4", (10,), array.array("i", [0, 6, 1, 6, 2, 0, 3, 0, 6, 1]).tobytes())
    run("labels.rpb", "checked", "--check-indices", "--input", "labels=good.npy")
    run("labels.rpb", "unchecked", "--input", "labels=good.npy")
    same_folder("labels: the check changes no bit", "checked", "unchecked")
    message = refusal("labels", "labels.rpb", "--input", "labels=bad.npy")
    expect("labels: the op, the argument and the count", message,
           "indices of reprise.cross_entropy in loss (argument 'labels') outside [0, 7): 3 of 10, the first is 7 at position 3")
    run("labels.rpb", "bad", "--input", "labels=bad.npy")
    run("labels.rpb", "clamped", "--input", "labels=clamped.npy")
    same_folder("labels: unchecked, they are clamped", "bad", "clamped")


def positions(name, change, part):
    """Changes one token of the positions model; `part` is the expected part of the message, None without a fault."""
    tokens = array.array("q", [3 + i % 7 for i in range(24)])
    tokens[change[0]] = change[1]
    write_npy("tokens.npy", "<i8", (3, 8), tokens.tobytes())
    if part is None:
        run("positions.rpb", "good", "--check-indices", "--input", "tokens=tokens.npy")
        run("positions.rpb", "same", "--input", "tokens=tokens.npy")
        same_folder(name, "good", "same")
        return
    expect(name, refusal(name, "positions.rpb", "--input", "tokens=tokens.npy"), part)


def computed_positions():
    compile_model(POSITIONS, "positions.rpb", "--threads=2")
    tool("reprise-compile", POSITIONS, "--interpret", "--seed=2", "--output-dir=judged")
    run("positions.rpb", "run", "--seed=2", "--check-indices")
    same_folder("positions: the interpreter", "judged", "run")
    check("positions: two arrays", read_npy("run/table.npy")[1] == (11, 7))
    gather = f"indices of reprise.gather at {POSITIONS}"
    positions("a token that the slice leaves out", (8, 99), None)
    positions("a token of the slice", (9, 11), f"{gather}:5:11 outside [0, 11): 1 of 21, the first is 11 at position 7")
    positions("a computed row", (23, 2), f"{gather}:9:11 outside [0, 11): 1 of 21, the first is -1 at position 20")
    positions("a computed class", (15, 10), f"indices of reprise.cross_entropy at {POSITIONS}:13:11 outside [0, 7): "
              "1 of 21, the first is 7 at position 13")


def positions_of_rows():
    compile_model(ROWS, "rows.rpb")
    tool("reprise-compile", ROWS, "--interpret", "--seed=2", "--output-dir=judged-rows")
    run("rows.rpb", "rows", "--seed=2", "--check-indices")
    same_folder("rows: the interpreter", "judged-rows", "rows")
    write_npy("along.npy", "<i4", (3, 2), array.array("i", [0, 7, 8, 1, -2, 3]).tobytes())
    expect("rows: a position in a row", refusal("rows", "rows.rpb", "--input", "along=along.npy"),
           f"indices of reprise.take_along at {ROWS}:3:12 (argument 'along') outside [0, 8): 2 of 6, the first is 8 at position 2")
    write_npy("replaced.npy", "<i8", (2,), array.array("q", [2, 3]).tobytes())
    expect("rows: a row that is replaced", refusal("rows", "rows.rpb", "--input", "rows=replaced.npy"),
           f"indices of reprise.scatter at {ROWS}:5:15 (argument 'rows') outside [0, 3): 1 of 2, the first is 3 at position 1")


def main():
    replays()
    labels_out_of_range()
    computed_positions()
    positions_of_rows()
    finish()


if __name__ == "__main__":
    main()
