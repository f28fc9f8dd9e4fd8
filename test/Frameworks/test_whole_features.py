"""backend="reprise" on features of PyTorch programs: writes in place, ties, buffers, no_grad, autocast, views,
hooks."""
import copy
import functools
import gc
import warnings

import checks
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn
from whole import compiled, error_of, run_parts

from reprise.torch import graphs


def gradients(model):
    return {name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None}


def step(model, forward, *arguments):
    """Returns outputs, gradients and buffers of a step whose loss uses all outputs."""
    model.zero_grad(set_to_none=True)
    made = forward(*arguments)
    outputs = list(made) if isinstance(made, (tuple, list)) else [made]
    differentiable = [each for each in outputs if each.requires_grad]
    # A norm has no gradient for weights that are all equal, or equal to its result.
    sum((each.double() * torch.arange(each.numel()).cos().view(each.shape)).sum() for each in differentiable).backward()
    return [each.detach() for each in outputs], gradients(model), dict(model.named_buffers())


def close(ours, eager, tolerance):
    if isinstance(ours, dict):
        return ours.keys() == eager.keys() and all(close(ours[name], eager[name], tolerance) for name in eager)
    if isinstance(ours, list):
        return len(ours) == len(eager) and all(close(*both, tolerance) for both in zip(ours, eager))
    error = (ours.double() - eager.double()).norm()
    return ours.dtype == eager.dtype and ours.shape == eager.shape and error <= tolerance * eager.double().norm() + 1e-7


def compare(name, model, *arguments, tolerance=1e-5, steps=1):
    """Checks that a compiled model equals eager."""
    other, forward = copy.deepcopy(model), compiled(model)
    for number in range(steps):
        ours, eager = step(model, forward, *arguments), step(other, other, *arguments)
        for what, a, b in zip(("outputs", "gradients", "buffers"), ours, eager):
            checks.check(f"{name}: {what} of step {number}", close(a, b, tolerance), f"{a}\n{b}"[:600])


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        y = self.first(x)
        y[:, 2:4] *= 2
        y[0].add_(1)
        y.t()[1].neg_()
        z = self.second(y.relu_())
        z[1:, ::3] = 0.5
        return z.add_(y).sigmoid_()


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(16, 8, padding_idx=0), nn.Linear(8, 16, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens).tanh())


class Bags(nn.Module):
    """Model of bags of rows, some of them empty, with padding, with weights, and as rows of one length."""

    def __init__(self):
        super().__init__()
        self.sums, self.means = nn.EmbeddingBag(16, 8, mode="sum", padding_idx=3), nn.EmbeddingBag(16, 8, padding_idx=0)
        self.ended = nn.EmbeddingBag(16, 8, mode="sum", include_last_offset=True)
        self.weights = nn.Parameter(torch.randn(7))

    def forward(self, tokens, offsets):
        return (self.means(tokens, offsets), self.sums(tokens, offsets, self.weights), self.ended(tokens, offsets).tanh(),
                self.means(tokens.view(1, 7)), self.means(torch.tensor([[0, 0], [1, 2]])))


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        # A norm cancels a bias, so the layer has none.
        self.linear, self.norm = nn.Linear(8, 8, bias=False), nn.BatchNorm1d(8)
        self.register_buffer("average", torch.ones(8))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        y = self.norm(self.linear(x))
        y = y + self.average
        self.average.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        self.count += 1
        return y * self.average


class Stops(nn.Module):
    """Targets that no gradient comes from: detach, and a region without gradients."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        y = self.first(x)
        with torch.no_grad():
            scale = self.second(y).exp().sum(-1, keepdim=True)
        return self.second(y) / scale + y.detach() * y, (y.sigmoid() - y.sigmoid().detach()) * 3


class Regions(nn.Module):
    """Regions of torch.utils.checkpoint with attention and an end of a gradient inside."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def part(self, x):
        q, k, v = self.qkv(x).view(6, 3, 2, 4).permute(1, 2, 0, 3)
        with torch.no_grad():
            scale = v.exp()
        return F.scaled_dot_product_attention(q, k, scale * v).transpose(0, 1).flatten(1)

    def forward(self, x):
        for _ in range(2):
            x = torch.utils.checkpoint.checkpoint(self.part, x, use_reentrant=False)
        return x


