"""Build backend: scikit-build-core, whose wheels are renamed after the oldest glibc that their libraries run on, as
indexes need."""
import base64
import hashlib
import os
import re
import zipfile

from scikit_build_core.build import (  # noqa: F401
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)
from scikit_build_core.build import build_wheel as build_named_after_system

SYSTEM = "linux_x86_64"


def find_platform(libraries):
    """Finds the oldest glibc by the version names among the symbol names. A wheel that needs a library of this system
    keeps its name."""
    if any(b"\0libzstd.so.1\0" in library for library in libraries):
        return SYSTEM
    versions = [int(v) for library in libraries for v in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", library)]
    return f"manylinux_2_{max([17, *versions])}_x86_64"


def replace_in_record(record, path, content):
    """Returns the record of files with a new entry for one file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    lines = [line for line in record.splitlines() if not line.startswith(path + b",")]
    return b"\n".join([path + b",sha256=" + digest + b"," + str(len(content)).encode(), *lines, b""])


def write_renamed(source, target, platform):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        contents = {item.filename: old.read(item) for item in old.infolist()}
        (tags,) = [path for path in contents if path.endswith(".dist-info/WHEEL")]
        record = tags[: -len("WHEEL")] + "RECORD"
        renamed = contents[tags].replace(SYSTEM.encode(), platform.encode())
        contents[record] = replace_in_record(contents[record], tags.encode(), renamed)
        contents[tags] = renamed
        for item in old.infolist():
            new.writestr(item, contents[item.filename])


def build_wheel(folder, settings=None, metadata=None):
    name = build_named_after_system(folder, settings, metadata)
    if not name.endswith(f"-{SYSTEM}.whl"):
        return name
    source = os.path.join(folder, name)
    with zipfile.ZipFile(source) as wheel:
        platform = find_platform([wheel.read(path) for path in wheel.namelist() if path.endswith(".so")])
    if platform == SYSTEM:
        return name
    renamed = name.replace(SYSTEM, platform)
    write_renamed(source, os.path.join(folder, renamed), platform)
    os.remove(source)
    return renamed
