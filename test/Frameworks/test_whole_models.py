"""backend="reprise" on the models of other packages: eager's loss, gradients and buffers; one set of bits under all plans.

If there is no dropout, both eager and Reprise are compared with eager in double precision. Without `all`, a few
models run.
"""
import copy
import sys

import checks
import models
import torch
from torch import nn

import reprise
from reprise.torch import graphs

QUICK, QUICK_PLANS = ["gpt2", "mixtral", "resnet10", "mobilenet_v3_small", "lstm"], ["gpt2", "timm_vit"]
WITH_DROPOUT = {"gpt2", "llama", "gemma2", "mixtral", "bert", "t5", "vit", "whisper", "mobilenet_v3_small", "convnext_tiny",
                "swin_t", "unet2d", "efficientnet", "timm_vit", "lstm", "transformer"}
RATES = ("attention_dropout", "dropout", "dropout_prob", "dropout_p", "activation_dropout", "attn_drop", "drop_path",
         "drop_prob", "drop_rate")
# Limits of the loss; of all gradients as one vector; of one gradient, relative to it and to all of them.
LOSS, ALL, ONE, PART = 1e-5, 1e-5, 1e-4, 1e-6


def without_dropout(model):
    for module in model.modules():
        if isinstance(module, nn.Dropout) or type(module).__name__ == "StochasticDepth":
            module.p = 0.0
        for name in RATES:
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)


def run(case, state, forward=None, seed=7):
    case.model.load_state_dict(state, strict=False)
    loss = case.step(forward, seed)
    return (loss, *case.state())


def widened(case):
    """The case in double precision."""
    double = copy.deepcopy(case)
    double.model.double()

    def wide(value):
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    double.args = tuple(wide(each) for each in double.args)
    double.kwargs = {name: wide(each) for name, each in double.kwargs.items()}
    return double


def exact_results(case, state):
    """Runs a step in double precision; returns None if PyTorch lacks an op for it."""
    case.model.load_state_dict(state)
    double = widened(case)
    try:
        return run(double, double.model.state_dict())
    except RuntimeError:
        return None


def distance(left, right, names):
    return sum((left[name].double() - right[name].double()).square().sum() for name in names).sqrt().item()


def size(values, names):
    return distance(values, {name: torch.zeros(()) for name in names}, names)


def check_gradients(name, ours, eager, exact):
    total = size(exact, exact)
    error, theirs = distance(ours, exact, exact) / total, distance(eager, exact, exact) / total
    checks.check(f"{name}: all gradients", ours.keys() == exact.keys() and error <= ALL + 3 * theirs, f"{error}, eager {theirs}")
    wrong = [each for each in exact if not distance(ours, exact, [each]) <= (
        ONE * size(exact, [each]) + 10 * distance(eager, exact, [each]) + PART * total)]
    checks.check(f"{name}: each gradient", not wrong, f"{wrong[:5]}")
    print(f"   {name}: gradients differ from those in double precision by {error:.1e}, eager's by {theirs:.1e}")


def check_buffers(name, ours, eager, exact):
    """Compares a running mean relative to the spread of its samples: behind a batch norm it is zero up to rounding."""
    def scale(each):
        spread = exact.get(each.replace("running_mean", "running_var"))
        return spread.double().sqrt().norm() if "running_mean" in each else exact[each].double().norm()

    wrong = [each for each in exact if distance(ours, exact, [each])
             > 1e-5 * scale(each) + 3 * distance(eager, exact, [each]) + 1e-30]
    checks.check(f"{name}: buffers", not wrong, f"{wrong[:5]}")


def try_model(name):
    case = models.build(name)
    without_dropout(case.model)
    state = copy.deepcopy(case.model.state_dict())
    eager = run(case, state)
    exact = exact_results(case, state) or eager
    torch._dynamo.reset()
    forward = torch.compile(case.model, backend="reprise")
    ours = run(case, state, forward)
    checks.check(f"{name}: loss", abs(ours[0] - exact[0]) <= LOSS * abs(exact[0]) + 3 * abs(eager[0] - exact[0]),
                 f"{ours[0]}, exact {exact[0]}, eager {eager[0]}")
    check_gradients(name, ours[1], eager[1], exact[1])
    check_buffers(name, ours[2], eager[2], exact[2])
    again = run(case, state, forward)
    checks.check(f"{name}: the same bits again", torch.equal(again[0], ours[0]) and not unequal(again[1], ours[1]))


def unequal(left, right):
    return [name for name in left.keys() | right.keys() if name not in left or name not in right
            or not torch.equal(left[name], right[name])]


def try_plans(name):
    """Checks dropout: other plans have the same bits; another seed has other masks."""
    case = models.build(name)
    state = copy.deepcopy(case.model.state_dict())
    # Lazy lookups of a package break the graph of a first call.
    case.step()
    made = []
    for options in ({"policy": "save-all"}, {"policy": "recompute-all"}, {"budget": "70%"}):
        torch._dynamo.reset()
        forward = torch.compile(case.model, backend="reprise", options=options)
        made.append((options, run(case, state, forward), graphs()[-1].report))
    first = made[0][1]
    for options, other, report in made[1:]:
        wrong = unequal(first[1], other[1]) + unequal(first[2], other[2])
        checks.check(f"{name} with {options}: the bits of save-all", torch.equal(first[0], other[0]) and not wrong,
                     f"{wrong[:3]}")
        checks.check(f"{name} with {options}: ops are replayed", report.replayed_ops > 0)
    checks.check(f"{name}: within 70 % of the arena of save-all",
                 made[2][2].arena_bytes + made[2][2].workspace_bytes
                 <= 0.7 * (made[0][2].arena_bytes + made[0][2].workspace_bytes))
    other = run(case, state, forward, seed=8)
    checks.check(f"{name}: another seed draws other masks, where there are any",
                 torch.equal(other[0], first[0]) != (name in WITH_DROPOUT))


def train(case, state, forward, optimizer):
    """Losses of three steps."""
    case.model.load_state_dict(state, strict=False)
    made = optimizer(case.model.parameters())
    losses = []
    for seed in range(3):
        losses.append(case.step(forward, seed).item())
        torch.nn.utils.clip_grad_norm_(case.model.parameters(), 1.0)
        made.step()
    return torch.tensor(losses)


def try_training(name, optimizer):
    case = models.build(name)
    without_dropout(case.model)
    state = copy.deepcopy(case.model.state_dict())
    torch._dynamo.reset()
    expected = train(case, state, None, optimizer)
    losses = train(case, state, torch.compile(case.model, backend="reprise"), optimizer)
    checks.check(f"{name} trains as eager does", torch.allclose(losses, expected, rtol=1e-4), f"{losses}, eager {expected}")
    checks.check(f"{name} learns", losses[2] < losses[0])


def attempt(name, function, *arguments):
    try:
        function(name, *arguments)
    except ImportError as error:
        checks.skip(name, str(error).splitlines()[0])
    except (reprise.Error, RuntimeError) as error:
        checks.check(f"{name}: {function.__name__}", False, str(error)[:2000])


def main():
    models.prepare()
    everything = "all" in sys.argv[1:]
    for name in models.CASES if everything else QUICK:
        attempt(name, try_model)
    for name in models.CASES if everything else QUICK_PLANS:
        attempt(name, try_plans)
    attempt("gpt2", try_training, lambda parameters: torch.optim.AdamW(parameters, lr=1e-3))
    attempt("resnet10", try_training, lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9))
    checks.finish()


if __name__ == "__main__":
    main()
