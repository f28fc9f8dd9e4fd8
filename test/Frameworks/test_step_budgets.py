"""Budgets of whole steps: several graphs, several calls, and the program around them within one budget.

Each step has the bits of the step without a budget, the allocator's peak is within the budget, and the predicted peak
is within 3 % of it.
"""
import itertools
import os
import random
import subprocess
import sys
import tempfile
import warnings

import checks
import memory
import models as zoo
import torch
import torch.nn.functional as F
from torch import nn

import reprise
from reprise.torch import steps
from reprise.torch._step_joint import Option, Row, Search, peak_of
from reprise.torch._step_weights import Weight

NEAR = 0.03
#: Steps until the plan of a step runs, with the one that compiles it.
STEPS = 3


class Program:
    """A training step of some models; `forwards` are the compiled functions, or the models themselves."""

    def __init__(self, make, step):
        self.make, self._step = make, step

    def train(self, compile_all, count=STEPS):
        """Runs steps from a fixed seed; returns the last step's gradients and losses, and the peak of one more."""
        torch._dynamo.reset()
        torch.manual_seed(0)
        models = self.make()
        forwards = compile_all(models)

        def run(seed):
            for model in models:
                model.zero_grad(set_to_none=True)
            torch.manual_seed(seed)
            return self._step(models, forwards)
        for seed in range(count):
            losses = run(seed)
        found = [*losses, *(each.grad.clone() for model in models for each in model.parameters() if each.grad is not None),
                 *(each.clone() for model in models for each in model.buffers())]
        del losses
        for model in models:
            model.zero_grad(set_to_none=True)
        return found, memory.measure_peak(lambda: run(count))


def planned(budget, codegen="eager"):
    options = {"codegen": codegen, **({} if budget is None else {"budget": budget})}
    return lambda models: [torch.compile(each, backend="reprise_plan", options=options) for each in models]


def try_program(name, program, shares, codegen="eager"):
    """Checks a program within shares of its peak without a budget, in bytes; and within the same shares as wishes."""
    judge = (lambda models: models) if codegen == "eager" else planned(None, codegen)
    expected, whole = program.train(judge)
    for share in shares:
        budget = int(whole * share)
        try:
            found, peak = program.train(planned(budget, codegen))
        except reprise.Error as error:
            checks.check(f"{name} within {budget:,} bytes", False, str(error))
            continue
        plan = steps()[-1]
        print(f"   {name}: whole {whole:,}, budget {budget:,}, executed {peak:,} ({100 * (plan.peak / peak - 1):+.2f} % predicted)\n{plan}")
        checks.check(f"{name} at {share}: equal bits", len(found) == len(expected) and all(map(torch.equal, found, expected)))
        checks.check(f"{name} at {share}: the peak is within the budget", peak <= budget == plan.budget, f"{peak} {budget}")
        checks.check(f"{name} at {share}: the prediction is near", abs(plan.peak / peak - 1) < NEAR, f"{plan.peak} {peak}")
        checks.check(f"{name} at {share}: the search has proved its choice", plan.gap == 0.0, str(plan))
    return whole


SENTENCES = torch.randn(16, 64, 64, generator=torch.Generator().manual_seed(0))


def layers():
    return [nn.TransformerEncoderLayer(64, 4, 256, dropout=0.1, batch_first=True) for _ in range(8)]


def step_of_layers(models, forwards):
    x = SENTENCES
    for forward in forwards:
        x = forward(x)
    loss = x.square().mean()
    loss.backward()
    return [loss.detach()]


def try_search():
    """Checks the choice of plans against all choices, on random steps."""
    draw = random.Random(1)
    for number in range(200):
        graphs = draw.randrange(1, 4)
        options = [[Option(each, None, Weight(held, *(draw.randrange(100) for _ in range(6)), draw.random(), {}), held)
                    for each, held in enumerate(draw.choices(range(50), k=draw.randrange(1, 5)))] for _ in range(graphs)]
        rows = [Row(kind, None if kind == "program" else draw.randrange(graphs), draw.randrange(50),
                    tuple((each, draw.randrange(1, 4)) for each in range(graphs) if draw.random() < 0.7))
                for kind in draw.choices(("forward", "backward", "freed", "kept", "program"), k=6)]
        calls = [draw.randrange(1, 5) for _ in range(graphs)]
        search, choices = Search(rows, options, calls), list(itertools.product(*options))
        seconds = [sum(count * each.weight.seconds for count, each in zip(calls, choice)) for choice in choices]
        peaks = [peak_of(rows, choice) for choice in choices]
        budget = draw.choice(peaks) + draw.randrange(-1, 2)
        best, found = min((each for each, peak in zip(seconds, peaks) if peak <= budget), default=None), search.run(budget)
        same = found is None if best is None else found and abs(found.seconds - best) < 1e-9 and found.peak <= budget and found.gap == 0
        if not same or search.smallest().peak != min(peaks):
            checks.check(f"random step {number}: the fastest and the smallest choice", False, f"{best} {found} {min(peaks)} {search.smallest()}")
            return
    checks.check("200 random steps: the fastest and the smallest choice", True)


