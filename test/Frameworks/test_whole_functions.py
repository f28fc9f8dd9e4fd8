"""backend="reprise" and a torch.autograd.Function of the user's: its backward pass is run as it is written."""
import copy

import checks
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn
from torch.autograd.function import once_differentiable
from whole import compiled, error_of, run_parts

from reprise.torch import graphs


class Clipped(torch.autograd.Function):
    """Not the derivative, and not linear in its cotangents; saves an argument, an output, and something in between."""

    @staticmethod
    def forward(ctx, x, factor, weight):
        between = x.exp()
        y = between * factor
        ctx.save_for_backward(x, between, y, weight)
        ctx.factor = factor
        index = y.argmax(-1)
        ctx.mark_non_differentiable(index)
        return y, y.sum(), index

    @staticmethod
    def backward(ctx, g, h, _):
        x, between, y, weight = ctx.saved_tensors
        return (3 * g * between * ctx.factor).clamp(-1, 1) + h * x.cos(), None, (weight * y.mean(0)).clamp(max=0.5)


class Reversed(torch.autograd.Function):
    """A view of its argument, and no gradient for the second one."""

    @staticmethod
    def forward(ctx, x, y):
        return x.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return -g, None


class Model(nn.Module):
    """Parts with attention, writes in place and ends of gradients before, between and behind two functions."""

    def __init__(self, rate=0.0):
        super().__init__()
        self.first, self.second, self.rate = nn.Linear(8, 8), nn.Linear(8, 8), rate
        self.weight = nn.Parameter(torch.randn(8))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        y, total, index = Clipped.apply(self.first(x).tanh(), 2.0, self.weight)
        self.count += 1
        y = y * 1.5
        y[:, 1:3] *= 2
        with torch.no_grad():
            scale = y.abs().mean()
        z = F.dropout(self.second(y), self.rate) * total + index.unsqueeze(-1)
        q = (z / scale).view(1, -1, 2, 4).transpose(1, 2)
        z = F.scaled_dot_product_attention(q, q, q).flatten(2).sum(1) + y.detach()[:2].mean()
        return Reversed.apply(z.sin(), x), index


def run(model, forward, x):
    model.zero_grad()
    point = x.clone().requires_grad_()
    y, index = forward(point)
    (y * torch.arange(y.numel()).view(y.shape).cos()).sum().backward()
    return [y.detach(), index, point.grad, model.count.clone(), *(each.grad.clone() for each in model.parameters())]


def try_model():
    torch.manual_seed(0)
    model, x = Model().double(), torch.randn(6, 8).double()
    other = copy.deepcopy(model)
    forward = compiled(model)
    for number, size in enumerate((6, 4, 6)):
        ours, eager = run(model, forward, x[:size]), run(other, other, x[:size])
        checks.check(f"step {number}: eager's outputs, gradients and buffers", len(ours) == len(eager) and all(
            a.dtype == b.dtype and torch.allclose(a.double(), b.double(), rtol=1e-11) for a, b in zip(ours, eager)),
            f"{ours}\n{eager}"[:800])
    with torch.no_grad():
        checks.check("without gradients", torch.allclose(forward(x)[0], other(x)[0], rtol=1e-11))


def try_plans():
    """Dropout before and behind: equal bits under two plans."""
    made, x = [], torch.randn(6, 8)
    for policy in ("save-all", "recompute-all"):
        torch.manual_seed(0)
        model = Model(0.3)
        forward, before = compiled(model, policy=policy), len(graphs())
        torch.manual_seed(5)
        made.append(run(model, forward, x))
        checks.check("parts of the graph are compiled", len(graphs()) - before >= 4, f"{len(graphs()) - before}")
    checks.check("equal bits under two plans", all(torch.equal(a, b) for a, b in zip(*made)))


def try_errors():
    x = torch.randn(4, 4, requires_grad=True)

    def reverse(x):
        return Reversed.apply(x * x, x)

    (slope,) = torch.autograd.grad(compiled(reverse)(x).sin().sum(), x, create_graph=True)
    checks.check("a second derivative is PyTorch's error", "once_differentiable" in error_of(slope.sum().backward))

    def without(x):
        with torch.autocast("cpu", torch.bfloat16):
            return reverse(x)

    def region(x):
        return torch.utils.checkpoint.checkpoint(reverse, x, use_reentrant=False)

    for where, function in (("autocast", without), ("a region", region)):
        text = error_of(compiled(function), x)
        checks.check(f"one inside of {where} is an error", "torch.autograd.Function" in text and "test_whole_functions.py:" in text,
                     text)


if __name__ == "__main__":
    run_parts(try_model, try_plans, try_errors)
