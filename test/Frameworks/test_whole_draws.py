"""Draws under backend="reprise" and reprise_plan: distributions, generators, plans; and ops that PyTorch fuses in
evaluation."""
import checks
import torch
import torch.nn.functional as F
from torch import nn
from whole import compare, compiled, draw, run_parts

COUNT = 20000


def near(name, drawn, mean, deviation, low=-torch.inf, high=torch.inf):
    """Mean and deviation within five standard errors, and all draws within bounds."""
    drawn = drawn.double().flatten()
    allowed = 5 * deviation / drawn.numel() ** 0.5
    checks.check(name, abs(drawn.mean().item() - mean) < allowed + 1e-9 and abs(drawn.std().item() - deviation) < 6 * allowed + 1e-9
                 and drawn.min() >= low and drawn.max() <= high, f"{drawn.mean()} {drawn.std()} {drawn.min()} {drawn.max()}")


def try_generators():
    """Checks that a generator of None is PyTorch's own, for every function with a generator."""
    def drawn(x):
        empty = torch.empty(COUNT)
        return [torch.rand(COUNT, generator=None), torch.randn(COUNT, generator=None), torch.randint(7, (COUNT,), generator=None),
                torch.randint(-3, 4, (COUNT,), generator=None, dtype=torch.int32), torch.rand_like(empty), torch.randint_like(empty, 5),
                torch.randint_like(empty, 2, 6), torch.bernoulli(empty.fill_(0.3), generator=None),
                torch.empty(COUNT).bernoulli_(x.expand(COUNT) * 0.25, generator=None), torch.normal(1.0, 2.0, (COUNT,), generator=None),
                torch.normal(x.expand(COUNT), 2.0, generator=None), torch.normal(1.0, 2 * x.expand(COUNT)),
                torch.normal(x.expand(COUNT), 2 * x.expand(COUNT)), torch.empty(COUNT).uniform_(-1, 3, generator=None),
                torch.empty(COUNT).exponential_(2, generator=None), torch.empty(COUNT).geometric_(0.3, generator=None),
                torch.empty(COUNT).log_normal_(0, 0.25, generator=None), torch.empty(COUNT).cauchy_(generator=None).atan()]

    third = (1 / 12) ** 0.5
    expected = [(0.5, third, 0, 1), (0, 1), (3, 2, 0, 6), (0, 2, -3, 3), (0.5, third, 0, 1), (2, 2**0.5, 0, 4), (3.5, 1.25**0.5, 2, 5),
                (0.3, 0.21**0.5, 0, 1), (0.25, 0.1875**0.5, 0, 1), (1, 2), (1, 2), (1, 2), (1, 2), (1, 4 * third, -1, 3),
                (0.5, 0.5, 1e-9), (1 / 0.3, 0.7**0.5 / 0.3, 1), (1.0317, 0.2620, 0), (0, 3.14159 * third)]
    torch.manual_seed(4)
    for number, (found, wanted) in enumerate(zip(compiled(drawn)(torch.ones(1)), expected, strict=True)):
        near(f"draw {number}", found, *wanted)


def try_choices():
    """Permutations and choices are as likely as PyTorch's."""
    weights = torch.tensor([[1.0, 2.0, 0.0, 5.0], [3.0, 0.0, 1.0, 0.0]])

    def chosen(w):
        return ([torch.randperm(4) for _ in range(40)], torch.randperm(5000, generator=None, dtype=torch.int32),
                torch.multinomial(w, COUNT, True), torch.multinomial(w[:1].expand(COUNT, 4), 2), torch.multinomial(w[0], 1, generator=None))

    torch.manual_seed(5)
    step, orders = compiled(chosen), []
    for _ in range(60):
        few, long, replaced, pairs, one = step(weights)
        orders += [tuple(each.tolist()) for each in few]
    counts = [orders.count(each) for each in set(orders)]
    checks.check("permutations of 4", len(counts) == 24 and max(counts) < 160 and min(counts) > 50, str(sorted(counts)))
    checks.check("a long permutation", long.dtype is torch.int32 and torch.equal(long.sort()[0], torch.arange(5000, dtype=torch.int32))
                 and not torch.equal(long, torch.arange(5000, dtype=torch.int32)), "")
    for row, shares in zip(replaced, weights / weights.sum(1, keepdim=True)):
        found = torch.bincount(row, minlength=4) / COUNT
        checks.check("choices with replacement", (found - shares).abs().max() < 0.02 and not found[shares == 0].any(), str(found))
    # The first draw is by weight, the second by weight of the remaining values.
    first, second = (torch.bincount(pairs[:, number], minlength=4) / COUNT for number in (0, 1))
    expected = torch.tensor([1 / 8 * 0 + 2 / 8 * 1 / 6 + 5 / 8 * 1 / 3, 1 / 8 * 2 / 7 + 5 / 8 * 2 / 3, 0, 1 / 8 * 5 / 7 + 2 / 8 * 5 / 6])
    checks.check("choices without replacement", (first - weights[0] / 8).abs().max() < 0.02 and (second - expected).abs().max() < 0.02
                 and not (pairs[:, 0] == pairs[:, 1]).any() and one.shape == (1,), f"{first} {second}")


