#!/usr/bin/env python3
"""Compares the arrays of two output folders, each within four roundings of its largest number; NaN and infinity are faults.

Usage: near.py EXPECTED FOUND      an array of f32 counts as one of bf16
"""
import math
import pathlib
import sys

from float_arrays import read

ROUNDING = {"bf16": 2**-8, "f16": 2**-11, "f32": 2**-8}


def main():
    expected, found = map(pathlib.Path, sys.argv[1:3])
    paths = sorted(expected.glob("*.npy"))
    faults = 0 if paths else 1
    for path in paths:
        (kind, want), (_, have) = read(path), read(found / path.name)
        most = 4 * ROUNDING[kind] * max(map(abs, want))
        worst = max(abs(x - y) if math.isfinite(y) else math.inf for x, y in zip(want, have, strict=True))
        print(f"{path.stem}: {worst:.3g}, at most {most:.3g}")
        faults += not worst <= most
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
