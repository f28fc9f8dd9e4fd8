"""PyTorch's version, and the versions that the tests have run on."""

from __future__ import annotations

import re
import warnings
from typing import Any, Callable

import torch

from ..._errors import Error, RepriseWarning

#: First and last release whose tests have run, each with all of its bug fixes.
OLDEST, NEWEST = (2, 11), (2, 15)
#: Text of the range in messages.
RANGE = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"


def release(version: str) -> tuple[int, int]:
    """Returns the numbers of a release: (2, 13) for 2.13.0+cpu."""
    major, minor = re.match(r"(\d+)\.(\d+)", version).groups()
    return int(major), int(minor)


def is_tested(version: str | None = None) -> bool:
    """Returns whether the tests have run on this release. Nightly builds of a release are not the release."""
    text = version or torch.__version__
    return bool(re.fullmatch(r"\d+\.\d+\.\d+(\+.*)?", text)) and OLDEST <= release(text) <= NEWEST


def require() -> None:
    """Raises an ImportError for a version that lacks what this package reads."""
    if release(torch.__version__) < OLDEST:
        raise ImportError(f"reprise.torch needs PyTorch {RANGE}, and PyTorch {torch.__version__} is installed")


def warn_untested() -> None:
    """Warns of a version that the tests have not run on."""
    if not is_tested():
        warnings.warn(f"PyTorch {torch.__version__} has not been tested with Reprise, which reads internals of PyTorch: tested with "
                      f'{RANGE}; backend="reprise_plan" runs eager code instead of Inductor\'s, whose bits might depend on the plan; '
                      'bits="inductor" runs the code of Inductor',
                      RepriseWarning, stacklevel=3)


def missing(what: str, error: Exception, works: str) -> Callable:
    """Returns a function that raises an Error about a part that this version of PyTorch has no place for."""
    lacks = re.sub(r" \(/.*\)$", "", str(error))

    def refuse(*arguments: Any, **named: Any) -> Any:
        raise Error(f"{what} does not work with PyTorch {torch.__version__} ({lacks}); {works} may work")
    return refuse


#: Whether Dynamo's compilations are marked as such, and passes of the scheduler have a class (2.13).
SINCE_2_13 = release(torch.__version__) >= (2, 13)
#: Whether AOTAutograd's preparation is one function, which also returns places of activations (2.12).
SINCE_2_12 = release(torch.__version__) >= (2, 12)
#: Whether the limit of a clamp, and equal operands of fmax and fmin, share the cotangent (2.14).
SHARES_TIES = release(torch.__version__) >= (2, 14)
#: Whether values of 16 bits have the same bits in the C++ code of every plan (2.13).
ROUNDS_16_BITS = SINCE_2_13
