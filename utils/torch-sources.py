#!/usr/bin/env python3
"""Writes down the hashes of PyTorch's functions that the package replaces, for the version that this Python has.

Usage: torch-sources.py [--check]

Adds them to python/reprise/torch/_seam/known.py. Run it by the Python of each virtual environment that
`check-frameworks.py --versions=all` makes, after the tests have passed there. --check only says what is missing.
"""
import os
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(SOURCE, "python", "reprise", "torch", "_seam", "known.py")
HEAD = '''"""Hashes of the functions of PyTorch that this package replaces or relies on: of sources, and of parameters' names.

Made by utils/torch-sources.py.
"""

KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
'''


def main(arguments):
    import torch
    from reprise.torch._seam import patches, versions
    release = "{}.{}".format(*versions.release(torch.__version__))
    known, missing = {key: dict(value) for key, value in patches.KNOWN.items()}, []
    for patch in patches.ALL:
        digests = " ".join(patch.digests())
        found = known.setdefault(patch.key, {}).setdefault(release, ())
        if digests not in found:
            known[patch.key][release] = tuple(sorted({*found, digests}))
            missing.append(patch.key)
    for key in missing:
        print(f"PyTorch {torch.__version__}: {key} is new")
    if "--check" in arguments:
        return 1 if missing else 0
    with open(TABLE, "w") as stream:
        stream.write(HEAD)
        for patch in patches.ALL:
            stream.write(f'    "{patch.key}": {{\n')
            stream.writelines(f'        "{key}": ({" ".join(chr(34) + each + chr(34) + "," for each in value)}),\n'
                              for key, value in sorted(known[patch.key].items()))
            stream.write("    },\n")
        stream.write("}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
