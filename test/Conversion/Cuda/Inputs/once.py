"""once.py ONCE TWICE: sums in f32 are rounded once by the first folder; by the second, which rounds the contraction, too, some are
farther."""
import sys

from float_arrays import load

#: The last bit of results that are rounded, as a share of them.
UNITS = {"plain": 2 ** -8, "batch": 2 ** -8, "heads": 2 ** -8, "half": 2 ** -11}
for folder, isOnce in ((sys.argv[1], True), (sys.argv[2], False)):
    for name, unit in UNITS.items():
        found, sums = load(f"{folder}/{name}.npy"), load(f"{folder}/{name}_sum.npy")
        far = sum(abs(one - other) > unit * abs(other) + 2e-5 for one, other in zip(found, sums))
        assert len(found) == len(sums) and (far == 0) == isOnce, (folder, name, far)
