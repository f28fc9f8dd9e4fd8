#!/usr/bin/env python3
"""Prints a step of contractions whose shapes, types and layouts are drawn by chance.

Usage: contractions.py SEED COUNT [TYPE]...      at most 2,047 terms if there are types
"""
import random
import sys


def tensor(shape, dtype):
    return f"tensor<{'x'.join(map(str, [*shape, dtype]))}>"


def draw(rng, dtypes):
    """Draws sizes below, at and beyond a thread's, a warp's and a tile's part of each side, with one chain of sums and
    several."""
    rows = rng.choice([1, 16, 17, 31, 32, 33, 64, 65, 100, 128, 130, 200])
    columns = rng.choice([2, 16, 18, 32, 36, 64, 68, 100, 128, 129, 160, 256])
    depths = [8, 9, 16, 17, 33, 64]
    if rows * columns < 3000:
        depths += [7, 257, 2047] if dtypes else [7, 257, 4096, 4100, 8192, 9000, 12300, 20480]
    dtypes = dtypes or ["f32", "f32", "f32", "bf16", "f16", "f64"]
    return rng.choice([0, 0, 1, 3]), rows, columns, rng.choice(depths), rng.choice(dtypes)


def main():
    rng = random.Random(int(sys.argv[1]))
    arguments, results, body = [], [], []
    for i in range(int(sys.argv[2])):
        batch, rows, columns, depth, dtype = draw(rng, sys.argv[3:])
        first = [batch] if batch else []
        turned = rng.random() < 0.5, rng.random() < 0.5
        lhs = tensor(first + ([depth, rows] if turned[0] else [rows, depth]), dtype)
        rhs = tensor(first + ([columns, depth] if turned[1] else [depth, columns]), dtype)
        result = tensor(first + [rows, columns], dtype)
        for name, operand in (("a", lhs), ("b", rhs)):
            arguments.append(f'%{name}{i}: {operand} {{reprise.role = "input", reprise.name = "{name}{i}", '
                             "reprise.init = #reprise.normal<0.0, 1.0>}")
        contracted = [len(first) + (0 if turned[0] else 1), len(first) + (1 if turned[1] else 0)]
        shared = "batch [0] x [0] " if batch else ""
        body.append(f"  %r{i} = reprise.dot_general %a{i}, %b{i} {shared}contracting [{contracted[0]}] x [{contracted[1]}] : "
                    f"({lhs}, {rhs}) -> {result}")
        results.append((f"r{i}", result))
    print("func.func @train(" + ",\n                 ".join(arguments) + ")")
    print("    -> (" + ", ".join(f'{kind} {{reprise.name = "{name}"}}' for name, kind in results) + ") {")
    print("\n".join(body))
    print("  return " + ", ".join("%" + name for name, _ in results) + " : " + ", ".join(kind for _, kind in results) + "\n}")


if __name__ == "__main__":
    main()