def try_layers():
    """Eight encoder layers compiled one by one: two graphs, one of which is called seven times before a backward pass."""
    program = Program(layers, step_of_layers)
    try_program("eight layers", program, (0.7, 0.5, 0.36) if checks.everything else (0.5, 0.36))
    plan = steps()[-1]
    checks.check("eight layers: two graphs, one with seven calls at once", sorted((each.calls, each.waiting) for each in plan.graphs)
                 == [(1, 1), (7, 7)], str(plan))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        found, peak = program.train(planned("50%"))
    plan = steps()[-1]
    checks.check("eight layers at 50%: a share is one of the step", abs(plan.budget - plan.peak_without_replays / 2) <= 1
                 and peak <= plan.budget, f"{peak}, {plan}")


def try_too_small():
    """Bytes that no plan of the step meets are one error, which names bytes that are met; a share is a warning."""
    program, error = Program(layers, step_of_layers), None
    budget = 6_000_000
    try:
        program.train(planned(budget))
    except reprise.Error as raised:
        error = raised
    good = error is not None and error.least_budget and f"{budget:,} bytes" in str(error)
    if checks.check("too few bytes for a step: an error that names the least budget", good, str(error)):
        found, peak = program.train(planned(error.least_budget))
        checks.check("the least budget of a step is met", peak <= error.least_budget == steps()[-1].budget, f"{peak} {error}")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        program.train(planned("8%"))
    checks.check("a share that no plan of the step meets is a warning", any("a step of 8 backward passes" in str(each.message)
                 and str(each.message).endswith("and takes its place") for each in said), [str(each.message) for each in said])


def try_inductor():
    try_program("eight layers, Inductor's code", Program(layers, step_of_layers), (0.6,), "inductor")


#: Inputs, which no budget counts.
X = [torch.randn(1024, 128, generator=torch.Generator().manual_seed(number)) for number in range(4)]


def nets():
    return [nn.Sequential(*(nn.Sequential(nn.Linear(128, 128), nn.GELU(), nn.Dropout(0.2)) for _ in range(4))) for _ in range(2)]


def accumulate(models, forwards):
    """Four micro-batches, whose gradients add up."""
    losses = []
    for x in X:
        for forward in forwards:
            x = forward(x)
        loss = x.square().mean() / 4
        loss.backward()
        losses.append(loss.detach())
        del loss, x
    return losses


def together(models, forwards):
    """Two forward passes of one model before a backward pass, and a third one after it, which keeps the graph."""
    first, second = forwards[0](X[0]), forwards[0](X[1])
    loss = (first * second).mean()
    del first, second
    loss.backward()
    other = forwards[1](X[2]).square().mean()
    other.backward(retain_graph=True)
    other.backward()
    return [loss.detach(), other.detach()]


def evaluate(models, forwards):
    """An evaluation between the passes of a step, and a forward pass that is dropped."""
    x = forwards[0](X[0])
    models[1].eval()
    with torch.no_grad():
        value = forwards[1](X[2][:512]).mean()
    models[1].train()
    dropped = forwards[1](X[1]).sum().detach()
    loss = forwards[1](x).square().mean()
    del x
    loss.backward()
    return [loss.detach(), value, dropped]


def compete(models, forwards):
    """A step of two models: one judges what the other one makes, with a penalty for slopes; then the other one learns."""
    make, judge = forwards
    first = -judge(X[1]).mean()
    with torch.no_grad():
        made = make(X[0])
    first = first + judge(made).mean()
    mixed = torch.lerp(X[1], made, 0.5).requires_grad_()
    slope, = torch.autograd.grad(models[1](mixed).sum(), mixed, create_graph=True)
    first = first + 10 * (slope.norm(dim=1) - 1).square().mean()
    first.backward()
    del made, mixed, slope
    second = -judge(make(X[2])).mean()
    second.backward()
    return [first.detach(), second.detach()]


