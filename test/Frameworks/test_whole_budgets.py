"""Budgets of both backends that no plan meets: shares are wishes, bytes are promises; errors are passed through."""
import logging
import re
import traceback
import warnings
from unittest import mock

import checks
import torch
import torch.nn.functional as F
from torch import nn
from whole import run_parts

import reprise
from reprise import _compile
from reprise.torch import Unsupported, graphs

BACKENDS = (("reprise", {}), ("reprise_plan", {"codegen": "eager"}))


def compiled(function, backend, **options):
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, options=options)


def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001  its class is what is checked
        return error
    return None


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64))


def step(body, loss, x, labels):
    value = loss(body(x), labels)
    value.backward()
    return value.detach()


def try_shares():
    """Checks a loss that is a graph of its own and has nothing to replay: the smallest plan replaces the share, with a
    warning."""
    x, labels = torch.randn(8, 16), torch.randint(0, 64, (8,))
    for backend, options in BACKENDS:
        results = []
        for given in (options, {**options, "budget": "60%"}):
            torch._dynamo.reset()
            model = net()
            body = torch.compile(model, backend=backend, options=given)
            loss = torch.compile(lambda logits, labels: F.cross_entropy(logits, labels), backend=backend, options=given)
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                results.append([step(body, loss, x, labels), *(each.grad for each in model.parameters())])
        said = [str(each.message) for each in heard if issubclass(each.category, reprise.RepriseWarning)]
        checks.check(f"{backend}: a share that no plan meets has the bits of no budget", all(map(torch.equal, *results)))
        checks.check(f"{backend}: and is a warning", any("the budget of 60%" in each and "the least budget that was met is" in each
                                                        and each.endswith("and takes its place") for each in said), f"{said}")


def try_bytes():
    x = torch.randn(8, 16)
    for backend, options in BACKENDS:
        error = raised(compiled(net(), backend, **options, budget=64), x)
        text = "".join(traceback.format_exception(error)) if error else ""
        is_whole = type(error) is reprise.Error and error.__cause__ is None and "the budget of 64" in str(error) and \
            str(error).count("the least budget that was met is") == 1 and "--budget" not in str(error)
        checks.check(f"{backend}: too few bytes are one error of ours", is_whole and "BackendCompilerFailed" not in text
                     and "TORCHDYNAMO_VERBOSE" not in text, text[-1500:])


def try_least():
    """Checks that a share uses the smallest budget that is met in the end, if the budget of the first error is not."""
    asked, least = [], {"40%": 100, 100: 120, 120: 130}

    def compile(model, budget, **options):  # stands for a search that a time limit ends
        asked.append(budget)
        if budget in least:
            raise reprise.Error("too small", least_budget=least[budget])
        return budget
    with mock.patch.object(_compile, "compile", compile), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        made = _compile.compile_wish("", budget="40%")
    checks.check("a share takes the least budget that is met in the end", made == 130 and asked == ["40%", 100, 120, 130], f"{asked}")
    checks.check("and the warning names it", "130 bytes, and takes its place" in str(heard[0].message), f"{heard}")


class Broken(nn.Module):
    """Model of which Dynamo makes two graphs."""

    def __init__(self):
        super().__init__()
        self.first, self.second = net(), nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(4)))

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x).square().mean()


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g + 0 * ctx.saved_tensors[0]


class Cut(Broken):
    """Model of one graph of Dynamo, which a function of the user cuts."""

    def forward(self, x):
        return self.second(Doubled.apply(self.first(x))).square().mean()


def train(kind, x, **options):
    """Losses and gradients of two steps, and the bytes of all training graphs."""
    torch.manual_seed(0)
    model, known, made = kind(), max([-1, *(each.number for each in graphs())]), []
    forward = compiled(model, "reprise", **options)
    for _ in range(2):
        model.zero_grad()
        loss = forward(x)
        loss.backward()
        made.append([loss.detach(), *(each.grad.clone() for each in model.parameters())])
    reports = [each.report for each in graphs() if each.number > known and each.step]
    return made, [each.arena_bytes + each.workspace_bytes for each in reports]


