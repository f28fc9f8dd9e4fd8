#!/usr/bin/env python3
"""Costs from a device file and from a profile: they decide about seconds, and about no byte of a plan that follows labels."""

import json
import os
import pathlib
import re
import sys

from checks import check, compile_model, finish, read_json, refuses, run, same_file, tool, write_json, zoo

PAGE = pathlib.Path(os.environ["REPRISE_SOURCE"], "test", "Tools", "Inputs", "page.py")
TARGET = "--target=cpu:x86-64-v3"
SLOW = {"version": 1, "name": "slow", "flops": {"f32": 1e9}, "elementwise_flops": 1e8, "bytes_per_second": 1e9, "launch_seconds": 1e-4}


def write_profile(measured, waiting):
    """A profile in which contractions take a millisecond each, other kernels 10 microseconds, and the step `waiting` more."""
    profile = read_json(measured)
    for kernel in profile["kernels"]:
        kernel["seconds"] = kernel["calls"] * (1e-3 if "dot_general" in kernel["launch"] else 1e-5)
    seconds = sum(kernel["seconds"] for kernel in profile["kernels"])
    write_json("made.json", {**profile, "step_seconds": seconds + waiting})
    return seconds


def check_device():
    fast, slow = (compile_model("mlp.mlir", f"device{i}.rpb", "--threads=2", *flags) for i, flags in enumerate(([], ["--device-file=slow.json"])))
    same_file("a device file changes no byte", "device0.rpb", "device1.rpb")
    check("devices are named", (fast["device"], slow["device"]) == ("x86-64", "slow"))
    check("a slow device's costs", all(slow["cost"][part] > 10 * fast["cost"][part] > 0 for part in ("forward", "backward")), f"{fast['cost']} {slow['cost']}")
    again = [(a["replay_seconds"], b["replay_seconds"]) for a, b in zip(fast["values"], slow["values"])]
    check("a slow device's replays", all(b > 10 * a or a == b == 0 for a, b in again))


def check_profile():
    """Every launch took as long as the edited profile says, and so does the step that the model predicts."""
    tool("reprise-compile", "mlp.mlir", "-o", "a.rpb", "--threads=2", TARGET)
    run("a.rpb", "profiled", "--threads=2", "--profile-out=profile.json")
    seconds = write_profile("profile.json", 1e-4)
    given = ["--profile=made.json", TARGET]
    reports = {"the profile's plan": compile_model("mlp.mlir", "b.rpb", "--threads=2", *given, "--report=b.txt", "--report=b.html"),
               # Replays of another plan have their originals' seconds; without --threads those of the profile hold.
               "another plan": compile_model("mlp.mlir", "c.rpb", *given, "--policy=recompute-all")}
    for name, report in reports.items():
        error = report["model_error"]
        check(f"{name}: measured seconds", abs(sum(kind["measured_seconds"] for kind in error.values()) - seconds) < 1e-9, str(error))
        check(f"{name}: the rates are off", error["contraction"]["relative_error"] > 0.5 and error["contraction"]["ops"] > 0)
    cost = {name: report["cost"] for name, report in reports.items()}
    check("the step takes what was measured", abs(sum(cost["the profile's plan"].values()) / (seconds + 1e-4) - 1) < 0.05, str(cost))
    check("replays take their originals' seconds", cost["another plan"]["replay"] > 1e-3, str(cost))
    same_file("a profile changes no byte", "a.rpb", "b.rpb")
    tool(sys.executable, PAGE, "b.html", "b.rpb.json")
    found = re.search(r"ops +measured seconds +modelled seconds +relative error +kind\n *\d+ +[\d.e+-]+ +[\d.e-]+ +[\d.]+% +contraction\n", pathlib.Path("b.txt").read_text())
    check("the text has a row per kind", found)


def check_programs():
    """A profile of several programs scales the costs of each."""
    zoo("deep.mlir", "mlp", "--layers=4", "--width=32", "--batch=4")
    cut = ["--microbatches=2", "--stages=layer/2", "--threads=1"]
    tool("reprise-compile", "deep.mlir", "-o", "a.rpb", *cut)
    run("a.rpb", "profiled", "--steps=2", "--threads=2", "--profile-out=programs.json")
    profile = read_json("programs.json")
    check("a profile counts programs and threads", (profile["programs"], profile["threads"]) == (2, 1))
    seconds = write_profile("programs.json", 1)
    costs = [sum(program["cost"].values()) for program in compile_model("deep.mlir", "b.rpb", *cut, "--profile=made.json")["programs"]]
    same_file("programs: a profile changes no byte", "a.rpb", "b.rpb")
    # Waits of programs for each other are no launch's cost.
    check("programs: their costs", len(costs) == 2 and min(costs) > 0.2 * seconds and abs(sum(costs) / seconds - 1) < 0.05, f"{costs} of {seconds}")


def damage(profile):
    """Yields what may be wrong with a profile, and the message."""
    whole, kernel = json.dumps(profile), next(kernel for kernel in profile["kernels"] if kernel["ops"])

    def change(key, value, place=kernel):
        before = place[key]
        place[key] = value
        text = json.dumps(profile)
        place[key] = before
        return text

    yield "syntax", "", "1:1: error: syntax error: expected a value"
    yield "list", "[]", "1:1: error: expected an object with 'version' and 'kernels'"
    yield "version", change("version", 2, profile), "1:2: error: this compiler reads profiles of version 1"
    yield "threads", change("threads", 0, profile), "error: expected 'threads', a number from 1 to 4096"
    yield "kernels", change("kernels", {}, profile), "error: expected 'kernels', an array"
    yield "launch", whole.replace(f'"launch": {json.dumps(kernel["launch"])}', '"lunch": 1', 1), "error: expected 'launch', a string"
    yield "seconds", change("seconds", -1), "error: expected 'seconds', 0 or a number from 1e-18 to 1e+09"
    yield "flops", change("flops", "many", kernel["ops"][0]), "error: expected 'flops', 0 or a number from 1 to 1e+24"
    yield "huge", change("bytes", 1e31), "error: expected 'bytes', 0 or a number from 1 to 1e+24"
    yield "denormal", change("calls", 1e-320), "error: expected 'calls', 0 or a number from 1 to 1e+24"
    yield "deep", '{"version": 1, "kernels": ' + '[{"ops": ' * 25000, "error: syntax error: too many nested values"
    for each in profile["kernels"]:
        each["seconds"] = 1e8
    yield "far", json.dumps(profile), re.compile("^reprise-compile: error: --profile=far.json: the profile gives '.*' .* seconds where the device's rates give .*: "
                                                 "expected them within a factor of 1e9", re.M)


def refuse_damaged():
    for name, text, message in damage(read_json("profile.json")):
        pathlib.Path(f"{name}.json").write_text(text)
        refuses(name, message if name == "far" else re.compile(rf"{name}\.json:.*{re.escape(message)}"), "reprise-compile", "mlp.mlir", "-o", "no.rpb", TARGET,
                f"--profile={name}.json")
    refuses("no file", "reprise-compile: error: --profile=nosuch.json: no such file", "reprise-compile", "mlp.mlir", "-o", "no.rpb", TARGET, "--profile=nosuch.json")


def main():
    zoo("mlp.mlir", "mlp", "--dropout=0.1")
    write_json("slow.json", SLOW)
    check_device()
    check_profile()
    refuse_damaged()
    check_programs()
    finish()


main()
