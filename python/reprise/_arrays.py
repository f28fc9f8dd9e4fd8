"""Arrays of runs in files: folders of .npy files, .safetensors files, and their index."""

from __future__ import annotations

import json
import os
import pathlib
import struct
from typing import Any, Mapping

import numpy

from ._errors import UsageError

#: NumPy's types of the elements of tensors; NumPy has no bf16, which comes as uint16.
TYPES = {"F32": "<f4", "F64": "<f8", "BF16": "<u2", "F16": "<f2", "I32": "<i4", "I64": "<i8", "BOOL": "|b1"}


class Arrays:
    """Output of a run, or arrays from elsewhere, whose elements are read on demand."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        #: run.json; None for arrays from elsewhere.
        self.record: dict[str, Any] | None = None
        self._tensors: dict[str, tuple[pathlib.Path, int, dict[str, Any]]] = {}
        if self.path.is_dir():
            self._open_folder()
        elif self.path.name.endswith(".index.json"):
            self._open_index(self.path)
        elif self.path.exists():
            self._open_tensors(self.path)
        else:
            raise UsageError(f"cannot read '{path}': there is no such file or folder")

    def _open_folder(self) -> None:
        if (self.path / "run.json").exists():
            self.record = json.loads((self.path / "run.json").read_text())
        if (self.path / "model.safetensors").exists():
            self._open_tensors(self.path / "model.safetensors")
        elif (self.path / "model.safetensors.index.json").exists():
            self._open_index(self.path / "model.safetensors.index.json")

    def _open_index(self, path: pathlib.Path) -> None:
        for name in sorted(set(json.loads(path.read_text())["weight_map"].values())):
            self._open_tensors(path.parent / name)

    def _open_tensors(self, path: pathlib.Path) -> None:
        with open(path, "rb") as stream:
            start = stream.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            try:
                header = json.loads(stream.read(min(length, 100_000_000)))
            except ValueError as error:
                raise UsageError(f"cannot read '{path}': the header of a .safetensors file: {error}") from None
        run = header.pop("__metadata__", {}).get("run", "")
        if run.startswith("{"):
            self.record = json.loads(run)
        self._tensors.update({name: (path, 8 + length, each) for name, each in header.items()})

    def find(self, *names: str) -> tuple[Any, str] | None:
        """Returns the first array with one of the names of tensors, and its type, such as "BF16"; None without one.

        A .npy file of uint16 may hold bf16, which run.json tells."""
        for name in names:
            if name in self._tensors:
                path, begin, tensor = self._tensors[name]
                kind, shape, (first, last) = tensor["dtype"], tuple(tensor["shape"]), tensor["data_offsets"]
                if kind not in TYPES:
                    raise UsageError(f"cannot read '{path}': tensor '{name}' has the type '{kind}'")
                data = numpy.fromfile(path, TYPES[kind], (last - first) // numpy.dtype(TYPES[kind]).itemsize, offset=begin + first)
                return data.reshape(shape), kind
            if self.path.is_dir() and (self.path / f"{name}.npy").exists():
                array = numpy.load(self.path / f"{name}.npy", allow_pickle=False)
                kinds = {numpy.dtype(each): kind for kind, each in TYPES.items()}
                if array.dtype not in kinds:
                    raise UsageError(f"cannot read '{self.path / name}.npy': the type '{array.dtype}'")
                return array, kinds[array.dtype]
        return None


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, tuple[Any, str]], state: Mapping[str, int]) -> None:
    """Writes arrays and their types by the names of tensors, and run.json: a folder of .npy files, or one file if the
    path ends with .safetensors. The output appears when it is whole."""
    path = pathlib.Path(path)
    run = json.dumps({"seed": state["seed"], "next_offset": state["offset"], "next_step": state["step"]})
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    if path.name.endswith(".safetensors"):
        with open(beside, "wb") as stream:
            _write_tensors(stream, arrays, run)
        os.replace(beside, path)
        return
    if path.exists():
        raise UsageError(f"cannot write '{path}': it exists")
    beside.mkdir()
    for name, (array, _) in arrays.items():
        numpy.save(beside / f"{name}.npy", array)
    (beside / "run.json").write_text(run + "\n")
    beside.rename(path)


def _write_tensors(stream: Any, arrays: Mapping[str, tuple[Any, str]], run: str) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt", "run": run}}
    at = 0
    order = sorted(arrays, key=lambda name: (-arrays[name][0].dtype.itemsize, name))
    for name in order:
        array, kind = arrays[name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    stream.write(struct.pack("<Q", len(text)) + text)
    for name in order:
        stream.write(numpy.ascontiguousarray(arrays[name][0]).data)