def try_slopes():
    x = torch.linspace(-2, 2, COUNT).requires_grad_()
    torch.manual_seed(6)
    made = compiled(lambda x: F.rrelu(x, 0.1, 0.5, training=True))(x)
    made.sum().backward()
    below = x.detach() < 0
    checks.check("random slopes", torch.allclose(made, x * x.grad) and (x.grad[~below] == 1).all(), str(x.grad))
    near("slopes", x.grad[below], 0.3, 0.4 * (1 / 12) ** 0.5, 0.1, 0.5)
    compare("slopes in evaluation", lambda x: F.rrelu(x, 0.1, 0.5), draw(30))


def step(x, weights):
    noise = torch.randn(8, 4, generator=None) + torch.rand(8, 4, generator=None)
    order = torch.randperm(8)
    picked = torch.multinomial(weights.detach().softmax(-1), 3)
    hidden = (x * noise)[order].sin().exp().tanh()
    return (hidden * hidden.gather(1, picked).sum(1, keepdim=True)).square().mean()


def try_plans():
    """Checks equal draws under each plan; reprise_plan has eager's."""
    found = []
    for options in ({}, {"policy": "recompute-all"}, {"policy": "save-all"}):
        found.append(results(compiled(step, **options)))
    for each in found[1:]:
        checks.check("draws under each plan", all(map(torch.equal, each, found[0])), "other bits")
    expected = results(step)
    for options in ({}, {"policy": "recompute-all"}, {"budget": "60%"}):
        torch._dynamo.reset()
        made = results(torch.compile(step, backend="reprise_plan", options={"codegen": "eager", **options}))
        checks.check(f"reprise_plan, {options}", all(map(torch.equal, made, expected)), f"{made}\n{expected}")


def results(call):
    x, weights = draw(8, 4).requires_grad_(), draw(8, 4, 1)[..., 0].requires_grad_()
    torch.manual_seed(7)
    loss = call(x, weights)
    loss.backward()
    return loss.detach(), x.grad


def try_fast_paths():
    """Checks that an encoder in evaluation, with masks, equals the encoder in training."""
    torch.manual_seed(8)
    seen = torch.ones(6, 6, dtype=torch.bool).tril()
    padding = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
    x = draw(2, 6, 16)
    for options in ({}, {"norm_first": True, "activation": "gelu"}):
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 24, batch_first=True, **options), 2, enable_nested_tensor=False)
        model.eval()
        for masks in ({}, {"mask": ~seen}, {"src_key_padding_mask": padding}, {"mask": ~seen, "src_key_padding_mask": padding}):
            with torch.no_grad():
                for backend in ("reprise", "reprise_plan"):
                    torch._dynamo.reset()
                    made, expected = torch.compile(model, backend=backend)(x, **masks), model(x, **masks)
                    checks.check(f"an encoder, {options}, {list(masks)}, {backend}", torch.allclose(made, expected, atol=2e-6), str(made - expected))
    attention = model.layers[0].self_attn

    def attend(need_weights, average):
        return lambda q, k: torch._native_multi_head_attention(
            q, k, k, 16, 4, attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias,
            padding, need_weights, average, 1)

    with torch.no_grad():
        for chosen in ((True, True), (True, False), (False, False)):
            made, expected = (call(x, x.cos()) for call in (compiled(attend(*chosen)), attend(*chosen)))
            checks.check(f"attention in evaluation, {chosen}", all(a is b is None or torch.allclose(a, b, atol=2e-6)
                                                                   for a, b in zip(made, expected)), str(made))


if __name__ == "__main__":
    run_parts(try_generators, try_choices, try_slopes, try_plans, try_fast_paths)
