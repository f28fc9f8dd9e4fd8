"""Level of the messages that PyTorch's C++ library writes to standard error."""

import contextlib
import ctypes
import os

import torch

ERROR = 2


def _find_level() -> "ctypes.c_int | None":
    """Returns the level in the memory of libc10; None if this build has none by that name."""
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    with contextlib.suppress(OSError, ValueError):
        return ctypes.c_int.in_dll(ctypes.CDLL(path), "FLAGS_caffe2_log_level")
    return None


def exchange_level(level: int) -> int:
    """Sets the level below which messages are not written; returns the level before."""
    place = _find_level()
    if place is None:
        return level
    before, place.value = place.value, level
    return before
