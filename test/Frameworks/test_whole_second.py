"""backend="reprise": gradients of gradients beside eager's in double precision, of any order, with the forward pass's masks."""
import copy

import checks
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from whole import compiled, run_parts

from reprise.torch import graphs

TOLERANCE = 1e-10


def close(ours, eager):
    """Compares two lists of gradients relative to all; a gradient for which eager has no path is None."""
    total = sum(each.square().sum() for each in eager if each is not None).sqrt()
    return len(ours) == len(eager) and total > 0 and all(
        (a is None) == (b is None) and (a is None or (a - b).norm() <= TOLERANCE * total) for a, b in zip(ours, eager))


def compare(name, model, what):
    """Compares the tensors that ``what`` computes from a model as a function."""
    ours = what(compiled(model))
    with sdpa_kernel(SDPBackend.MATH):  # PyTorch's others have no second derivative
        eager = what(copy.deepcopy(model))
    checks.check(name, close(ours, eager), f"{ours}\n{eager}"[:800])


class Block(nn.Module):
    """Attention, layer norms, gelu, softmax: a layer of GPT-2 and its head."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down, self.head = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Linear(width, 11)

    def forward(self, x):
        q, k, v = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        x = x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))
        return self.head(x).softmax(-1)


def perceptron():
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3), nn.Softplus())


def convolutional():
    return nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.SiLU(), nn.AvgPool2d(2),
                         nn.Conv2d(4, 3, 3, bias=False), nn.GroupNorm(3, 3), nn.Flatten())


def penalty(x):
    """A critic's gradient penalty: the gradients of (|df/dx| - 1)^2 for the parameters and the points."""
    def run(model):
        point = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(model(point).sin().sum(), point, create_graph=True)
        value = (slope.flatten(1).norm(dim=1) - 1).square().mean()
        return torch.autograd.grad(value, [*model.parameters(), point], allow_unused=True)
    return run


def product(x):
    """A Hessian-vector product for the parameters, and its gradient for the vector."""
    def run(model):
        parameters = list(model.parameters())
        torch.manual_seed(3)
        vector = [torch.randn_like(each).requires_grad_() for each in parameters]
        slopes = torch.autograd.grad(model(x).square().sum(), parameters, create_graph=True)
        along = sum((slope * each).sum() for slope, each in zip(slopes, vector))
        made = torch.autograd.grad(along, parameters, create_graph=True)
        return [*made, *torch.autograd.grad(sum(each.square().sum() for each in made), vector)]
    return run


def try_orders():
    torch.manual_seed(0)
    x, image = torch.randn(4, 5).double(), torch.randn(3, 2, 8, 8).double()
    for name, model, point in (("a perceptron", perceptron(), x), ("a block of GPT-2", Block(), torch.randn(2, 6, 8).double()),
                               ("convolutions and norms", convolutional(), image)):
        compare(f"{name}: gradient penalty", model.double(), penalty(point))
        compare(f"{name}: Hessian-vector product", model.double(), product(point))


def try_third():
    """Checks the third order, and values of one order that are used again."""
    torch.manual_seed(0)
    x = torch.randn(4, 5).double()

    def run(model):
        point = x.clone().requires_grad_()
        value = model(point).sum()
        for _ in range(2):
            (value,) = torch.autograd.grad(value.square().sum(), point, create_graph=True)
        return torch.autograd.grad(value.sin().sum(), [point, *model.parameters()])

    compare("third order", perceptron().double(), run)
    model = perceptron().double()
    forward = compiled(model)
    first, before = run(forward), graphs()[-1].orders
    again = run(forward)
    checks.check("three orders of one graph", before == [1, 2, 3] == graphs()[-1].orders, f"{before}, {graphs()[-1].orders}")
    checks.check("the same bits again", all(torch.equal(a, b) for a, b in zip(first, again)))


class Several(nn.Module):
    """Model of several outputs, one of them without a gradient, and a part that no gradient passes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 5)

    def forward(self, x):
        y = self.linear(x).tanh()
        with torch.no_grad():
            scale = y.exp()
        return y * scale, (y.detach() * y.square()).sum(-1), y.argmax(-1), y.view(-1, 1)[1:]


def try_cotangents():
    """Checks cotangents of some outputs, some of them with a gradient, and in one pass with leaves' own."""
    torch.manual_seed(0)
    x = torch.randn(4, 5).double()

    def some(model):
        point, weight = x.clone().requires_grad_(), torch.ones(4, 5).double().requires_grad_()
        first, second, *_ = model(point)
        slopes = torch.autograd.grad([first, second], [point, model.linear.weight], [weight, torch.ones(4).double()],
                                     create_graph=True)
        return torch.autograd.grad(slopes[0].square().sum(), [point, weight])

    def of_view(model):
        point = x.clone().requires_grad_()
        *_, view = model(point)
        (slope,) = torch.autograd.grad(view.cos().sum(), point, create_graph=True)
        slope.square().sum().backward()
        return [point.grad, *(each.grad for each in model.parameters())]

    compare("some cotangents with gradients, ends of gradients", Several().double(), some)
    compare("of a view of an output", Several().double(), of_view)


