"""Chooses what regions with a budget save in a program (docs/explanation/RegionBudgets.md)."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from .. import _compile
from ._plan_regions import Region, find_bounds
from ._region_budgets import limit_bytes, refuse
from ._whole_step import text_options
from ._whole_text import Text
from .aten import Builder, Line, Value

#: Estimates in which values are chosen by their price. Later ones replay every value that they find.
ROUNDS = 6
#: Ops that show the memory of their operand.
VIEWS = ("reshape", "transpose", "slice", "broadcast")
Rows = dict[str, dict[str, Any]]


class _BoundedLines:
    """A region with a budget, in the ops of a graph."""

    def __init__(self, path: Region, lines: Sequence[Line], outputs: Sequence[Value]) -> None:
        self.budget, inside = path[-1].budget, [line for line in lines if line.region[:len(path)] == path]
        members = set(map(id, inside))
        leaving = {*outputs, *(operand for line in lines if id(line) not in members for operand in line.operands)}
        for line in reversed(inside):
            if line.name in VIEWS and line.results[0] in leaving:
                leaving.add(line.operands[0])
        #: Ops by the names of their inner values.
        self.inner = {value.name[1:]: line for line in inside for value in line.results if value not in leaving}
        self.place = inside[0].location.strip() or "an unknown place"

    def saved(self, rows: Rows) -> dict[str, int]:
        """Returns the bytes of each inner value that a program saves."""
        return {name: rows[name]["saved_bytes"] for name in self.inner if name in rows and rows[name]["saved_bytes"]}

    def bytes_in(self, rows: Rows) -> int:
        """Returns the bytes of all inner values."""
        return sum(rows[name]["bytes"] for name in self.inner if name in rows)

    def choose(self, rows: Rows, excess: int, takes_all: bool) -> bool:
        """Labels values to replay that free ``excess`` bytes at a low price; returns whether there was one."""
        free = {name: size for name, size in self.saved(rows).items() if not str(rows[name]["label"]).startswith("must")}
        for name in free if takes_all else _find_cheapest(free, rows, excess):
            self.inner[name].label = "must_recompute"
        return bool(free)


def _find_cheapest(free: dict[str, int], rows: Rows, excess: int) -> list[str]:
    """Returns values of at least ``excess`` bytes together: those of the fewest seconds per byte, or a single one that
    costs less."""
    chosen, left = list[str](), excess
    for name in sorted(free, key=lambda each: rows[each]["replay_seconds"] / free[each]):
        if left > 0:
            chosen.append(name)
            left -= free[name]
    enough = [name for name in free if free[name] >= excess]
    single = min(enough, key=lambda each: rows[each]["replay_seconds"], default=None)
    is_cheaper = single and rows[single]["replay_seconds"] < sum(rows[each]["replay_seconds"] for each in chosen)
    return [single] if is_cheaper else chosen


def _estimate(text: Text, **options: Any) -> Rows:
    """Returns the rows of the report by the names of values."""
    program = _compile.compile(text.text, **text_options(text), estimate=True, **options)
    return {name.removeprefix("region/"): row for each in program.report.programs for row in each.content["values"]
            for name in row["name"].split(",") if name.startswith("region/")}


def _settle(bounds: Sequence[_BoundedLines], rows: Rows) -> bool:
    """Labels the inner values that are replayed without a MUST, so that no budget of the step saves them; returns whether
    there was one."""
    found = [each.inner[name] for each in bounds for name in each.inner
             if name in rows and rows[name]["decision"] == "replayed" and not str(rows[name]["label"]).startswith("must")]
    for line in found:
        line.label = "must_recompute"
    return bool(found)


def limit_regions(builder: Builder, outputs: Sequence[Value], write: Callable[[], Text], options: dict[str, Any]) -> None:
    """Labels the inner values that regions with a budget do not save. ``write`` writes the program with the labels."""
    lines = builder.live_lines(outputs)
    bounds = [_BoundedLines(path, lines, outputs) for path in find_bounds(line.region for line in lines)]
    for line in (line for each in bounds for line in each.inner.values()):
        line.is_named = True
    if not bounds:
        return
    machine = {key: options[key] for key in ("target", "device_file") if key in options}
    whole = _estimate(write(), policy="save-all", ignore_checkpoints=True, **machine)
    limits = [limit_bytes(each.budget, sum(each.saved(whole).values())) for each in bounds]
    attempt, is_changed = 0, True
    while is_changed:
        rows = _estimate(write(), policy=options.get("policy"), **machine)
        excesses = [sum(each.saved(rows).values()) - limit for each, limit in zip(bounds, limits)]
        changes = [each.choose(rows, excess, attempt >= ROUNDS) for each, excess in zip(bounds, excesses) if excess > 0]
        attempt, is_changed = attempt + 1, any(changes)
        if not is_changed and options.get("budget") is not None:
            is_changed = _settle([each for each, limit in zip(bounds, limits) if limit < each.bytes_in(rows)], rows)
    for each, excess, limit in zip(bounds, excesses, limits):
        if excess > 0:
            refuse(each.budget, limit, limit + excess, each.place)
