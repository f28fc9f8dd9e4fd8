#!/usr/bin/env python3
"""Random rule sets on the models of the zoo give the bits of save-all, and plans that differ.

Usage: policies.py [COUNT]      COUNT rule sets (10, at night 60), dealt out to the models
"""

import collections
import json
import pathlib
import random
import re
import subprocess
import sys

from checks import check, compile_model, estimate_model, everything, finish, run, tool
from zoo_models import SIZES, write_model

OPS = ["*", "dot_general", "reprise.*norm*", "{gelu,exp,tanh,rsqrt}", "*_pool*", "add", "mul", "softmax"]
KINDS = ["attention", "contraction", "contraction_without_batch", "convolution", "elementwise", "normalization", "random", "reduction"]
LABELS = ["prefer_save", "prefer_recompute", "prefer_save", "prefer_recompute", "must_save", "must_recompute"]


def random_match(pick, scopes):
    keys = {"op": lambda: pick.choice(OPS), "kind": lambda: pick.choice(KINDS), "dtype": lambda: pick.choice(["f32", "i32"]),
            "scope": lambda: pick.choice(scopes), "bytes": lambda: f"{pick.choice(['<', '<=', '>', '>='])}{2 ** pick.randrange(6, 16)}",
            "flops": lambda: f">={2 ** pick.randrange(4, 20)}", "every": lambda: pick.randrange(1, 4),
            "first": lambda: pick.randrange(1, 20), "last": lambda: pick.randrange(1, 20)}
    return {key: keys[key]() for key in pick.sample(sorted(keys), pick.randrange(1, 4))}


def random_rules(pick, scopes):
    """Picks rules with one kind of MUSTs, because opposite MUSTs would be refused."""
    must = pick.choice(["must_save", "must_recompute"])
    rules = []
    for _ in range(pick.randrange(1, 6)):
        label = pick.choice(LABELS)
        rules.append({"match": random_match(pick, scopes), "label": must if label.startswith("must") else label})
    if pick.random() < 0.5:
        rules.append({"default": pick.choice(LABELS[:4])})
    return {"version": 1, "rules": rules}


def in_ir(model, rules):
    """The model with the rules as a policy of its own."""
    def line(rule):
        if "default" in rule:
            return f"  reprise.rule {rule['default']}\n"
        keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in rule["match"].items())
        return f"  reprise.rule {rule['label']} match {{{keys}}}\n"
    head, body = re.match(r"(.*?^module @\w+ \{\n)(.*)", pathlib.Path(model).read_text(), re.DOTALL | re.MULTILINE).groups()
    pathlib.Path("policy.mlir").write_text(f"{head}reprise.policy @rules {{\n{''.join(map(line, rules['rules']))}}}\n{body}")
    return "policy.mlir"


def compare(name, count, pick):
    # Rules may split the iterations of a loop; the plain reference model keeps the loop.
    flags = ["--allow-unmatched-rules", "--threads=2", *(["--unroll"] if name == "lstm" else [])]
    model = f"{name}.mlir"
    write_model(model, name, SIZES[name], "--dropout=0.1", "--optimizer=momentum")
    report = compile_model(model, "plan.rpb", "--policy=save-all", "--threads=2")
    expected = run("plan.rpb", "results", "--seed=7", "--threads=2")["hash"]
    layers = sorted({value["layer"] for value in report["values"] if value["layer"]})
    scopes = ["**", *layers, *(f"{layer}/**" for layer in layers), *("/".join(["*", *layer.split("/")[1:], "**"]) for layer in layers)]
    different, strayed, plans = [], [], collections.Counter()
    for i in range(count):
        rules = random_rules(pick, scopes)
        pathlib.Path("rules.json").write_text(json.dumps(rules))
        report = compile_model(model, "plan.rpb", "--policy=rules.json", *flags)
        if i % 5 == 0:
            same = estimate_model(in_ir(model, rules), *flags)
            strayed += [rules] if same["saved_bytes"] != report["saved_bytes"] or same["replayed_ops"] != report["replayed_ops"] else []
        plans[report["saved_bytes"], report["replayed_ops"]] += 1
        listed = sum(value["saved_bytes"] for value in report["values"])
        if run("plan.rpb", "results", "--seed=7", f"--threads={1 + i % 2}")["hash"] != expected or listed != report["saved_bytes"]:
            different.append(rules)
    check(f"{name}: {count} rule sets give the bits of save-all, and list what they save", not different, json.dumps(different[:1]))
    check(f"{name}: rules in the IR give the plan of a file", not strayed, json.dumps(strayed[:1]))
    check(f"{name}: {len(plans)} plans differ", count < 3 or len(plans) > 1, str(plans))


def check_iterations():
    """Rules that split the iterations of a loop are refused; unrolled, each iteration keeps its label, and the bits."""
    write_model("loop.mlir", "gpt2", {**SIZES["gpt2"], "layers": 4}, "--dropout=0.1", "--loop")
    compile_model("loop.mlir", "loop.rpb")
    expected = run("loop.rpb", "results", "--seed=7")["hash"]
    rules = [{"match": {"scope": "layers/[0-1]/**", "kind": "attention"}, "label": "must_recompute"}, {"match": {"op": "gelu", "every": 2}, "label": "must_save"}]
    pathlib.Path("rules.json").write_text(json.dumps({"version": 1, "rules": rules}))
    done = subprocess.run(["reprise-compile", "loop.mlir", "-o", "no.rpb", "--policy=rules.json"], capture_output=True, text=True)
    check("rules that split a loop's iterations are refused", done.returncode == 1 and "with --unroll each iteration has its own" in done.stderr, done.stderr)
    report = compile_model("loop.mlir", "loop.rpb", "--policy=rules.json", "--unroll")
    found = {value["id"]: (value["layer"], value["label"], value["decision"]) for value in report["values"] if value["op"] in ("reprise.attention", "reprise.gelu")}
    attention = [found[f"layers/{k}/attention/attention#0:0"] for k in range(4)]
    gelu = [found[f"layers/{k}/mlp/gelu#0:0"] for k in range(4)]
    good = attention[:2] == [(f"layers/{k}", "must_recompute", "replayed") for k in (0, 1)] and [a[1] for a in attention[2:]] == [None, None]
    good = good and [g[1] for g in gelu] == [None, "must_save", None, "must_save"] and gelu[1][2] == gelu[3][2] == "saved"
    check("unrolled, each iteration has its label", good, str(found))
    check("and the same bits", run("loop.rpb", "results", "--seed=7")["hash"] == expected)


def main():
    count = 60 if everything else int(sys.argv[1]) if len(sys.argv) > 1 else 10
    pick = random.Random(1)
    for i, name in enumerate(SIZES):
        compare(name, count // len(SIZES) + (i < count % len(SIZES)), pick)
    check_iterations()
    finish()


main()
