"""Defines the peer's models as plain PyTorch with its fused attention.

Layers are run by `Layered.layer`, so that `model.checkpoint = True` puts torch.utils.checkpoint around each.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Layered(nn.Module):
    checkpoint = False

    def layer(self, layer, *values):
        return checkpoint(layer, *values, use_reentrant=False) if self.checkpoint else layer(*values)


class Attention(nn.Module):
    """Self-attention with fused projections; `mask` is 1 at visible keys."""

    def __init__(self, width, heads, rate=0.0, causal=False):
        super().__init__()
        self.heads, self.rate, self.causal = heads, rate, causal
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, tokens, width = x.shape
        query, key, value = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=self.causal, dropout_p=self.rate)
        return self.projection(mixed.transpose(1, 2).reshape(batch, tokens, width))


class FeedForward(nn.Module):
    def __init__(self, width, form):
        super().__init__()
        self.form = form
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate=self.form))


class PreNorm(nn.Module):
    """Block x + dropout(part(norm(x))) for attention, then for `second`."""

    def __init__(self, width, attention, second, rate=0.0):
        super().__init__()
        self.norm1, self.norm2, self.attention, self.second = nn.LayerNorm(width), nn.LayerNorm(width), attention, second
        self.rate = rate

    def forward(self, x):
        x = x + F.dropout(self.attention(self.norm1(x)), self.rate)
        return x + F.dropout(self.second(self.norm2(x)), self.rate)


def text_loss(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


class Gpt2(Layered):
    def __init__(self, layers, width, heads, vocab, tokens, rate, second=lambda width: FeedForward(width, "tanh")):
        super().__init__()
        self.rate = rate
        self.embedding, self.position = nn.Embedding(vocab, width), nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(PreNorm(width, Attention(width, heads, rate, True), second(width), rate) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.embedding.weight

    def logits(self, tokens):
        x = F.dropout(self.embedding(tokens) + self.position.weight[: tokens.shape[1]], self.rate)
        for layer in self.layers:
            x = self.layer(layer, x)
        return self.head(self.norm(x))

    def forward(self, tokens, labels):
        return text_loss(self.logits(tokens), labels)


class Experts(nn.Module):
    """Top-2 routing to eight experts of a fixed capacity, in static shapes, which suit torch.compile best."""

    experts = 8

    def __init__(self, width):
        super().__init__()
        weight = lambda *shape: nn.Parameter(0.02 * torch.randn(*shape))
        self.router = nn.Linear(width, self.experts, bias=False)
        self.up, self.up_bias = weight(self.experts, width, 4 * width), weight(self.experts, 1, 4 * width)
        self.down, self.down_bias = weight(self.experts, 4 * width, width), weight(self.experts, 1, width)
        self.penalty = None

    def forward(self, x):
        shape, x = x.shape, x.flatten(0, 1)
        tokens, width = x.shape
        capacity = math.ceil(1.25 * 2 * tokens / self.experts)
        probabilities = self.router(x).softmax(-1)
        top, chosen = probabilities.topk(2)
        expert, weight = chosen.T.flatten(), (top / top.sum(-1, keepdim=True)).T.flatten()
        hot = F.one_hot(expert, self.experts)
        self.penalty = 0.01 * self.experts * (hot[:tokens].float().mean(0) * probabilities.mean(0)).sum()
        slot = (hot.cumsum(0) * hot).sum(1) - 1
        fits, rows = slot < capacity, self.experts * capacity
        place = expert * capacity + slot.clamp(max=capacity - 1)
        source = torch.zeros(rows + 1, dtype=torch.long)
        source[place.where(fits, rows)] = torch.arange(tokens).repeat(2)
        sent = x[source[:rows]].view(self.experts, capacity, width)
        up = F.gelu(torch.baddbmm(self.up_bias, sent, self.up), approximate="tanh")
        done = torch.baddbmm(self.down_bias, up, self.down).flatten(0, 1)
        mixed = done[place] * weight.where(fits, 0.0)[:, None]
        return mixed.view(2, tokens, width).sum(0).view(shape)


class Moe(Gpt2):
    def __init__(self, *sizes):
        super().__init__(*sizes, 0.0, Experts)

    def forward(self, tokens, labels):
        loss = text_loss(self.logits(tokens), labels)
        return loss + sum(layer.second.penalty for layer in self.layers)


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, key_heads):
        super().__init__()
        hidden, self.size = -(-(-(-8 * width // 3)) // 256) * 256, width // heads
        linear = lambda fan_in, fan_out: nn.Linear(fan_in, fan_out, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.query, self.key_value = linear(width, width), linear(width, 2 * key_heads * self.size)
        self.projection, self.gate_up, self.down = linear(width, width), linear(width, 2 * hidden), linear(hidden, width)

    def forward(self, x, cosine, sine):
        def rotate(heads):
            first, second = heads.chunk(2, -1)
            return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)

        normal, heads = self.norm1(x), lambda each: each.unflatten(-1, (-1, self.size)).transpose(1, 2)
        key, value = self.key_value(normal).chunk(2, -1)
        mixed = F.scaled_dot_product_attention(rotate(heads(self.query(normal))), rotate(heads(key)), heads(value),
                                               is_causal=True, enable_gqa=True)
        x = x + self.projection(mixed.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Llama(Layered):
    def __init__(self, layers, width, heads, key_heads, vocab, tokens):
        super().__init__()
        self.embedding, self.head = nn.Embedding(vocab, width), nn.Linear(width, vocab, bias=False)
        self.layers = nn.ModuleList(LlamaLayer(width, heads, key_heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        half = width // heads // 2
        angle = torch.arange(tokens)[:, None] * 10000.0 ** (-torch.arange(half) / half)
        self.register_buffer("cosine", angle.cos())
        self.register_buffer("sine", angle.sin())

    def forward(self, tokens, labels):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = self.layer(layer, x, self.cosine, self.sine)
        return text_loss(self.head(self.norm(x)), labels)


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.second = Attention(width, heads), FeedForward(width, "none")
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, mask):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.second(x))


class Bert(Layered):
    def __init__(self, layers, width, heads, vocab, tokens):
        super().__init__()
        self.embedding, self.position, self.segment = (nn.Embedding(count, width) for count in (vocab, tokens, 2))
        self.norm, self.head_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))
        self.transform, self.head = nn.Linear(width, width), nn.Linear(width, vocab)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, segments, lengths, labels):
        present = torch.arange(tokens.shape[1]) < lengths[:, None]
        x = self.norm(self.embedding(tokens) + self.position.weight[: tokens.shape[1]] + self.segment(segments))
        for layer in self.layers:
            x = self.layer(layer, x, present[:, None, None, :])
        logits = self.head(self.head_norm(F.gelu(self.transform(x))))
        return text_loss(logits, labels.where(present & (labels >= 0), -100))


class Vit(Layered):
    def __init__(self, layers, width, heads, image, patches, classes):
        super().__init__()
        patch = image // math.isqrt(patches)
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.position = nn.Parameter(0.02 * torch.randn(patches, width))
        self.layers = nn.ModuleList(PreNorm(width, Attention(width, heads), FeedForward(width, "none")) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, image, labels):
        x = self.patch(image).flatten(2).transpose(1, 2) + self.position
        for layer in self.layers:
            x = self.layer(layer, x)
        return F.cross_entropy(self.head(self.norm(x).mean(1)), labels)


class BasicBlock(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.norm2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        same = stride == 1 and channels == out
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        inner = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(inner)) + self.shortcut(x), inplace=True)


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        out = 4 * width
        self.conv1, self.norm1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.norm3 = nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)
        same = stride == 1 and channels == out
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        inner = F.relu(self.norm1(self.conv1(x)), inplace=True)
        inner = F.relu(self.norm2(self.conv2(inner)), inplace=True)
        return F.relu(self.norm3(self.conv3(inner)) + self.shortcut(x), inplace=True)


class Resnet(Layered):
    def __init__(self, block, expansion, blocks, width, classes):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width)
        self.layers, channels = nn.ModuleList(), width
        for stage, count in enumerate(blocks):
            for index in range(count):
                self.layers.append(block(channels, width << stage, 2 if stage and not index else 1))
                channels = expansion * (width << stage)
        self.head = nn.Linear(channels, classes)

    def forward(self, image, labels):
        x = F.max_pool2d(F.relu(self.norm(self.stem(image)), inplace=True), 3, 2, 1)
        for layer in self.layers:
            x = self.layer(layer, x)
        return F.cross_entropy(self.head(x.mean((2, 3))), labels)


def double_convolution(channels, out):
    parts = []
    for fan_in in (channels, out):
        parts += [nn.Conv2d(fan_in, out, 3, 1, 1, bias=False), nn.GroupNorm(8, out), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


class Unet(Layered):
    def __init__(self, levels, width, classes):
        super().__init__()
        sizes = [width << level for level in range(levels + 1)]
        self.down = nn.ModuleList(double_convolution(fan_in, out) for fan_in, out in zip([3, *sizes], sizes))
        self.upsample = nn.ModuleList(nn.ConvTranspose2d(2 * out, out, 2, 2) for out in sizes[:-1])
        self.up = nn.ModuleList(double_convolution(2 * out, out) for out in sizes[:-1])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, image, labels):
        skips, x = [], image
        for level, part in enumerate(self.down):
            x = self.layer(part, F.max_pool2d(x, 2) if level else x)
            skips.append(x)
        for upsample, part, skip in reversed(list(zip(self.upsample, self.up, skips))):
            x = self.layer(part, torch.cat([skip, upsample(x)], 1))
        return F.cross_entropy(self.head(x), labels)


class Mlp(Layered):
    def __init__(self, layers, width, classes, rate):
        super().__init__()
        self.rate = rate
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def apply_layer(self, layer, x):
        return F.dropout(F.relu(layer(x)), self.rate)

    def forward(self, x, labels):
        for layer in self.layers:
            x = self.layer(self.apply_layer, layer, x)
        return F.cross_entropy(self.head(x), labels)


def text(batch=8, tokens=128, vocab=256):
    return torch.randint(0, vocab, (batch, tokens)), torch.randint(0, vocab, (batch, tokens))


def images(batch, size, classes, *pixels):
    return torch.randn(batch, 3, size, size), torch.randint(0, classes, (batch, *pixels))


def bert_inputs():
    return (torch.randint(0, 256, (8, 128)), torch.randint(0, 2, (8, 128)), torch.randint(64, 129, (8,)),
            torch.randint(-1450, 256, (8, 128)))


# Entries are name to (model, inputs, optimizer); names and sizes are those of ../models.py and, at the end,
# ../compile_time.py.
MODELS = {
    "bert": (lambda: Bert(6, 384, 6, 256, 128), bert_inputs, "adamw"),
    "gpt2": (lambda: Gpt2(6, 384, 6, 256, 128, 0.1), text, "adamw"),
    "gpt2 without dropout": (lambda: Gpt2(6, 384, 6, 256, 128, 0.0), text, "adamw"),
    "llama": (lambda: Llama(6, 384, 6, 2, 256, 128), text, "adamw"),
    "mlp": (lambda: Mlp(6, 1024, 10, 0.1), lambda: (torch.randn(256, 1024), torch.randint(0, 10, (256,))), "momentum"),
    "moe": (lambda: Moe(6, 384, 6, 256, 128), text, "adamw"),
    "resnet18": (lambda: Resnet(BasicBlock, 1, (2, 2, 2, 2), 64, 1000), lambda: images(16, 64, 1000), "momentum"),
    "unet": (lambda: Unet(3, 32, 10), lambda: images(8, 64, 10, 64, 64), "adamw"),
    "vit": (lambda: Vit(6, 384, 6, 64, 64, 10), lambda: images(8, 64, 10), "adamw"),
    "gpt2 124M": (lambda: Gpt2(12, 768, 12, 50257, 1024, 0.1), lambda: text(1, 1024, 50257), "adamw"),
    "gpt2 96 layers": (lambda: Gpt2(96, 384, 6, 256, 128, 0.1), lambda: text(1), "adamw"),
    "resnet50": (lambda: Resnet(Bottleneck, 4, (3, 4, 6, 3), 64, 1000), lambda: images(8, 224, 1000), "momentum"),
    # Entries for GPUs have the sizes of ../../gpu-check/make-bundles.py.
    "gpt2 124M, 32 texts": (lambda: Gpt2(12, 768, 12, 50257, 1024, 0.1), lambda: text(32, 1024, 50257), "adamw"),
    "llama 1B": (lambda: Llama(16, 2048, 32, 8, 32000, 1024), lambda: text(4, 1024, 32000), "adamw"),
    "resnet50, 128 images": (lambda: Resnet(Bottleneck, 4, (3, 4, 6, 3), 64, 1000), lambda: images(128, 224, 1000), "momentum"),
}
OPTIMIZERS = {
    "adamw": lambda values: torch.optim.AdamW(values, lr=0.001, weight_decay=0.01, fused=True),
    "momentum": lambda values: torch.optim.SGD(values, lr=0.01, momentum=0.9, fused=True),
}


def make(name, device="cpu"):
    """A model with its inputs and its fused optimizer; images are channels-last, PyTorch's faster layout."""
    torch.manual_seed(0)
    model, inputs, optimizer = MODELS[name]
    model, inputs = model().to(device), tuple(value.to(device) for value in inputs())
    if inputs[0].dim() == 4:
        model, inputs = model.to(memory_format=torch.channels_last), (inputs[0].to(memory_format=torch.channels_last), *inputs[1:])
    return model, inputs, OPTIMIZERS[optimizer](model.parameters())
