"""backend="reprise_plan" on regions of torch.utils.checkpoint without a budget: at most eager's bytes, and the bits of a graph
without regions."""
import functools
import warnings

import checks
import memory
import torch
import torch.nn.functional as F
from test_plan import Net, compiled, equal, refused, step
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import reprise
from reprise.torch import plans

aten = torch.ops.aten
# Bytes outside of a graph, and of the generator's states that a few draws keep: 5056 bytes each.
OUTSIDE = 64
region = functools.partial(checkpoint, use_reentrant=False)


def keep_products(context, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op in (aten.mm.default, aten.addmm.default) else CheckpointPolicy.PREFER_RECOMPUTE


selective = functools.partial(region, context_fn=functools.partial(create_selective_checkpoint_contexts, keep_products))


def block(width, rate=0.0):
    return nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU(), nn.Dropout(rate))


class Layers(nn.Module):
    """Model of layers in sequence, each a region of its own."""

    def __init__(self, around=region, layers=4, rate=0.0):
        super().__init__()
        self.around, self.layers = around, nn.ModuleList(block(64, rate) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = self.around(layer, x)
        return x.square().mean()


class Reentrant(Layers):
    """Model of layers in regions of the older kind, whose input must have a gradient."""

    def __init__(self):
        super().__init__(functools.partial(checkpoint, use_reentrant=True))
        self.scale = nn.Parameter(torch.ones(64))

    def forward(self, x):
        return super().forward(x * self.scale)


class Attention(nn.Module):
    """Model of blocks of attention with a mask that each block computes, residuals around regions, and a head
    outside."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(6))
        self.inner = nn.ModuleList(nn.Linear(64, 192) for _ in range(3))
        self.wide, self.narrow = (nn.ModuleList(nn.Linear(*each) for _ in range(3)) for each in ((64, 256), (256, 64)))
        self.head = nn.Linear(64, 32)

    def attend(self, place, x):
        q, k, v = self.inner[place](self.norms[2 * place](x)).view(*x.shape[:2], 3, 4, 16).permute(2, 0, 3, 1, 4)
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = F.dropout((q @ k.mT / 4).masked_fill(mask, float("-inf")).softmax(-1), 0.1)
        return (weights @ v).transpose(1, 2).reshape(x.shape)

    def widen(self, place, x):
        return self.narrow[place](F.gelu(self.wide[place](self.norms[2 * place + 1](x))))

    def forward(self, x):
        x = x.view(-1, 64, 64)
        for place in range(3):
            x = x + region(self.attend, place, x)
            x = x + region(self.widen, place, x)
        return F.log_softmax(self.head(x), -1).square().mean()


class Nested(nn.Module):
    """Model of regions of two layers, each of which is a region."""

    def __init__(self):
        super().__init__()
        self.pairs = nn.ModuleList(nn.ModuleList(block(64, 0.2) for _ in range(2)) for _ in range(3))

    @staticmethod
    def walk(pair, x):
        for layer in pair:
            x = region(layer, x)
        return x.sin()

    def forward(self, x):
        for pair in self.pairs:
            x = region(self.walk, pair, x)
        return x.square().mean()


class Images(nn.Module):
    """Model of convolutions and batch norms down and up again, with a value from one region to a later one."""

    def __init__(self):
        super().__init__()
        self.down, self.up = (nn.ModuleList(nn.Sequential(nn.Conv2d(each, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
                                            for each in widths) for widths in ((16, 16, 16), (32, 32)))

    def forward(self, x):
        x, kept = x.view(-1, 16, 16, 16), []
        for each in self.down:
            x = region(each, x)
            kept.append(x)
        for each in self.up:
            x = region(lambda left, right: each(torch.cat((left, right), 1)), x, kept.pop())
        return x.square().mean()


class Deep(nn.Module):
    """Model of regions of two convolutions with a batch norm, each of which is a region."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()) for _ in range(4))

    def forward(self, x):
        x = x.view(-1, 16, 16, 16)
        for left, right in zip(self.parts[::2], self.parts[1::2]):
            x = region(lambda x: region(right, region(left, x)), x)
        return x.square().mean()


class Encoder(nn.Module):
    """Model of PyTorch's own layers. Inductor's first code for them needs more memory than eager."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(64, 4, 128, 0.1, batch_first=True) for _ in range(2))

    def forward(self, x):
        x = x.view(-1, 64, 64)
        for layer in self.layers:
            x = region(layer, x)
        return x.square().mean()


MODELS = {"encoder": Encoder, "layers": Layers, "dropout": functools.partial(Layers, rate=0.3), "selective": functools.partial(Layers, selective),
          "attention": Attention, "nested": Nested, "images": Images, "deep": Deep, "reentrant": Reentrant}


def measure(model, run, x):
    model.zero_grad(set_to_none=True)
    return memory.measure_peak(lambda: run(x).backward())


def try_peaks():
    for name in MODELS:
        model, x = MODELS[name](), torch.randn(2048, 64)
        torch._dynamo.reset()
        expected, eager = step(model, torch.compile(model, backend="aot_eager"), x), measure(model, model, x)
        for codegen in ("eager", "inductor") if name in ("encoder", "nested") else ("eager",):
            run = compiled(model, codegen=codegen)
            found = step(model, run, x)
            executed, plan = measure(model, run, x), plans()[-1]
            checks.check(f"{name}, {codegen}: the plan tells the peak", executed <= plan.peak + OUTSIDE, f"{executed} > {plan.peak}")
            print(f"   {name}, {codegen}: eager {eager}, executed {executed}, {plan}")
            checks.check(f"{name}, {codegen}: at most eager's bytes", executed <= eager + OUTSIDE, f"{executed} > {eager}")
            if codegen == "eager":
                checks.check(f"{name}: bits of aot_eager", equal(found, expected))


def try_regions():
    """Checks random ops in regions, selective ones as well."""
    inner = Net()
    x = torch.randn(256, 24)

    def policy(context, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op is aten.addmm.default else CheckpointPolicy.PREFER_RECOMPUTE
    expected = step(inner, inner, x)
    for name, more in (("torch.utils.checkpoint", {}), ("selective checkpointing", {
            "context_fn": lambda: create_selective_checkpoint_contexts(policy)})):
        def region(x):
            return checkpoint(inner, x, use_reentrant=False, **more)
        found = step(inner, compiled(region), x)
        checks.check(f"{name} is obeyed without a budget, and changes no bit",
                     equal(found, expected) and plans()[-1].random_replays > 0, str(plans()[-1]))


def try_shares():
    """Checks that a share from PyTorch's regions that no plan meets is a warning; a user's share is an error."""
    model, x = Layers(), torch.randn(2048, 64)
    expected = step(model, model, x)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = step(model, compiled(model, budget="1%"), x)
    told = [str(each.message) for each in said if "takes its place" in str(each.message)]
    checks.check("a share that no plan meets is a warning, beside regions as well", equal(found, expected) and len(told) == 1, str(told))
    again = {aten.gelu: CheckpointPolicy.MUST_RECOMPUTE}
    found = step(model, compiled(model, policy=again), x)
    checks.check("a policy may have what a region hands over replayed", equal(found, expected), str(plans()[-1]))
    for name, model, policy in (("a policy's", Layers(), {aten.addmm: CheckpointPolicy.MUST_SAVE}), ("a region's", Layers(selective), None)):
        good, text = refused(reprise.Error, "MUST label", call=lambda: step(model, compiled(model, budget="1%", policy=policy), x))
        checks.check(f"{name} MUST_SAVE that clashes with a share is an error", good, text)
    weight = torch.randn(64, 64, requires_grad=True)
    run = compiled(lambda x: torch.tanh(torch.sin(x @ weight) @ weight).square().sum(), budget="10%",
                   policy={aten.sin: CheckpointPolicy.MUST_SAVE})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run(x[:64]).backward()
    told = [str(each.message) for each in said if "takes its place" in str(each.message)]
    checks.check("a label that has no part in that leaves it a warning", len(told) == 1 and "MUST" not in told[0], str(told))


class Halves(nn.Module):
    """Model of nested regions of PyTorch's layers."""

    def __init__(self, rate):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(64, 4, 128, rate, batch_first=True) for _ in range(4))

    def forward(self, x):
        x = x.view(-1, 64, 64)
        for left, right in zip(self.layers[::2], self.layers[1::2]):
            x = region(lambda x: region(right, region(left, x)), x)
        return x.square().mean()


