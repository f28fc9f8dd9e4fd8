"""backend="reprise" under FSDP2: fully_shard on one process, which frees parameters between the passes and gathers them again."""
import os
import tempfile

import checks
import torch
import torch.distributed
from torch import nn
from whole import run_parts

from reprise.torch import graphs


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        for each in self.blocks:
            x = each(x)
        return x


def train(wrap):
    """Trains two batches with accumulated gradients; returns the gradients, and parameters after a step."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = Model().double()
    forward = wrap(model)
    x = torch.randn(2, 8, 32).double()
    optimizer, made = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(2):
        for each in x:
            forward(each).square().mean().backward()
        made += [each.grad for each in model.parameters()]
        optimizer.step()
        optimizer.zero_grad()
    return [each.full_tensor() if hasattr(each, "full_tensor") else each for each in (*made, *model.parameters())]


def shard(model):
    from torch.distributed.fsdp import fully_shard
    for each in model.blocks:
        fully_shard(each)
    return fully_shard(model)


def before(model, **options):
    """Compiled, and then sharded."""
    for each in model.blocks:
        each.compile(backend="reprise", options=options)
    return shard(model)


def after(model, **options):
    """Sharded, and then compiled."""
    return torch.compile(shard(model), backend="reprise", options=options)


def try_sharded():
    right = train(lambda model: model)
    checks.check("eager", all(map(torch.equal, train(shard), right)))
    for wrap in (before, after):
        for options in ({}, {"policy": "recompute-all"}):
            count = max([-1, *(each.number for each in graphs())])
            made = train(lambda model: wrap(model, **options))  # noqa: B023
            checks.check(f"{wrap.__doc__} {options}", all(torch.allclose(a, b, rtol=1e-11, atol=1e-13) for a, b in zip(made, right)))
            checks.check("there are graphs of ours", max(each.number for each in graphs()) > count)


def main():
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{os.path.join(folder, 'meet')}", rank=0, world_size=1)
        try:
            run_parts(try_sharded)
        finally:
            torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
