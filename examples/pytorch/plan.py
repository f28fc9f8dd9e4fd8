"""Trains a transformer of PyTorch within a budget, and says what the plan keeps.

Usage: plan.py [--budget=60%] [--codegen=inductor|eager] [--steps=3]
"""

import argparse

import torch
import reprise.torch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60%", help="bytes, such as 64MiB, or a share of the step without replays (60%%)")
    parser.add_argument("--codegen", default="inductor", choices=["inductor", "eager"], help="the code to run (inductor)")
    parser.add_argument("--steps", type=int, default=3, help="number of training steps (3)")
    options = parser.parse_args()

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, dim_feedforward=256, dropout=0.1, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    step = torch.compile(model, backend="reprise_plan", options={"budget": options.budget, "codegen": options.codegen})

    x, target = torch.randn(8, 32, 64), torch.randn(8, 32, 64)
    for number in range(options.steps):
        loss = (step(x) - target).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {number}: loss {loss.item():.4f}")
    print(reprise.torch.plans()[-1])


if __name__ == "__main__":
    main()
