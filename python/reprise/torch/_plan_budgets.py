"""Budgets of options: bytes with a unit, or a share of the peak without replays."""

from __future__ import annotations

import re

from .._errors import UsageError

#: Limit above the memory of any step, so that all labels are followed.
UNLIMITED = "1048576GiB"
UNITS = {"": 1, "B": 1, "kB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "TB": 10 ** 12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
         "TiB": 1 << 40}


def parse_budget(budget: int | str | None) -> str:
    """Returns bytes, such as "2GiB", or "60%", in the planner's spelling."""
    text = UNLIMITED if budget is None else str(budget)
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):  # in the spelling of messages for numbers of bytes
        text = text.replace(",", "")
    number = re.fullmatch(r"(\d+(?:\.\d+)?)(\D*)", text)
    known = (*UNITS, "%")
    if isinstance(budget, bool) or not number or number.group(2) not in known or float(number.group(1)) <= 0:
        raise UsageError(f'budget: expected bytes, a text with a unit ("1.5GiB"; units are {", ".join(filter(None, UNITS))}) or a share '
                         f'("60%"), got {budget!r}')
    return text


def to_bytes(budget: str) -> int:
    """Returns the number of bytes of a budget that is no share."""
    number, unit = re.fullmatch(r"([\d.]+)(\D*)", budget).groups()
    return int(float(number) * UNITS[unit])
