"""Arrays of floats that a run has written."""
import ast
import struct


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