def try_uses():
    for name, step, shares in (("accumulation over 4", accumulate, (0.75, 0.55)),
                               ("several forwards, and a graph that is kept", together, (0.75, 0.55)),
                               ("evaluation in between", evaluate, (0.75, 0.55)), ("two models and a penalty", compete, (0.8, 0.7))):
        try_program(name, Program(nets, step), shares if checks.everything else shares[1:])


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = (torch.arange(64) + index) % 50
        return {"input_ids": tokens, "labels": tokens}


def train_gpt2(folder, **options):
    """Trains a GPT-2 by transformers' Trainer; returns its parameters, and the peaks of its steps, without the optimizer's."""
    zoo.vision_library()
    import transformers
    torch._dynamo.reset()
    transformers.set_seed(0)
    sizes = transformers.GPT2Config(vocab_size=50, n_positions=64, n_embd=64, n_layer=4, n_head=4, use_cache=False,
                                    bos_token_id=None, eos_token_id=None)
    model, peaks = transformers.GPT2LMHeadModel(sizes), []
    if options:
        model.compile(**options)
    arguments = transformers.TrainingArguments(folder, max_steps=5, per_device_train_batch_size=16, learning_rate=1e-3, report_to=[],
                                               save_strategy="no", use_cpu=True, disable_tqdm=True, logging_strategy="no")

    class Measured(transformers.Trainer):
        def training_step(self, *given, **named):
            step, found = super().training_step, []
            if self.state.global_step < 3:
                return step(*given, **named)
            peaks.append(memory.measure_peak(lambda: found.append(step(*given, **named))))
            return found[0]
    Measured(model, arguments, train_dataset=Sentences()).train()
    return [each.detach().clone() for each in model.parameters()], max(peaks)


def try_trainer():
    """A Trainer, whose scaled loss is a graph of its own."""
    with tempfile.TemporaryDirectory() as folder:
        expected, whole = train_gpt2(folder)
        for share in (0.7, 0.5) if checks.everything else (0.5,):
            budget = int(share * whole)
            found, peak = train_gpt2(folder, backend="reprise_plan", options={"codegen": "eager", "budget": budget})
            plan = steps()[-1]
            print(f"   Trainer: whole {whole:,}, budget {budget:,}, executed {peak:,} ({100 * (plan.peak / peak - 1):+.2f} % predicted)\n{plan}")
            checks.check(f"Trainer at {share}: equal bits", all(map(torch.equal, found, expected)))
            checks.check(f"Trainer at {share}: the peak is within the budget", peak <= budget == plan.budget, f"{peak} {budget}")
            checks.check(f"Trainer at {share}: the prediction is near", abs(plan.peak / peak - 1) < NEAR, f"{plan.peak} {peak}")
            checks.check(f"Trainer at {share}: several graphs", len(plan.graphs) > 1, str(plan))


def run_rank():
    """Trains one rank of `try_ranks`: prints its plan and a sum of its gradients."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank, models = torch.distributed.get_rank(), None

    def make():
        nonlocal models
        models = layers()
        return models

    def step(models, forwards):
        # Both ranks must have one plan, although the second one holds more memory.
        extra = torch.ones(rank * 500_000)
        loss = step_of_layers(models, forwards)
        for each in models:
            for parameter in each.parameters():
                torch.distributed.all_reduce(parameter.grad)
        return loss + [extra]
    found, peak = Program(make, step).train(planned(int(sys.argv[2])))
    print("plan", [(each.peak_limit, each.saved_limit) for each in steps()[-1].graphs], sum(each.double().sum() for each in found[2:]).item())
    torch.distributed.destroy_process_group()


def try_ranks():
    """Two processes have the plan of the first one, although the second one holds more memory."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([sys.executable, __file__, "rank", "30000000"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                                       "MASTER_PORT": "29531", "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, str(rank))})
                 for rank in range(2)]
        said = [each.communicate()[0] for each in ranks]
    found = [[line for line in each.splitlines() if line.startswith("plan")] for each in said]
    checks.check("two ranks have one plan", len(found[0]) == 1 and found[0] == found[1], "\n".join(said)[-3000:])


def main():
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["rank"]:
        run_rank()
        return
    parts = {each.__name__: each for each in (try_search, try_layers, try_too_small, try_uses, try_trainer, try_ranks, try_inductor)}
    for name in [each for each in sys.argv[1:] if each in parts] or parts:
        parts[name]()
    checks.finish()


if __name__ == "__main__":
    main()
