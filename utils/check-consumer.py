#!/usr/bin/env python3
"""Installs a build into a fresh prefix and builds and runs test/Consumer against it, from a moved copy.

Usage: check-consumer.py BUILD      Works in the current folder. The last line is "N passed, N failed".
"""
import os
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
results = []


def check(name, command, expected_code=0, expected_text=""):
    """Runs a command and records whether it succeeded as expected; returns whether it did."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("REPRISE_", "CMAKE_", "LD_LIBRARY"))}
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    good = run.returncode == expected_code and expected_text in run.stdout
    results.append(good)
    print("ok:" if good else "failed:", name)
    if not good:
        print("  " + " ".join(command))
        print(run.stdout)
        print(f"  code {run.returncode}, expected {expected_code} and the text '{expected_text}'")
    return good


def check_no_llvm(program, library):
    """Users of the runtime and of the planner must not load LLVM by the back door."""
    loaded = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    good = library in loaded and "LLVM" not in loaded and "MLIR" not in loaded
    results.append(good)
    print("ok:" if good else "failed:", f"{library} loads neither MLIR nor LLVM")
    if not good:
        print(loaded)


def cache_entry(build, name):
    with open(os.path.join(build, "CMakeCache.txt")) as stream:
        for line in stream:
            if line.startswith(name + ":"):
                return line.split("=", 1)[1].strip()
    return ""


def configure(build, folder, *options):
    prefix = os.path.abspath("moved")
    compiler = cache_entry(build, "CMAKE_CXX_COMPILER")
    return ["cmake", "-S", os.path.join(SOURCE, "test", "Consumer"), "-B", folder, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release", *options]


def check_files():
    """Checks the installed files beside the tools: manuals, completions, pages, schemas, examples."""
    for tool in ("compile", "run", "plan", "zoo", "opt", "reduce", "lsp-server"):
        name = f"reprise-{tool}"
        check(f"{name} says its version", [f"moved/bin/{name}", "--version"], 0, f"{name}: Reprise ")
        check(f"{name} has a man page", ["cat", f"moved/share/man/man1/{name}.1"], 0, f".TH {name.upper()} 1")
        check(f"{name} has a completion", ["bash", "-c", f". moved/share/bash-completion/completions/{name}; complete -p {name}"],
              0, name)
    for path in ("README.md", "LICENSE", "docs/how-to/WriteAModel.md", "docs/reference/schemas/report.schema.json", "examples/step.mlir",
                 "examples/policies/every-other.c"):
        check(f"{path} is installed", ["test", "-s", f"moved/share/doc/reprise/{path}"])


def check_install(build):
    if not check("install", ["cmake", "--install", build, "--prefix", os.path.abspath("prefix")]):
        return
    # A tree that still knows its first place breaks here.
    shutil.move("prefix", "moved")
    model = os.path.join(SOURCE, "test", "Consumer", "model.mlir")
    check("the installed reprise-opt", ["moved/bin/reprise-opt", model], 0, "reprise.dot_general")
    check_files()
    losses = ""
    if check("configure", configure(build, "full")) and check("build", ["cmake", "--build", "full"]):
        if check("compile and run", ["full/compile-and-run", model, "model.rpb"], 0, "loss 0x"):
            losses = subprocess.run(["full/compile-and-run", model, "model.rpb"], capture_output=True, text=True).stdout
    if check("configure the runtime's user", configure(build, "runtime", "-DRUNTIME_ONLY=ON")):
        if check("build the runtime's user", ["cmake", "--build", "runtime"]):
            check("the runtime names a missing bundle", ["runtime/run-bundle", "none.rpb"], 1, "none.rpb")
            check("the bundle gives the same losses", ["runtime/run-bundle", "model.rpb"], 0, losses or "no losses")
            check_no_llvm("runtime/run-bundle", "libRepriseRuntime")
            check("the planner packs", ["runtime/pack"], 0, "height 164")
            check_no_llvm("runtime/pack", "libReprisePlanning")
            check("the planner plans", ["runtime/plan"], 0, "peak 300, cost +1 of 7")
            check_no_llvm("runtime/plan", "libReprisePlanning")
    if check("configure the C API's user", configure(build, "c", "-DC_ONLY=ON")) and check("build it", ["cmake", "--build", "c"]):
        check("the C API gives the same losses", ["c/embed", model], 0, losses or "no losses")
    flags = "$(PKG_CONFIG_PATH=moved/lib/pkgconfig pkg-config --cflags --libs reprise)"
    program = os.path.join(SOURCE, "test", "Consumer", "embed.c")
    if check("pkg-config", ["sh", "-c", f"cc {program} {flags} -Wl,-rpath,moved/lib -o c-embed"]):
        check("its program gives the same losses", ["./c-embed", model], 0, losses or "no losses")


def main(build):
    check_install(os.path.abspath(build))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
