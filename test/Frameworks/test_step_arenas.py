"""Budgets of whole steps with backend="reprise": arenas of all calls, and what PyTorch's allocator holds beside them."""
import gc
import tempfile

import checks
import test_step_budgets as budgets
import torch

import reprise
from reprise.torch import graphs, steps


def whole(budget):
    return lambda models: [torch.compile(each, backend="reprise", options={} if budget is None else {"budget": budget}) for each in models]


def count_arenas(known):
    """Bytes of all arenas of graphs behind `known`, with those of programs for derivatives."""
    gc.collect()
    entries = {id(entry): entry for each in graphs() if each.number > known and each.step for entry in [each.step, *each.level.entries()]}
    return sum(each.taken * len(each.runs) for each in entries.values())


def slope_of(models, forwards):
    """A step of two models, of which the penalty is compiled, too: its gradient has a gradient."""
    make, judge = forwards
    first = -judge(budgets.X[1]).mean()
    with torch.no_grad():
        made = make(budgets.X[0])
    mixed = torch.lerp(budgets.X[1], made, 0.5).requires_grad_()
    slope, = torch.autograd.grad(judge(mixed).sum(), mixed, create_graph=True)
    first = first + judge(made).mean() + 10 * (slope.norm(dim=1) - 1).square().mean()
    first.backward()
    second = -judge(make(budgets.X[2])).mean()
    second.backward()
    return [first.detach(), second.detach()]


def eager_between(models, forwards):
    """Eager code between two compiled models, whose values are more than the arenas."""
    x = forwards[0](budgets.X[0])
    x = forwards[1](x.repeat(2, 1).sin().cos().sin().chunk(2)[1])
    loss = x.square().mean()
    del x
    loss.backward()
    return [loss.detach()]


def try_whole():
    """Checks backend="reprise": the arenas of a step, all calls and derivatives together, and what the allocator holds
    beside them are within the budget."""
    # Programs of equal text share their arenas, so the one with the fewest calls at once comes first.
    for name, program, shares in (("eight layers", budgets.Program(budgets.layers, budgets.step_of_layers), (0.85, 0.7)),
                                  ("eager code between", budgets.Program(budgets.nets, eager_between), (0.95,)),
                                  ("accumulation over 4", budgets.Program(budgets.nets, budgets.accumulate), (0.92,)),
                                  ("several forwards", budgets.Program(budgets.nets, budgets.together), (0.9,)),
                                  ("two models and a penalty", budgets.Program(budgets.nets, slope_of), (0.95,))):
        expected, _ = program.train(whole(None))
        known = max([-1, *(each.number for each in graphs())])
        _, beside = program.train(whole("100%"))
        free = count_arenas(known) + beside
        for share in shares:
            budget, known = int(free * share), max(each.number for each in graphs())
            try:
                found, beside = program.train(whole(budget))
            except reprise.Error as error:
                checks.check(f"reprise, {name} within {budget:,} of {free:,} bytes", False, str(error))
                continue
            taken, plan = count_arenas(known) + beside, steps()[-1]
            print(f"   reprise, {name}: without replays {free:,}, budget {budget:,}, taken {taken:,}, of it {beside:,} beside arenas\n{plan}")
            checks.check(f"reprise, {name} at {share}: equal bits", len(found) == len(expected) and all(map(torch.equal, found, expected)))
            checks.check(f"reprise, {name} at {share}: the bytes are within the budget", taken <= budget == plan.budget, f"{taken} {plan}")
            checks.check(f"reprise, {name} at {share}: the prediction is near", abs(plan.peak / taken - 1) < budgets.NEAR, f"{plan.peak} {taken}")


def try_many_calls():
    """Checks that a step whose waiting calls surely exceed the bytes is an error before the pass that would exceed them, and
    that a step may have two budgets."""
    budget = 5_000_000
    for name, compile_all in (("reprise_plan", budgets.planned), ("reprise", whole)):
        try:
            budgets.Program(budgets.layers, budgets.step_of_layers).train(compile_all(budget), 1)
            told = None
        except reprise.Error as error:
            told = error
        checks.check(f"{name}: too many calls at once are an error", told and (told.least_budget or 0) > budget
                     and f"more than the budget of {budget} " in str(told) and "calls that wait at once" in str(told), str(told))
    for first, second in ((budgets.planned, budgets.planned), (whole, whole), (whole, budgets.planned)):
        def mixed(models):
            return first("31MB")(models[:1]) + second("32MB")(models[1:])  # noqa: B023
        def free(models):
            return first(None)(models[:1]) + second(None)(models[1:])  # noqa: B023
        (expected, _), (found, _) = (budgets.Program(budgets.nets, budgets.accumulate).train(each) for each in (free, mixed))
        checks.check(f"two budgets in a step, {first.__name__} and {second.__name__}", all(map(torch.equal, found, expected)))


def try_trainer():
    """Checks a Trainer, whose scaled loss is a graph of its own."""
    with tempfile.TemporaryDirectory() as folder:
        known = max([-1, *(each.number for each in graphs())])
        expected, beside = budgets.train_gpt2(folder, backend="reprise")
        budget = int(0.75 * count_arenas(known)) + beside
        for given in (budget, "60%"):
            found, _ = budgets.train_gpt2(folder, backend="reprise", options={"budget": given})
            plan = steps()[-1]
            print(f"   reprise, Trainer within {given}: {plan}")
            checks.check(f"reprise, Trainer within {given}: equal bits", all(map(torch.equal, found, expected)))
            checks.check(f"reprise, Trainer within {given}: the plan fits", plan.peak <= plan.budget and len(plan.graphs) > 1, str(plan))


def main():
    torch.set_num_threads(1)
    for part in (try_whole, try_many_calls, try_trainer):
        part()
    checks.finish()


if __name__ == "__main__":
    main()
