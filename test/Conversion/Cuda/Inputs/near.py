#!/usr/bin/env python3
"""Compares the arrays of two output folders, each within four roundings of its largest number; NaN and infinity are faults.

Usage: near.py EXPECTED FOUND      an array of f32 counts as one of bf16
"""
import ast
import math
import pathlib
import struct
import sys

ROUNDING = {"bf16": 2**-8, "f16": 2**-11}


def numbers(path):
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    kind = ast.literal_eval(data[10:10 + size].decode())["descr"]
    data = data[10 + size:]
    if kind == "<u2":
        return "bf16", [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    letter = {"<f2": "e", "<f4": "f"}[kind]
    return "f16" if letter == "e" else "bf16", [x for x, in struct.iter_unpack("<" + letter, data)]


def main():
    expected, found = map(pathlib.Path, sys.argv[1:3])
    paths = sorted(expected.glob("*.npy"))
    faults = 0 if paths else 1
    for path in paths:
        (kind, want), (_, have) = numbers(path), numbers(found / path.name)
        most = 4 * ROUNDING[kind] * max(map(abs, want))
        worst = max(abs(x - y) if math.isfinite(y) else math.inf for x, y in zip(want, have, strict=True))
        print(f"{path.stem}: {worst:.3g}, at most {most:.3g}")
        faults += not worst <= most
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
