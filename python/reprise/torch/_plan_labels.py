"""Labels of values: PyTorch's tags, the regions of torch.utils.checkpoint, and the option ``policy``."""

from __future__ import annotations

from typing import Callable, Union

from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from .. import _plan_enums
from .._errors import Error, UsageError, suggest
from ._plan_nodes import describe, runs_once

LABELS = {CheckpointPolicy[name.upper()]: name for name in _plan_enums.LABELS if name.upper() in CheckpointPolicy.__members__}
#: Label of values that wait in the memory of the host.
OFFLOAD = "must_offload"
NAMED = {"save-all": "prefer_save", "recompute-all": "prefer_recompute"}
Label = Union[CheckpointPolicy, str, None]
Policy = Union[Label, dict, Callable[[fx.Node], Label]]


def to_label(given: Label) -> str | None:
    """Returns the planner's word for a CheckpointPolicy or for one of the words themselves."""
    if given is None or given == OFFLOAD or given in LABELS.values():
        return given
    if isinstance(given, CheckpointPolicy):
        return LABELS[given]
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    raise UsageError(f"policy: expected a CheckpointPolicy or a label, got {given!r}"
                     + suggest(given, [*LABELS.values(), OFFLOAD, *NAMED]))


def check(policy: Policy) -> None:
    """Raises a UsageError for an invalid policy."""
    if isinstance(policy, dict):
        for label in policy.values():
            to_label(label)
    elif not callable(policy):
        to_label(policy)


def _ask(policy: Policy, node: fx.Node) -> str | None:
    if isinstance(policy, dict):
        packet = getattr(node.target, "overloadpacket", None)
        return to_label(policy.get(node.target, policy.get(packet)))
    if callable(policy):
        return to_label(policy(node))
    return to_label(policy)


def _is_must(label: str | None) -> bool:
    return str(label).startswith("must")


def label(node: fx.Node, reads_state: bool, policy: Policy) -> str | None:
    """The label of a forward op's results. Tags of the model outrank the policy; a MUST outranks every PREFER."""
    tag, wish = LABELS.get(node.meta.get("recompute")), _ask(policy, node)
    if tag != wish and _is_must(tag) and _is_must(wish):
        raise Error(f"{describe(node)} is marked {tag} by the model and {wish} by the policy")
    chosen = wish if _is_must(wish) else tag or wish
    if chosen == OFFLOAD or not runs_once(node) and not reads_state:
        return chosen
    if chosen == "must_recompute":
        why = "reads state that the step overwrites" if reads_state else "cannot run twice"
        raise Error(f"{describe(node)} is marked must_recompute, but it {why}")
    return "must_save"


def join(maker: fx.Node, own: str | None, is_pinned: bool, view: fx.Node, wish: str | None, is_inside: bool) -> str | None:
    """Returns the label of a value and of a view of it, which share memory. A saved value's view may be recreated
    without cost.

    ``is_inside``: the value is computed in all regions around the view, so that their PREFER applies to it.
    """
    if wish == "must_recompute" and is_pinned:
        raise Error(f"{describe(view)} is marked must_recompute, but it shows what {describe(maker)} makes, which must be saved")
    if own != wish and _is_must(own) and wish in ("must_save", OFFLOAD):
        raise Error(f"{describe(view)} is marked {wish}, but it shows what {describe(maker)} makes, "
                    f"which is marked {own}: they share memory")
    if wish is None or _is_must(own):
        return own
    return wish if _is_must(wish) or (own is None and is_inside) else own