def try_halves():
    """Checks regions under autocast: dropouts of 16 bits have their bits, and those that drop nothing take no
    memory."""
    for rate in (0.0, 0.1):
        model, x = Halves(rate), torch.randn(1024, 64)
        with torch.autocast("cpu", torch.bfloat16):
            torch._dynamo.reset()
            expected, eager = step(model, torch.compile(model, backend="aot_eager"), x), measure(model, model, x)
            run = compiled(model)
            found = step(model, run, x)
            executed = measure(model, run, x)
        checks.check(f"autocast, a rate of {rate}: bits", equal(found, expected))
        checks.check(f"autocast, a rate of {rate}: at most eager's bytes", executed <= eager + OUTSIDE, f"{executed} > {eager}")


def try_floats():
    """Checks that a float that varies, beside sizes that do, is read in the body of a region, and of a nested
    region."""
    weight = torch.randn(24, requires_grad=True)

    def inner(x, rate):
        return F.dropout(x * weight * rate, rate)

    def loss(x, rate):
        def body(x):
            return inner(x, rate) + checkpoint(lambda x: inner(x, rate).tanh(), x, use_reentrant=False)
        return checkpoint(body, x, use_reentrant=False).sum()
    for codegen in ("eager", "inductor"):
        run = torch.compile(loss, backend="reprise_plan", dynamic=True, options={"codegen": codegen, "budget": "100%"})
        for batch, rate in ((64, 0.5), (32, 0.25), (48, 0.125), (64, 0.25)):
            x, found = torch.randn(batch, 24), []
            for call in (run, loss):
                torch.manual_seed(3)
                weight.grad = None
                value = call(x, rate)
                value.backward()
                found.append((value.detach(), weight.grad))
            # Inductor draws from a generator of its own.
            is_same = equal(*found) if codegen == "eager" else all(each.isfinite().all() for each in found[0])
            checks.check(f"a region with a rate of {rate} for a batch of {batch}, {codegen}", is_same, str(found))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_peaks, try_regions, try_shares, try_halves, try_floats):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
