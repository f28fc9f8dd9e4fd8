"""backend="reprise" on updates by index: reductions of all kinds and their gradients beside eager's."""
import checks
import torch
from whole import compare, compiled, draw, run_parts

REDUCTIONS = ("sum", "mean", "prod", "amax", "amin")
PLACES = torch.tensor([[0, 2, 2, 5, 0], [1, 1, 1, 1, 4], [3, 0, 5, 2, 1]])


def reduced(includes_self, *given):
    x, updates, dim, places = given
    return [x.scatter_reduce(dim, places, updates, kind, include_self=includes_self) for kind in REDUCTIONS]


def try_reductions():
    """Checks scatters that include the elements themselves or not, along each dimension, with fewer indices than
    elements."""
    x, updates = draw(3, 6), draw(3, 5)
    for includes_self in (True, False):
        compare(f"along rows, {includes_self}", lambda x, u: reduced(includes_self, x, u, 1, PLACES), x, updates)
        compare(f"along columns, {includes_self}", lambda x, u: reduced(includes_self, x, u, 0, PLACES % 3), x, updates)
        compare(f"in f64, {includes_self}", lambda x, u: reduced(includes_self, x, u, 1, PLACES), x.double(), updates.double(),
                tolerance=1e-12)
        compare(f"in bf16, {includes_self}", lambda x, u: reduced(includes_self, x, u, 1, PLACES), x.bfloat16(), updates.bfloat16(),
                tolerance=3e-2)
        compare(f"by index, {includes_self}", lambda x, u: [
            x.index_reduce(1, PLACES[0], u, kind, include_self=includes_self) for kind in REDUCTIONS[1:]], x, updates)
    compare("a long row", lambda x, u: reduced(True, x, u, 0, torch.arange(1000) * 7 % 13), draw(13), draw(1000) * 0.05 + 1)


def try_ties():
    """Equal extremes share a gradient, products with zeros have theirs, infinities and NaN are found."""
    x, updates = torch.tensor([3.0, 3.0, 5.0, 0.0, 2.0]), torch.tensor([3.0, 3.0, 1.0, 0.0, 7.0, 0.0, 0.0])
    places = torch.tensor([0, 0, 2, 3, 2, 4, 4])
    for includes_self in (True, False):
        compare(f"ties, {includes_self}", lambda x, u: reduced(includes_self, x, u, 0, places), x, updates)
    special = torch.tensor([1.0, torch.nan, -torch.inf, torch.inf, -0.0, 2.0, torch.nan])

    def extremes(x, u):
        return [x.scatter_reduce(0, places, u, kind, include_self=False) for kind in ("amax", "amin")]

    checks.check("special values", all(torch.allclose(a, b, equal_nan=True) for a, b in zip(compiled(extremes)(x, special),
                                                                                       extremes(x, special))), "")


def try_others():
    x, updates = draw(3, 6), draw(3, 5)
    whole = torch.arange(18).view(3, 6) - 9

    def integers(x, u):
        return [x.scatter_reduce(1, PLACES, u, kind, include_self=is_in) for kind in REDUCTIONS for is_in in (True, False)]

    for dtype in (torch.int64, torch.int32):
        given = whole.to(dtype), (whole[:, :5] * 2 + 1).to(dtype)
        added = lambda x, u: [x.index_add(1, PLACES[0], u), x.index_put((PLACES[2] % 3, PLACES[0]), u[0], accumulate=True)]  # noqa: E731
        checks.check(f"rows of {dtype}", all(map(torch.equal, compiled(added)(*given), added(*given))), str(compiled(added)(*given)))
        checks.check(f"of {dtype}", all(map(torch.equal, compiled(integers)(*given), integers(*given))), str(compiled(integers)(*given)))

    def written(x, u):
        return [x.scatter(1, PLACES, u, reduce="multiply"), x.scatter(1, PLACES, 2.0, reduce="add"), x.scatter_add(1, PLACES[:2, :3], u),
                x.scatter(0, PLACES[:2, :3] % 3, 1.5), x.scatter_reduce(1, PLACES[:0], u[:0], "amax"),
                *reduced(False, draw(4, 3, 6), draw(2, 2, 5), -1, PLACES[:2, None])]

    with torch.no_grad():
        checks.check("with reduce=", all(map(torch.allclose, compiled(written)(x, updates), written(x, updates))), "")
    compare("fewer indices than elements", lambda x, u: [x.scatter_add(1, PLACES[:2, :3], u[:2, :3]),
                                                         x.scatter(1, PLACES[:1, 3:], u[:1, 3:])], x, updates)
    compare("scalars", lambda x, u: [x.scatter_reduce(0, torch.tensor(0), u, kind) for kind in REDUCTIONS], draw(1)[0], draw(1)[0] + 1)


def try_plans():
    """Checks equal bits under every plan."""
    def step(x, u):
        for kind in ("amax", "prod", "mean"):
            x = x.scatter_reduce(1, PLACES, u.sin(), kind).exp().tanh()
        return x

    found = []
    for options in ({}, {"policy": "recompute-all"}, {"policy": "save-all"}):
        x, u = draw(3, 6).requires_grad_(), draw(3, 5).requires_grad_()
        made = compiled(step, **options)(x, u)
        made.square().sum().backward()
        found.append((made.detach(), x.grad, u.grad))
    for results in found[1:]:
        checks.check("scatters under each plan", all(map(torch.equal, results, found[0])), "other bits")


if __name__ == "__main__":
    run_parts(try_reductions, try_ties, try_others, try_plans)
