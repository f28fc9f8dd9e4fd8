#!/usr/bin/env python3
"""A label holds for the memory, whatever looks at it: reports and plans say so, and no bit changes."""

import os
import pathlib

from checks import check, compile_model, estimate_model, finish, run, same_folder, write_json, zoo

MODEL = pathlib.Path(os.environ["REPRISE_SOURCE"], "test", "Tools", "reprise-compile", "Inputs", "views.mlir")
VALUES = {"whole": "tanh#0:0", "turned": "tanh#0:0", "flat": "mul#0:0"}
#: Pairs of a selector, by a name of the value or of a view, or by an op, and the value that it is about.
MATCHES = [({"name": name}, value) for name, value in VALUES.items()]
MATCHES += [({"op": "tanh"}, "tanh#0:0"), ({"op": "mul", "first": 1}, "mul#0:0"), ({"op": "transpose"}, "tanh#0:0")]
DECISIONS = {"offload": "offloaded", "recompute": "replayed", "save": "saved"}
DEFAULT = {"default": "prefer_save"}


def compile_rules(*rules):
    """Returns the rows of the report by id, and what the host keeps; the bits are those of the step that saves all."""
    write_json("rules.json", {"version": 1, "rules": rules})
    report = compile_model(MODEL, "a.rpb", "--entry=grad", "--policy=rules.json")
    run("a.rpb", "a", "--seed=2")
    same_folder(str(rules), "all", "a")
    return {row["id"]: row for row in report["values"]}, report.get("host_bytes", 0)


def check_label(word, wish, match, value, rest):
    label = f"{word}_{wish}"
    rows, host = compile_rules({"match": match, "label": label}, *rest)
    row = rows[value]
    found = row["label"], row["decision"], row["saved_bytes"], host
    expected = label, DECISIONS[wish], 1024 if wish == "save" else 0, 1024 if wish == "offload" else 0
    check(f"{match} {label}", found == expected and "rules.json:1:" in row["reason"], str(row))


def check_labels():
    for word in ("must", "prefer"):
        for wish in DECISIONS:
            for match, value in MATCHES:
                for rest in ([DEFAULT], []):
                    # The default's label of the value itself comes before that of a view.
                    if match.get("op") != "transpose" or not rest or word == "must":
                        check_label(word, wish, match, value, rest)
    rows, host = compile_rules({"match": {"name": "{whole,turned}"}, "label": "must_offload"}, DEFAULT)
    check("a value and its view, both to be offloaded, are one", host == 1024 and rows["tanh#0:0"]["decision"] == "offloaded", host)
    row = compile_rules({"match": {"op": "tanh"}, "label": "prefer_save"})[0]["mul#0:0"]
    check("what nobody labels is saved, and the report says so", (row["decision"], row["reason"], row["saved_bytes"]) == ("saved", "fastest", 1024), str(row))


def check_contractions():
    """Every contraction of a model, with and without a budget: none has bytes on the device, and none is moot where it would."""
    zoo("llama.mlir", "llama", "--layers=2", "--width=32", "--heads=2", "--seq=16", "--vocab=64", "--batch=2")
    for label, decision in (("must_recompute", "replayed"), ("must_offload", "offloaded")):
        write_json("rules.json", {"version": 1, "rules": [{"match": {"kind": "contraction"}, "label": label}]})
        for budget in ([], ["--budget=90%"]):
            report = estimate_model("llama.mlir", "--entry=grad", "--policy=rules.json", *budget)
            rows = {row["id"]: row for row in report["values"] if row["label"] == label and row["op"] == "reprise.dot_general"}
            name = f"contractions {label} {budget}"
            check(f"{name}: none has bytes", len(rows) > 10 and not any(row["saved_bytes"] for row in rows.values()), str(len(rows)))
            check(f"{name}: {decision}", rows["layer/1/attention/dot_general#2:0"]["decision"] == decision)


def main():
    compile_model(MODEL, "all.rpb", "--entry=grad", "--policy=save-all")
    run("all.rpb", "all", "--seed=2")
    check_labels()
    check_contractions()
    finish()


main()
