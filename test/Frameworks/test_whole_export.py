"""reprise.torch.export: its files run under the tools, with the losses of eager under its own optimizer."""
import json
import pathlib
import subprocess

import checks
import models
import numpy
import torch
import torch.nn.functional as F
from test_whole_models import widened, without_dropout

import reprise
import reprise.torch

CASES = [("gpt2", lambda parameters: torch.optim.AdamW(parameters, lr=1e-3)),
         ("bert", lambda parameters: torch.optim.Adam(parameters, lr=1e-3, weight_decay=0.01)),
         ("resnet10", lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, nesterov=True, weight_decay=1e-3))]


def tool(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr[:1000]}")
    return done.stdout


def told_of(exported, entry, steps, *flags):
    bundle = exported.path.with_suffix(f".{entry}.rpb")
    tool("reprise-compile", exported.path, f"--entry={entry}", "-o", bundle, "--threads=1", *flags)
    told = json.loads(tool("reprise-run", bundle, f"--input-dir={exported.arrays}", f"--steps={steps}", "--json",
                           f"--output-dir={bundle.with_suffix('.out')}", "--threads=1"))
    told["loss"] = torch.tensor(told["loss"] if isinstance(told["loss"], list) else [told["loss"]])
    return told


def losses_of(exported, entry, steps):
    return told_of(exported, entry, steps)["loss"]


def try_export(name, make):
    case = models.build(name)
    without_dropout(case.model)
    before = {key: each.clone() for key, each in case.model.state_dict().items()}
    optimizer = make(case.model.parameters())
    exported = reprise.torch.export(case.model, case.args or case.kwargs, path=pathlib.Path(f"{name}.mlir"), optimizer=optimizer,
                                    loss=case.loss)
    after = case.model.state_dict()
    checks.check(f"{name}: the model stays as it is", all(torch.equal(before[key], after[key]) for key in before))
    double = widened(case)
    expected, exact = train(case, optimizer), train(double, make(double.model.parameters()))
    checks.check(f"{name}: @forward", torch.allclose(losses_of(exported, "forward", 1).double(), expected[:1], rtol=1e-5))
    checks.check(f"{name}: @grad", torch.allclose(losses_of(exported, "grad", 1).double(), expected[:1], rtol=1e-5))
    # If batch norms see few samples, a last bit grows from step to step: eager's own error is the measure.
    told, bound = losses_of(exported, "train", 3), 2 * (expected - exact).abs().max() + 1e-5 * exact.abs().max()
    checks.check(f"{name}: @train", (told - exact).abs().max() <= bound, f"{told}, eager {expected}, in doubles {exact}")


def train(case, optimizer):
    """The losses of three steps."""
    losses = []
    for _ in range(3):
        losses.append(case.step().item())
        optimizer.step()
    return torch.tensor(losses, dtype=torch.double)


def try_resumed(name, make):
    """Checks an optimizer that has made steps: its state is kept."""
    torch.manual_seed(3)
    model, batch = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)), torch.randn(6, 4)
    optimizer = make(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(3):
        step()
    optimizer.zero_grad()
    exported = reprise.torch.export(model, (batch,), path=f"{name}.mlir", optimizer=optimizer, loss=lambda output: output.square().mean())
    expected = torch.tensor([step() for _ in range(3)])
    told = losses_of(exported, "train", 3)
    checks.check(f"{name}: the optimizer's steps go on", torch.allclose(told, expected, rtol=1e-5), f"{told}, eager {expected}")


def compare_micro_batches(name, exported, expected):
    """Checks three micro-batches of a batch that does not divide evenly: the losses, and the bits of two stages."""
    one = told_of(exported, "train", 3, "--microbatches=3")
    checks.check(f"{name}: losses of micro-batches", torch.allclose(one["loss"], expected, rtol=1e-4), f"{one['loss']}, {expected}")
    two = told_of(exported, "train", 3, "--microbatches=3", "--stages=2")
    checks.check(f"{name}: bits of two stages", one["hash"] == two["hash"] and torch.equal(one["loss"], two["loss"]),
                 f"{one['loss']}, {two['loss']}")


def try_micro_batches(name, make_case):
    """Checks dropout, whose masks are those of the whole batch."""
    model, given, loss = make_case()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    exported = reprise.torch.export(model, given, path=f"{name}-parts.mlir", optimizer=optimizer, loss=loss)
    whole = losses_of(exported, "train", 3)
    without_dropout(model)
    checks.check(f"{name}: dropout has masks", abs(loss(model(**given) if isinstance(given, dict) else model(*given)).item()
                                                    - whole[0].item()) > 1e-4, f"{whole}")
    compare_micro_batches(name, exported, whole)


def mlp_case():
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1))
    return model, (torch.randn(7, 4),), lambda output: output.square().mean()


