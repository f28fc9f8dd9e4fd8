"""Ops that the dialect lacks are calls of PyTorch's operators: values, gradients, plans, draws, errors."""
import tempfile
import warnings

import checks
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from whole import compare, compiled, draw, error_of, run_parts

from reprise.torch import export, graphs

BUDGETS = ({}, {"budget": "75%"}, {"budget": "60%"})


@torch.library.custom_op("test_calls::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.from_numpy(x.numpy(force=True) * factor)


scaled.register_fake(lambda x, factor: torch.empty_like(x))
scaled.register_autograd(lambda ctx, g: (torch.ops.test_calls.scaled(g, ctx.factor), None),
                         setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))


@torch.library.custom_op("test_calls::fill", mutates_args=("x",))
def fill(x: torch.Tensor, y: torch.Tensor) -> None:
    x.copy_(y.sin() * 2)


@torch.library.custom_op("test_calls::noisy", mutates_args=())
def noisy(x: torch.Tensor) -> torch.Tensor:
    """Draws, and does not say so."""
    return x + torch.rand_like(x)


noisy.register_fake(lambda x: torch.empty_like(x))
noisy.register_autograd(lambda ctx, g: g)


def calls():
    """Returns the calls of the programs that exist."""
    return [call["callee"] for graph in graphs() for call in getattr(graph.report, "host_calls", [])]


def try_functions():
    square = draw(4, 4)
    positive = square @ square.mT + 4 * torch.eye(4)
    compare("a real FFT and its inverse", lambda x: torch.fft.irfft(torch.fft.rfft(x.sin()) * 2, n=8) * x, draw(3, 8))
    checks.check("its calls are reported", any("_fft_r2c" in each for each in calls())
                 and any("/vjp(0;0)" in each for each in calls()), str(calls()))
    compare("an FFT of complex products", lambda x, y: (torch.fft.fft(x) * torch.fft.fft(y).conj()).abs().sum(-1), draw(3, 8), draw(3, 8))
    compare("complex numbers of parts", lambda x, y: (torch.complex(x, y) ** 2).imag + torch.view_as_real(torch.complex(x, y).exp())[..., 0],
            draw(5), draw(5) / 2)
    compare("solve", lambda a, b: torch.linalg.solve(a + 4 * torch.eye(4), b).relu(), square, draw(4, 2), tolerance=1e-4)
    compare("cholesky", lambda a: torch.linalg.cholesky(a @ a.mT + 4 * torch.eye(4)), square, tolerance=1e-4)
    compare("svd", lambda a: torch.linalg.svd(a, full_matrices=False)[1] * 2, draw(4, 3), tolerance=1e-4)
    compare("eigh", lambda a: torch.linalg.eigh(a @ a.mT)[0].exp(), square / 2, tolerance=1e-4)
    compare("det and inverse", lambda a: torch.linalg.det(a) * torch.linalg.inv(a), positive, tolerance=1e-3)
    compare("special functions", lambda x: torch.special.bessel_j0(x.detach()) * x + torch.special.i1(x), draw(6))
    compare("bytes", lambda x: torch.bitwise_left_shift((x > 0).to(torch.uint8), 3).float() * x, draw(6))


def try_custom():
    compare("a custom operator", lambda x: scaled(x.exp(), 3.0) * x, draw(4, 4))

    def filled(x, y):
        made = torch.zeros_like(x)
        fill(made, y.detach())
        return made * x

    compare("one that writes to its argument", filled, draw(4), draw(4))
    compare("one that writes to a view", lambda x, y: (lambda made: (fill(made[1], y.detach()[1]), made * x)[1])(torch.ones_like(x)),
            draw(3, 4), draw(3, 4))


class Spectral(nn.Module):
    """Layers with products in the spectrum, a solve and a draw."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
        self.weights = nn.ParameterList(torch.randn(9, dtype=torch.complex64) for _ in range(4))

    def forward(self, x):
        for layer, weight in zip(self.layers, self.weights):
            x = layer(x).tanh()
            x = x + torch.fft.irfft(torch.fft.rfft(x) * weight, n=16)
            x = torch.linalg.solve(x.mT @ x / 8 + torch.eye(16), x.mT).mT
            x = x * torch.poisson(torch.full_like(x, 3.0)).clamp(max=6)
        return noisy(x)


def train(model, x, steps=2):
    """Returns losses, gradients and parameters of a few steps."""
    torch.manual_seed(3)
    optimizer, made = torch.optim.SGD(model.parameters(), lr=1e-2), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        made += [loss.detach(), *(each.grad.clone() for each in model.parameters())]
    return made + [each.detach().clone() for each in model.parameters()]


def try_plans():
    """Checks equal bits under each budget, though calls are replayed, and complex gradients of complex parameters."""
    made, launches = [], []
    for options in BUDGETS:
        torch.manual_seed(5)
        made.append(train(compiled(Spectral(), **options), draw(8, 16)))
        report = graphs()[-1].report
        checks.check(f"calls are priced, {options}", all(each["seconds"] > 0 for each in report.host_calls)
                     and report.workspace_bytes > 0, str(report.host_calls)[:800])
        launches.append(sum(each["launches"] for each in report.host_calls))
    report = {each["callee"]: each["seconds"] / each["launches"] for each in report.host_calls}
    checks.check("a derivative costs at least its operator", all(report[name.partition("/vjp")[0]] <= seconds
                                                                 for name, seconds in report.items()), str(report))
    checks.check("calls are replayed", launches[0] < launches[-1], str(launches))
    checks.check("loss is finite, and so are gradients", all(each.isfinite().all() for each in made[0]))
    checks.check("complex gradients", any(each.is_complex() for each in made[0]))
    for options, other in zip(BUDGETS[1:], made[1:]):
        checks.check(f"equal bits, {options}", all(torch.equal(a, b) for a, b in zip(made[0], other, strict=True)))


def try_draws():
    """Draws follow torch.manual_seed, differ from each other, and leave PyTorch's generator as it is."""
    def waits(x):
        return torch.stack([torch.poisson(x), torch.poisson(x), torch.binomial(x, x / 9), torch._standard_gamma(x)])

    x, call, made = torch.full((500,), 3.0), compiled(waits), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append(call(x))
    checks.check("a seed decides", torch.equal(made[0], made[1]) and not torch.equal(made[0], made[2]))
    checks.check("two draws differ", not torch.equal(made[0][0], made[0][1]))
    means = made[0].mean(-1)
    checks.check("distributions", torch.allclose(means, torch.tensor([3.0, 3.0, 1.0, 3.0]), atol=0.5), str(means))


