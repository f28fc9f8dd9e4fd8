"""The short form of ``torch.compile`` with a budget."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import torch

Model = TypeVar("Model", bound=Callable[..., Any])


def compile(model: Model, budget: int | str | None = None, *, bits: str | None = None, backend: str = "reprise_plan",
            dynamic: bool | None = None, fullgraph: bool = False, **options: Any) -> Model:
    """Compiles a module or a function within a budget: ``torch.compile(model, backend=…, options={"budget": budget, …})``.

    ``budget`` is bytes (``2 << 30``, ``"2GiB"``) or a share of the peak without replays (``"60%"``); None: no budget.
    ``bits`` is "plan", for bits that are equal under every plan (default), or "inductor", for Inductor's own fusion and
    speed. ``backend`` is "reprise_plan", whose plans PyTorch runs, or "reprise", the whole compiler. Other options are those of
    the backend, such as ``codegen="eager"`` or ``policy="save-all"``.

    Raises UsageError at the first call of the model if an option is unknown or has no such value, and Error if no plan
    meets a budget in bytes.
    """
    given = {**{name: value for name, value in (("budget", budget), ("bits", bits)) if value is not None}, **options}
    return torch.compile(model, backend=backend, options=given, dynamic=dynamic, fullgraph=fullgraph)
