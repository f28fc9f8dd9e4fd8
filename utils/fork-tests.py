#!/usr/bin/env python3
"""Runs test files in processes that are forked from this one, which has imported PyTorch and compiled a step.

Usage: fork-tests.py JOBS FOLDER ARGUMENTS FILE...
  JOBS       files that run at once
  FOLDER     where each file has a fresh folder of its name, with its output in output.txt
  ARGUMENTS  what each file is given, separated by blanks; may be empty

Prints one line of JSON per file: name, exit code (negative for a signal), seconds, and CPU seconds of the file's processes.

The import of PyTorch, Inductor's tables and its check of the CPU's features take many seconds in every process. Forked
processes have them from the start. Files of JAX start an interpreter of their own, and so run without PyTorch.
"""
import contextlib
import gc
import json
import os
import runpy
import shutil
import signal
import sys
import time

#: Limits of one file, and of one that runs everything. An alarm ends the process.
SECONDS, SECONDS_OF_ALL = 1800, 20_000


def compile_step():
    """Compiles a step with Inductor, and leaves the state of PyTorch as it was."""
    import torch
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    # A pool of threads would not survive a fork.
    torch.set_num_threads(1)
    # In a build for CUDA, fake tensors register a device. Autograd's engine then starts a thread, and refuses to run in
    # forked processes. So such a build compiles a step without gradients.
    x = torch.ones(8, 8, requires_grad=torch.version.cuda is None)
    y = torch.compile(lambda x: (x @ x).sin().sum())(x)
    if y.requires_grad:
        y.backward()
    torch._dynamo.reset()
    torch.set_num_threads(threads)
    torch.set_rng_state(state)


def prepare(folder):
    """Does what most files would do first. What fails here fails in the files that need it, which tell why."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "cache")
    with contextlib.suppress(Exception):
        import reprise.torch  # noqa: F401
        import torch
        # The original flushes the processor's caches for a log, at 20 ms per graph.
        torch._dynamo.guards.profile_guard_manager = lambda *given: 0.0
        compile_step()
    # Collections of the files need not walk the objects of these imports.
    gc.collect()
    gc.freeze()


def is_alone(path):
    return os.path.basename(path).startswith("test_jax")


def start(path, arguments, folder):
    """Starts a file in a process of its own; returns the process id."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    output = os.open(os.path.join(folder, "output.txt"), os.O_WRONLY | os.O_CREAT, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "cache")
    signal.alarm(SECONDS_OF_ALL if "all" in arguments else SECONDS)
    if is_alone(path):
        os.execv(sys.executable, [sys.executable, path, *arguments])
    sys.argv[1:], sys.path[0] = arguments, os.path.dirname(path)
    runpy.run_path(path, run_name="__main__")
    sys.exit()


def run(jobs, folder, arguments, paths):
    """Runs all files, the first ones first."""
    waiting, running = list(paths), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            path = waiting.pop(0)
            name = os.path.splitext(os.path.basename(path))[0]
            running[start(path, arguments, os.path.join(folder, name))] = name, time.time()
        pid, status, usage = os.wait4(-1, 0)
        if pid in running:
            name, begin = running.pop(pid)
            print(json.dumps({"name": name, "code": os.waitstatus_to_exitcode(status), "seconds": time.time() - begin,
                              "cpu_seconds": usage.ru_utime + usage.ru_stime}), flush=True)


def main():
    jobs, folder, arguments, *paths = sys.argv[1:]
    folder, paths = os.path.abspath(folder), [os.path.abspath(path) for path in paths]
    if sum(not is_alone(path) for path in paths) > 1:
        prepare(folder)
    run(int(jobs), folder, arguments.split(), paths)


if __name__ == "__main__":
    main()