class Drops(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        return self.second(F.dropout(self.first(x).tanh(), 0.25)).tanh()


def try_random():
    """Checks that the masks of each order are those of the forward pass, and that plans change no bit."""
    x = torch.randn(16, 32, requires_grad=True)
    forward = compiled(lambda x: F.dropout(x.pow(3), 0.25))
    y = forward(x)
    kept = (y != 0) / 0.75
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    checks.check("something is dropped and something kept", 0.15 < (kept == 0).float().mean() < 0.35)
    for order, made, expected in ((1, slope, 3 * x.square()), (2, second, 6 * x), (3, third, torch.full_like(x, 6))):
        checks.check(f"the masks of order {order}", torch.allclose(made, expected * kept, rtol=1e-5))
    model, made = Drops(), []
    for policy in ("save-all", "recompute-all"):
        forward = compiled(model, policy=policy)
        torch.manual_seed(5)
        (slope,) = torch.autograd.grad(forward(x).square().sum(), x, create_graph=True)
        made.append([slope, *torch.autograd.grad(slope.square().sum(), [x, *model.parameters()])])
    checks.check("second order has the same bits under two plans", all(torch.equal(a, b) for a, b in zip(*made)))
    checks.check("and the second plan replays", graphs()[-1].report.replayed_ops > 0)


def try_parameters_only():
    """A loss that no input needs a gradient of, accumulation of second order, double use."""
    torch.manual_seed(0)
    x = torch.randn(4, 5).double()

    def run(model):
        parameters = list(model.parameters())
        slopes = torch.autograd.grad(model(x).square().sum() + model(x + 1).sum(), parameters, create_graph=True)
        value = sum(each.square().sum() for each in slopes)
        value.backward(retain_graph=True)
        value.backward()
        made = [each.grad.clone() for each in parameters]
        for each in parameters:
            each.grad = None
        return made

    compare("two passes of a graph in one second derivative, twice", perceptron().double(), run)


class Unused(nn.Module):
    """Parameters that the loss, its slope, or neither depends on; two outputs."""

    def __init__(self, act):
        super().__init__()
        self.act, self.first, self.last = act, nn.Linear(5, 7), nn.Linear(7, 3)
        self.never, self.other = nn.Parameter(torch.ones(3)), nn.Linear(5, 2)

    def forward(self, x, y):
        return self.last(self.act(self.first(x))) + y, self.other(x)


def try_no_paths():
    """Checks that .grad stays None if eager has no path, so that weight decay and momentum leave the parameter
    alone."""
    torch.manual_seed(0)
    x, y = torch.randn(4, 5).double(), torch.randn(4, 3).double()

    def gradients(order):
        def run(model):
            point, shift = x.clone().requires_grad_(), y.clone().requires_grad_()
            value = model(point, shift)[0].square().sum() if order == 1 else model(point, shift)[0].sum()
            for _ in range(order - 1):
                (slope,) = torch.autograd.grad(value, point, create_graph=True)
                value = slope.square().sum()
            value.backward()
            made = [each.grad for each in (*model.parameters(), point, shift)]
            for each in model.parameters():
                each.grad = None
            return made
        return run

    for act in (nn.Tanh(), nn.ReLU(), nn.LeakyReLU(), nn.Softplus()):
        for order in (1, 2, 3) if isinstance(act, nn.Tanh) else (1, 2):
            compare(f"{type(act).__name__}: None where eager has no path, order {order}", Unused(act).double(), gradients(order))

    def slopes(model):
        point = x.clone().requires_grad_()
        made = torch.autograd.grad(model(point, y)[0].sum(), [point, model.last.bias], create_graph=True)
        return [torch.tensor([float(each.requires_grad) for each in made])]
    compare("a slope that depends on nothing has no gradient", Unused(nn.Tanh()).double(), slopes)


if __name__ == "__main__":
    run_parts(try_orders, try_third, try_cotangents, try_random, try_parameters_only, try_no_paths)
