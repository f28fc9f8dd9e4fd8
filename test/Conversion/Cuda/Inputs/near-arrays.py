"""near-arrays.py ONE OTHER near NAME... [equal NAME...]: checks that arrays of two folders are near, some of them not
equal, and that others are equal."""
import ast
import struct
import sys


def load(path):
    """Returns the elements of a .npy as floats; 16 bits without a sign are read as bf16."""
    with open(path, "rb") as stream:
        data = stream.read()
    size = struct.unpack("<H", data[8:10])[0]
    kind = ast.literal_eval(data[10:10 + size].decode())["descr"]
    body = data[10 + size:]
    count = len(body) // int(kind[2:])
    if kind == "<u2":
        words = struct.unpack(f"<{count}H", body)
        return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(word << 16 for word in words)))
    return struct.unpack(f"<{count}{'e' if kind == '<f2' else 'f'}", body)


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
