"""backend="reprise" in compiled functions that ask for gradients themselves: training steps, penalties, equations.
Dynamo traces their code, but no code of Reprise."""
import copy

import checks
import torch
import torch.nn.functional as F
from torch import nn
from whole import compiled, error_of, run_parts

from reprise.torch import graphs


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(11, 6), nn.LayerNorm(6)
        self.up, self.down = nn.Linear(6, 12), nn.Linear(12, 11)

    def forward(self, x):
        return self.down(torch.tanh(self.up(self.norm(self.table(x).mean(1)))))


#: Options of optimizers that need some; a rate at which each optimizer moves.
OPTIONS = {torch.optim.SGD: {"momentum": 0.9, "weight_decay": 0.01}, torch.optim.LBFGS: {"max_iter": 4}}


def optimizers():
    """Lists all optimizers of torch.optim except the one for sparse gradients, and Muon, which accepts only
    matrices."""
    found = [each for each in vars(torch.optim).values() if isinstance(each, type) and issubclass(each, torch.optim.Optimizer)]
    return [each for each in found if each not in (torch.optim.Optimizer, torch.optim.SparseAdam)]


def train(kind, wrap, steps=3):
    """Returns losses and parameters of some steps, which are compiled as a whole."""
    torch.manual_seed(0)
    model, x, labels = Model().double(), torch.randint(0, 11, (8, 3)), torch.randint(0, 11, (8,))
    chosen = [each for each in model.parameters() if each.ndim == 2] if kind.__name__ == "Muon" else list(model.parameters())
    optimizer = kind(chosen, **{"lr": 0.05, **OPTIONS.get(kind, {})})

    def loss_of():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), labels)
        loss.backward()
        return loss

    def step():
        return optimizer.step(loss_of) if kind is torch.optim.LBFGS else (loss_of(), optimizer.step())[0]

    step = wrap(step)
    return [*(step().detach().clone() for _ in range(steps)), *(each.detach() for each in model.parameters())]


def near(ours, eager, tolerance=1e-9):
    return len(ours) == len(eager) and all((a is None) == (b is None) and (a is None or (a - b).abs().max() <= tolerance * (1 + b.abs().max()))
                                           for a, b in zip(ours, eager))


def try_optimizers():
    """Compiled, PyTorch computes powers of betas in single precision; Muon rounds to bf16 in between."""
    for kind in optimizers():
        eager, ours = train(kind, lambda step: step), []
        text = error_of(lambda: ours.extend(train(kind, compiled)))  # noqa: B023
        checks.check(f"a step with {kind.__name__}", near(ours, eager, 0.05 if kind.__name__ == "Muon" else 1e-5)
                     and not torch.equal(eager[0], eager[2]), f"{text[:600]} {ours[:3]}, eager {eager[:3]}")


def clipped(model, x):
    loss = model(x).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    return loss


def scaled(model, x):
    scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=128.0), torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(x).square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss


def penalized(model, x):
    return penalized_at(model, x.detach().requires_grad_())


def penalized_at(model, point):
    (slope,) = torch.autograd.grad(model(point).sum(), point, create_graph=True)
    loss = (slope.norm(dim=1) - 1).square().mean()
    loss.backward()
    return loss


def equation(model, x):
    """Checks u'' = -u with a value at the border: a net that solves an equation."""
    point = x.detach().requires_grad_()
    value = model(point)
    (first,) = torch.autograd.grad(value.sum(), point, create_graph=True)
    (second,) = torch.autograd.grad(first[:, 0].sum(), point, create_graph=True)
    loss = (second[:, :1] + value).square().mean() + (model(torch.zeros_like(x)) - 1).square().mean()
    loss.backward()
    return loss


def accumulated(model, x):
    for part in x.chunk(2):
        loss = model(part).square().mean()
        loss.backward()
    return loss


def net(hooks=False):
    torch.manual_seed(1)
    made = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 1)).double()
    if hooks:
        made[0].weight.register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))
        made[2].register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
        made[4].register_forward_hook(lambda module, inputs, output: output * 0.5)
    return made


def try_gradients_inside():
    x = torch.randn(6, 3).double()
    for function, hooks in ((clipped, False), (scaled, False), (penalized, False), (equation, False), (accumulated, False),
                            (clipped, True)):
        made, text = [], ""
        for wrap in (compiled, lambda function: function):
            model = net(hooks)
            step = wrap(lambda x, function=function, model=model: function(model, x))
            text += error_of(lambda: made.append([step(x).detach(), *(each.grad for each in model.parameters()), *model.parameters()]))
        checks.check(f"{function.__name__}{' with hooks' if hooks else ''}", len(made) == 2 and near(*made), f"{text} {made}"[:900])


def try_compiled_autograd():
    """Checks that PyTorch's compiler of backward passes calls our backward function unchanged."""
    x, made = torch.randn(6, 3).double(), []
    for wrap in (compiled, lambda function: function):
        model = net()
        forward = wrap(model)
        with torch._dynamo.config.patch(compiled_autograd=wrap is compiled):
            for _ in range(2):
                forward(x).square().mean().backward()
        made.append([each.grad for each in model.parameters()])
    checks.check("compiled autograd", near(*made), f"{made}"[:900])


def try_untraced():
    """Checks that no frame of Reprise becomes a graph."""
    seen = []

    def backend(module, inputs):
        seen.extend(node.meta.get("stack_trace") or "" for node in module.graph.nodes)
        return torch._dynamo.lookup_backend("reprise")(module, inputs)

    torch._dynamo.reset()
    model, before = net(), len(graphs())
    # PyTorch 2.15 compiles no function that makes a leaf in front of a graph break.
    torch.compile(lambda x: penalized_at(model, x), backend=backend)(torch.randn(6, 3).double().requires_grad_())
    checks.check("graphs are the user's alone", seen and len(graphs()) > before and not any("reprise/torch" in each for each in seen),
                 f"{[each for each in seen if 'reprise' in each][:2]}")
    again = copy.deepcopy(model)
    checks.check("a model is still copied", near([*again.parameters()], [*model.parameters()]))


if __name__ == "__main__":
    run_parts(try_optimizers, try_gradients_inside, try_compiled_autograd, try_untraced)
