#!/usr/bin/env python3
"""Runs every program of examples/.

Usage: check-examples.py BUILD [NAME]...     NAME: a part of an example's path
                                             Works in the current folder. The last line is "N passed, N failed, N skipped".

Each example runs in a folder of its own, must end well, must print what it promises, and must learn: the last loss that it
prints is below the first one. Programs for PyTorch and JAX run in the environment of `check-frameworks.py`, and are skipped
where that cannot be made or lacks a package; a pipeline is skipped where there is no MPI. A file of examples/ that no case
names is a failure.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.path.join(SOURCE, "examples")
SECONDS = 600
ZOO = "reprise-zoo gpt2 --layers=2 --width=32 --seq=16 --vocab=32 --batch=4 > model.mlir"
# PREFIX is an installed build, PYTHON the frameworks' Python, HERE the folder of the examples.
COMPILE = "reprise-compile model.mlir --estimate --explain=residual --policy="
#: Runs an example with eager ops, and with torchvision's operators declared if they cannot be loaded.
VISION = ("PYTHON -c 'import sys, runpy, models; models.vision_library(); path = sys.argv[1]; sys.argv[:] = [path, \"--codegen=eager\"]; "
          "runpy.run_path(path, run_name=\"__main__\")' HERE/pytorch/")
#: Path -> (the package that it needs, the script that runs it, what it prints).
CASES = {
    "step.mlir": (None, "reprise-compile HERE/step.mlir -o m.rpb && reprise-run m.rpb --steps=2", "loss "),
    "policies/every-other.c": (None, f"{ZOO}; cc -std=c11 -shared -fPIC -I PREFIX/include HERE/policies/every-other.c -o p.so; "
                               f"{COMPILE}plugin:./p.so", "policy every-other"),
    "policies/largest.cpp": (None, f"{ZOO}; c++ -std=c++17 -shared -fPIC -I PREFIX/include HERE/policies/largest.cpp -o p.so; "
                             f"{COMPILE}plugin:./p.so", "residual"),
    "policies/keep_attention.py": ("reprise", f"{ZOO}; PYTHON HERE/policies/keep_attention.py model.mlir", "replayed: "),
    "pytorch/plan.py": ("torch", "PYTHON HERE/pytorch/plan.py --codegen=eager", "replays"),
    "pytorch/whole.py": ("torch", "PYTHON HERE/pytorch/whole.py", "bytes of a budget"),
    "pytorch/trainer.py": ("accelerate", f"{VISION}trainer.py", "replays"),
    "pytorch/layers.py": ("torch", "PYTHON HERE/pytorch/layers.py --codegen=eager", "budget of the step"),
    "pytorch/diffusion.py": ("diffusers", f"{VISION}diffusion.py", "replays"),
    "pytorch/images.py": ("timm", f"{VISION}images.py", "replays"),
    "pytorch/lightning_module.py": ("lightning_utilities", f"{VISION}lightning_module.py", "replays"),
    "pytorch/fsdp.py": ("torch", "PYTHON HERE/pytorch/fsdp.py", "step 2"),
    "jax/train.py": ("jax", "PYTHON HERE/jax/train.py", "arena and workspace"),
    "embedding/train.c": (None, f"{ZOO}; PREFIX/programs/train-c model.mlir 70% 3", "step 2"),
    "embedding/train.cpp": (None, f"{ZOO}; reprise-compile model.mlir -o m.rpb; PREFIX/programs/train-cpp m.rpb 3", "step 2"),
    "embedding/CMakeLists.txt": (None, "test -x PREFIX/programs/train-c && test -x PREFIX/programs/train-cpp && echo built", "built"),
    "pipeline/train.sh": ("mpirun", "HERE/pipeline/train.sh", "two stages have the bits of one device"),
    "budgets/sweep.py": (None, f"{ZOO}; python3 HERE/budgets/sweep.py model.mlir --shares=100,60 && cat sweep.svg", "60 %</text>"),
}
#: Built by a test of lit, since they need the packages of MLIR.
ELSEWHERE = {"policies/keep-rows.cpp": "test/Tools/reprise-opt/dialect-plugin.test"}


def frameworks():
    spec = importlib.util.spec_from_file_location("frameworks", os.path.join(SOURCE, "utils", "check-frameworks.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_python(build):
    """The Python of the frameworks and None, or None and the reason why there is none."""
    module = frameworks()
    python, reason = module.make_environment(module.Environment(build))
    wrong = module.install(build, python) if python else reason
    return (python, None) if not wrong else (None, wrong)


def lacks(need, python):
    """Why an example cannot run here, or None."""
    if need is None:
        return None
    if need == "mpirun":
        return None if shutil.which("mpirun") else "there is no mpirun"
    if not python[0]:
        return python[1]
    done = subprocess.run([python[0], "-c", f"import {need}"], capture_output=True, text=True)
    return None if done.returncode == 0 else f"{need} cannot be imported: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"


def make_prefix(build):
    """Installs the build and builds the programs of examples/embedding against it; what is wrong, or None."""
    prefix = os.path.abspath("prefix")
    for command in (["cmake", "--install", build, "--prefix", prefix],
                    ["cmake", "-S", os.path.join(EXAMPLES, "embedding"), "-B", os.path.join(prefix, "programs"), "-G", "Ninja",
                     f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"],
                    ["cmake", "--build", os.path.join(prefix, "programs")]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return done.stdout
    return None


def judge(output, expected):
    """Returns what is wrong with the output of an example, or None."""
    losses = list(map(float, re.findall(r"loss'?:? '?(-?\d+\.\d+)", output)))
    if expected not in output:
        return f"does not print '{expected}'"
    return f"does not learn: {losses}" if len(losses) > 1 and losses[-1] > losses[0] else None


def run_case(build, path, python):
    """Returns (what is wrong or None, the output)."""
    _, script, expected = CASES[path]
    folder = os.path.abspath(path.replace("/", "-") + ".run")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for word, value in {"HERE": EXAMPLES, "PREFIX": os.path.abspath("prefix"), "PYTHON": python[0] or "python3"}.items():
        script = re.sub(rf"\b{word}\b", lambda _: value, script)
    tests = os.path.join(SOURCE, "test")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", HF_HUB_OFFLINE="1",
                       PYTHONDONTWRITEBYTECODE="1", TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache"),
                       PATH=os.path.join(build, "bin") + os.pathsep + os.environ["PATH"],
                       PYTHONPATH=os.pathsep.join([os.path.join(tests, "Frameworks"), os.path.join(tests, "Integration")]))
    try:
        done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"takes more than {SECONDS} s", ""
    return (f"ends with {done.returncode}" if done.returncode else judge(done.stdout, expected)), done.stdout


def unnamed():
    """Files of examples/ that no case runs."""
    for folder, _, names in os.walk(EXAMPLES):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), EXAMPLES)
            if path not in CASES and path not in ELSEWHERE and not name.endswith((".md", ".pyc")):
                yield path


def main(build, chosen):
    paths = [path for path in CASES if not chosen or any(part in path for part in chosen)]
    counts = {"ok": 0, "failed": 0, "skipped": 0}

    def note(word, text):
        counts[word] += 1
        print(f"{word}: {text}", flush=True)

    for path in unnamed():
        note("failed", f"{path} is run by no case of check-examples.py")
    wrong = make_prefix(build)
    if wrong:
        note("failed", f"the programs of examples/embedding cannot be built\n{wrong}")
    needed = any(CASES[path][0] not in (None, "mpirun") for path in paths)
    python = find_python(build) if needed else (None, "not needed")
    for path in paths:
        reason = lacks(CASES[path][0], python)
        if reason:
            note("skipped", f"{path}, {reason}")
            continue
        start = time.time()
        problem, output = run_case(build, path, python)
        note("failed" if problem else "ok", f"{path} ({time.time() - start:.1f} s)" + (f" {problem}\n{output}" if problem else ""))
    print(f"{counts['ok']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
