"""Plans: of a compiled step, and of planning problems without a model."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Sequence

from . import _core
from ._json import load_json


class Plan:
    """Plan of saved and replayed values, as ``reprise-compile --plan-out`` writes it."""

    def __init__(self, content: dict[str, Any]) -> None:
        #: Content by docs/reference/schemas/plan.schema.json
        self.content = content

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """Reads a file; raises ``Error`` if it is no JSON or repeats a key."""
        return cls(load_json(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        pathlib.Path(path).write_text(self.to_json())

    def to_json(self) -> str:
        return json.dumps(self.content, indent=2) + "\n"

    @property
    def choices(self) -> dict[str, str] | None:
        """"save", "replay", … by the id of each value, of all device programs; None if labels are followed."""
        programs = [entry["plan"] for entry in self.content.get("programs", [])] or [self.content]
        if all(program["values"] is None for program in programs):
            return None
        return {value["id"]: value["choice"] for program in programs for value in program["values"] or []}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.content == other.content

    def __repr__(self) -> str:
        if self.choices is None:
            return "<Plan: labels are followed>"
        counts: dict[str, int] = {}
        for choice in self.choices.values():
            counts[choice] = counts.get(choice, 0) + 1
        return "<Plan: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items())) + ">"


def plan(problem: str | dict[str, Any], *, kind: str = "checkpoint", budget: int | str | Sequence[int | str] = (),
         **options: Any) -> tuple[Any, list[str]]:
    """Plans a problem without a model, as reprise-plan does: ``kind`` is "checkpoint", "offsets" or "pipeline".

    Returns the summary and the text of each plan; the text is empty if no plan was found. Further options: time_limit,
    or_least; capacity; schedule.
    """
    text = problem if isinstance(problem, str) else json.dumps(problem)
    budgets = budget if isinstance(budget, (list, tuple)) else [budget]
    given = [("budget", str(each)) for each in budgets]
    for key, value in options.items():
        given += [(key.replace("_", "-"), str(each).lower() if isinstance(each, bool) else str(each))
                  for each in (value if isinstance(value, (list, tuple)) else [value])]
    summary, solutions = _core.plan_problem(_core.Session(), kind, text, given)
    return json.loads(summary), solutions