def try_borders():
    """Checks complex arguments and outputs, writes to them, several results, and outputs of narrow types."""
    made, x = [], draw(3, 8).requires_grad_()
    for call in (lambda x: torch.fft.fft(x) * 2, compiled(lambda x: torch.fft.fft(x) * 2)):
        y = call(x)
        made.append((y.detach(), *torch.autograd.grad(y, x, torch.complex(draw(3, 8), draw(3, 8) * 2))))
    checks.check("a complex output", all(a.dtype is b.dtype and torch.allclose(a, b, atol=1e-5) for a, b in zip(*made)), str(made))
    made, z = [], torch.complex(draw(4, 4), draw(4)).requires_grad_()

    def square(z):
        return (z.conj() @ z).abs().sum() + (z * (2 + 1j)).real.sum()

    for call in (square, compiled(square)):
        y = call(z)
        made.append((y.detach(), *torch.autograd.grad(y, z, retain_graph=True), *torch.autograd.grad(y, z)))
    checks.check("a complex argument, twice", all(a.dtype is b.dtype and torch.allclose(a, b, rtol=1e-4, atol=1e-4)
                                                  for a, b in zip(*made)), str(made))
    written, expected = z.detach().clone(), z.detach() * 1j
    compiled(lambda z: z.mul_(1j))(written)
    checks.check("a write to a complex argument", torch.allclose(written, expected), f"{written}\n{expected}")
    checks.check("a conjugated argument", torch.allclose(compiled(lambda z: z * 2)(z.detach().conj()), z.detach().conj() * 2))
    for dtype in (torch.uint8, torch.int16):
        found = compiled(lambda x: (x * 3).to(dtype))(draw(5).abs())
        checks.check(f"an output of {dtype}", found.dtype is dtype and torch.equal(found, (draw(5).abs() * 3).to(dtype)), str(found))
    compare("a region of checkpoint", lambda x: checkpoint(lambda x: torch.fft.irfft(torch.fft.rfft(x.exp()), n=8).sin(), x,
                                                           use_reentrant=False), draw(3, 8))


def try_second():
    """Second derivatives go through calls."""
    def penalty(call, x):
        x = x.clone().requires_grad_()
        y = call(x)
        gradient, = torch.autograd.grad(y.sum(), x, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), x)[0]

    for name, function in (("fft", lambda x: torch.fft.rfft(x).abs().square().sum(-1)),
                           ("solve", lambda x: torch.linalg.solve(x @ x.mT + 4 * torch.eye(4), x))):
        x = draw(4, 4)
        eager, ours = penalty(function, x), penalty(compiled(function), x)
        checks.check(f"second derivative of {name}", torch.allclose(eager, ours, rtol=1e-3, atol=1e-3 * eager.abs().max().item()), f"{eager}\n{ours}")


def try_splits():
    """Checks that an op without a static shape runs between two graphs, and one warning says so."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            compare("a mask", lambda x: (x.sin()[x > 0] * 2).sum() + torch.fft.rfft(x).abs().sum(), draw(8))
    told = [str(each.message) for each in said if "depends on values" in str(each.message)]
    checks.check("one warning", len(told) == 1 and "aten.nonzero.default" in told[0] and "test_whole_calls.py:" in told[0], str(told))


def try_errors():
    text = error_of(compiled(lambda a: torch.linalg.cholesky(a).sum()), -torch.eye(3))
    checks.check("the operator's error", "positive-definite" in text, text)
    made = compiled(lambda a: torch.linalg.cholesky(a) * 2)(torch.eye(3) * 4)
    checks.check("the next step is good", torch.equal(made, torch.eye(3) * 4), str(made))
    with tempfile.TemporaryDirectory() as folder:
        text = error_of(lambda: export(Spectral(), (draw(8, 16),), path=f"{folder}/m.mlir", loss=torch.sum))
    checks.check("an export has no calls", "aten._fft_r2c.default" in text and "what reprise lacks, and an exported" in text
                 and "fallback" not in text, text)


if __name__ == "__main__":
    run_parts(try_functions, try_custom, try_plans, try_draws, try_borders, try_second, try_splits, try_errors)
