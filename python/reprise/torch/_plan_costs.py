"""Models costs: seconds of one op from its arithmetic and the bytes that it moves."""

from __future__ import annotations

import torch
from torch import fx
from torch.utils.flop_counter import flop_registry

from ._plan_nodes import results, storage_bytes, tensor_operands

#: Per device type: operations per second, bytes per second, seconds of a call. Plans ask for their ratios only.
RATES = {"cpu": (40e9, 8e9, 3e-6), "cuda": (100e12, 2e12, 4e-6)}

#: Per device type: bytes per second of the link to the host.
LINKS = {"cpu": 8e9, "cuda": 25e9}
#: Least quotient of an op's seconds and those of moving its result, for plans that move values by themselves.
LEAST_GAIN = 1.5


def copy_seconds(size: int, device: torch.device) -> float:
    """Seconds of a copy to the host and of one back."""
    return 2 * size / LINKS.get(device.type, LINKS["cuda"])


def count_flops(node: fx.Node) -> int:
    """Returns the FLOPs of PyTorch's counter; 0 for ops that only move bytes."""
    formula = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if formula is None:
        return 0

    def value(argument):
        return argument.meta["val"] if isinstance(argument, fx.Node) else argument
    args, kwargs = fx.node.map_aggregate(node.args, value), fx.node.map_aggregate(dict(node.kwargs), value)
    return int(formula(*args, **kwargs, out_val=node.meta["val"]))


def seconds(node: fx.Node) -> float:
    """Seconds of one execution."""
    read = [each.meta["val"] for each in tensor_operands(node)]
    made = results(node)
    device = next((each.device.type for each in [*made, *read] if each is not None), "cpu")
    flops_rate, byte_rate, launch = RATES.get(device, RATES["cuda"])
    moved = sum(min(storage_bytes(each), each.numel() * each.element_size()) for each in read)
    moved += sum(map(storage_bytes, made))
    return launch + max(count_flops(node) / flops_rate, moved / byte_rate)