class Outputs(nn.Module):
    """Model of several outputs: a view of another output, an input, and a value that is no tensor of floats."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        return y, y.view(-1, 4)[1:], y.argmax(-1), y.t()


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.norm, self.out = nn.Linear(16, 48), nn.LayerNorm(16), nn.Linear(16, 16)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            q, k, v = self.qkv(self.norm(x)).view(2, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k.float(), v, is_causal=True)
            return self.out(y.transpose(1, 2).flatten(2)).float()


class Windows(nn.Module):
    """Model of means of windows by every way of counting elements, windows as columns, and images of columns."""

    def forward(self, x):
        means = [F.avg_pool2d(x, 3, 2, 1, ceil_mode=ceil, count_include_pad=padding, divisor_override=divisor)
                 for ceil in (False, True) for padding in (False, True) for divisor in (None, 5)]
        columns = F.unfold(x, (3, 2), dilation=(1, 2), padding=(2, 0), stride=(2, 3))
        image = F.fold(columns * columns, (9, 8), (3, 2), dilation=(1, 2), padding=(2, 0), stride=(2, 3))
        return *means, columns, image, F.avg_pool2d(x[0], (2, 3), ceil_mode=True), F.fold(F.unfold(x[0], 2), (9, 8), 2)


def try_models():
    torch.manual_seed(0)
    x = torch.randn(6, 8)
    compare("writes in place", InPlace(), x)
    compare("tied weights and a padding row", Tied(), torch.tensor([[1, 0, 3], [0, 5, 1]]))
    compare("bags of rows", Bags(), torch.tensor([1, 0, 3, 3, 5, 1, 15]), torch.tensor([0, 2, 2, 4, 7]))
    compare("mutated buffers", Buffers(), x, steps=3)
    compare("detach and no_grad", Stops(), x)
    compare("regions of torch.utils.checkpoint", Regions(), x)
    compare("outputs and views of them", Outputs(), x)
    compare("windows", nn.Sequential(nn.Conv2d(2, 2, 1), Windows()), torch.randn(2, 2, 9, 8))
    compare("autocast to bf16", Autocast(), torch.randn(2, 6, 16), tolerance=2e-2)
    compare("a module in bf16", Autocast().bfloat16(), torch.randn(2, 6, 16).bfloat16(), tolerance=4e-2)
    compare("double precision", InPlace().double(), x.double(), tolerance=1e-13)


def try_inference():
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.5)), torch.randn(6, 8)
    model(x)
    model.eval()
    forward = compiled(model)
    with torch.no_grad():
        checks.check("eval without gradients", close(forward(x), model(x), 1e-6))
    checks.check("only its forward pass is compiled", graphs()[-1].step is None)
    compare("eval with gradients", model, x)


def try_accumulation():
    """Checks that gradients add up, hooks receive them, and clipping and retain_graph work."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    other, seen = copy.deepcopy(model), []
    forward = compiled(model)
    model[0].weight.register_hook(lambda g: seen.append(g) or g * 2)
    other[0].weight.register_hook(lambda g: g * 2)
    for number in range(2):
        x = torch.randn(6, 8)
        for each in (forward, other):
            loss = each(x).square().mean()
            loss.backward(retain_graph=True)
            loss.backward()
    checks.check("gradients add up, hooks change them", close(gradients(model), gradients(other), 1e-5) and len(seen) == 4)
    norms = [nn.utils.clip_grad_norm_(each.parameters(), 0.5) for each in (model, other)]
    checks.check("clipping", close(*norms, 1e-5) and close(gradients(model), gradients(other), 1e-5))
    pending = [forward(torch.full((6, 8), value)).sum() for value in (1.0, 2.0)]
    model.zero_grad(), other.zero_grad()
    sum(pending).backward()
    sum(other(torch.full((6, 8), value)).sum() for value in (1.0, 2.0)).backward()
    checks.check("two forward passes, then one backward pass", close(gradients(model), gradients(other), 1e-5))


