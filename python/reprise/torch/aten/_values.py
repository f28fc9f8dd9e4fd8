"""Values and ops of a function of the dialect, and the spelling of their types and attributes."""

from __future__ import annotations

import math
import struct
from typing import Any, Iterable, Sequence

import torch

TYPES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64",
         torch.int32: "i32", torch.bool: "i1"}
#: Small integers are computed as i32: the dialect has no narrower type but i1.
WIDENED = {torch.uint8: torch.int32, torch.int8: torch.int32, torch.int16: torch.int32}
#: Complex tensors are pairs of real numbers of these types, in a last dimension of 2.
PAIRED = {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}


class Missing(Exception):
    """Error about a feature that the dialect lacks for an op of the graph."""


class Refused(Missing):
    """Error about a feature that no call of PyTorch's operator replaces."""


def tensor_type(shape: Sequence[int], dtype: torch.dtype) -> str:
    """Returns a type such as tensor<2x3xf32>."""
    if dtype not in TYPES:
        raise Missing(f"tensors of {dtype}")
    return "tensor<" + "".join(f"{int(size)}x" for size in shape) + TYPES[dtype] + ">"


class Value:
    """Tensor of the function. ``active``: a gradient may have to pass through it. ``is_pair``: it stands for a complex
    tensor, whose parts are its last dimension."""

    def __init__(self, name: str, shape: Sequence[int], dtype: torch.dtype, active: bool = False,
                 is_pair: bool = False) -> None:
        self.name = name
        self.shape = tuple(int(size) for size in shape)
        self.dtype = dtype
        self.active = active and dtype.is_floating_point
        self.is_pair = is_pair

    @classmethod
    def of(cls, name: str, tensor: torch.Tensor, active: bool = False) -> "Value":
        """Returns a value for a tensor of PyTorch, in a type of the dialect."""
        dtype = WIDENED.get(tensor.dtype, tensor.dtype)
        is_pair = dtype in PAIRED
        return cls(name, (*tensor.shape, 2) if is_pair else tensor.shape, PAIRED.get(dtype, dtype), active, is_pair)

    def like(self, name: str, active: bool = False) -> "Value":
        """Returns another value of the same type."""
        return Value(name, self.shape, self.dtype, active, self.is_pair)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.dtype)


class Line:
    """Op of the body."""

    def __init__(self, name: str, results: list[Value], operands: list[Value], attributes: dict[str, str],
                 draws: bool, location: str, region: tuple[Any, ...]) -> None:
        self.name = name
        self.results = results
        self.operands = operands
        self.attributes = attributes
        #: Flag of ops that draw random words: such an op stays, read or not, since its place numbers its stream.
        self.draws = draws
        self.location = location
        #: Regions of torch.utils.checkpoint and with a budget around it, the outermost first; its label of the dialect
        #: by a region; and whether its results have names in reports.
        self.region = region
        self.label: str | None = None
        self.is_named = False

    @property
    def text(self) -> str:
        """The op in its generic form. An attribute "unit" has no value."""
        listed = ", ".join(key if text == "unit" else f"{key} = {text}" for key, text in self.attributes.items())
        types = ", ".join(value.type for value in self.results)
        return (f"{', '.join(value.name for value in self.results)} = \"reprise.{self.name}\"("
                f"{', '.join(operand.name for operand in self.operands)})" + (f" <{{{listed}}}>" if listed else "")
                + (f" {{reprise.label = #reprise.label<{self.label}>}}" if self.label else "") + f" : ({', '.join(operand.type for operand in self.operands)}) -> "
                + (types if len(self.results) == 1 else f"({types})") + self.location)


def integers(values: Iterable[int]) -> str:
    """Returns an attribute that lists integers."""
    listed = ", ".join(str(int(value)) for value in values)
    return f"array<i64: {listed}>" if listed else "array<i64>"


def floating(value: float) -> str:
    """Returns an attribute of type f64."""
    return f"{literal(value, torch.float64)} : f64"


def literal(value: Any, dtype: torch.dtype) -> str:
    """Returns an element in MLIR's spelling; infinities and NaN by their bits."""
    if dtype is torch.bool:
        return "true" if value else "false"
    if not dtype.is_floating_point:
        return str(int(value))
    value = float(value)
    if math.isfinite(value):
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e") if "e" in text else text + ".0"
    if dtype is torch.float64:
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype is torch.float16:
        bits = struct.unpack("<H", struct.pack("<e", value))[0]
    elif dtype is torch.bfloat16:
        bits >>= 16
    return f"0x{bits:08X}" if dtype is torch.float32 else f"0x{bits:04X}"


def compute_type(dtype: torch.dtype) -> torch.dtype:
    """Returns the type in which an op computes."""
    return torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
