"""Stores plans and measurements for later runs, beside the caches of Inductor."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from typing import Any

from ._seam.hooks import cache_dir



def folder() -> str:
    """Returns the folder in PyTorch's own cache (TORCHINDUCTOR_CACHE_DIR), so that it is cleared with the rest."""
    return os.path.join(cache_dir(), "reprise")


def key(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read(name: str) -> Any:
    """Returns the content written under a name, or None. An unreadable file counts as absent."""
    try:
        with open(os.path.join(folder(), name + ".json")) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return None


def write(name: str, content: Any) -> None:
    """Writes a temporary file and renames it, so that no reader sees half of it."""
    os.makedirs(folder(), exist_ok=True)
    handle, path = tempfile.mkstemp(dir=folder())
    with os.fdopen(handle, "w") as stream:
        stream.write(json.dumps(content))  # json.dump encodes in Python, not in C
    os.replace(path, os.path.join(folder(), name + ".json"))