def try_random():
    """Checks that manual_seed decides the masks, each call draws others, and a rate is exact."""
    model, x = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.25)), torch.ones(64, 64)
    forward = compiled(model)
    torch.manual_seed(5)
    first, second = forward(x), forward(x)
    torch.manual_seed(5)
    checks.check("manual_seed decides the masks", torch.equal(forward(x), first))
    checks.check("each call draws its own", not torch.equal(first, second))
    share = (first == 0).float().mean().item()
    checks.check("a quarter is dropped", abs(share - 0.25) < 0.03, f"{share}")
    first.sum().backward()
    expected = ((first != 0).float() / 0.75).sum(0)
    checks.check("the backward pass has the masks of its forward pass", close(model[0].bias.grad, expected, 1e-5))


class Recurrent(nn.Module):
    def __init__(self, kind, rate):
        super().__init__()
        self.inner = kind(8, 8, 3, dropout=rate, bidirectional=True)

    def forward(self, x):
        y, state = self.inner(x)
        return y, *(state if isinstance(state, tuple) else (state,))


def try_recurrent():
    """Checks that layers of a recurrent net have dropout between them; without dropout they equal eager's."""
    torch._dynamo.config.allow_rnn = True
    x = torch.randn(5, 2, 8)
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        torch.manual_seed(0)
        model = Recurrent(kind, 0.0)
        compare(f"{kind.__name__}", model, x)
        model.inner.dropout = 1e-12
        compare(f"{kind.__name__} layer by layer", model, x)
        model.inner.dropout = 0.5
        forward = compiled(model)
        checks.check(f"{kind.__name__} has dropout between its layers", not torch.equal(forward(x)[0], forward(x)[0]))


def lacking(x):
    chosen = torch.gather(x, 1, torch.zeros(4, 1, dtype=torch.long), sparse_grad=True)
    return chosen.sum() + F.embedding(torch.tensor([1, 2]), x, sparse=True).sum()


def through_data(x):
    h = x * 1
    h.data.clamp_(min=0)
    return h * 2


def try_errors():
    x = torch.randn(4, 4, requires_grad=True)
    text = error_of(compiled(lacking), x)
    checks.check("an error lists all that is missing with lines", "gradients that are sparse (sparse=True, sparse_grad=True) (2x)"
                 in text and "test_whole_features.py:" in text and "torch.gather" in text, text)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = compiled(through_data, fallback=True)(x)
    checks.check("fallback leaves the graph to Inductor", close(made, through_data(x), 1e-5))
    checks.check("and says so", sum("Inductor" in str(each.message) for each in said) == 1, f"{[str(s.message) for s in said]}")
    for name, function in {"an embedding": lambda x: F.embedding(torch.tensor([1, 2]), x, sparse=True).sum(),
                           "a gather": lambda x: torch.gather(x, 1, torch.zeros(4, 1, dtype=torch.long), sparse_grad=True).sum()}.items():
        text = error_of(compiled(function), x)
        checks.check(f"the sparse gradient of {name} is an error", "gradients that are sparse" in text and "test_whole_features.py:" in text, text)
    checks.check("an unknown option is an error", "unknown option 'budgets' of backend \"reprise\", did you mean 'budget'?" in error_of(compiled(nn.Linear(4, 4), budgets=1), x))
    text = error_of(compiled(nn.Linear(4, 4), budget="1B"), x)
    checks.check("a budget that cannot be met is an error", "budget" in text, text)


class Deep(nn.Module):
    """Model of layers with dropout, each in a region of torch.utils.checkpoint that has a policy, or none."""

    def __init__(self, context=None):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(4))
        self.options = {} if context is None else {"context_fn": context}
        self.is_plain = False

    def forward(self, x):
        for layer in self.layers:
            def part(x, layer=layer):
                return F.dropout(layer(x).sigmoid().exp().sin(), 0.25)
            x = part(x) if self.is_plain else torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False, **self.options)
        return x


