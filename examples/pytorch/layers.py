"""A transformer whose layers are compiled one by one, and the loss apart, as torchtitan does: one budget for the step.

Usage: layers.py [--budget=2.4MiB] [--codegen=inductor|eager] [--steps=4]
"""

import argparse

import reprise.torch
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Transformer(nn.Module):
    def __init__(self, vocabulary=64, width=48, heads=4, layers=4):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleDict({str(number): Block(width, heads) for number in range(layers)})
        self.norm, self.output = nn.RMSNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers.values():
            x = layer(x)
        return self.output(self.norm(x))


def cross_entropy(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="2.4MiB", help="bytes, or a share of the step without replays, such as 60%% (2.4MiB)")
    parser.add_argument("--codegen", default="inductor", choices=["inductor", "eager"], help="the code to run (inductor)")
    parser.add_argument("--steps", type=int, default=4, help="number of training steps (4)")
    options = parser.parse_args()

    torch.manual_seed(0)
    model, given = Transformer(), {"budget": options.budget, "codegen": options.codegen}
    # Equal layers have one graph. All functions that are compiled with the same budget share it.
    for layer in model.layers.values():
        layer.compile(backend="reprise_plan", options=given, fullgraph=True)
    loss_of = torch.compile(cross_entropy, backend="reprise_plan", options=given)

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    tokens = (torch.arange(33) + torch.arange(8)[:, None]) % 50
    for number in range(options.steps):
        optimizer.zero_grad()
        loss = loss_of(model(tokens[:, :-1]), tokens[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"step {number}: loss {loss.item():.4f}")
    print(reprise.torch.steps()[-1])


if __name__ == "__main__":
    main()
