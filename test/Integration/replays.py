#!/usr/bin/env python3
"""Interprets planned graphs under every policy and compares the results to the bit."""

import filecmp
import os
import subprocess
import sys

POLICIES = [None, "save-all", "dots-saveable", "recompute-all"]
NESTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "nested-checkpoints.mlir")


def interpret(model, folder, *flags):
    subprocess.run(["reprise-compile", model, "--interpret", "--seed=7", "--steps=2", f"--output-dir={folder}", *flags],
                   check=True)


def count_replays(model, *options):
    text = subprocess.run(["reprise-opt", model, "--reprise-to=" + " ".join(("checkpoint",) + options)], check=True,
                          capture_output=True, text=True).stdout
    return text.count("replay = ")


def compare(name, left, right):
    names = sorted(os.listdir(left))
    assert names == sorted(os.listdir(right)) and "run.json" in names, f"{name}: other files"
    _, different, broken = filecmp.cmpfiles(left, right, names, shallow=False)
    assert not different and not broken, f"{name}: {different + broken} differ"


def check(model, entry, reference):
    """Compares all policies of one model with each other and with `reference`, if given; returns a folder."""
    for policy in POLICIES:
        flags = [f"--policy={policy}"] if policy else []
        folder = f"{model}.{entry}.{policy}"
        interpret(model, folder, f"--entry={entry}", *flags)
        reference = reference or folder
        compare(f"{model} {entry} {policy}", reference, folder)
    assert count_replays(model, f"entry={entry}", "policies=recompute-all") > 0, f"{model} {entry}: no replay"
    return reference


def main():
    os.chdir(sys.argv[1])
    references = {}
    for checkpoint in ("layer", "none"):
        model = f"gpt2-{checkpoint}.mlir"
        with open(model, "w") as file:
            subprocess.run(["reprise-zoo", "gpt2", "--layers=2", "--width=16", "--batch=2", "--seq=8", "--vocab=32",
                            "--dropout=0.1", f"--checkpoint={checkpoint}"], check=True, stdout=file)
        for entry in ("train", "hvp"):
            references[entry] = check(model, entry, references.get(entry))
    os.symlink(NESTED, "nested.mlir")
    nested = check("nested.mlir", "train", None)
    interpret("nested.mlir", "ignored", "--ignore-checkpoints")
    compare("--ignore-checkpoints", nested, "ignored")


main()
