"""backend="reprise" on writes that autograd does not see, and on hooks inside of compiled functions."""
import functools
import warnings

import checks
import torch
from whole import compiled, error_of, run_parts


def unseen(x):
    """Writes without gradients: into a tensor of no_grad, a detached tensor, and a sum."""
    average, h, k = torch.zeros(6, 8), x * 2, x * 3
    with torch.no_grad():
        average.add_(x * 2).mul_(3)
        power = x.exp()
        power[0] = 1
        power += 1
        h.add_(x)
    k.detach_()
    own = (x * 1).detach().view(48)
    own += 1
    return average * x + power * x + h * h + k * x + own.view(6, 8) * x + x.data * x


def under_no_grad(x, write):
    h = x * 1
    with torch.no_grad():
        write(h)
    return h * 2


def through_data(x):
    h = x * 1
    h.data.clamp_(min=0)
    return h * 2


def hooked(x):
    h = x * 1
    h.register_hook(lambda g: -g)
    return h.sum()


def try_unseen():
    """Checks writes that autograd does not see, and writes that the compiler refuses instead of differentiating them
    wrongly."""
    made = []
    for each in (compiled(unseen), unseen):
        x = torch.linspace(-1, 1, 48).view(6, 8).requires_grad_()
        each(x).sum().backward()
        made.append(x.grad)
    checks.check("writes without gradients", torch.allclose(*made, rtol=1e-5), f"{made}")
    writes = {"mul_": lambda h: h.mul_(3), "clamp_": lambda h: h.clamp_(0, 1), "fill_": lambda h: h[0].fill_(2.0)}
    refused = {f"{name} under no_grad": functools.partial(under_no_grad, write=write) for name, write in writes.items()}
    refused |= {"a write through .data": through_data, "a hook inside": hooked}
    for name, function in refused.items():
        text = error_of(compiled(function), torch.ones(2, requires_grad=True))
        checks.check(f"{name} is an error with its line", "reprise lacks" in text and "test_whole_unseen.py:" in text, text)
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(through_data, fallback=True)(x).sum().backward()
    checks.check("fallback leaves such a write to Inductor", torch.equal(x.grad, torch.full((2,), 2.0)))


if __name__ == "__main__":
    run_parts(try_unseen)
