"""Arrays of floats that a run has written."""
import ast
import struct

TYPES = {"<u2": "bf16", "<f2": "f16", "<f4": "f32"}


def read(path):
    """Returns the type and the elements of a .npy; 16 bits without a sign are bf16."""
    with open(path, "rb") as stream:
        data = stream.read()
    size = struct.unpack("<H", data[8:10])[0]
    kind = TYPES[ast.literal_eval(data[10:10 + size].decode())["descr"]]
    body = data[10 + size:]
    if kind == "bf16":
        words = struct.unpack(f"<{len(body) // 2}H", body)
        return kind, struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(word << 16 for word in words)))
    return kind, struct.unpack(f"<{len(body) // (2 if kind == 'f16' else 4)}{'e' if kind == 'f16' else 'f'}", body)


def load(path):
    return read(path)[1]
