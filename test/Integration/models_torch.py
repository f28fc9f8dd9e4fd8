"""The zoo's models written in PyTorch, as functions of a dictionary of parameters with the zoo's names.

Each function has arguments for the parameters, the inputs and the zoo's flags as numbers, and returns the scalar
loss. Parts that must be differentiated twice are written out if PyTorch's own function cannot be.
"""

import math

import torch
import torch.nn.functional as F


def linear(values, name, x):
    """Multiplies […, in] by a weight [in, out] and adds a bias, if there is one."""
    product = x @ values[name + "/weight"]
    return product + values[name + "/bias"] if name + "/bias" in values else product


def layer_norm(values, name, x, epsilon=1e-5):
    return F.layer_norm(x, x.shape[-1:], values[name + "/weight"], values[name + "/bias"], epsilon)


def attention(q, k, v, mask):
    """Heads [batch, head, token, size]; a key head serves a run of query heads; no key where the mask is False."""
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    score = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return score.masked_fill(~mask, -math.inf).softmax(-1) @ v


def causal_mask(x):
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()


def self_attention(values, name, x, mask, rotate=lambda heads: heads):
    def project(which):
        heads = torch.einsum("btd,dhs->bhts", x, values[f"{name}/{which}/weight"])
        bias = values.get(f"{name}/{which}/bias")
        return heads if bias is None else heads + bias[:, None, :]

    mixed = attention(rotate(project("query")), rotate(project("key")), project("value"), mask)
    product = torch.einsum("bhts,hsd->btd", mixed, values[name + "/projection/weight"])
    bias = values.get(name + "/projection/bias")
    return product if bias is None else product + bias


def feed_forward(values, name, x, form):
    return linear(values, name + "/down", F.gelu(linear(values, name + "/up", x), approximate=form))


def pre_norm_layer(values, name, x, mask, form):
    x = x + self_attention(values, name, layer_norm(values, name + "/norm1", x), mask)
    return x + feed_forward(values, name, layer_norm(values, name + "/norm2", x), form)


def text_loss(logits, inputs):
    return F.cross_entropy(logits.flatten(0, 1), inputs["labels"].flatten())


def gpt2_loss(values, inputs, size):
    x = values["embedding"][inputs["tokens"]] + values["position"]
    for layer in range(size["layers"]):
        x = pre_norm_layer(values, f"layer/{layer}", x, causal_mask(x), "tanh")
    return text_loss(layer_norm(values, "norm", x) @ values["embedding"].T, inputs)


def mlp_loss(values, inputs, size):
    x = inputs["x"]
    for layer in range(size["layers"]):
        x = F.relu(linear(values, f"layer/{layer}", x))
    return F.cross_entropy(linear(values, "head", x), inputs["labels"])


def rms_norm(values, name, x):
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * values[name + "/weight"]


def rotate_heads(x):
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = (torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * frequency).to(x.dtype).repeat(1, 2)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * angle.cos() + turned * angle.sin()


def llama_loss(values, inputs, size):
    x = values["embedding"][inputs["tokens"]]
    for layer in range(size["layers"]):
        name = f"layer/{layer}"
        x = x + self_attention(values, name, rms_norm(values, name + "/norm1", x), causal_mask(x), rotate_heads)
        normal = rms_norm(values, name + "/norm2", x)
        gated = F.silu(linear(values, name + "/gate", normal)) * linear(values, name + "/up", normal)
        x = x + linear(values, name + "/down", gated)
    return text_loss(linear(values, "head", rms_norm(values, "norm", x)), inputs)


def bert_loss(values, inputs, size):
    present = torch.arange(inputs["tokens"].shape[1]) < inputs["lengths"][:, None]
    mask = present[:, None, None, :]
    x = values["embedding"][inputs["tokens"]] + values["position"] + values["segment"][inputs["segments"]]
    x = layer_norm(values, "embedding_norm", x, 1e-12)
    for layer in range(size["layers"]):
        name = f"layer/{layer}"
        x = layer_norm(values, name + "/norm1", x + self_attention(values, name, x, mask), 1e-12)
        x = layer_norm(values, name + "/norm2", x + feed_forward(values, name, x, "none"), 1e-12)
    x = layer_norm(values, "head/norm", F.gelu(linear(values, "head/transform", x)), 1e-12)
    logits = x @ values["embedding"].T + values["head/bias"]
    labels = inputs["labels"].where(present & (inputs["labels"] >= 0), torch.tensor(-100))
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def vit_loss(values, inputs, size):
    image, grid = inputs["image"], math.isqrt(size["seq"])
    patch, width = image.shape[2] // grid, values["patch/bias"].shape[0]
    filters = values["patch/weight"].T.reshape(width, 3, patch, patch)
    x = F.conv2d(image, filters, values["patch/bias"], stride=patch).flatten(2).transpose(1, 2) + values["position"]
    everything = torch.ones(1, dtype=torch.bool)
    for layer in range(size["layers"]):
        x = pre_norm_layer(values, f"layer/{layer}", x, everything, "none")
    return F.cross_entropy(linear(values, "head", layer_norm(values, "norm", x).mean(1)), inputs["labels"])


