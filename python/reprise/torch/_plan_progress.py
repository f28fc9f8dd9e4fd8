"""Logs plans, and tells of searches that take long: ``TORCH_LOGS="+reprise"``."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from typing import Iterator

from ._plan_budgets import UNLIMITED

#: The log of this package, which TORCH_LOGS turns on.
log = logging.getLogger("reprise.torch")
#: Seconds of a search without a word.
QUIET = 2.0


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _tell(text: str) -> None:
    if log.isEnabledFor(logging.INFO):
        log.info("%s", text)
    else:
        print(f"reprise: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def searching(what: str, budget: str) -> Iterator[None]:
    """Writes a line if a search within this context takes more than two seconds, if the log is on or standard error is a
    terminal."""
    if not log.isEnabledFor(logging.INFO) and not _is_terminal():
        yield
        return
    within = "without a budget" if budget == UNLIMITED else f"within {budget}"
    timer = threading.Timer(QUIET, _tell, [f"searching {what} {within}"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