def gpt2_case():
    case = models.build("gpt2")
    return case.model, case.kwargs, case.loss


def try_clipped():
    """Gradients are clipped as in eager code, and the step returns their norm."""
    model, inputs, loss = mlp_case()
    without_dropout(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    exported = reprise.torch.export(model, inputs, path="clipped.mlir", optimizer=optimizer, loss=loss, max_norm=0.05)
    told = told_of(exported, "train", 3)
    losses, norms = [], []
    for _ in range(3):
        optimizer.zero_grad()
        losses.append(loss(model(*inputs)))
        losses[-1].backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05))
        optimizer.step()
    checks.check("clipped: losses", torch.allclose(told["loss"].float(), torch.stack(losses), rtol=1e-5), f"{told['loss']}, eager {losses}")
    norm = torch.from_numpy(numpy.load("clipped.train.out/gradient_norm.npy"))
    checks.check("clipped: the norm before", torch.allclose(norm, norms[-1], rtol=1e-5) and norm > 0.05, f"{norm}, eager {norms}")
    try:
        reprise.torch.export(model, inputs, path="clipped.mlir", optimizer=optimizer, loss=loss, max_norm=-1)
        checks.check("clipped: a negative norm is an error", False)
    except reprise.UsageError as error:
        checks.check("clipped: a negative norm is an error", "expected a positive number" in str(error), str(error))


def try_batch_norms():
    """resnet10: statistics are those of a micro-batch, as where eager adds up gradients."""
    case = models.build("resnet10")
    optimizer, targets = torch.optim.SGD(case.model.parameters(), lr=1e-3), torch.arange(8) % models.CLASSES
    exported = reprise.torch.export(case.model, case.args, path="resnet10-parts.mlir", optimizer=optimizer, loss=case.loss,
                                    batch_dim=0)
    checks.check("resnet10: what the loss reads is cut, too", exported.batch_dims == {"x": 0, "captured/0": 0}, f"{exported.batch_dims}")
    expected = []
    for _ in range(3):
        optimizer.zero_grad()
        losses = [F.cross_entropy(case.model(x), part, reduction="sum") / 8
                  for x, part in zip(case.args[0].tensor_split(3), targets.tensor_split(3))]
        sum(losses).backward()
        optimizer.step()
        expected.append(sum(each.item() for each in losses))
    compare_micro_batches("resnet10", exported, torch.tensor(expected))
    names = [name for name, _ in case.model.named_buffers() if "running" in name]
    told = [array_of(exported, name) for name in names]
    checks.check("resnet10: running statistics of micro-batches", all(
        torch.allclose(ours, case.model.get_buffer(name), rtol=1e-3, atol=1e-4) for name, ours in zip(names, told)))


def array_of(exported, name):
    """Returns the value of a parameter or a buffer after the last run."""
    return torch.from_numpy(numpy.load(exported.path.with_suffix(".train.out") / f"{name}.npy"))


def try_cumulative_norms():
    """momentum=None: the average of all batches, of which some were before."""
    torch.manual_seed(6)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8, momentum=None), torch.nn.Linear(8, 1))
    for _ in range(2):
        model(torch.randn(5, 4))
    optimizer, batch = torch.optim.SGD(model.parameters(), lr=0.1), torch.randn(6, 4)
    exported = reprise.torch.export(model, (batch,), path="cumulative.mlir", optimizer=optimizer,
                                    loss=lambda output: output.square().mean(), batch_dim=0)
    checks.check("momentum=None: the model stays as it is", int(model[1].num_batches_tracked) == 2
                 and "forward" not in vars(model[1]))
    expected = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    told = told_of(exported, "train", 3)["loss"]
    checks.check("momentum=None: @train", torch.allclose(told, torch.tensor(expected), rtol=1e-5), f"{told}, eager {expected}")
    for name, buffer in model.named_buffers():
        checks.check(f"momentum=None: {name}", torch.allclose(array_of(exported, name), buffer, rtol=1e-5),
                     f"{array_of(exported, name)}, eager {buffer}")
    told_of(exported, "grad", 1, "--microbatches=3")
    told_of(exported, "train", 1)
    whole = array_of(exported, "1.running_var")
    told_of(exported, "train", 1, "--microbatches=3")
    parts = array_of(exported, "1.running_var")
    checks.check("momentum=None: micro-batches have the average of the batch", torch.allclose(whole, parts, rtol=1e-5),
                 f"{whole}, {parts}")


class Weighted(torch.nn.Module):
    """Model with a batch in its second dimension, and a table with as many rows as the first dimension."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)

    def forward(self, x, table):
        y = self.second(self.first(x).tanh())
        return (y * y.softmax(0) * table.unsqueeze(1)).mean()


class Sequences(torch.nn.Module):
    """Model of statistics over sequences and a batch, of which either may come first."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(5)

    def forward(self, x):
        return self.norm(x.permute(1, 2, 0)).tanh().square().mean()


