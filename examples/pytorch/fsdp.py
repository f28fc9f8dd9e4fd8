"""FSDP2 by layers: each layer is compiled with Reprise, then sharded. Start one process per device.

Usage: fsdp.py [--policy=recompute-all] [--steps=3]
       torchrun --nproc-per-node=2 fsdp.py
"""

import argparse
import os

import torch
import torch.distributed
from torch.distributed.fsdp import fully_shard


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(x)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="recompute-all", help="policy of values to save and recompute (recompute-all)")
    parser.add_argument("--steps", type=int, default=3, help="number of training steps (3)")
    options = parser.parse_args()
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "29511"}.items():
        os.environ.setdefault(name, value)
    torch.distributed.init_process_group("gloo")

    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Layer(32) for _ in range(3)))
    for layer in model:
        layer.compile(backend="reprise", options={"policy": options.policy})
        fully_shard(layer)
    fully_shard(model)

    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, target = torch.randn(16, 32), torch.randn(16, 32)
    for number in range(options.steps):
        loss = (model(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"step {number}: loss {loss.item():.4f}")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