def try_graphs():
    """Checks that bytes are for the whole step, and that the budget in an error is met."""
    x = torch.randn(64, 16)
    for kind in (Broken, Cut):
        free, taken = train(kind, x)
        checks.check(f"{kind.__name__}: there are two graphs", len(taken) == 2, f"{taken}")
        budget, errors, made = 64, [], None
        while made is None and len(errors) < 4:
            error = raised(lambda: train(kind, x, budget=budget))  # noqa: B023
            if error is None:
                made, bytes_taken = train(kind, x, budget=budget)
            else:
                errors.append(error)
                budget = error.least_budget
        told = [str(each) for each in errors]
        if kind is Broken:
            checks.check("Broken: the first error says that it does not count the second graph",
                         told[0].endswith("bytes for the first of the graphs; later graphs, behind a graph break, are not counted")
                         and "not counted" not in told[-1], f"{told}")
        else:
            checks.check("Cut: the first error counts both graphs", len(errors) == 2, f"{told}")
        checks.check(f"{kind.__name__}: an error is of both graphs", made and "the 2 graphs of the model do not fit in" in told[-2]
                     and told[-2].count("least budget") == 1, f"{told}")
        checks.check(f"{kind.__name__}: the last error also counts what is beside their arenas",
                     "by a step of 2 backward passes of 2 graphs" in told[-1] and "allocated beside their plans" in told[-1], f"{told}")
        for name, limit in (("the least budget", budget), ("a larger budget", budget * 5 // 4)):
            made, bytes_taken = train(kind, x, budget=limit)
            checks.check(f"{kind.__name__}: {name} holds for both graphs", sum(bytes_taken) <= limit, f"{bytes_taken}, {limit}, {taken}")
            checks.check(f"{kind.__name__}: {name} has the bits of none", all(
                torch.equal(a, b) for ours, right in zip(made, free) for a, b in zip(ours, right)))


def try_planned_graphs():
    """Checks that the error of a graph of backend="reprise_plan" says what it does not count, and that the error of the
    step counts all."""
    x, limits, told = torch.randn(64, 16), [64], []
    while len(told) < 3 and limits[-1]:
        model = Broken()
        forward = compiled(model, "reprise_plan", codegen="eager", budget=limits[-1])
        error = raised(lambda: [forward(x).backward() for _ in range(3)])  # noqa: B023
        told.append(str(error))
        least = re.search(r"the least budget that was met is ([\d,]+) bytes", told[-1])
        limits.append(int(least.group(1).replace(",", "")) if least else 0)
    checks.check("reprise_plan: the error of the first graph does not count the second one",
                 told[0].endswith("bytes for this graph; later graphs, behind a graph break, are not counted"), f"{told}")
    checks.check("reprise_plan: the error of the step counts all graphs, and its budget is met",
                 "by a step of 2 backward passes of 2 graphs" in told[1] and told[2] == "None", f"{told}")


def try_errors():
    x = torch.randn(4, 6)
    def through_data(x):
        h = x * 1
        h.data.clamp_(min=0)
        return h * 2

    error = raised(compiled(through_data, "reprise"), x.requires_grad_())
    text = str(error)
    checks.check("what is missing is one error of ours", type(error) is Unsupported and text.startswith("the model needs what reprise lacks")
                 and "test_whole_budgets.py" in text and "TORCHDYNAMO" not in text, f"{type(error)} {text}")
    for backend, options in BACKENDS:
        error = raised(compiled(net(), backend, **options, budgets=1), torch.randn(8, 16))
        checks.check(f"{backend}: so is an unknown option", type(error) is reprise.UsageError, f"{type(error)} {error}")
    # Dynamo logs the errors that it suppresses.
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)
    with torch._dynamo.config.patch(suppress_errors=True):
        made = compiled(through_data, "reprise")(x)
    checks.check("Dynamo may suppress it", torch.equal(made, through_data(x)))


class LanguageModel(nn.Module):
    """A model whose logits are its widest value by far."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(2048, 32)
        self.body = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 32))
        self.head = nn.Linear(32, 2048)

    def forward(self, tokens, labels):
        logits = self.head(self.body(self.embedding(tokens)))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))


def try_vocabulary():
    """Checks that the logits run in slices of rows within a budget which they would exceed as a whole."""
    tokens = torch.randint(0, 2048, (4, 256))
    results = []
    for options in ({}, {"budget": "50%"}):
        torch.manual_seed(0)
        model = LanguageModel()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            loss = compiled(model, "reprise", **options)(tokens, tokens.roll(-1))
            loss.backward()
        results.append([loss.detach(), *(each.grad for each in model.parameters())])
        said = [str(each.message) for each in heard if issubclass(each.category, reprise.RepriseWarning)]
        checks.check(f"reprise: a vocabulary meets {options.get('budget', 'no budget')}", not said, f"{said}")
    checks.check("reprise: slices of a vocabulary have the bits of the whole", all(map(torch.equal, *results)))


if __name__ == "__main__":
    run_parts(try_shares, try_bytes, try_least, try_graphs, try_planned_graphs, try_vocabulary, try_errors)
