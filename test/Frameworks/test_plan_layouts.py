"""backend="reprise_plan", op by op: the strides of results, and the memory that they hold."""
import sys
import warnings

import checks
import memory
import torch
import torch.nn.functional as F
from test_plan import compiled, equal, step
from torch import nn
from torch.utils.checkpoint import checkpoint

from reprise.torch import plans

BATCH, CHANNELS, LENGTH = 16, 12, 40
OPTIONS = ({"budget": "100%"}, {"budget": "60%"}, {"budget": "1%"}, {"policy": "recompute-all"})
#: Losses whose scalar holds memory that is as large as the operands, and others.
LOSSES = {"mse": F.mse_loss, "smooth l1": F.smooth_l1_loss, "soft margin": lambda x, y, **more: F.soft_margin_loss(x, y.sign(), **more),
          "cross entropy": lambda x, y, **more: F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), **more),
          "logits": lambda x, y, **more: F.binary_cross_entropy_with_logits(x, y.sigmoid(), **more), "huber": F.huber_loss, "l1": F.l1_loss,
          "divergence": lambda x, y, **more: F.kl_div(x.log_softmax(1), y.softmax(1), **more),
          "classes": lambda x, y, **more: F.cross_entropy(x, y.argmax(1), **more)}


class Losses(nn.Module):
    """Model with a loss behind each layer, all of which the graph returns; or only the last loss, whose gradient is the
    only one."""

    def __init__(self, loss, is_last=False, width=64):
        super().__init__()
        self.loss, self.is_last, self.layers = loss, is_last, nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    def forward(self, x, y):
        losses = []
        for layer in self.layers:
            x = torch.tanh(layer(x))
            losses.append(self.loss(x, y))
        return losses[-1] if self.is_last else losses


def train(name, model, inputs, expected, options, total=lambda made: made):
    """Checks a step's bits, and that its peak is the plan's. The results of the graph live until the backward pass is
    over."""
    run = compiled(model, **options)

    def whole(*given):
        train.held = run(*given)
        return total(train.held)
    found, train.held = step(model, whole, *inputs), None
    model.zero_grad(set_to_none=True)
    executed, plan = memory.measure_peak(lambda: whole(*inputs).backward()), plans()[-1]
    train.held = None
    checks.check(f"{name}, {options}: equal to the bit", equal(found, expected), str(plan))
    checks.check(f"{name}, {options}: the peak is the plan's", plan.peak - 64 <= executed <= max(plan.peak, plan.budget or 0) + 64,
                 f"{executed}, {plan}")


def try_losses():
    x, y = torch.randn(256, 64), torch.randn(256, 64)
    for name, loss in LOSSES.items():
        for reduction in ("mean", "sum"):
            model = Losses(lambda x, y: loss(x, y, reduction=reduction), is_last=reduction == "sum")
            total = (lambda made: made) if model.is_last else sum
            expected = step(model, lambda *given: total(model(*given)), x, y)
            for options in OPTIONS[:2]:
                train(f"{reduction} of {name}", model, (x, y), expected, options, total)


