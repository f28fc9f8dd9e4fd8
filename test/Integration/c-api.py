#!/usr/bin/env python3
"""The C API: the exports of libRepriseC, the results of its C programs, and equality with the bits and the reports of
the tools."""

import os
import pathlib
import subprocess

from checks import check, finish, tool

SOURCE, BUILD = pathlib.Path(os.environ["REPRISE_SOURCE"]), pathlib.Path(os.environ["REPRISE_BUILD"])
MODEL = SOURCE / "test/Consumer/model.mlir"


def check_symbols():
    """Checks the list of exported symbols: a symbol more or less is a decision."""
    lines = tool("nm", "-D", "--defined-only", "--format=posix", BUILD / "lib/libRepriseC.so").splitlines()
    found = sorted(line.split()[0].split("@")[0] for line in lines)
    listed = (SOURCE / "test/CApi/symbols.txt").read_text().split()
    check("the library exports the listed functions", found == listed,
          f"more: {sorted(set(found) - set(listed))}, fewer: {sorted(set(listed) - set(found))}")


def run_program(name, *arguments, **environment):
    done = subprocess.run([BUILD / "bin/c-api-tests", MODEL, *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})
    for line in done.stdout.splitlines():
        if line.startswith("failed"):
            check(f"{name}: {line}", False, done.stdout)
    check(f"{name} ends well", done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    check(f"{name} prints nothing of its own", done.stderr == "", done.stderr)


def main():
    check_symbols()
    tool("cc", "-shared", "-fPIC", f"-I{SOURCE}/include", SOURCE / "examples/policies/every-other.c", "-o", "plugin.so")
    run_program("the C program", REPRISE_TEST_PLUGIN=os.path.abspath("plugin.so"))
    run_program("the C program on a GPU", "cuda", LD_LIBRARY_PATH=str(BUILD / "gpu-emulator"))
    # The program saved the bundle of one thread.
    tool("reprise-compile", MODEL, "-o", "tool.rpb", "--threads=1")
    check("the bundle is that of reprise-compile", pathlib.Path("tool.rpb").read_bytes() == pathlib.Path("saved.rpb").read_bytes())
    finish()


if __name__ == "__main__":
    main()
