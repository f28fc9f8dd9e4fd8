"""Compiles a model to a program."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any, Callable, Iterable, Sequence, Union

from . import _core
from ._errors import IN_ITS_PLACE, Error, least_met, warn
from ._plan import Plan
from ._policy import Graph, adapt
from ._report import Report

Model = Union[str, bytes, "os.PathLike[str]"]
#: A policy by its name, file or plugin, or a callable that is given the forward graph.
Policy = Union[str, Callable[[Graph], Any]]


class Program:
    """A compiled training step: its bundle, report and plan."""

    def __init__(self, session: Any, compilation: Any, is_estimate: bool) -> None:
        self._session = session
        self._compilation = compilation
        self._bundle = None if is_estimate else compilation.bundle()
        #: Report of decisions, bytes and costs.
        self.report = Report(json.loads(compilation.report("json")), compilation.report("html"), compilation.report("txt"))
        #: Plan of saved and replayed values, which ``compile`` accepts to apply it again.
        self.plan = Plan(json.loads(compilation.plan()))

    @property
    def bundle(self) -> Any:
        if self._bundle is None:
            raise ValueError("an estimate has no bundle: compile without 'estimate'")
        return self._bundle

    @property
    def fits(self) -> bool:
        """Returns whether an estimate fits its budget."""
        return self._compilation.fits()

    @property
    def description(self) -> dict[str, Any]:
        """Arguments, results, targets and bytes of the bundle."""
        return json.loads(self.bundle.description())

    def explain(self, value: str) -> str:
        """Explains the decision about a value of the forward pass, by its id or name."""
        text = self._compilation.explain(value)
        if text is None:
            raise KeyError(f"the forward pass has no value '{value}'")
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the bundle, which reprise-run runs."""
        self.bundle.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        return self.bundle.bytes()

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


class Bundle:
    """A bundle from a file or from bytes."""

    def __init__(self, bundle: Any) -> None:
        self.bundle = bundle

    @property
    def description(self) -> dict[str, Any]:
        """Arguments, results, targets and bytes."""
        return json.loads(self.bundle.description())

    def save(self, path: str | os.PathLike[str]) -> None:
        self.bundle.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        return self.bundle.bytes()


def load(source: str | bytes | os.PathLike[str]) -> Bundle:
    """A bundle from a file, or from its bytes."""
    session = _core.Session()
    if isinstance(source, bytes):
        return Bundle(_core.read_bundle(session, source))
    return Bundle(_core.load_bundle(session, os.fspath(source)))


def _read(model: Model, name: str | None) -> tuple[bytes, str]:
    """Returns the text or bytecode of a model, and its name in messages. A one-line text is a path."""
    if isinstance(model, bytes):
        return model, name or "model"
    if isinstance(model, str) and "\n" in model:
        return model.encode(), name or "model"
    path = pathlib.Path(model)
    return path.read_bytes(), name or str(path)


def _add_policies(session: Any, policies: Iterable[Policy]) -> list[tuple[str, str]]:
    options = []
    for number, policy in enumerate(policies):
        if callable(policy):
            given = getattr(policy, "__name__", type(policy).__name__)
            name = f"{re.sub('[^A-Za-z0-9_]', '_', given)}_{number}"
            session.add_policy(name, adapt(policy))
            policy = name
        options.append(("policy", os.fspath(policy)))
    return options


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _as_text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def compile(model: Model, *, policy: Policy | Sequence[Policy] | None = None, budget: int | str | None = None,
            entry: str | None = None, target: str | Sequence[str] | None = None, threads: int | None = None,
            microbatches: int | None = None, stages: int | str | None = None, schedule: str | None = None,
            plan: Plan | None = None, estimate: bool = False, time_limit: float | None = None, name: str | None = None,
            progress: Callable[[str], None] | None = None, **options: Any) -> Program:
    """Compiles a model: a path, a text of several lines, or bytecode.

    ``budget`` is bytes, "1.5GiB" or "60%" of the step's bytes if every value is saved. ``policy`` is one or several
    policies: names, rule files, plugins, or callables that get the forward graph. ``progress`` is called with each
    phase. Further ``options`` are the flags of reprise-compile, with underscores. Ctrl-C cancels the compilation.
    """
    session = _core.Session()
    given = _add_policies(session, _as_list(policy))
    known = {"budget": budget, "entry": entry, "threads": threads, "microbatches": microbatches, "stages": stages,
             "schedule": schedule, "time_limit": time_limit, "target": target, "estimate": estimate or None, **options}
    for key, value in known.items():
        given += [(key.replace("_", "-"), _as_text(each)) for each in _as_list(value)]
    if plan is not None:
        given.append(("plan", plan.to_json()))
    text, name = _read(model, name)
    module = _core.parse(session, text, name)
    return Program(session, module.compile(given, progress), estimate)


def compile_wish(model: Model, *, budget: int | str | None = None, **options: Any) -> Program:
    """Compiles a model for a front end, for which a share is a goal: if no plan meets it, uses the smallest plan, with
    a warning.

    Bytes are a limit: if no plan meets them, the error is that of ``compile``.
    """
    try:
        return compile(model, budget=budget, **options)
    except Error as error:
        if error.least_budget is None:
            raise
        place = f" ({error.file}:{error.line})" if error.file else ""
        # Advice about flags is for the command line.
        refusal = f"the budget of {budget} cannot be met: {error.message.partition('; try --')[0]}{place}"
        text = f"{refusal}; {least_met(error.least_budget)}"
        if not str(budget).endswith("%"):
            raise Error(refusal, error.file, error.line, error.column, text, error.least_budget) from None
        least = error.least_budget
    program, least = compile_least(model, least, options)
    warn(f"{refusal}; {least_met(least)}, {IN_ITS_PLACE}")
    return program


def compile_least(model: Model, least: int, options: dict[str, Any]) -> tuple[Program, int]:
    """The program within the least budget of an error, and that budget. A search that ``time_limit`` ends may find less than its plan needs."""
    for _ in range(8):
        try:
            return compile(model, **{**options, "budget": least}), least
        except Error as error:
            if error.least_budget is None or error.least_budget <= least:
                raise
            least = error.least_budget
    return compile(model, **{**options, "budget": least}), least


def verify(model: Model, *, name: str | None = None) -> str:
    """Parses and verifies a model; returns it as the compiler prints it."""
    text, name = _read(model, name)
    return _core.parse(_core.Session(), text, name).text()
