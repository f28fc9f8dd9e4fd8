"""backend="reprise" and a torch.autograd.Function of the user: its backward pass is run as written."""
import copy
import functools
import gc

import checks
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn
from torch.autograd.function import once_differentiable
from whole import compiled, error_of, run_parts

from reprise.torch import graphs


class Clipped(torch.autograd.Function):
    """Function whose backward pass is not the derivative, and not linear in its cotangents. It saves an argument, an
    output, and an intermediate value."""

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
    """Model of parts with attention, writes in place and ends of gradients before, between and behind two functions."""

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
    """Checks dropout before and behind: equal bits under two plans."""
    made, x = [], torch.randn(6, 8)
    for policy in ("save-all", "recompute-all"):
        torch.manual_seed(0)
        model = Model(0.3)
        forward = compiled(model, policy=policy)
        gc.collect()
        before = len(graphs())
        torch.manual_seed(5)
        made.append(run(model, forward, x))
        checks.check("parts of the graph are compiled", len(graphs()) - before >= 4, f"{len(graphs()) - before}")
    checks.check("equal bits under two plans", all(torch.equal(a, b) for a, b in zip(*made)))


class Scaled(torch.autograd.Function):
    """Function whose gradient is not the derivative. The gradient has a gradient by the argument, by a factor, and by
    the cotangent."""

    @staticmethod
    def forward(ctx, x, factor):
        y = x.sin() * factor
        ctx.save_for_backward(x, factor, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, factor, y = ctx.saved_tensors
        return 2 * g * x.exp() * factor + y, (g * g * x).sum().expand_as(factor)


class Frozen(Scaled):
    """Function with a gradient one part of which has no gradient, of which Dynamo leaves no trace."""

    @staticmethod
    def backward(ctx, g):
        x, factor, _ = ctx.saved_tensors
        with torch.no_grad():
            scale = x.exp()
        return g * scale * x, None


class Mixed(torch.autograd.Function):
    """Function that is written for autocast."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x @ factor

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        x, factor = ctx.saved_tensors
        return g @ factor.T, x.T @ g


def derivatives(function, arguments, order, seed=2):
    """Returns the results of a function, its gradients, and gradients of the gradients."""
    torch.manual_seed(seed)
    points = [each.clone().requires_grad_() for each in arguments]
    y = function(*points)
    weights = torch.arange(y.numel()).view(y.shape).cos().to(y.dtype)
    first = torch.autograd.grad((y * weights).sum(), points, create_graph=order > 1)
    second = torch.autograd.grad(sum(each.sin().sum() for each in first), points) if order > 1 else ()
    return [each.detach() for each in (y, *first, *second)]


def compare(name, function, arguments, order=1, tolerance=1e-11):
    ours, eager = (derivatives(each, arguments, order) for each in (compiled(function), function))
    checks.check(f"{name}: order {order}", all(a.dtype == b.dtype and (a - b).abs().max() <= tolerance * b.abs().max()
                                               for a, b in zip(ours, eager)), f"{ours}\n{eager}"[:1600])


def points(dtype=torch.float64):
    torch.manual_seed(1)
    return [torch.randn(6, 6, dtype=dtype), torch.randn(6, 6, dtype=dtype)]


def twice_scaled(x, w):
    return Scaled.apply(Scaled.apply((x @ w).tanh(), w).cos(), w.sin()) * x


def try_second():
    """Checks that a backward pass is differentiated as eager does: a saved intermediate value is a constant."""
    compare("in a row", twice_scaled, points(), 2)
    compare("alone", lambda x, w: Scaled.apply(x, w), points(), 2)


def region(function, *arguments, **options):
    return torch.utils.checkpoint.checkpoint(function, *arguments, use_reentrant=False, **options)


def nested(x, w):
    def inside(y):
        first = Scaled.apply((y @ w).tanh(), w)
        return region(lambda z: Clipped.apply(z.sin(), 2.0, w[0])[0] * z, first + y), first.exp()

    a, b = region(inside, x * 2)
    return a * b + x


def try_regions():
    compare("a region", lambda x, w: region(twice_scaled, x, w) * 2, points())
    compare("a region", lambda x, w: region(twice_scaled, x, w) * 2, points(), 2)
    compare("a region in a region", nested, points())
    before = len(graphs())
    forward = compiled(lambda x, w: region(twice_scaled, x, w))
    derivatives(forward, points(), 1)
    texts = [text for graph in graphs()[before:] for text in graph.texts]
    checks.check("what stands around functions in a region is replayed", any("reprise.checkpoint" in text for text in texts))
    policy = functools.partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    compare("a selective region", lambda x, w: region(twice_scaled, x, w, context_fn=policy), points())


def try_autocast():
    def mixed(x, w):
        with torch.autocast("cpu", torch.bfloat16):
            y = Scaled.apply(x @ w, w.bfloat16())
            with torch.autocast("cpu", enabled=False):
                y = Scaled.apply(y, w.bfloat16()).float() @ w
            return (Mixed.apply(y @ w, w) @ w).float()

    def around(x, w):
        with torch.autocast("cpu", torch.bfloat16):
            return region(lambda a: Mixed.apply(a @ w, w) @ w, x).float()

    # Gradients in bf16 add up in another order.
    compare("autocast", mixed, points(torch.float32), tolerance=4e-3)
    compare("a region inside of autocast", around, points(torch.float32), tolerance=4e-3)
    forward = compiled(lambda x, w: (Mixed.apply(x @ w, w) @ w).float())
    with torch.autocast("cpu", torch.bfloat16):
        ours = forward(*points(torch.float32))
        checks.check("called inside of autocast", torch.equal(ours, (Mixed.apply(points(torch.float32)[0] @ points(
            torch.float32)[1], points(torch.float32)[1]) @ points(torch.float32)[1]).float()))


def try_no_grad():
    def without(x, w):
        with torch.no_grad():
            y = Scaled.apply(x * 2, w).cos()
        return y * x * w

    compare("no_grad", without, points())


def second_error(function):
    x, w = (each.requires_grad_() for each in points())
    (slope,) = torch.autograd.grad(compiled(function)(x, w).sin().sum(), x, create_graph=True)
    return error_of(slope.sin().sum().backward)


def try_errors():
    """Checks for one error with the line, raised for the second derivative; the first one exists."""
    text = second_error(lambda x, w: Reversed.apply(x * x, w))
    checks.check("once_differentiable", "test_whole_functions.py:" in text and "once_differentiable" in text, text)
    text = second_error(lambda x, w: Frozen.apply(x * x, w))
    checks.check("no_grad in a backward pass", "test_whole_functions.py:" in text and "no_grad may end gradients" in text, text)
    compare("no_grad in a backward pass", lambda x, w: Frozen.apply(x * w, w.detach()) * w, points())


if __name__ == "__main__":
    run_parts(try_model, try_plans, try_second, try_regions, try_autocast, try_no_grad, try_errors)
