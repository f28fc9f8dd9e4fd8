"""Functions that compiled steps call: operators of PyTorch and their derivatives, on the buffers of a step.

A callee has the name ``torch:operator#hash``, its derivatives the name ``…/vjp(wanted;given)``
(docs/explanation/OpaqueCalls.md). Complex tensors are pairs of real numbers outside of the operator.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import math
import re
import threading
from typing import Any, Callable, Iterator, Sequence

import torch

from .. import _core
from .._errors import Error
from ._seam.core import tree_leaves, tree_unflatten
from ._whole_autocast import without_autocast

LIBRARY = "torch"
#: Types of buffers by their code and bits in DLPack.
_DTYPES = {(2, 32): torch.float32, (2, 64): torch.float64, (4, 16): torch.bfloat16, (2, 16): torch.float16,
           (0, 32): torch.int32, (0, 64): torch.int64, (6, 8): torch.bool}
_DERIVATIVE = re.compile(r"(.*)/vjp\(([\d,]*);([\d,]*)\)")

Function = Callable[[Sequence[torch.Tensor]], "list[torch.Tensor | None]"]

_callees: dict[str, "Callee"] = {}
#: Exception of the last call of a thread, which ends the step.
_raised = threading.local()


class Operand:
    """Tensor argument of an operator: its type and strides, and whether it is complex."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.dtype = tensor.dtype
        self.shape, self.strides = tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))
        self._is_dense = torch.empty(self.shape, device="meta").stride() == self.strides

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.shape)}{list(self.strides)}"

    def take(self, buffer: torch.Tensor) -> torch.Tensor:
        """Returns the argument that a buffer holds, with the strides that eager code gives it."""
        tensor = torch.view_as_complex(buffer) if self.dtype.is_complex else buffer.to(self.dtype)
        if self._is_dense:
            return tensor
        return torch.empty_strided(self.shape, self.strides, dtype=self.dtype, device=buffer.device).copy_(tensor)


@contextlib.contextmanager
def _generator_at(seed: torch.Tensor) -> Iterator[None]:
    """Lets the generator of a device start from a seed, which is read on the host."""
    generator = torch.cuda.default_generators[seed.device.index] if seed.is_cuda else torch.default_generator
    state = generator.get_state()
    generator.manual_seed(int(seed))
    try:
        yield
    finally:
        generator.set_state(state)


class Callee:
    """Operator with all arguments but its tensors; the last operand of one that may draw is its seed."""

    def __init__(self, target: Any, leaves: Sequence[Any], structure: Any, draws: bool) -> None:
        self._target, self._leaves, self._structure = target, list(leaves), structure
        self._check: Callable[[list[Any]], None] | None = None
        self._operands = [leaf for leaf in leaves if isinstance(leaf, Operand)]
        self._draws = draws
        #: Number of its buffers.
        self.count = len(self._operands) + draws

    def __call__(self, buffers: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        """Returns the tensors of the result, complex ones as pairs; autograd passes if its mode says so."""
        tensors = iter([operand.take(buffer) for operand, buffer in zip(self._operands, buffers)])
        leaves = [next(tensors) if isinstance(leaf, Operand) else leaf for leaf in self._leaves]
        arguments, keywords = tree_unflatten(leaves, self._structure)
        with _generator_at(buffers[-1]) if self._draws else contextlib.nullcontext():
            made = self._target(*arguments, **keywords)
        results = [as_pair(each) for each in tree_leaves(made) if isinstance(each, torch.Tensor)]
        if self._check:
            self._check(results)
        return results

    def checked(self, check: Callable[[list[Any]], None]) -> "Callee":
        """Returns the same operator, whose results are checked."""
        callee = copy.copy(self)
        callee._check = check
        return callee


def as_pair(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a complex tensor as real and imaginary parts, in a last dimension of 2."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def add_callee(name: str, callee: Callee) -> None:
    """Registers an operator for the rest of the process: programs of equal models share it."""
    _callees.setdefault(name, callee)


def add_check(name: str, check: str, run: Callable[[list[Any]], None]) -> str:
    """Registers a callee whose results are checked, and returns its name."""
    made = f"{name}!{check}"
    add_callee(made, _callees[name].checked(run))
    return made


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


class _Derivative:
    """Cotangents of the wanted operands of a function, from its operands and the given cotangents of its results."""

    def __init__(self, function: Any, wanted: list[int], given: list[int]) -> None:
        self._function, self._wanted, self._given = function, wanted, given
        self.count = function.count + len(given)

    def __call__(self, buffers: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        count, is_inner = self._function.count, torch.is_grad_enabled()
        with torch.enable_grad():
            points = [buffer if is_inner and buffer.requires_grad else
                      buffer.detach().requires_grad_(number in self._wanted)
                      for number, buffer in enumerate(buffers[:count])]
            made = self._function(points)
            pairs = [(made[result], cotangent) for result, cotangent in zip(self._given, buffers[count:])
                     if made[result] is not None and made[result].requires_grad]
            if not pairs:
                return [None] * len(self._wanted)
            return list(torch.autograd.grad([each for each, _ in pairs], [points[number] for number in self._wanted],
                                            [each for _, each in pairs], create_graph=is_inner, allow_unused=True))


@functools.lru_cache(maxsize=None)
def find(name: str) -> Any:
    """Returns the function of a name."""
    derivative = _DERIVATIVE.fullmatch(name)
    if derivative:
        return _Derivative(find(derivative[1]), _numbers(derivative[2]), _numbers(derivative[3]))
    if name not in _callees:
        raise LookupError(f"{name!r} was imported in another process: import its model in this one")
    return _callees[name]


def _view(address: int, code: int, bits: int, shape: tuple[int, ...], gpu: int) -> torch.Tensor:
    """Returns a tensor on the memory of a buffer; ``gpu`` is -1 for a CPU."""
    dtype = _DTYPES[code, bits]
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return torch.empty(shape, dtype=dtype, device="cpu" if gpu < 0 else f"cuda:{gpu}")
    if gpu >= 0:
        return torch.from_dlpack(_core.wrap(address, code, bits, shape, gpu))
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype).view(shape)


def _call(name: str, operands: list[Any], results: list[Any]) -> None:
    """Computes a call of a step."""
    try:
        given = [_view(*each) for each in operands]
        with torch.no_grad(), without_autocast(given):
            made = find(name)(given)
            for result, value in zip(results, made, strict=True):
                if not result[0]:
                    continue
                buffer = _view(*result)
                if value is None:
                    buffer.zero_()
                elif value.shape != buffer.shape:
                    raise RuntimeError(f"a result has shape {list(value.shape)} instead of {list(buffer.shape)}")
                else:
                    buffer.copy_(value)
    except BaseException as error:
        _raised.error = error
        raise


@contextlib.contextmanager
def own_errors() -> Iterator[None]:
    """Raises the exception of a call as it is, instead of the error of the step that it has ended."""
    _raised.error = None
    try:
        yield
    except Error:
        error, _raised.error = _raised.error, None
        if error is not None:
            raise error from None
        raise


_core.register_calls(LIBRARY, _call)
