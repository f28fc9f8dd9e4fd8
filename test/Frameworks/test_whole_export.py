"""reprise.torch.export: what it writes runs under the tools, with the losses that eager has under its own optimizer."""
import json
import pathlib
import subprocess

import checks
import models
import torch
from test_whole_models import without_dropout

import reprise
import reprise.torch

CASES = [("gpt2", lambda parameters: torch.optim.AdamW(parameters, lr=1e-3)),
         ("bert", lambda parameters: torch.optim.Adam(parameters, lr=1e-3, weight_decay=0.01)),
         ("resnet18", lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, nesterov=True, weight_decay=1e-3))]


def tool(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr[:1000]}")
    return done.stdout


def losses_of(exported, entry, steps):
    bundle = exported.path.with_suffix(f".{entry}.rpb")
    tool("reprise-compile", exported.path, f"--entry={entry}", "-o", bundle, "--threads=1")
    told = json.loads(tool("reprise-run", bundle, f"--input-dir={exported.arrays}", f"--steps={steps}", "--json",
                           f"--output-dir={bundle.with_suffix('.out')}", "--threads=1"))
    return torch.tensor(told["loss"] if isinstance(told["loss"], list) else [told["loss"]])


def try_export(name, make):
    case = models.build(name)
    without_dropout(case.model)
    before = {key: each.clone() for key, each in case.model.state_dict().items()}
    optimizer = make(case.model.parameters())
    exported = reprise.torch.export(case.model, case.args or case.kwargs, path=pathlib.Path(f"{name}.mlir"), optimizer=optimizer,
                                    loss=case.loss)
    after = case.model.state_dict()
    checks.check(f"{name}: the model stays as it is", all(torch.equal(before[key], after[key]) for key in before))
    expected = []
    for _ in range(3):
        expected.append(case.step().item())
        optimizer.step()
    expected = torch.tensor(expected)
    checks.check(f"{name}: @forward", torch.allclose(losses_of(exported, "forward", 1), expected[:1], rtol=1e-5))
    checks.check(f"{name}: @grad", torch.allclose(losses_of(exported, "grad", 1), expected[:1], rtol=1e-5))
    # Where batch norms see few samples, a last bit grows from step to step.
    told = losses_of(exported, "train", 3)
    checks.check(f"{name}: @train", torch.allclose(told, expected, rtol=1e-3), f"{told}, eager {expected}")


def try_resumed(name, make):
    """An optimizer that has made steps: its state goes on."""
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


def main():
    models.prepare()
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
