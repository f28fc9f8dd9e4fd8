"""backend="reprise_plan" on graphs that Dynamo breaks in a region of torch.utils.checkpoint, so that PyTorch replays
the region. If the region writes state, there is one warning, with the region's line."""
import inspect
import warnings

import checks
import torch
import torch.nn.functional as F
from test_plan import compiled
from torch import nn
from torch.utils.checkpoint import checkpoint

from reprise import RepriseWarning
from reprise.torch import _replayed_writes


class Counted(nn.Module):
    """Model with a body in a region that Dynamo breaks, on the second line of `forward`."""

    def __init__(self, body, break_graph=True, reentrant=False):
        super().__init__()
        self.linear, self.body, self.break_graph, self.reentrant = nn.Linear(8, 8), body, break_graph, reentrant

    def region(self, x):
        if self.break_graph:
            torch._dynamo.graph_break()
        return torch.tanh(self.body(self.linear(x)))

    def forward(self, x):
        y = checkpoint(self.region, x.sin(), use_reentrant=self.reentrant)
        return y.square().mean()


class Moving(nn.Module):
    """A buffer that follows the activations."""

    def __init__(self):
        super().__init__()
        self.register_buffer("moving", torch.zeros(8))

    def forward(self, x):
        with torch.no_grad():
            self.moving.mul_(0.9).add_(x.detach().mean(0))
        return x - self.moving.clone()


class Running(nn.Module):
    """A batch norm without a counter of batches."""

    def __init__(self):
        super().__init__()
        self.mean, self.scale = torch.zeros(8), torch.ones(8)

    def forward(self, x):
        return F.batch_norm(x, self.mean, self.scale, training=True)


class Own(nn.Module):
    """Model that writes a tensor that it has created, which is no state."""

    def forward(self, x):
        made = torch.zeros_like(x)
        made[:, :4].add_(x[:, :4])
        return (x * 2).relu_() + made


def listen(run, steps=3):
    """The warnings of some steps that speak of a region."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(steps):
            run(torch.randn(4, 8, requires_grad=True)).backward()
    return [str(each.message) for each in said if issubclass(each.category, RepriseWarning) and "written twice" in str(each.message)]


def try_broken_regions():
    line = inspect.getsourcelines(Counted.forward)[1] + 1
    for name, model in (("momentum=None", Counted(nn.BatchNorm1d(8, momentum=None), False)), ("a batch norm", Counted(nn.BatchNorm1d(8))),
                        ("reentrant", Counted(nn.BatchNorm1d(8), reentrant=True)), ("a buffer", Counted(Moving())),
                        ("running statistics", Counted(Running())), ("what it makes", Counted(Own())),
                        ("nothing", Counted(nn.LayerNorm(8))), ("evaluation", Counted(nn.BatchNorm1d(8).eval()))):
        said, has_state = listen(compiled(model)), name not in ("what it makes", "nothing", "evaluation")
        checks.check(f"a broken region that writes {name}: one warning, with its line" if has_state else f"a broken region, {name}: none",
                     len(said) == has_state and all(f"test_plan_breaks.py:{line}:" in each for each in said), str(said))
        if name == "momentum=None":
            checks.check("its batches count twice, as in eager", model.body.num_batches_tracked == 6, str(model.body.num_batches_tracked))
        _replayed_writes._told.clear()


def try_closures():
    """Functions that are made anew at one line: the region of the second one writes."""
    bodies = nn.Sequential(nn.LayerNorm(8), nn.BatchNorm1d(8))

    def forward(x):
        for body in bodies:
            def run(x, body=body):
                torch._dynamo.graph_break()
                return body(x).tanh()
            x = checkpoint(run, x, use_reentrant=False)
        return x.square().mean()
    said = listen(compiled(forward))
    checks.check("a broken region of a function that is made anew: one warning", len(said) == 1, str(said))
    _replayed_writes._told.clear()


def try_surrounded():
    """A compiled function in a region of a program that is not compiled."""
    for backend in ("reprise_plan", "reprise"):
        for name, body, expected in (("a batch norm", nn.BatchNorm1d(8), 1), ("a layer norm", nn.LayerNorm(8), 0)):
            torch._dynamo.reset()
            layer = torch.compile(nn.Sequential(nn.Linear(8, 8), body, nn.Tanh()), backend=backend)
            said = listen(lambda x: checkpoint(layer, x.sin(), use_reentrant=False).square().mean())
            checks.check(f"{backend}, a compiled function with {name} in a region: {expected} warnings", len(said) == expected, str(said))
            _replayed_writes._told.clear()
    said = listen(lambda x: checkpoint(nn.BatchNorm1d(8), x, use_reentrant=False).square().mean())
    checks.check("a region of a program that is not compiled: none", not said, str(said))
    whole = compiled(Counted(nn.BatchNorm1d(8), False))
    said = listen(whole)
    checks.check("a region that is part of a graph: none, and counted once",
                 not said and whole.body.num_batches_tracked == 3, f"{said} {whole.body.num_batches_tracked}")


def main():
    torch.set_num_threads(1)
    for part in (try_broken_regions, try_closures, try_surrounded):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
