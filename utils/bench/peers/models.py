"""The peer's models: those that the benchmarks compare on, as plain PyTorch with its fused attention."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads, rate):
        super().__init__()
        self.heads, self.rate = heads, rate
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=self.rate)
        x = x + F.dropout(self.projection(mixed.transpose(1, 2).reshape(batch, tokens, width)), self.rate)
        return x + F.dropout(self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")), self.rate)


class Gpt2(nn.Module):
    def __init__(self, layers, width, heads, vocab, tokens, rate):
        super().__init__()
        self.rate = rate
        self.embedding, self.position = nn.Embedding(vocab, width), nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(Block(width, heads, rate) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, labels):
        x = F.dropout(self.embedding(tokens) + self.position.weight[: tokens.shape[1]], self.rate)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), labels.flatten())


class Mlp(nn.Module):
    def __init__(self, layers, width, classes, rate):
        super().__init__()
        self.rate = rate
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, x, labels):
        for layer in self.layers:
            x = F.dropout(F.relu(layer(x)), self.rate)
        return F.cross_entropy(self.head(x), labels)


def make(name):
    """A model with its inputs and its fused optimizer; the names are those of steps.py."""
    torch.manual_seed(0)
    if name == "mlp":
        model = Mlp(6, 1024, 10, 0.1)
        inputs = torch.randn(256, 1024), torch.randint(0, 10, (256,))
        return model, inputs, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    model = Gpt2(6, 384, 6, 256, 128, {"gpt2": 0.1, "gpt2 without dropout": 0.0}[name])
    inputs = torch.randint(0, 256, (8, 128)), torch.randint(0, 256, (8, 128))
    return model, inputs, torch.optim.AdamW(model.parameters(), lr=0.001, weight_decay=0.01, fused=True)
