"""Seconds of the label phase for rule sets and plugins, beyond what it takes without them."""

import json
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


def measure(bench, root):
    model, file, plugin = bench.out / "labels.mlir", bench.out / "rules.json", bench.out / "every-other.so"
    model.write_text(layers(OPS))
    file.write_text(json.dumps(rules(RULES)))
    subprocess.run(["cc", "-O2", "-std=c11", "-shared", "-fPIC", "-I", root / "include", root / "examples/policies/every-other.c", "-o", plugin], check=True)
    policies = {"none": [], "a built-in policy": ["dots_saveable"], f"{RULES} rules": [file], "a plugin": [f"plugin:{plugin}"]}
    seconds = {}
    for name, policy in policies.items():
        options = " ".join(["label", *(f"policies={p}" for p in policy)])
        seconds[name] = median(bench.measure("reprise-opt", model, f"--reprise-to={options}", "-o", bench.out / "labelled.mlir")[0] for _ in range(3))
    rows = [{"policy": name, "seconds": value, "beyond_none": value - seconds["none"]} for name, value in seconds.items()]
    bench.save("labels", rows)
    print_table(f"The label phase on {OPS:,} ops, from text to text (goals: {RULES} rules 2 s, a plugin 1 µs per op)",
                ["", "seconds", "beyond none", "ns per op"],
                [[row["policy"], f"{row['seconds']:.2f}", f"{row['beyond_none']:.2f}", f"{1e9 * row['beyond_none'] / OPS:.0f}"] for row in rows])
