"""Ops that move a value to the host's memory and back (docs/explanation/Offload.md)."""

from __future__ import annotations

import mmap
from typing import Any

import torch

_library = torch.library.Library("reprise", "FRAGMENT")
_library.define("to_host(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.define("from_host(Tensor host, Device device) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.define("arrive(Tensor(a) x) -> Tensor(a)", tags=(torch.Tag.pt2_compliant_tag,))
#: Streams of copies, by their direction and the number of the device. Copies of both directions run at the same time.
_streams: dict[tuple[bool, int], Any] = {}
#: Copies to devices that nobody has waited for: their ends and their values, which keep their memory, by the address of the
#: value.
_ends: dict[int, tuple[Any, torch.Tensor]] = {}


def _span(x: torch.Tensor) -> int:
    """Returns the number of elements from the first to the last one in memory."""
    return 1 + sum((size - 1) * stride for size, stride in zip(x.size(), x.stride())) if x.numel() else 0


def _second_memory(x: torch.Tensor) -> torch.Tensor:
    """Returns an empty tensor outside of the CPU's allocator, as another memory than the device's."""
    count = _span(x)
    if not count:
        return torch.empty_strided(x.size(), x.stride(), dtype=x.dtype)
    pages = mmap.mmap(-1, count * x.element_size())
    return torch.frombuffer(pages, dtype=x.dtype, count=count).as_strided(x.size(), x.stride())


def _stream(device: torch.device, is_to_host: bool) -> Any:
    key = is_to_host, device.index
    if key not in _streams:
        _streams[key] = torch.cuda.Stream(device)
    return _streams[key]


def _to_host(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "cpu":
        return _second_memory(x).copy_(x)
    host = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, pin_memory=True)
    stream = _stream(x.device, True)
    stream.wait_stream(torch.cuda.current_stream(x.device))
    with torch.cuda.stream(stream):
        host.copy_(x, non_blocking=True)
    x.record_stream(stream)
    return host


def _from_host(host: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Begins a copy, whose end ``arrive`` waits for."""
    x = torch.empty_strided(host.size(), host.stride(), dtype=host.dtype, device=device)
    if device.type == "cpu":
        return x.copy_(host)
    stream = _stream(device, False)
    stream.wait_stream(torch.cuda.current_stream(device))  # the memory may be in use there
    stream.wait_stream(_stream(device, True))  # the value may still be on its way to the host
    with torch.cuda.stream(stream):
        x.copy_(host, non_blocking=True)
    # A backward pass that has failed has left values that nobody waits for.
    for address in [each for each, (end, _) in _ends.items() if end.query()]:
        del _ends[address]
    _ends[x.data_ptr()] = stream.record_event(), x
    return x


def _arrive(x: torch.Tensor) -> torch.Tensor:
    """Lets the current stream wait until a value has arrived."""
    if x.data_ptr() in _ends:
        torch.cuda.current_stream(x.device).wait_event(_ends.pop(x.data_ptr())[0])
    return x


def _like(x: torch.Tensor, device: torch.device) -> torch.Tensor:
    return torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=device)


_library.impl("to_host", _to_host, "CompositeExplicitAutograd")
_library.impl("from_host", _from_host, "CompositeExplicitAutograd")
_library.impl("arrive", _arrive, "CompositeExplicitAutograd")
torch.library.register_fake("reprise::to_host", lambda x: _like(x, torch.device("cpu")), lib=_library)
torch.library.register_fake("reprise::from_host", _like, lib=_library)
torch.library.register_fake("reprise::arrive", lambda x: x.view_as(x), lib=_library)
to_host, from_host = torch.ops.reprise.to_host.default, torch.ops.reprise.from_host.default
arrive = torch.ops.reprise.arrive.default