def define_ops():
    """Checks ops of a user whose results are parts of larger memory: one of them, two of one, and a list with another
    one."""
    def cut(x: torch.Tensor) -> torch.Tensor:
        return torch.cat((x, x, x, x))[:x.shape[0]]

    def halve(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        both = torch.cat((x, x))
        return both[:x.shape[0]], both[x.shape[0]:]

    def list_parts(x: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        both = torch.cat((x, x))
        return x * 2, [both[:x.shape[0]], both[x.shape[0]:]]
    library = define_ops.library = torch.library.Library("reprise_test", "DEF")
    for function, returned, fake, backward in (
            (cut, "Tensor", lambda x: torch.empty_like(x), lambda context, grad: grad * 1),
            (halve, "(Tensor, Tensor)", lambda x: (torch.empty_like(x), torch.empty_like(x)), lambda context, one, other: one + other),
            (list_parts, "(Tensor, Tensor[])", lambda x: (torch.empty_like(x), [torch.empty_like(x), torch.empty_like(x)]),
             lambda context, one, more: 2 * one + more[0] + more[1])):
        name = function.__name__
        library.define(f"{name}(Tensor x) -> {returned}")
        library.impl(name, function, "CPU")
        torch.library.register_fake(f"reprise_test::{name}", fake)
        torch.library.register_autograd(f"reprise_test::{name}", backward)
    return torch.ops.reprise_test.cut, torch.ops.reprise_test.halve, torch.ops.reprise_test.list_parts


class Parts(nn.Module):
    """Model of results that hold more memory than they show, which the backward pass reads."""

    def __init__(self, read):
        super().__init__()
        self.read, self.layers = read, nn.ModuleList(nn.Linear(24, 24) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = x + self.read(layer(x))
        return x.square().mean()


def try_parts():
    cut, halve, list_parts = define_ops()
    x = torch.randn(256, 24)

    def of_list(x):
        one, (two, three) = list_parts(x)
        return one.sin() * two.cos() + three.tanh()

    def of_pair(x):
        one, two = halve(x)
        return one.sin() * two.cos()
    # PyTorch warns of results that share memory; where CI is set it raises.
    torch._functorch.config.error_on_custom_op_aliasing = False
    for name, read in (("a part of larger memory", lambda x: cut(x).sin()), ("two parts of one memory", of_pair),
                       ("one of two parts", lambda x: halve(x)[1].sin()), ("a list of parts", of_list),
                       ("parts of an operand", lambda x: torch.cat([each.sin() for each in torch.unsafe_split(x.cos(), 100)]))):
        model = Parts(read)
        expected = step(model, model, x)
        for options in OPTIONS:
            train(name, model, (x,), expected, options)
        if name in ("two parts of one memory", "one of two parts") and not checks.everything:
            continue
        run = compiled(model, codegen="inductor", budget="100%")
        step(model, run, x)
        model.zero_grad(set_to_none=True)
        executed, plan = memory.measure_peak(lambda: run(x).backward()), plans()[-1]
        checks.check(f"{name}, with Inductor's code: the budget holds", executed <= plan.budget + 64, f"{executed}, {plan}")


class Returned(nn.Module):
    """Model of a graph that returns results of equal ops, which CSE merges, and of transposed ops; no gradient comes
    for them."""

    def __init__(self, functions):
        super().__init__()
        self.functions, self.layers = functions, nn.ModuleList(nn.Linear(24, 24) for _ in range(5))

    def forward(self, x):
        made = []
        for layer in self.layers:
            x = layer(x).tanh()
            made += [function(x) for function in self.functions]
            x = F.silu(made[-1]) + made[-2]
        return [x.square().mean(), *made]


def try_returned():
    def turned(x):
        return F.logsigmoid(x.T).T
    x = torch.randn(64, 24)
    for name, functions in (("equal ops of two results", (F.logsigmoid, F.logsigmoid)), ("transposed results", (turned, torch.sin)),
                            ("equal ops whose results are transposed", (turned, turned))):
        model = Returned(functions)
        expected = step(model, lambda x: compiled(model, policy="save-all")(x)[0], x)
        for options in OPTIONS:
            run = compiled(model, **options)

            def loss():
                loss.held = run(x)
                return loss.held[0]
            found = step(model, lambda x: loss(), x)
            model.zero_grad(set_to_none=True)
            executed, plan, loss.held = memory.measure_peak(lambda: loss().backward()), plans()[-1], None
            checks.check(f"{name} are returned, {options}: equal to the bit", equal(found, expected), str(plan))
            checks.check(f"{name} are returned, {options}: the peak is within the plan's",
                         executed <= max(plan.peak, plan.budget or 0) + 64, f"{executed}, {plan}")


class Turned(nn.Module):
    """Model of a function of values whose channels lie last in memory. For many such functions PyTorch's fake results
    have other strides than real ones."""

    def __init__(self, function):
        super().__init__()
        self.first, self.last, self.function = nn.Linear(CHANNELS, CHANNELS), nn.Linear(CHANNELS, CHANNELS), function
        self.norm, self.rows = nn.BatchNorm1d(CHANNELS), nn.LayerNorm(BATCH)
        self.weight = nn.Parameter(torch.randn(BATCH, CHANNELS, LENGTH))

    def forward(self, x):
        made = self.function(self, torch.tanh(self.first(x).view(BATCH, LENGTH, CHANNELS)).transpose(1, 2))
        if made.dim():
            made = self.last(made.reshape(-1, CHANNELS)).square().mean()
        return made + sum(each.sum() for each in self.parameters()) * 0


#: Functions of a model and x [batch, channels, length], by the op that sets the strides and the op that reads them.
TURNED = {
    "batch norm, transposed": lambda m, x: m.norm(x).transpose(1, 2),
    "batch norm, as_strided": lambda m, x: m.norm(x).as_strided((BATCH, CHANNELS * LENGTH), (CHANNELS * LENGTH, 1)),
    "batch norm, as_strided_scatter": lambda m, x: torch.as_strided_scatter(m.norm(x), x.new_ones(BATCH, 5), (BATCH, 5),
                                                                            (CHANNELS * LENGTH, 1)),
    "batch norm, unfold": lambda m, x: m.norm(x).unfold(1, 4, 4).flatten(1).sin(),
    "batch norm, expand": lambda m, x: m.norm(x)[:, None].expand(BATCH, 2, CHANNELS, LENGTH).reshape(BATCH, -1),
    "batch norm, squeeze": lambda m, x: m.norm(x).unsqueeze(0).squeeze().flatten(0, 1),
    "batch norm, view of bits": lambda m, x: m.norm(x) * m.norm(x).detach().view(torch.int32).view(torch.float32),
    "batch norm, unsafe_split": lambda m, x: torch.cat(torch.unsafe_split(m.norm(x).transpose(1, 2), 2), 2).sin(),
    "power, transposed": lambda m, x: torch.pow(2.0, x).transpose(1, 2),
    "sign": lambda m, x: torch.copysign(x, m.weight),
    "floor": lambda m, x: (x + torch.div(x, 0.3, rounding_mode="floor")).transpose(1, 2),
    "logistic, transposed": lambda m, x: F.logsigmoid(x).transpose(1, 2),
    "layer norm": lambda m, x: m.rows(x.permute(2, 1, 0)).permute(2, 1, 0).transpose(1, 2),
    "softmax, transposed": lambda m, x: F.log_softmax(x, 1).transpose(1, 2),
    "Fourier": lambda m, x: torch.view_as_real(torch.fft.rfft(x, dim=1)[:, :CHANNELS // 2]).flatten(1),
    "dropout in a region": lambda m, x: checkpoint(
        lambda x: (F.logsigmoid(F.dropout(x, 0.2, m.training)) * m.weight).transpose(1, 2), x, use_reentrant=False),
    "loss": lambda m, x: F.mse_loss(x, m.weight), "huber loss": lambda m, x: F.huber_loss(x, m.weight)}


def try_turned():
    x = torch.randn(BATCH * LENGTH, CHANNELS)
    for name, function in TURNED.items():
        model = Turned(function)
        expected = step(model, model, x)
        for options in OPTIONS[1::2]:
            train(name, model, (x,), expected, options)
        model.eval()
        with torch.no_grad():
            checks.check(f"{name}: the same in evaluation", torch.equal(compiled(model, budget="60%")(x), model(x)))


def try_views():
    """Checks results of the graph that are views of one memory, which AOTAutograd rebuilds behind the graph."""
    def alias(m, x):
        made = m.norm(x)
        return made, made.transpose(1, 2), made.flatten(1), made.as_strided((BATCH, 5), (CHANNELS * LENGTH, 1))

    class Aliases(Turned):
        def forward(self, x):
            return alias(self, torch.tanh(self.first(x).view(BATCH, LENGTH, CHANNELS)).transpose(1, 2))
    model, x = Aliases(None), torch.randn(BATCH * LENGTH, CHANNELS)
    model.last, model.rows, model.weight = None, None, None
    expected = step(model, lambda x: sum(each.sin().mean() for each in model(x)), x)
    for options in OPTIONS:
        run = compiled(model, **options)
        found = step(model, lambda x: sum(each.sin().mean() for each in run(x)), x)
        checks.check(f"views of one result, {options}: equal to the bit", equal(found, expected))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    chosen = sys.argv[1:]
    for part in (try_losses, try_parts, try_returned, try_turned, try_views):
        torch.manual_seed(0)
        if not chosen or part.__name__ in chosen or chosen == ["all"]:
            part()
    checks.finish()


if __name__ == "__main__":
    main()
