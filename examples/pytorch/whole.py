"""Compiles forward and backward pass of a PyTorch model with Reprise, for the CPU, within a budget.

Usage: whole.py [--budget=60%] [--steps=3]
"""

import argparse

import torch
import reprise.torch


class Model(torch.nn.Module):
    def __init__(self, width=64, layers=4):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                torch.nn.Dropout(0.1), torch.nn.Linear(4 * width, width)) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60%", help="bytes, such as 64MiB, or a share of the step without replays (60%%)")
    parser.add_argument("--steps", type=int, default=3, help="number of training steps (3)")
    options = parser.parse_args()

    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    step = torch.compile(model, backend="reprise", options={"budget": options.budget})
    x, target = torch.randn(64, 64), torch.randn(64, 64)
    for number in range(options.steps):
        loss = (step(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {number}: loss {loss.item():.4f}")
    report = reprise.torch.graphs()[-1].report
    print(f"arena and workspace: {report.step_bytes:,} bytes of a budget of {report.budget['bytes']:,}")


if __name__ == "__main__":
    main()