def save_exp(context, op, *arguments, **keywords):
    policy = torch.utils.checkpoint.CheckpointPolicy
    return policy.MUST_SAVE if op is torch.ops.aten.exp.default else policy.PREFER_RECOMPUTE


def try_regions():
    """Checks that a region of torch.utils.checkpoint is replayed, that its policy holds, and that the bits are those
    without regions."""
    x, made = torch.randn(64, 32), []
    selective = functools.partial(torch.utils.checkpoint.create_selective_checkpoint_contexts, save_exp)
    for is_plain, context in ((True, None), (False, None), (False, selective)):
        torch.manual_seed(0)
        model = Deep(context)
        model.is_plain = is_plain
        made.append((*step(model, compiled(model, policy="save-all"), x)[:2], graphs()[-1].report))
    plain, region, chosen = made
    for what, other in (("regions", region), ("regions with a policy", chosen)):
        checks.check(f"{what} change no bit", torch.equal(other[0][0], plain[0][0])
                     and all(torch.equal(other[1][name], plain[1][name]) for name in plain[1]))
    saved = [each[2].saved_bytes for each in made]
    checks.check("a region saves its inputs, its policy something more", saved[1] < saved[2] < saved[0], f"{saved}")
    rows = [row for row in chosen[2].values if row["rule"] == "op"]
    checks.check("labels of the policy are those of ops", rows and all(
        row["label"] == "must_save" and row["decision"] == "saved" for row in rows), f"{rows[:2]}")


def try_second():
    """A gradient of a gradient."""
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(6, 8, requires_grad=True)
    made = []
    for forward in (compiled(model), model):
        model.zero_grad()
        (slope,) = torch.autograd.grad(forward(x).sum(), x, create_graph=True)
        (slope.norm(dim=1) - 1).square().mean().backward()
        made.append(gradients(model))
    checks.check("a gradient penalty", close(*made, 1e-5), f"{made}")


class Cells(nn.Module):
    """A loop of cells; layers with a norm by power iteration, with lengths of their own, and with slopes that are learned."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(4, 6), nn.utils.parametrizations.spectral_norm(nn.Linear(6, 2))
        self.gate, self.slopes = nn.utils.parametrizations.weight_norm(nn.Linear(6, 6)), nn.PReLU(6)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 6)
        for number in range(x.shape[1]):
            h = self.slopes(self.gate(self.cell(x[:, number], h)))
        return self.head(h.index_add(1, torch.tensor([5, 0, 5]), h[:, :3], alpha=0.5))


def try_cells():
    torch.manual_seed(0)
    model, x, made = Cells().double(), torch.randn(3, 5, 4).double(), []
    for each in (copy.deepcopy(model), copy.deepcopy(model)):
        forward = compiled(each) if made else each
        forward(x).square().sum().backward()
        made.append([parameter.grad for parameter in each.parameters()])
    checks.check("a loop of GRU cells, norms of weights, learned slopes", all(torch.allclose(a, b, rtol=1e-9) for a, b in zip(*made)))


def try_sizes():
    """Checks that another batch size is another program; an equal one is not compiled again."""
    model = nn.Linear(8, 8)
    forward, before = compiled(model), len(graphs())
    for size in (4, 6, 4, 6):
        checks.check(f"a batch of {size}", close(forward(torch.ones(size, 8)), model(torch.ones(size, 8)), 1e-6))
    checks.check("a graph for each size", len(graphs()) - before <= 3, f"{len(graphs()) - before}")
    torch._dynamo.reset()
    del forward
    gc.collect()
    checks.check("graphs go with the code that calls them", not graphs(), f"{len(graphs())}")
    forward = compiled(model)
    strided = torch.randn(8, 4).t()
    checks.check("strided inputs", close(forward(strided), model(strided), 1e-6))


if __name__ == "__main__":
    run_parts(try_models, try_inference, try_accumulation, try_random, try_recurrent, try_regions, try_errors, try_second, try_cells,
              try_sizes)
