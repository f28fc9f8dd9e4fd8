"""Bytes saved for the backward pass against the share of the forward pass that is computed again, beside PyTorch's partitioner."""

from budgets import POLICIES, PLENTY, Estimate
from common import peer, print_table
from models import MODELS

COMPARED = ["mlp", "gpt2", "llama", "resnet18"]
SHARES = range(100, 15, -5)
OWN_POLICIES = [*POLICIES, *(f"every-nth-contraction({count})" for count in (3, 4, 6))]
PRODUCTS = ("reprise.dot_general", "reprise.convolution", "reprise.attention")


def replayed_share(report):
    """Seconds of products, convolutions and attention that are replayed over those of all in the forward pass, in percent."""
    products = [value for value in report["values"] if value["op"] in PRODUCTS and value["id"].endswith(":0")]
    replayed = sum(value["replay_seconds"] for value in products if value["decision"] == "replayed")
    distinct = {value["id"].rsplit(":", 1)[0] for value in report["values"] if value["decision"] == "replayed"}
    if replayed and report["replayed_ops"] > len(distinct):
        # Some run more than once again; not told which, so all replays count.
        replayed = report["cost"]["replay"]
    return 100 * replayed / sum(value["replay_seconds"] for value in products)


def find_plans(bench, model):
    """(share, saved bytes, extra cost in percent) of plans within budgets, down to the least, and of policies."""
    base = Estimate(bench, model)
    found = [Estimate(bench, model, PLENTY), *(Estimate(bench, model, f"--policy={policy}", PLENTY) for policy in OWN_POLICIES)]
    for share in SHARES:
        found.append(Estimate(bench, model, f"--budget={base.bytes * share // 100}"))
        if found[-1].report is None:
            found[-1] = Estimate(bench, model, f"--budget={found[-1].least}")
            break
    return [(replayed_share(each.report), each.report["saved_bytes"], each.cost) for each in found if each.report]


def their_share(row, rows):
    """Of the forward pass at budget 1, which computes no product twice."""
    return 100 * (row["flops"] - rows[0]["flops"]) / rows[0]["forward_flops"]


def compare(bench, name):
    theirs = peer("torch_budget.py", name)
    if not theirs:
        return []
    plans, rows = find_plans(bench, bench.zoo("saved.mlir", *MODELS[name][0])), []
    for row in theirs["rows"]:
        share = their_share(row, theirs["rows"])
        ours = min((plan for plan in plans if plan[0] <= share + 1e-9), key=lambda plan: (plan[1], plan[2]))
        rows.append({"model": name, "torch_budget": row["budget"], "torch_share": share, "torch_saved_bytes": row["saved_bytes"],
                     "share": ours[0], "saved_bytes": ours[1], "cost_percent": ours[2], "holds": ours[1] < row["saved_bytes"]})
    return rows


def measure(bench, only=None):
    rows = [row for name in COMPARED if only in (None, name) for row in compare(bench, name)]
    if not rows:
        return
    bench.save("saved-budgets", rows)
    print_table("Bytes saved for the backward pass, MB, where no more products of the forward pass are computed again than by PyTorch's partitioner",
                ["", "its budget", "again", "PyTorch", "ours", "again", "our extra cost", "goal: fewer"],
                [[row["model"], f"{row['torch_budget']:.2f}", f"{row['torch_share']:.1f} %", f"{row['torch_saved_bytes'] / 1e6:.1f}",
                  f"{row['saved_bytes'] / 1e6:.1f}", f"{row['share']:.1f} %", f"{row['cost_percent']:.2f} %",
                  "yes" if row["holds"] else "no"] for row in rows])
