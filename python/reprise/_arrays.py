"""Arrays of runs in files: folders of .npy files, .safetensors files, and their index."""

from __future__ import annotations

import json
import math
import os
import pathlib
import shutil
import struct
from typing import Any, Mapping

import numpy

from ._errors import UsageError

#: NumPy's types of the elements of tensors; NumPy has no bf16, which comes as uint16.
TYPES = {"F32": "<f4", "F64": "<f8", "BF16": "<u2", "F16": "<f2", "I32": "<i4", "I64": "<i8", "BOOL": "|b1"}


def _cannot_read(path: pathlib.Path, why: object) -> UsageError:
    return UsageError(f"cannot read '{path}': {why}")


def _read_object(path: pathlib.Path, text: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _cannot_read(path, error) from None
    if not isinstance(value, dict):
        raise _cannot_read(path, "expected a JSON object")
    return value


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is int and each >= 0 for each in value)


def _check_tensor(path: pathlib.Path, name: str, tensor: Any, room: int) -> None:
    """Checks one entry of a header; ``room`` is the number of bytes behind the header."""
    shape, offsets = (tensor.get(key) if isinstance(tensor, dict) else None for key in ("shape", "data_offsets"))
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2 or not isinstance(tensor.get("dtype"), str):
        raise _cannot_read(path, f"tensor '{name}' needs 'dtype', 'shape' and 'data_offsets'")
    if not offsets[0] <= offsets[1] <= room:
        raise _cannot_read(path, f"tensor '{name}' has the offsets {offsets}, and the file {room} bytes")
    kind = TYPES.get(tensor["dtype"])
    if kind and math.prod(shape) * numpy.dtype(kind).itemsize != offsets[1] - offsets[0]:
        raise _cannot_read(path, f"tensor '{name}' of type {tensor['dtype']} and shape {shape} has the offsets {offsets}")


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
            raise _cannot_read(self.path, "there is no such file or folder")

    def _open_folder(self) -> None:
        if (self.path / "run.json").exists():
            self.record = self._read_record(self.path / "run.json", (self.path / "run.json").read_text())
        if (self.path / "model.safetensors").exists():
            self._open_tensors(self.path / "model.safetensors")
        elif (self.path / "model.safetensors.index.json").exists():
            self._open_index(self.path / "model.safetensors.index.json")

    def _open_index(self, path: pathlib.Path) -> None:
        files = _read_object(path, path.read_text()).get("weight_map")
        if not isinstance(files, dict) or not all(isinstance(each, str) and "/" not in each for each in files.values()):
            raise _cannot_read(path, "expected an object 'weight_map' of tensors and names of files beside the index")
        for name in sorted(set(files.values())):
            self._open_tensors(path.parent / name)

    @staticmethod
    def _read_record(path: pathlib.Path, text: str) -> dict[str, Any]:
        record = _read_object(path, text)
        if not all(type(record.get(key)) is int for key in ("seed", "next_offset", "next_step")):
            raise _cannot_read(path, "expected the integers 'seed', 'next_offset' and 'next_step' of a run")
        return record

    def _open_tensors(self, path: pathlib.Path) -> None:
        if not path.is_file():
            raise _cannot_read(path, "there is no such file")
        with open(path, "rb") as stream:
            start = stream.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            room = path.stat().st_size - 8 - length
            if room < 0 or length < 2:
                raise _cannot_read(path, "expected a .safetensors file, whose header lies in the file")
            header = _read_object(path, stream.read(length))
        metadata = header.pop("__metadata__", {})
        run = metadata.get("run") if isinstance(metadata, dict) else None
        if isinstance(run, str) and run.startswith("{"):
            self.record = self._read_record(path, run)
        for name, tensor in header.items():
            _check_tensor(path, name, tensor, room)
            self._tensors[name] = path, 8 + length, tensor

    def find(self, *names: str) -> tuple[Any, str] | None:
        """Returns the first array with one of the names of tensors, and its type, such as "BF16"; None without one.

        A .npy file of uint16 may hold bf16, which run.json tells."""
        for name in names:
            if name in self._tensors:
                path, begin, tensor = self._tensors[name]
                kind, shape, (first, last) = tensor["dtype"], tuple(tensor["shape"]), tensor["data_offsets"]
                if kind not in TYPES:
                    raise _cannot_read(path, f"tensor '{name}' has the type '{kind}'")
                data = numpy.fromfile(path, TYPES[kind], (last - first) // numpy.dtype(TYPES[kind]).itemsize, offset=begin + first)
                return data.reshape(shape), kind
            if self.path.is_dir() and (self.path / f"{name}.npy").exists():
                return self._load(self.path / f"{name}.npy")
        return None


    @staticmethod
    def _load(path: pathlib.Path) -> tuple[Any, str]:
        try:
            array = numpy.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise _cannot_read(path, error) from None
        kind = next((kind for kind, each in TYPES.items() if numpy.dtype(each) == array.dtype), None)
        if kind is None:
            raise _cannot_read(path, f"the type '{array.dtype}'")
        return array, kind


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, tuple[Any, str]], state: Mapping[str, int]) -> None:
    """Writes arrays and their types by the names of tensors, and run.json: a folder of .npy files, or one file if the
    path ends with .safetensors. The output appears when it is whole."""
    path = pathlib.Path(path)
    run = json.dumps({"seed": state["seed"], "next_offset": state["offset"], "next_step": state["step"]})
    is_file = path.name.endswith(".safetensors")
    if path.exists() and not is_file:
        raise UsageError(f"cannot write '{path}': there is a file or folder")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if is_file:
            with open(beside, "wb") as stream:
                _write_tensors(stream, arrays, run)
        else:
            beside.mkdir()
            for name, (array, _) in arrays.items():
                numpy.save(beside / f"{name}.npy", array)
            (beside / "run.json").write_text(run + "\n")
        os.replace(beside, path)
    finally:
        if beside.is_dir():
            shutil.rmtree(beside)
        beside.unlink(missing_ok=True)


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
