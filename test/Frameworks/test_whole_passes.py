"""backend="reprise" between its passes: one program stops at a pause, and memory of arguments is PyTorch's."""
import gc
import weakref

import checks
import torch
from torch import nn
from whole import compiled, error_of, run_parts

from reprise.torch import graphs


def make_model(dropout=0.3):
    torch.manual_seed(0)
    block = [nn.Linear(24, 24), nn.GELU(), nn.Dropout(dropout), nn.LayerNorm(24)]
    return nn.Sequential(*block, nn.Linear(24, 24), nn.Tanh(), nn.Dropout(dropout), nn.Linear(24, 5))


def gradients(model):
    return [each.grad.clone() for each in model.parameters()]


def equal(these, those):
    return len(these) == len(those) and all(map(torch.equal, these, those))


def one_step(model, forward, x, seed):
    model.zero_grad()
    torch.manual_seed(seed)
    loss = forward(x).square().mean()
    loss.backward()
    return [loss.detach(), *gradients(model)]


def try_plans():
    """Checks that the plan chooses the values that are saved at the pause, and that no bit depends on the choice."""
    model, x, made = make_model(), torch.randn(64, 24), []
    for options in ({"policy": "save-all"}, {"policy": "recompute-all"}, {"budget": "85%"}, {}):
        made.append(one_step(model, compiled(model, **options), x, 3))
        texts = graphs()[-1].texts
        checks.check(f"{options}: one program", len(texts) == 1 and texts[0].count("reprise.pause") == 1, "\n".join(texts))
    checks.check("plans have the same bits", all(equal(made[0], each) for each in made[1:]))


def try_outstanding():
    """Checks that each forward pass that waits for its backward pass has memory of its own; they may end in any
    order."""
    model = make_model()
    forward, batches = compiled(model), [torch.randn(8, 24) for _ in range(3)]
    alone = [one_step(model, forward, x, seed) for seed, x in enumerate(batches)]
    for order in ((0, 1, 2), (2, 0, 1)):
        losses = []
        for seed, x in enumerate(batches):
            torch.manual_seed(seed)
            losses.append(forward(x).square().mean())
        for number in order:
            model.zero_grad()
            losses[number].backward()
            checks.check(f"pass {number} of {order}", equal([losses[number].detach(), *gradients(model)], alone[number]))
    kept = forward(batches[0])
    del kept
    gc.collect()
    checks.check("a pass that was given up", equal(one_step(model, forward, batches[1], 1), alone[1]))


def try_again():
    """Checks that with retain_graph a backward pass runs a second time: saved values are recomputed, with the same
    draws."""
    model, x = make_model(), torch.randn(8, 24)
    forward = compiled(model)
    torch.manual_seed(7)
    loss, made = forward(x).square().mean(), []
    for retain in (True, True, False):
        model.zero_grad()
        loss.backward(retain_graph=retain)
        made.append(gradients(model))
    checks.check("a second and a third backward pass", equal(made[0], made[1]) and equal(made[0], made[2]))
    try:
        loss.backward()
        checks.check("one more is PyTorch's error", False)
    except RuntimeError as error:
        checks.check("one more is PyTorch's error", "second time" in str(error), str(error))


def try_outputs():
    """Checks that outputs belong to the caller at the pause: the backward pass does not read them there."""
    model, x = make_model(0.0), torch.randn(8, 24)

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            y = self.inner[0](x).tanh()
            return y, self.inner[4](y).exp(), y.argmax(1)

    both = Two()
    forward = compiled(both)

    first, second, indices = forward(x)
    (first.square().sum() + second.sum()).backward()
    clean = [each.grad.clone() for each in both.parameters() if each.grad is not None]
    checks.check("an index is no gradient's", not indices.requires_grad and torch.equal(indices, both(x)[2]))
    first, second, _ = forward(x)
    both.zero_grad()
    torch.autograd.backward([first, second], [2 * first.detach().clone(), torch.ones_like(second)])
    given = [each.grad.clone() for each in both.parameters() if each.grad is not None]
    checks.check("cotangents that were computed from outputs", all(torch.allclose(a, b, rtol=1e-5) for a, b in zip(clean, given)))
    first, second, _ = forward(x)
    cotangents = [2 * first.detach().clone(), torch.ones_like(second)]
    first.data.fill_(float("nan"))
    second.data.zero_()
    both.zero_grad()
    torch.autograd.backward([first, second], cotangents)
    spoiled = [each.grad.clone() for each in both.parameters() if each.grad is not None]
    checks.check("outputs that were overwritten", equal(given, spoiled))


def try_memory():
    """Arguments lie anywhere: in one another's places of the step before, in each other, in an earlier result."""
    def function(a, b):
        return (2 * a + b.tanh()).sum()

    forward, a, b = compiled(function), torch.randn(64, 64), torch.randn(64, 64)
    for x, y in ((a, b), (b, a), (a, a.t()), (a, a[1]), (a[:32], a[16:48])):
        checks.check("arguments that moved, or overlap", torch.allclose(forward(x, y), function(x, y), rtol=1e-5))
    chain, expected = torch.compile(lambda x: torch.tanh(x) * 2, backend="reprise"), a
    made = a
    for _ in range(4):
        made, expected = chain(made), torch.tanh(expected) * 2
    checks.check("a result that is the next argument", torch.allclose(made, expected, rtol=1e-5))
    weight = torch.nn.Parameter(torch.randn(64, 64))
    forward = compiled(lambda x: (x @ weight).sin().sum())
    forward(a).backward()
    first = weakly(weight)
    weight.grad = None
    gc.collect()
    checks.check("gradients are not held behind their step", first() is None)


