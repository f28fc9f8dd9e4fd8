"""Higher-order operators are calls; nested tensors and draws from a generator of the user's train: values, gradients, plans."""
import warnings

import checks
import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils.checkpoint import checkpoint
from whole import compare, compiled, draw, error_of, run, run_parts

from reprise.torch import graphs, region


def is_compiled():
    """Returns whether a function is traced; eager code has the same values by a plain loop."""
    return torch.compiler.is_compiling()


def branch(x, w):
    if is_compiled():
        return torch.cond(x.sum() > 0, lambda x, w: (x @ w).sin(), lambda x, w: (x @ w.T).cos(), (x, w)) * 2
    return ((x @ w).sin() if x.sum() > 0 else (x @ w.T).cos()) * 2


def repeat(x, w):
    if is_compiled():
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, (x @ w).tanh()), (torch.tensor(0), x))[1]
    for _ in range(3):
        x = (x @ w).tanh()
    return x


def carry(x, w):
    def step(state, row):
        state = (state + row @ w).tanh()
        return state, state * 2

    if is_compiled():
        return scan(step, torch.zeros(4), x)
    state, made = torch.zeros(4), []
    for row in x:
        state, out = step(state, row)
        made.append(out)
    return state, torch.stack(made)


def multiply(x, w):
    if is_compiled():
        return associative_scan(lambda a, b: a * b, x, 0, combine_mode="generic") @ w
    return torch.cumprod(x, 0) @ w


def each_row(x, w):
    if is_compiled():
        return map_rows(lambda row, w: (row * w).sin(), x, w)
    return torch.stack([(row * w).sin() for row in x])


def try_values():
    x, w = draw(4, 4), draw(4, 4) / 2
    for name, function in {"cond": branch, "while_loop": repeat, "scan": carry, "map_impl": each_row}.items():
        for sign in (1, -1):
            compare(f"{name}, {sign}", function, x * sign, w, tolerance=1e-4)
        callees = [call["callee"] for call in graphs()[-1].report.host_calls]
        checks.check(f"{name} is reported", any(f"torch:{name}#" in each for each in callees), str(callees))
    compare("associative_scan, which Dynamo takes apart", multiply, x, w, tolerance=1e-4)
    compare("cond in cond", lambda x, w: torch.cond(x.sum() > 0, lambda x, w: torch.cond(w.sum() > 0, torch.add, torch.sub, (x, w)) * w,
                                                    lambda x, w: x * 2 + w, (x, w)), x.abs(), w)
    compare("cond in a region", lambda x, w: checkpoint(lambda x, w: branch(x.exp(), w).sin(), x, w, use_reentrant=False), x, w)

    def mixed(x, w):
        with torch.autocast("cpu", torch.bfloat16):
            return branch(x, w).float()

    compare("cond in autocast", mixed, x, w, tolerance=1e-2)


def try_attention():
    """PyTorch has no backward pass of flex_attention on a CPU, so only its values are compared."""
    q, k, v, bias = draw(2, 2, 32, 8), draw(2, 2, 32, 8) + 1, draw(2, 2, 32, 8) - 1, draw(32)
    mask = create_block_mask(lambda b, h, q, k: q >= k, 2, 2, 32, 32, device="cpu")

    def attend(q, k, v, bias):
        return flex_attention(q.sin(), k, v, score_mod=lambda score, b, h, m, n: score + bias[n], block_mask=mask) * 2

    expected = F.scaled_dot_product_attention(q.sin(), k, v, bias.expand(32, 32).masked_fill(~torch.ones(32, 32).tril().bool(), -torch.inf)) * 2
    found = compiled(attend)(q, k, v, bias)
    checks.check("flex_attention with a block mask", torch.allclose(found, expected, atol=1e-5), f"{(found - expected).abs().max()}")


