"""near-arrays.py ONE OTHER near NAME... [equal NAME...]: checks that arrays of two folders are near, some of them not
equal, and that others are equal."""
import sys

from float_arrays import load

one, other, _, *names = sys.argv[1:]
equal = names[names.index("equal") + 1:] if "equal" in names else []
different = 0
for name in names[:names.index("equal")] if "equal" in names else names:
    left, right = (load(f"{folder}/{name}.npy") for folder in (one, other))
    different += left != right
    if len(left) != len(right) or not all(abs(a - b) <= 1e-4 + 0.01 * abs(a) for a, b in zip(left, right)):
        sys.exit(f"{name} is not near")
if not different:
    sys.exit("all are equal")
for name in equal:
    if load(f"{one}/{name}.npy") != load(f"{other}/{name}.npy"):
        sys.exit(f"{name} differs")
