"""Reads reports: bytes of a step, and decisions on each value."""

from __future__ import annotations

import html
from typing import Any

from ._errors import suggest


def show_bytes(count: float | None) -> str:
    """1.5 MiB."""
    if count is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def show_bytes_exactly(count: int) -> str:
    """1.5 MiB (1,572,864 bytes)."""
    exact = f"{count:,} byte{'s' if count != 1 else ''}"
    return exact if abs(count) < 1024 else f"{show_bytes(count)} ({exact})"


class Report:
    """The report of a compilation. Keys of docs/reference/schemas/report.schema.json are attributes: ``report.step_bytes``."""

    COLUMNS = ("id", "op", "bytes", "decision", "reason")
    #: Bytes of a step; budgets limit, and shares refer to, arena and workspace together.
    TOTALS = {"arena_bytes": "arena", "workspace_bytes": "workspace", "step_bytes": "arena and workspace",
              "persistent_bytes": "parameters, state and inputs", "host_bytes": "in the host's memory",
              "saved_bytes": "saved for the backward pass"}

    def __init__(self, content: dict[str, Any], page: str = "", text: str = "") -> None:
        #: Content by docs/reference/schemas/report.schema.json
        self.content = content
        #: Page as ``--report=F.html`` writes it.
        self.html = page
        self.text = text

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key not in self.content:
            raise AttributeError(f"the report has no {key!r}{suggest(key, sorted(self.content))}")
        return self.content[key]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.content]

    @property
    def programs(self) -> list[Report]:
        """The reports of the device programs: of a step on one device, this one."""
        return [Report(entry) for entry in self.content["programs"]] if "programs" in self.content else [self]

    def rows(self, *, sort: str = "bytes", decision: str | None = None) -> list[dict[str, Any]]:
        """The values of the forward pass, the largest first."""
        rows = [row for program in self.programs for row in program.content.get("values", [])
                if decision in (None, row["decision"])]
        return sorted(rows, key=lambda row: row[sort], reverse=sort == "bytes")

    def table(self, limit: int = 20, **choice: Any) -> str:
        """The first rows as a text."""
        rows = [[show_bytes(row[key]) if key == "bytes" else str(row.get(key) or "") for key in self.COLUMNS]
                for row in self.rows(**choice)[:limit]]
        widths = [max(len(row[i]) for row in [list(self.COLUMNS), *rows]) for i in range(len(self.COLUMNS))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in [list(self.COLUMNS), *rows])

    def summary(self) -> list[tuple[str, str]]:
        """Returns the bytes of the step, by device program."""
        lines = []
        for program in self.programs:
            content = program.content
            prefix = f"{content['program']}: " if "program" in content else ""
            for key, name in self.TOTALS.items():
                if content.get(key) is not None:
                    lines.append((prefix + name, show_bytes(content[key])))
            if content.get("replayed_ops") is not None:
                lines.append((prefix + "replayed ops", str(content["replayed_ops"])))
        return lines

    def __str__(self) -> str:
        return self.text or "\n".join(f"{name}: {value}" for name, value in self.summary())

    def __repr__(self) -> str:
        return "<Report: " + ", ".join(f"{name} {value}" for name, value in self.summary()) + ">"

    def _repr_html_(self) -> str:
        """Returns the display of a notebook: the summary and the largest values."""
        def row(cells: Any, tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        values = [[show_bytes(value[key]) if key == "bytes" else value.get(key) or "" for key in self.COLUMNS]
                  for value in self.rows()[:20]]
        return ("<table>" + "".join(row(line) for line in self.summary()) + "</table><table>" + row(self.COLUMNS, "th")
                + "".join(map(row, values)) + "</table>")

    def plot(self, axes: Any = None) -> Any:
        """Draws the bytes that are live at each launch; needs matplotlib. Returns the axes."""
        try:
            import matplotlib.pyplot as pyplot
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install reprise[plots]") from error
        axes = axes or pyplot.subplots()[1]
        for program in self.programs:
            live = program.live_bytes()
            axes.step(range(len(live)), live, where="mid", label=program.content.get("program"))
        axes.set_xlabel("launch")
        axes.set_ylabel("live bytes")
        axes.axhline(max(program.content["arena_bytes"] for program in self.programs), linestyle=":", label="arena")
        axes.legend()
        return axes

    def live_bytes(self) -> list[int]:
        """Bytes of the arena that are live at each launch. Buffers that share a place count once."""
        return self.content.get("live_bytes", [])