def refill(tensor):
    """Frees a storage and allocates it again elsewhere, as FSDP does between the passes."""
    values, storage = tensor.detach().clone(), tensor.untyped_storage()
    size = storage.size()
    storage.resize_(0)
    made = [torch.full_like(values, float("nan")) for _ in range(4)]
    storage.resize_(size)
    tensor.data.copy_(values)
    return made


def replace(tensor):
    """Gives a tensor other memory, and spoils the old one."""
    old = tensor.data
    tensor.data = old.clone()
    old.fill_(float("nan"))


def try_moved():
    """Checks that every pass looks up the address of a tensor."""
    x, start = torch.randn(64, 32).double(), torch.randn(32, 32).double() / 6

    def function(y, w, shift):
        return torch.tanh(torch.tanh(y @ w + shift) @ w.T).square().sum()

    def run(forward, move, second):
        y, w, shift = (each.clone().requires_grad_() for each in (x, start, start[0]))
        loss = forward(y[1:].T.contiguous().T if second else y, w, shift)
        for each in (y, w, shift):
            move(each)
        if second:
            (slope,) = torch.autograd.grad(loss, w, create_graph=True)
            for each in (y, w, shift):
                move(each)
            slope.square().sum().backward()
        else:
            loss.backward(retain_graph=True)
            for each in (y, w, shift):
                move(each)
            loss.backward()
        return [y.grad, w.grad, shift.grad]

    for policy in ("save-all", "recompute-all"):
        forward = compiled(function, policy=policy)
        for move in (refill, replace):
            for second in (False, True):
                right = run(function, lambda each: None, second)
                near = [torch.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(run(forward, move, second), right)]
                checks.check(f"{policy}: {move.__name__}{', second order' if second else ', two passes'}", all(near), f"{near}")
    w = start.clone().requires_grad_()
    loss = compiled(function)(x, w, start[0])
    w.untyped_storage().resize_(0)
    text = error_of(loss.backward)
    checks.check("memory that is gone is an error", "[32, 32]" in text and "its storage was freed or shrunk" in text, text)


def try_written():
    """Checks that a write between the passes is PyTorch's error if the backward pass reads the tensor, and allowed
    otherwise."""
    x = torch.randn(8, 24)

    def run(forward, model, which):
        loss = forward(x).square().mean()
        with torch.no_grad():
            model.get_parameter(which).mul_(2)
        return error_of(loss.backward) or gradients(model)

    for which in ("0.bias", "0.weight", "7.bias", "7.weight"):
        eager, ours = make_model(0.0), make_model(0.0)
        right, found = run(eager, eager, which), run(compiled(ours, policy="save-all"), ours, which)
        if isinstance(right, str):
            checks.check(f"{which} was overwritten", isinstance(found, str) and "modified by an inplace operation" in found, f"{found}")
        else:
            good = not isinstance(found, str) and all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(found, right))
            checks.check(f"{which} may be overwritten", good, f"{found}"[:400])


def try_hooks():
    """Checks that the backward pass reads the tensors that hooks return, and that the packed tensors' memory is
    freed."""
    model, x, packed = make_model(0.0), torch.randn(8, 24), []
    right = one_step(model, compiled(model), x, 1)

    def pack(tensor):
        packed.append(weakref.ref(tensor.untyped_storage()))
        return tensor.detach().clone()

    model.zero_grad()
    point = (x * 1).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = torch.compile(model, backend="reprise")(point).square().mean()
    before = len(packed)
    del point
    gc.collect()
    gone = sum(each() is None for each in packed)
    loss.backward()
    checks.check("hooks pack and unpack", before > 4 and equal(right, [loss.detach(), *gradients(model)]))
    checks.check("what was packed is not held", gone > 0, f"{gone} of {len(packed)}")


class Scaled(nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.project, self.scale = nn.Linear(width, 3 * width), scale

    def forward(self, x):
        q, k, v = (each.unsqueeze(1) for each in self.project(x).chunk(3, -1))
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.scale)


def try_models():
    """Checks models of one class with other sizes and other numbers, which Dynamo turns into variables."""
    torch._dynamo.reset()
    for width, length, scale in ((8, 5, 0.5), (8, 7, 0.25), (16, 6, 0.125), (16, 6, 2.0)):
        model, x = Scaled(width, scale), torch.randn(2, length, width)
        forward = torch.compile(model, backend="reprise")
        made = []
        for each in (forward, model):
            model.zero_grad()
            loss = each(x).square().sum()
            loss.backward()
            made.append([loss.detach(), *gradients(model)])
        close = all(torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(*made))
        checks.check(f"width {width}, length {length}, scale {scale}", close, f"{made}"[:500])


def weakly(weight):
    return weakref.ref(weight.grad.untyped_storage())


if __name__ == "__main__":
    run_parts(try_plans, try_outstanding, try_again, try_outputs, try_memory, try_moved, try_written, try_hooks, try_models)
