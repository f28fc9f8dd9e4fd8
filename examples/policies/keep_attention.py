"""A policy in Python: saves attention, replays large values without a name, and prints what came of it.

Usage: keep_attention.py MODEL.mlir      such as reprise-zoo gpt2 prints
"""

import collections
import pathlib
import sys

import reprise


def keep_attention(graph):
    for op in graph.ops:
        if "attention" in op.kinds:
            op.label, op.reason = "must_save", "attention is dear"
        elif op.bytes > 4096 and not op.results[0].names:
            op.label = "prefer_recompute"


def main(path):
    program = reprise.compile(pathlib.Path(path), policy=[keep_attention])
    decisions = collections.Counter(value["decision"] for value in program.report.content["values"])
    for decision, count in sorted(decisions.items()):
        print(f"{decision}: {count} values")
    print(f"arena and workspace: {program.report.step_bytes:,} bytes")
    print(f"losses: {list(map(float, reprise.run(program, steps=2, seed=1).losses))}")


if __name__ == "__main__":
    main(sys.argv[1])
