"""The zoo's models written in PyTorch, as functions of a dictionary of parameters with the zoo's names.

Everything is spelled out, attention too, so that it can be differentiated twice in any precision.
"""

import math

import torch
import torch.nn.functional as F


def layer_norm(values, name, x):
    return F.layer_norm(x, x.shape[-1:], values[name + "/weight"], values[name + "/bias"], 1e-5)


def attention(q, k, v):
    """Causal, for [batch, head, token, size]."""
    score = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    later = torch.ones(score.shape[-2:], dtype=torch.bool).triu(1)
    return score.masked_fill(later, -math.inf).softmax(-1) @ v


def gpt2_layer(values, name, x):
    def project(which):
        weight, bias = values[f"{name}/{which}/weight"], values[f"{name}/{which}/bias"]
        return torch.einsum("btd,dhs->bhts", normal, weight) + bias[:, None, :]

    normal = layer_norm(values, name + "/norm1", x)
    mixed = attention(project("query"), project("key"), project("value"))
    x = x + torch.einsum("bhts,hsd->btd", mixed, values[name + "/projection/weight"]) + values[name + "/projection/bias"]
    up = layer_norm(values, name + "/norm2", x) @ values[name + "/up/weight"] + values[name + "/up/bias"]
    return x + F.gelu(up, approximate="tanh") @ values[name + "/down/weight"] + values[name + "/down/bias"]


def gpt2_logits(values, tokens, layers):
    x = values["embedding"][tokens] + values["position"]
    for layer in range(layers):
        x = gpt2_layer(values, f"layer/{layer}", x)
    return layer_norm(values, "norm", x) @ values["embedding"].T


def gpt2_loss(values, inputs, layers):
    logits = gpt2_logits(values, inputs["tokens"], layers)
    return F.cross_entropy(logits.flatten(0, 1), inputs["labels"].flatten())


def mlp_loss(values, inputs, layers):
    x = inputs["x"]
    for layer in range(layers):
        x = F.relu(x @ values[f"layer/{layer}/weight"] + values[f"layer/{layer}/bias"])
    return F.cross_entropy(x @ values["head/weight"] + values["head/bias"], inputs["labels"])
