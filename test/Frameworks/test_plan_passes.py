"""backend="reprise_plan" on graphs with several backward passes, or with gradients of gradients."""
import warnings

import checks
import memory
import torch
import torch.nn.functional as F
from test_plan import Net, compiled, equal
from torch import nn
from torch.utils.checkpoint import checkpoint

import reprise

CODEGENS = ("eager", "inductor")


class Heads(nn.Module):
    """Model of two results of one body."""

    def __init__(self):
        super().__init__()
        self.body, self.left, self.right = Net(2), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x):
        x = torch.tanh(x * self.body(x))
        return self.left(x).sin().mean(), self.right(x).cos().mean()


def gradients(model, forward, x, passes):
    """Returns the parameters' gradients after a function that runs backward passes, and the function's results."""
    model.zero_grad(set_to_none=True)
    torch.manual_seed(3)
    returned = passes(forward(x), list(model.parameters()))
    return [each.clone() for each in [*returned, *(each.grad for each in model.parameters() if each.grad is not None)]]


def twice(results, parameters):
    one = torch.autograd.grad(sum(results), parameters, retain_graph=True)
    return [*one, *torch.autograd.grad(sum(results), parameters)]


def by_parts(results, parameters):
    results[0].backward(retain_graph=True)
    results[1].backward()
    return []


def thrice(results, parameters):
    for _ in range(2):
        sum(results).backward(retain_graph=True)
    sum(results).backward()
    return []


def with_graph(results, parameters):
    return torch.autograd.grad(sum(results), parameters, create_graph=True)


def ordinary(results, parameters):
    sum(results).backward()
    return []


def try_kept_graphs():
    """Checks passes that keep the graph after, before and between passes that free it."""
    model, x = Heads(), torch.randn(256, 24)
    for options in ({"codegen": "eager"}, {"codegen": "inductor"}, {"codegen": "inductor", "budget": "70%"}):
        run = compiled(model, **options)
        expected = gradients(model, run, x, ordinary)
        for passes in (twice, by_parts, ordinary, thrice, with_graph, ordinary):
            found, name = gradients(model, run, x, passes), f"{options}: {passes.__name__}"
            if passes is twice:
                checks.check(f"{name}: both have the bits of one pass", equal(found, expected * 2))
            elif passes is by_parts:
                checks.check(f"{name}: they add up", len(found) == len(expected) and all(map(torch.allclose, found, expected)))
            else:
                wanted = [each + each + each for each in expected] if passes is thrice else expected
                checks.check(f"{name}: the bits of one pass", equal(found, wanted))


def try_donation():
    """Checks that ordinary steps still overwrite the values that they have saved."""
    model, x = Net(6), torch.randn(512, 24)

    def measure(run):
        run(x).backward()
        model.zero_grad(set_to_none=True)
        return memory.measure_peak(lambda: run(x).backward())
    run = compiled(model, codegen="inductor")
    before = measure(run)
    run(x).backward(retain_graph=True)
    model.zero_grad(set_to_none=True)
    after = measure(run)
    with torch._functorch.config.patch(donated_buffer=False):
        without = measure(compiled(model, codegen="inductor"))
    checks.check("a pass that kept its graph costs later steps nothing", before == after <= without, f"{before} {after} {without}")


def try_second_order():
    """Gradients of gradients are one error, whoever runs the code."""
    model, x = Net(2), torch.randn(64, 24, requires_grad=True)
    for codegen in CODEGENS:
        run = compiled(model, codegen=codegen)
        slope, = torch.autograd.grad(run(x), x, create_graph=True)
        checks.check(f"{codegen}: gradients with a graph", torch.isfinite(slope).all() and slope.requires_grad)
        for name, ask in (("backward", lambda: slope.square().sum().backward()),
                          ("grad", lambda: torch.autograd.grad(slope.sum(), x))):
            try:
                ask()
                told = "nothing was raised"
            except reprise.Error as error:
                told = str(error)
            checks.check(f"{codegen}: {name} of a gradient is one error that names what can", 'backend="reprise" has' in told, told)
            slope, = torch.autograd.grad(run(x), x, create_graph=True)