def convolution_norm(values, name, x, stride):
    """Convolution and batch norm; the running statistics change in place."""
    filters = values[name + "/weight"]
    x = F.conv2d(x, filters, stride=stride, padding=filters.shape[-1] // 2)
    return F.batch_norm(x, values[f"running_mean/{name}/norm"], values[f"running_variance/{name}/norm"],
                        values[name + "/norm/weight"], values[name + "/norm/bias"], training=True, momentum=0.1, eps=1e-5)


def residual_block(values, name, x, strides):
    """Runs a block of two or three convolutions, with their strides."""
    inner = x
    for index, stride in enumerate(strides):
        inner = convolution_norm(values, f"{name}/conv{index + 1}", inner, stride)
        inner = F.relu(inner) if index + 1 < len(strides) else inner
    if name + "/shortcut/weight" in values:
        x = convolution_norm(values, name + "/shortcut", x, math.prod(strides))
    return F.relu(inner + x)


def resnet_loss(values, inputs, blocks, strides_of):
    x = F.relu(convolution_norm(values, "stem", inputs["image"], 2))
    x = F.max_pool2d(x, 3, 2, 1)
    for stage, count in enumerate(blocks):
        for index in range(count):
            x = residual_block(values, f"stage/{stage}/{index}", x, strides_of(2 if stage and not index else 1))
    return F.cross_entropy(linear(values, "head", x.mean((2, 3))), inputs["labels"])


def resnet18_loss(values, inputs, size):
    return resnet_loss(values, inputs, (2, 2, 2, 2), lambda stride: (stride, 1))


def resnet50_loss(values, inputs, size):
    return resnet_loss(values, inputs, (3, 4, 6, 3), lambda stride: (1, stride, 1))


def double_convolution(values, name, x):
    for part in ("conv1", "conv2"):
        x = F.conv2d(x, values[f"{name}/{part}/weight"], padding=1)
        weight, bias = values[f"{name}/{part}/norm/weight"], values[f"{name}/{part}/norm/bias"]
        x = F.relu(F.group_norm(x, math.gcd(8, x.shape[1]), weight, bias))
    return x


def unet_loss(values, inputs, size):
    x, skips = inputs["image"], []
    for level in range(size["layers"]):
        skips.append(double_convolution(values, f"down/{level}", x))
        x = F.max_pool2d(skips[-1], 2)
    x = double_convolution(values, "bottom", x)
    for level in reversed(range(size["layers"])):
        name = f"up/{level}"
        x = F.conv_transpose2d(x, values[name + "/upsample/weight"], values[name + "/upsample/bias"], stride=2)
        x = double_convolution(values, name, torch.cat([skips[level], x], 1))
    return F.cross_entropy(linear(values, "head", x.movedim(1, -1)).flatten(0, 2), inputs["labels"].flatten())


def mixture_of_experts(values, name, x):
    """Returns the output and the balance penalty: every expert runs on every token, weighted by the routing."""
    experts, tokens = values[name + "/router/weight"].shape[1], x.shape[0]
    capacity = min(tokens, math.ceil(1.25 * 2 * tokens / experts))
    probabilities = (x @ values[name + "/router/weight"]).softmax(-1)
    top, chosen = probabilities.topk(2)
    hot = F.one_hot(chosen, experts).transpose(0, 1)
    taken = hot.flatten(0, 1).cumsum(0).view(2, tokens, experts) * hot
    kept = (taken <= capacity) & (hot > 0)
    weights = ((top / top.sum(-1, keepdim=True)).T[:, :, None] * kept).sum(0)
    up = torch.einsum("td,edf->etf", x, values[name + "/up/weight"]) + values[name + "/up/bias"]
    done = torch.einsum("etf,efd->etd", F.gelu(up, approximate="tanh"), values[name + "/down/weight"])
    penalty = 0.01 * experts * (hot[0].to(x.dtype).mean(0) * probabilities.mean(0)).sum()
    return torch.einsum("te,etd->td", weights, done + values[name + "/down/bias"]), penalty


def moe_loss(values, inputs, size):
    x = values["embedding"][inputs["tokens"]] + values["position"]
    penalties = 0.0
    for layer in range(size["layers"]):
        name = f"layer/{layer}"
        x = x + self_attention(values, name, layer_norm(values, name + "/norm1", x), causal_mask(x))
        mixed, penalty = mixture_of_experts(values, name, layer_norm(values, name + "/norm2", x).flatten(0, 1))
        x, penalties = x + mixed.view(x.shape), penalties + penalty
    return text_loss(layer_norm(values, "norm", x) @ values["embedding"].T, inputs) + penalties


def lstm_loss(values, inputs, size):
    x = values["embedding"][inputs["tokens"]]
    for layer in range(size["layers"]):
        name = f"layer/{layer}"
        weights = [values[name + "/input/weight"].T, values[name + "/hidden/weight"].T, values[name + "/input/bias"]]
        start = torch.zeros(1, x.shape[0], x.shape[2], dtype=x.dtype)
        x = torch.lstm(x, (start, start), weights + [torch.zeros_like(weights[2])], True, 1, 0.0, False, False, True)[0]
    return text_loss(linear(values, "head", x), inputs)


LOSSES = {"bert": bert_loss, "gpt2": gpt2_loss, "llama": llama_loss, "lstm": lstm_loss, "mlp": mlp_loss, "moe": moe_loss,
          "resnet18": resnet18_loss, "resnet50": resnet50_loss, "unet": unet_loss, "vit": vit_loss}
