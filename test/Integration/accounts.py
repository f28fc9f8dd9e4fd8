#!/usr/bin/env python3
"""A rule file on gpt2 of 124M parameters, and of two layers: the report shows that its rules hold, and accounts for every byte.

The rules: save every second contraction, recompute attention in layers 0 to 5, must_save the named residual stream.
"""

import json
import pathlib
import re

from checks import check, compile_model, finish, refuses, zoo

SIZE = ["--layers=12", "--width=768", "--heads=12", "--vocab=50257", "--seq=1024", "--batch=1", "--dropout=0.1", "--optimizer=adamw"]
RULES = [
    {"match": {"scope": "layer/[0-5]/**", "kind": "attention"}, "label": "must_recompute"},
    {"match": {"op": "reprise.dot_general", "every": 2}, "label": "prefer_save"},
    {"match": {"name": "residual*", "bytes": ">=1MiB"}, "label": "must_save"},
    {"default": "prefer_recompute"},
]
IN_IR = """reprise.policy @mine {
  reprise.rule must_recompute match {scope = "layer/[0-5]/**", kind = "attention"}
  reprise.rule prefer_save match {op = "reprise.dot_general", every = 2}
  reprise.rule must_save match {name = "residual*", bytes = ">=1MiB"}
  reprise.rule prefer_recompute
}
"""


def write_rules(path, rules):
    lines = ",\n".join(" " + json.dumps(rule) for rule in rules)
    pathlib.Path(path).write_text(f'{{"version": 1, "rules": [\n{lines}]}}\n')


def check_rules(values):
    attention = [value for value in values if value["op"] == "reprise.attention"]
    early = [value for value in attention if int(value["id"].split("/")[1]) < 6]
    check("attention in layers 0 to 5 is recomputed", len(early) == 12 and
          {(value["decision"], value["rule"]) for value in early} == {("replayed", "policy rules.json:2:2")}, str(early))
    late = {value["decision"] for value in attention if value not in early}
    check("attention in later layers is not told to", "policy rules.json:2:2" not in {value["rule"] for value in attention if value not in early}, str(late))
    dots = [value for value in values if value["op"] == "reprise.dot_general"]
    # The last product is the logits: the loss reads them, and its backward pass follows immediately.
    second, others = dots[1::2], dots[0::2]
    kept = {value["decision"] for value in second if value["rule"] == "policy rules.json:3:2"}
    check("every second contraction is saved where the backward pass reads it", len(dots) == 73 and
          all(value["rule"] == "policy rules.json:3:2" for value in second) and kept <= {"saved", "not needed"} and "saved" in kept, str(kept))
    check("the others are not asked to be", all(value["rule"] == "policy rules.json:5:2" for value in others))
    residuals = [value for value in values if value["name"] == "residual"]
    check("the residual stream is saved", len(residuals) == 24 and all(value["rule"] == "name residual by rules.json:4:2" for value in residuals) and
          {value["decision"] for value in residuals} <= {"saved", "not needed"}, str(residuals[:1]))


def check_fused():
    """Values of a small model: which of them kernels hold, their layers, and the rule of each."""
    zoo("small.mlir", "gpt2", "--layers=2", "--width=64")
    write_rules("small.json", [{"match": {"op": "reprise.dot_general", "every": 2, "scope": "layer/**"}, "label": "prefer_save"},
                               {"match": {"scope": "layer/[0-0]/**", "kind": "attention"}, "label": "must_recompute"}, {"default": "prefer_recompute"}])
    values = compile_model("small.mlir", "small.rpb", "--policy=small.json")["values"]

    def found(key, op, scope=""):
        return [value[key] for value in values if value["op"] == f"reprise.{op}" and value["id"].startswith(scope)]

    check("no fused value is saved", not any(value["fused"] for value in values if value["saved_bytes"]))
    check("a contraction reads the gelu", set(found("fused", "gelu")) == {False})
    check("broadcasts are fused", set(found("fused", "broadcast")) == {True})
    check("layers are named", {value["layer"] for value in values} == {"embedding", "layer/0", "layer/1", "head", "loss"})
    check("replays of contractions take time", min(found("replay_seconds", "dot_general")) > 0)
    rules = found("rule", "dot_general", "layer/")
    check("every second contraction has the rule", rules == ["policy small.json:4:2", "policy small.json:2:2"] * 6, str(rules))
    first = set(zip(found("rule", "attention", "layer/0"), found("decision", "attention", "layer/0")))
    check("the first attention has another", first == {("policy small.json:3:2", "replayed")}, str(first))
    check("the second has the default", set(found("label", "attention", "layer/1")) == {"prefer_recompute"})


def main():
    zoo("gpt2.mlir", "gpt2", *SIZE)
    write_rules("rules.json", RULES)
    report = compile_model("gpt2.mlir", "gpt2.rpb", "--policy=rules.json")
    values = report["values"]
    check_rules(values)
    check("saved_bytes is the sum of what is listed", report["saved_bytes"] == sum(value["saved_bytes"] for value in values) > 0, report["saved_bytes"])

    head, body = re.match(r"(.*?^module @\w+ \{\n)(.*)", pathlib.Path("gpt2.mlir").read_text(), re.DOTALL | re.MULTILINE).groups()
    pathlib.Path("in-ir.mlir").write_text(head + IN_IR + body)
    same = compile_model("in-ir.mlir", "in-ir.rpb")
    check("the same rules in the IR give the same bundle", pathlib.Path("in-ir.rpb").read_bytes() == pathlib.Path("gpt2.rpb").read_bytes())
    rules = {value["rule"] for value in same["values"] if value["rule"]}
    check("the report names the IR's rules", {"policy @mine:1", "policy @mine:2", "name residual by @mine:3", "policy @mine:4"} <= rules, str(rules))

    write_rules("clash.json", [{"match": {"kind": "attention", "first": 1}, "label": "must_save"}])
    no = "reprise-compile", "gpt2.mlir", "-o", "no.rpb"
    refuses("a clash", "'must_recompute' from policy rules.json:2:2 and 'must_save' from policy clash.json:2:2", *no, "--policy=rules.json", "--policy=clash.json")
    write_rules("typo.json", [{"match": {"scope": "layers/0/**"}, "label": "must_save"}])
    refuses("a selector with a typo", "typo.json:2:2: error: the rule matches no op", *no, "--policy=typo.json")
    check_fused()
    finish()


main()
