"""Reading and writing of .npy files with Python's own library alone."""

import ast
import pathlib
import struct


def write_npy(path, descr, shape, data):
    """Writes version 1.0 of the format, row-major; `descr` is numpy's, such as "<f4"."""
    dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    """Returns (descr, shape, bytes)."""
    raw = pathlib.Path(path).read_bytes()
    size, = struct.unpack("<H", raw[8:10])
    header = ast.literal_eval(raw[10:10 + size].decode())
    assert not header["fortran_order"]
    return header["descr"], header["shape"], raw[10 + size:]


def file_name(name):
    """The file of an argument or a result in the folder of a run."""
    return name.replace("/", ".") + ".npy"