def try_norm_dims():
    """Checks that no batch is guessed for a batch norm: a wrong guess would change the statistics of micro-batches
    unnoticed."""
    torch.manual_seed(5)
    model, x = Sequences(), torch.randn(6, 7, 5) + torch.arange(6).view(6, 1, 1)

    def export(**options):
        return reprise.torch.export(model, (x,), path="norm-dims.mlir", optimizer=torch.optim.SGD(model.parameters(), lr=0.1), **options)

    checks.check("batch norms: no batch is guessed", not (exported := export()).batch_dims, f"{exported.batch_dims}")
    try:
        checks.check("batch norms: nothing is cut unnamed", False, f"{told_of(exported, 'train', 1, '--microbatches=3')}")
    except RuntimeError as error:
        checks.check("batch norms: nothing is cut unnamed", "an input with `reprise.batch_dim`" in str(error), str(error))
    for batch_dim in (0, 1):
        told = told_of(export(batch_dim=batch_dim), "grad", 1, "--microbatches=3")["loss"]
        expected = sum(model(part).item() * part.numel() for part in x.tensor_split(3, batch_dim)) / x.numel()
        checks.check(f"batch norms: statistics along {batch_dim}", torch.allclose(told, torch.tensor(expected), rtol=1e-4),
                     f"{told}, {expected}")
    model.eval()
    checks.check("batch norms in eval mode take no statistics", export().batch_dims == {"x": 0})


def try_batch_dims():
    """The batch is where the caller says; a guess that is wrong is an error at the op that couples the rows."""
    torch.manual_seed(4)
    model = Weighted()
    given = {"x": torch.randn(6, 7, 5), "table": torch.randn(6, 5)}

    def export(**options):
        return reprise.torch.export(model, given, path="dims.mlir", optimizer=torch.optim.SGD(model.parameters(), lr=0.1), **options)

    def error(exported):
        try:
            return f"{told_of(exported, 'train', 1, '--microbatches=3')}"
        except RuntimeError as error:
            return str(error)

    checks.check("dimension 0 is a guess", (guess := export()).batch_dims == {"x": 0, "table": 0}, f"{guess.batch_dims}")
    text = error(guess)
    checks.check("a wrong guess names the op", "test_whole_export.py:" in text and "'reprise.softmax' couples the samples" in text, text)
    checks.check("no batch", "an input with `reprise.batch_dim`" in error(export(batch_dim=None)))
    for batch_dim in (1, {"x": 1}):
        exported = export(batch_dim=batch_dim)
        checks.check(f"batch_dim={batch_dim}", exported.batch_dims == {"x": 1}, f"{exported.batch_dims}")
    whole = losses_of(exported, "train", 3)
    compare_micro_batches("the second dimension", exported, whole)
    for batch_dim, expected in (({"y": 0}, "batch_dim names 'y'; the inputs are 'x' of shape [6, 7, 5], 'table'"),
                                ({"x": 3}, "batch_dim of 'x' is 3; the inputs are"), (3, "no input has a dimension 3"),
                                ({"x": 1, "table": 0}, "'x' has 7 samples, 'table' has 6")):
        try:
            export(batch_dim=batch_dim)
            checks.check(f"batch_dim={batch_dim} is an error", False)
        except reprise.UsageError as error:
            checks.check(f"batch_dim={batch_dim} is an error", expected in str(error), str(error))


def main():
    models.prepare()
    try_batch_dims()
    try_norm_dims()
    try_micro_batches("mlp", mlp_case)
    try_cumulative_norms()
    try_clipped()
    for part in (lambda: try_micro_batches("gpt2", gpt2_case), try_batch_norms):
        try:
            part()
        except ImportError as error:
            checks.skip("micro-batches", str(error).splitlines()[0])
    try_resumed("momentum", lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9))
    try_resumed("adam", lambda parameters: torch.optim.Adam(parameters, lr=0.1))
    for name, make in CASES:
        try:
            try_export(name, make)
        except ImportError as error:
            checks.skip(name, str(error).splitlines()[0])
        except (reprise.Error, RuntimeError) as error:
            checks.check(name, False, str(error)[:2000])
    try:
        reprise.torch.export(torch.nn.Linear(4, 4), (torch.ones(2, 4),), path="wrong.mlir")
        checks.check("a model without a loss is an error", False)
    except Exception as error:  # noqa: BLE001  Dynamo wraps errors of backends
        checks.check("a model without a loss is an error", "no scalar loss" in str(error), str(error))
    checks.finish()


if __name__ == "__main__":
    main()
