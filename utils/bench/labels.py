"""Measures the seconds of the label pass for rule sets and plugins, beyond those without them."""

import json
import re
import subprocess

from common import median, print_table
from scale import ARGUMENTS

OPS, RULES = 100000, 100
LABELS = ["prefer_save", "prefer_recompute"]


def layers(count):
    """A function of `count` ops in a thousand scopes."""
    lines, last = ["!t = tensor<8x8xf32>", f"func.func @train({ARGUMENTS}) -> (!t {{reprise.name = \"y\"}}) {{"], "%x"
    for i in range(count):
        op = f"dot_general {last}, %w contracting [1] x [0] : (!t, !t) -> !t" if i % 4 == 0 else f"tanh {last} : !t"
        lines.append(f'  %v{i} = reprise.{op} loc("layer/{i // 100}/{"mlp" if i % 2 else "attention"}")')
        last = f"%v{i}"
    return "\n".join([*lines, f"  return {last} : !t", "}", ""])


def rules(count):
    matches = [{"op": "dot_general"}, {"scope": "layer/*/mlp"}, {"kind": "elementwise", "every": 3}, {"bytes": ">=200"}, {"scope": "layer/[0-9]/**", "dtype": "f32"}]
    return {"version": 1, "rules": [{"match": matches[i % len(matches)], "label": LABELS[i % 2]} for i in range(count)]}


def label(bench, model, policies):
    """Returns the seconds of the pass only."""
    options = " ".join(["label", *(f"policies={policy}" for policy in policies)])
    command = [bench.build / "bin" / "reprise-opt", model, f"--reprise-to={options}", "-o", "/dev/null", "--mlir-timing", "--mlir-timing-display=list"]
    shown = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True).stderr
    return float(re.search(r"([\d.]+) \([^)]*\)\s+AssignLabelsPass", shown).group(1))


def measure(bench, root):
    model, file, plugin = bench.out / "labels.mlir", bench.out / "rules.json", bench.out / "every-other.so"
    model.write_text(layers(OPS))
    file.write_text(json.dumps(rules(RULES)))
    subprocess.run(["cc", "-O2", "-std=c11", "-shared", "-fPIC", "-I", root / "include", root / "examples/policies/every-other.c", "-o", plugin], check=True)
    twin = "a built-in policy with the plugin's labels"
    policies = {"none": [], f"{RULES} rules": [file], twin: ["every-nth-contraction(2)"], "a plugin": [f"plugin:{plugin}"]}
    rounds = [{name: label(bench, model, policy) for name, policy in policies.items()} for _ in range(5)]
    seconds = {name: median([one[name] for one in rounds]) for name in policies}
    beyond = {name: value - seconds[twin if name == "a plugin" else "none"] for name, value in seconds.items()}
    rows = [{"policy": name, "seconds": value, "beyond": beyond[name]} for name, value in seconds.items()]
    bench.save("labels", rows)
    print_table(f"The label pass on {OPS:,} ops (goals: {RULES} rules 2 s, a plugin 1 µs per op beyond its twin)",
                ["", "seconds", "beyond none, or the twin", "ns per op"],
                [[row["policy"], f"{row['seconds']:.3f}", f"{row['beyond']:.3f}", f"{1e9 * row['beyond'] / OPS:.0f}"] for row in rows], name="labels.phase")
