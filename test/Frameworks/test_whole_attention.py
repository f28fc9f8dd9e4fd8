"""backend="reprise" on attention of every shape that PyTorch accepts: results and gradients beside eager's."""
import checks
import torch
import torch.nn.functional as F
from reprise.torch.aten import CONVERTERS
from whole import compare, compiled, draw, error_of, run_parts


def attend(**options):
    return lambda *tensors: F.scaled_dot_product_attention(*tensors, **options)


def try_widths():
    """Values wider and narrower than keys, in every type, with grouped heads."""
    for width in (1, 8, 24, 65):
        compare(f"values of width {width}", attend(), draw(2, 4, 9, 16), draw(2, 4, 12, 16), draw(2, 4, 12, width))
    compare("latent attention", attend(is_causal=True, scale=0.3), draw(1, 4, 9, 24), draw(1, 4, 9, 24), draw(1, 4, 9, 16))
    compare("values of another width, grouped heads", attend(enable_gqa=True), draw(2, 6, 9, 16), draw(2, 2, 12, 16),
            draw(2, 2, 12, 10))
    compare("values of another width in f64", attend(), *(draw(1, 2, 5, size).double() for size in (4, 4, 7)), tolerance=1e-12)
    compare("values of another width in bf16", attend(), *(draw(1, 2, 5, size).bfloat16() for size in (8, 8, 12)), tolerance=3e-2)


def try_batches():
    """Checks that a dimension of size 1 repeats at any position, and that dimensions may be absent."""
    for shapes in (((2, 4, 8, 16), (1, 4, 8, 16), (1, 4, 8, 16)), ((1, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16)),
                   ((2, 4, 8, 16), (2, 1, 8, 16), (2, 1, 8, 5)), ((2, 1, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16)),
                   ((2, 4, 8, 16), (2, 1, 8, 16), (1, 4, 8, 16)), ((2, 3, 4, 8, 16), (3, 1, 9, 16), (2, 1, 4, 9, 6)),
                   ((4, 8, 16), (2, 4, 8, 16), (4, 8, 16)), ((4, 8, 16), (8, 16), (8, 5)), ((8, 16), (9, 16), (9, 5))):
        compare(f"attention of {shapes}", attend(), *map(lambda shape: draw(*shape), shapes))
    compare("keys and values in groups of their own", attend(enable_gqa=True), draw(2, 8, 5, 16), draw(2, 2, 6, 16), draw(2, 4, 6, 16))


def try_masks():
    q, k, v = draw(2, 4, 8, 16), draw(2, 4, 9, 16), draw(2, 4, 9, 10)
    for shape in ((8, 9), (1, 9), (8, 1), (4, 8, 9), (2, 1, 1, 9), (2, 4, 8, 9), (1, 4, 1, 9)):
        seen = draw(*shape) > -0.5
        seen[..., 0] = True
        compare(f"a mask of {shape}", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, seen), q, k, v)
        if shape[-1] > 1: # otherwise the gradient is only rounding
            compare(f"a bias of {shape}", lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, bias), q, k, v, draw(*shape))
    seen = draw(3, 2, 4, 5, 6) > -1
    compare("a mask over five dimensions", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, seen), draw(3, 2, 4, 5, 8),
            draw(3, 2, 4, 6, 8), draw(3, 2, 4, 6, 8))
    compare("a bias over five dimensions", lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, bias), draw(3, 2, 4, 5, 8),
            draw(1, 2, 4, 6, 8), draw(2, 4, 6, 8), draw(3, 1, 1, 5, 6))
    none = torch.ones(8, 9, dtype=torch.bool)
    none[3] = False
    compare("a query that sees no key", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, none), q, k, v)
    infinite = torch.zeros(8, 9).masked_fill(~none, -torch.inf)
    infinite[1, 2:] = -torch.inf
    compare("a query whose bias is infinite", lambda q, k, v, bias: F.scaled_dot_product_attention(q, k, v, bias), q, k, v, infinite)


def try_causal():
    """PyTorch counts keys from the first one, whatever their number."""
    for queries, keys in ((8, 8), (5, 9), (9, 5), (2, 4)):
        compare(f"causal, {queries} queries and {keys} keys", attend(is_causal=True), draw(2, 4, queries, 16), draw(2, 4, keys, 16),
                draw(2, 4, keys, 12))


