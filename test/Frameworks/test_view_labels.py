"""Labels of values that the backward pass reads only through views, in both backends: the labels hold for the
memory."""
import functools
import warnings

import checks
import torch
from test_plan import compiled as planned
from test_plan import equal, refused, step
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

import reprise
from reprise.torch import graphs, plans

aten = torch.ops.aten
SAVE, AGAIN, PREFER = CheckpointPolicy.MUST_SAVE, CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE


def again_sin(context, op, *arguments, **keywords):
    return AGAIN if op is aten.sin.default else PREFER


def again_view(context, op, *arguments, **keywords):
    return AGAIN if op is aten.view.default else PREFER


def save_products(context, op, *arguments, **keywords):
    return SAVE if op is aten.mm.default else AGAIN


class Viewed(nn.Module):
    """Model of a sine whose only reader is a view; the backward pass reads the view for the square."""

    def __init__(self, policy=None):
        super().__init__()
        self.linear = nn.Linear(32, 32, bias=False)
        self.context = policy and functools.partial(create_selective_checkpoint_contexts, policy)

    def forward(self, x):
        def inner(x):
            flat = self.linear(x).view(16, -1).sin().view(-1)
            return flat * flat
        return (checkpoint(inner, x, use_reentrant=False, context_fn=self.context) if self.context else inner(x)).mean()


def whole(model):
    torch._dynamo.reset()
    return torch.compile(model, backend="reprise", options={"policy": "save-all"})


def rows_of(op):
    return [row for row in graphs()[-1].report.values if row["op"] == f"reprise.{op}"]


def try_plans():
    x = torch.randn(64, 32)
    model = Viewed()
    expected = step(model, model, x)
    for name, policy in (("the value", {aten.sin: AGAIN}), ("its view", {aten.view: AGAIN}),
                         ("the view, by a function", lambda node: AGAIN if node.target is aten.view.default else None)):
        found = step(model, planned(model, policy=policy), x)
        checks.check(f"reprise_plan: must_recompute on {name} replays the value", equal(found, expected) and plans()[-1].replays > 0,
                     str(plans()[-1]))
    good, text = refused(reprise.Error, "aten.view", "aten.sin", "share memory", "test_view_labels.py:",
                         call=lambda: step(model, planned(model, policy={aten.sin: AGAIN, aten.view: SAVE}), x))
    checks.check("reprise_plan: two MUSTs for one memory are one error with both places", good, text)
    found = step(model, planned(model, policy={aten.mm: SAVE, aten.sin: SAVE, aten.view: AGAIN}), x)
    checks.check("reprise_plan: a saved value's view is made again for nothing", equal(found, expected) and plans()[-1].replays == 0,
                 str(plans()[-1]))
    for name, policy in (("the value", again_sin), ("all but products", save_products)):
        model = Viewed(policy)
        expected = step(model, model, x)
        found = step(model, planned(model), x)
        checks.check(f"reprise_plan: a region's MUST on {name} holds", equal(found, expected) and plans()[-1].replays > 0, str(plans()[-1]))


def try_whole():
    x = torch.randn(64, 32)
    model = Viewed()
    plain = step(model, whole(model), x)
    for name, policy in (("a value", again_sin), ("a view", again_view), ("all but products", save_products)):
        chosen = Viewed(policy)
        chosen.load_state_dict(model.state_dict())
        found = step(chosen, whole(chosen), x)
        rows = rows_of("sin")
        checks.check(f"reprise: a region's MUST on {name} leaves no bytes", equal(found, plain) and rows and all(
            row["decision"] == "replayed" and row["saved_bytes"] == 0 for row in rows), str(rows))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for part in (try_plans, try_whole):
        torch.manual_seed(0)
        part()
    checks.finish()


if __name__ == "__main__":
    main()