class Chooser(nn.Module):
    """Layers of which each chooses a branch and carries a state over rows."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cond(x.sum() > 0, lambda x: F.dropout(x.sin(), 0.5), lambda x: x.cos(), (layer(x).exp().tanh(),))
            x = x + scan(lambda state, row: ((state + row).tanh(), state * row), torch.zeros(16), x.sigmoid())[1]
        return x


def try_plans():
    """Checks equal bits with and without replays; a draw in a branch is the same in its replay."""
    made = []
    for options in ({}, {"policy": "recompute-all"}, {"budget": "60%"}):
        torch.manual_seed(5)
        model = Chooser()
        loss = compiled(model, **options)(draw(32, 16)).square().mean()
        loss.backward()
        made.append([loss.detach(), *(each.grad for each in model.parameters())])
        checks.check(f"calls, {options}", len(graphs()[-1].report.host_calls) > 1)
    for other in made[1:]:
        checks.check("equal bits", all(map(torch.equal, made[0], other)))


class Ragged(nn.Module):
    """Model that makes a nested tensor of rows, or gets one."""

    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, values, ends):
        x = torch.nested.nested_tensor_from_jagged(self.norm(values).tanh(), ends)
        x = x + self.down(F.gelu(self.up(x)))
        return self.norm(x.values()).exp()


def train(model, call, values, ends):
    values = values.clone().requires_grad_()
    for each in model.parameters():
        each.grad = None
    made = call(values, ends)
    made.sin().sum().backward()
    return [made.detach(), values.grad, *(each.grad for each in model.parameters())]


def try_nested():
    torch.manual_seed(1)
    model, values, ends = Ragged(), draw(10, 8), torch.tensor([0, 3, 4, 10])
    expected, made = train(model, model, values, ends), []
    for options in ({}, {"budget": "60%"}, {"policy": "recompute-all"}):
        made.append(train(model, compiled(model, **options), values, ends))
        checks.check(f"nested tensors train, {options}", all(torch.allclose(a, b, atol=1e-4, rtol=1e-4) for a, b in zip(expected, made[-1])))
        checks.check("bits under plans", all(map(torch.equal, made[0], made[-1])))
    def bounded(values, ends):
        with region(budget="50%"):
            return torch.nested.nested_tensor_from_jagged(values.exp(), ends).sin().values() * 2

    text = error_of(compiled(bounded), values.clone().requires_grad_(), ends)
    checks.check("no region with a budget is cut", "lies in a region(budget=…)" in text and "test_whole_subgraphs.py:" in text, text)
    given = torch.nested.nested_tensor([draw(2, 4), draw(3, 4)], layout=torch.jagged)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = compiled(lambda x, y: ((x * 2).sin().values(), y.exp() * 2))(given, draw(3, 3))
    told = [str(each.message) for each in said if "nested tensor" in str(each.message)]
    checks.check("a nested argument", torch.allclose(found[0], (given * 2).sin().values()) and torch.allclose(found[1], draw(3, 3).exp() * 2))
    checks.check("and one warning", len(set(told)) == len(told) >= 1 and "test_whole_subgraphs.py:" in told[0], str(told))


def try_generators():
    """Draws from a generator of the user's are PyTorch's, and the generator advances once for each step."""
    generator = torch.Generator()

    def noisy(x, w):
        kept = torch.bernoulli(torch.full_like(x, 0.5), generator=generator)
        return ((x @ w).sigmoid() * kept + torch.rand(4, generator=generator)).sin() @ w

    made, told = [], []
    for call in (noisy, compiled(noisy), compiled(noisy, policy="recompute-all")):
        generator.manual_seed(3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(2):
                made.append(run(call, (draw(4, 4), draw(4, 4))))
        made.append(generator.get_state())
        told += [str(each.message) for each in said if "torch.Generator" in str(each.message)]
    for number in (3, 6):
        for step in (0, 1):
            (output, gradients), (expected, own) = made[number + step], made[step]
            checks.check(f"step {step}", all(torch.allclose(a, b, atol=1e-5) for a, b in zip([*output, *gradients], [*expected, *own])))
        checks.check("one warning for each line", len(told) == len(set(told)) == 2 and "test_whole_subgraphs.py:" in told[0], str(told))
        checks.check("the generator is where eager code leaves it", torch.equal(made[number + 2], made[2]))


if __name__ == "__main__":
    run_parts(try_values, try_attention, try_plans, try_nested, try_generators)