def try_dropout():
    """Checks that a share of the probabilities is dropped, the same ones in both passes and under each plan."""
    q, k = torch.zeros(4, 4, 32, 8), torch.zeros(4, 4, 64, 8)
    found = []
    for options in ({}, {"policy": "recompute-all"}):
        torch.manual_seed(3)
        v = torch.eye(64).expand(4, 4, 64, 64).clone().requires_grad_()
        kept = compiled(attend(dropout_p=0.25), **options)(q, k, v)
        kept.sum().backward()
        found.append((kept.detach(), v.grad))
    shares = found[0][0] * 64
    checks.check("a quarter is dropped", abs((shares == 0).float().mean().item() - 0.25) < 0.01
                 and torch.allclose(shares[shares != 0], torch.tensor(4 / 3), rtol=1e-5), str(shares.unique()))
    checks.check("both passes drop the same", torch.allclose(found[0][1], found[0][0].sum(2)[..., None].expand(4, 4, 64, 64), rtol=1e-5), "")
    checks.check("dropout under each plan", all(map(torch.equal, *found)), "other bits")


def try_orders():
    """Values of another width have derivatives of second order."""
    def penalty(call):
        q, k, v = (draw(1, 2, 5, size).double().requires_grad_() for size in (4, 4, 7))
        out = call(q, k, v)
        gradients = torch.autograd.grad(out.sin().sum(), (q, k, v), create_graph=True)
        sum(each.square().sum() for each in gradients).backward()
        return [each.grad for each in (q, k, v)]

    expected, found = penalty(F.scaled_dot_product_attention), penalty(compiled(attend()))
    checks.check("second order", all(torch.allclose(a, b, rtol=1e-9, atol=1e-10) for a, b in zip(found, expected)), str(found))


def try_transforms():
    """Checks that attention inside of torch.func's batching or differentiation is decomposed; gradients pass through
    it, and end where they should."""
    def loss(q):
        return attend(is_causal=True)(q, q, q).square().sum()

    compare("vmap of grad", torch.func.vmap(torch.func.grad(loss)), draw(3, 2, 8, 16))
    compare("vmap", lambda q: torch.func.vmap(lambda a, b: attend()(a, b, b), in_dims=(1, None))(q, q[:, 0]), draw(3, 2, 4, 8, 16))
    compare("vmap with an end", torch.func.vmap(lambda a: a * (a.sin().detach() + a.cos())), draw(3, 4))
    compare("hessian", torch.func.hessian(lambda a: (F.softmax(a @ a.mT, -1) @ a).sum()), draw(3, 4), tolerance=1e-4)
    compare("diagonals", lambda x, y: [torch.diagonal_scatter(x, y, 1, 1, 2), torch.diagonal_scatter(x, y, -1, 2, 1),
                                           torch.diagonal_scatter(x, y[:, :2], -2, 1, 2)], draw(2, 4, 4), draw(2, 3))
    with torch.no_grad():
        q = draw(1, 2, 8, 16)
        checks.check("grad", torch.allclose(compiled(torch.func.grad(loss))(q), torch.func.grad(loss)(q), atol=1e-5), "")


def try_nested():
    """Checks that a nested tensor is an error of the other backend."""
    torch._dynamo.reset()
    given = torch.nested.nested_tensor([draw(2, 4), draw(3, 4)], layout=torch.jagged)
    text = error_of(torch.compile(torch.sin, backend="reprise_plan"), given)
    checks.check("a nested tensor is not planned", text.startswith("nested tensors are not planned"), text)


def try_wide():
    """Checks that attention that the dialect lacks is a call."""
    compare("heads of 5,000 columns", attend(), draw(1, 2, 3, 5000), draw(1, 2, 4, 5000), draw(1, 2, 4, 5000))


def try_net():
    """A text that the compiler itself refuses is an Unsupported with its line; a budget that is too small stays an error."""
    def widened(b, node, x):
        return b.reshape(b.op("tanh", [x], (*x.shape, 2), x.dtype), x.shape)

    converter = CONVERTERS[torch.ops.aten.sinh.default]
    CONVERTERS[torch.ops.aten.sinh.default] = widened
    x = draw(4).requires_grad_()
    try:
        for options in ({}, {"budget": "50%"}):
            text = error_of(compiled(lambda x: torch.sinh(x) * 2, **options), x)
            checks.check(f"a text that is refused, {options}", "what the compiler refuses: 'reprise.tanh' op" in text
                         and "test_whole_attention.py" in text and "fallback=True" in text, text)
            made = compiled(lambda x: torch.sinh(x) * 2, fallback=True, **options)(x)
            checks.check(f"its fallback, {options}", torch.allclose(made, x.sinh() * 2), str(made))
    finally:
        CONVERTERS[torch.ops.aten.sinh.default] = converter
    text = error_of(compiled(lambda x: (x @ x).sin() @ x, budget=100, fallback=True), draw(32, 32).requires_grad_())
    checks.check("a budget of 100 bytes", "what the compiler refuses" not in text and "100" in text, text)


if __name__ == "__main__":
    run_parts(try_widths, try_batches, try_masks, try_causal, try_dropout, try_orders, try_transforms, try_nested, try_wide, try_net)