def try_named_inputs():
    """Checks gradients of gradients by named inputs: autograd runs only the ops between, though no saved value is an
    input."""
    def by_hessian(run, x):
        torch.autograd.functional.hessian(run, x.detach())

    def by_name(ask):
        def differentiate(run, x):
            result = run(x)
            slope, = torch.autograd.grad(result, x, create_graph=True)
            ask(result + slope.square().sum(), x)
        return differentiate

    ways = {"hessian": by_hessian, "grad": by_name(torch.autograd.grad), "backward": by_name(lambda loss, x: loss.backward(inputs=[x]))}
    for codegen in CODEGENS:
        run = compiled(lambda x: torch.exp(x).sum(), codegen=codegen)
        for name, differentiate in ways.items():
            try:
                differentiate(run, torch.zeros(2, requires_grad=True))
                told = "nothing was raised"
            except reprise.Error as error:
                told = str(error)
            checks.check(f"{codegen}: {name} of a gradient by a named input is the same error", 'backend="reprise" has' in told, told)


def try_layouts_of_cotangents():
    """A cotangent that needs a gradient itself, in another layout than the result's."""
    for codegen in CODEGENS:
        x, seed = torch.randn(4, 6, requires_grad=True), torch.randn(5, 4, requires_grad=True)
        result = compiled(lambda x: torch.tanh(x).t()[1:] * 2, codegen=codegen)(x)
        for name, cotangent in (("the result's layout", seed.t().contiguous().t()), ("another layout", seed * 1)):
            slope, = torch.autograd.grad(result, x, cotangent, create_graph=True, retain_graph=True)
            expected, = torch.autograd.grad(torch.tanh(x).t()[1:] * 2, x, cotangent)
            checks.check(f"{codegen}: gradients with a graph, a cotangent in {name}", torch.allclose(slope, expected), str(slope))
            try:
                slope.sum().backward(retain_graph=True)
                told = "nothing was raised"
            except reprise.Error as error:
                told = str(error)
            checks.check(f"{codegen}: their gradient, a cotangent in {name}", 'backend="reprise" has' in told, told)


def try_forward_alone():
    """Checks a region with draws in a graph without gradients: PyTorch's aot_eager refuses it."""
    weight, x = torch.randn(8, 8), torch.randn(4, 8)

    def function(x):
        return checkpoint(lambda x: F.dropout((x @ weight).tanh(), 0.3), x, use_reentrant=False).sum()
    torch.manual_seed(1)
    expected = function(x)
    torch.manual_seed(1)
    checks.check("a region that draws needs no gradient", torch.equal(compiled(function)(x), expected))
    checks.check("nor with Inductor's code", torch.isfinite(compiled(function, codegen="inductor")(x)))


def try_written_views():
    """A write to an output that is the only view of a saved value is eager's error, not a wrong gradient."""
    def function(x, weight, part):
        hidden = torch.tanh(x @ weight)
        return (hidden * hidden).sum(), hidden.t()[part:]

    def told(run, part, is_written):
        x, weight = torch.ones(4, 6), torch.full((6, 6), 0.1, requires_grad=True)
        loss, view = run(x, weight, part)
        with torch.no_grad():
            (view.mul_(2) if is_written else view.mul(2))
        try:
            loss.backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)
        return weight.grad

    for codegen in ("eager", "inductor"):
        for part in (0, 2):
            run = compiled(function, codegen=codegen, budget="100%")
            checks.check(f"{codegen}: a written view of a saved value, from {part}", told(function, part, True) is told(run, part, True) is True)
            found, expected = told(run, part, False), told(function, part, False)
            checks.check(f"{codegen}: one that is read, from {part}", torch.is_tensor(found) and torch.allclose(found, expected), str(found))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_kept_graphs, try_donation, try_second_order, try_named_inputs, try_layouts_of_cotangents, try_forward_alone,
                 try_written_views):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
