"""Count of the bytes that PyTorch's CPU allocator has given out, in the memory of libc10.

The profiler sees the blocks of one thread. Threads of a process group free blocks, too, and their buffers would count
until the end of a step.
"""

from __future__ import annotations

import ctypes
import functools
import os

import torch

#: Words of the object that counts: a mutex, a table of blocks, and the count.
_WORDS = 14
#: Bytes of blocks that are allocated to find the count among the words.
_PROBES = (40_960, 69_632, 20_480)
_FLAG, _OBJECT = "FLAGS_caffe2_report_cpu_memory_usage", "_ZN3c1025profiledCPUMemoryReporterEv"


class Count:
    """The bytes that all threads hold of what they have allocated since the count was switched on."""

    def __init__(self, flag: ctypes.c_bool, word: ctypes.c_size_t) -> None:
        self._flag, self._word = flag, word

    def switch(self, is_on: bool) -> None:
        """Switches the count on or off. While it is on, libc10 makes an info message of each block."""
        self._flag.value = is_on

    def bytes(self) -> int:
        return self._word.value


def _find(flag: ctypes.c_bool, words: ctypes.Array) -> int | None:
    """Returns the place of the count: the only word that grows and shrinks by the bytes of each block."""
    before_all, places = flag.value, list(range(_WORDS))
    flag.value = True
    try:
        for size in _PROBES:
            before = list(words)
            block = torch.UntypedStorage(size)
            places = [each for each in places if words[each] - before[each] == size]
            del block
            places = [each for each in places if words[each] == before[each]]
    finally:
        flag.value = before_all
    return places[0] if len(places) == 1 else None


@functools.cache
def count() -> Count | None:
    """Returns the count; None if this build of PyTorch has none by these names."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
        flag, find = ctypes.c_bool.in_dll(library, _FLAG), getattr(library, _OBJECT)
    except (OSError, ValueError, AttributeError):
        return None
    find.restype = ctypes.c_void_p
    words = (ctypes.c_size_t * _WORDS).from_address(find())
    place = _find(flag, words)
    return None if place is None else Count(flag, ctypes.c_size_t.from_buffer(words, place * ctypes.sizeof(ctypes.c_size_t)))
