"""Helpers that the tests of backend="reprise" share."""
import checks
import torch

import reprise
from reprise.torch import Unsupported


def compiled(model, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="reprise", options=options)


def error_of(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001  Dynamo wraps errors of backends
        return str(error)
    return ""


def run(function, inputs):
    """Returns the results of a function, and the gradients of a loss that weighs every element of them."""
    torch.manual_seed(1)
    inputs = [each.detach().clone().requires_grad_(each.is_floating_point()) for each in inputs]
    made = function(*inputs)
    outputs = list(made) if isinstance(made, (tuple, list)) else [made]
    sum((each.double() * torch.arange(each.numel()).cos().view(each.shape)).sum() for each in outputs
        if each.requires_grad).backward()
    return [each.detach() for each in outputs], [each.grad for each in inputs if each.requires_grad]


def compare(name, function, *inputs, tolerance=1e-5):
    eager, ours = run(function, inputs), run(compiled(function), inputs)
    for what, found, expected in zip(("output", "gradient"), ours, eager):
        for number, (a, b) in enumerate(zip(found, expected, strict=True)):
            is_same = a is None and b is None or a is not None and a.dtype == b.dtype and torch.allclose(
                a.double(), b.double(), rtol=tolerance, atol=tolerance * max(1e-2, b.double().nan_to_num(0, 0, 0).abs().max().item()),
                equal_nan=True)
            checks.check(f"{name}: {what} {number}", is_same, f"{a}\n{b}"[:800])


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def run_parts(*parts):
    """Runs functions, each of which makes checks; a function that an error ends counts as a failed check."""
    torch.set_num_threads(1)
    for part in parts:
        try:
            part()
        except (reprise.Error, Unsupported, RuntimeError) as error:
            checks.check(part.__name__, False, str(error)[:2000])
    checks.finish()
