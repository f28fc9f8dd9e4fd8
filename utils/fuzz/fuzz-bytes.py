#!/usr/bin/env python3
"""Runs the fuzzers of bytes: mutated .npy and .safetensors files, run.json, bundles, planning problems, models as text and as bytecode.

Usage: fuzz-bytes.py BUILD [--runs=N | --seconds=S] [--tools=FOLDER] [FUZZER]...

BUILD is a build folder of the asan preset. Each fuzzer runs N inputs (default 10,000), or as many as fit in S seconds.
The corpus starts from the test files and is kept in BUILD/fuzz/FUZZER/corpus. An input that crashes is kept in BUILD/fuzz/FUZZER/crashes and reduced. A crash
with no function of ours on its stack is listed, but is no failure: the tools parse in a child process first.
The last line is "N passed, N failed".
"""
import argparse
import glob
import os
import re
import struct
import subprocess
import sys
import time

TIMEOUT = "-timeout=30"
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FUZZERS = ["NpyFuzzer", "SafetensorsFuzzer", "JsonFuzzer", "BundleFuzzer", "ProblemFuzzer", "ModelFuzzer"]
# The option is for the tools that make seeds; see utils/run-tests.py.
os.environ.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
UPSTREAM = re.compile(r"lib(MLIR|LLVM)[-.\w]*\.so")
OURS = re.compile(r"libReprise\w*\.so|\breprise::|/reprise/|/(Npy|Safetensors|Json|Bundle|Problem)Fuzzer\.cpp")


def npy_seeds(tools):
    """The first byte is the element type, in the order of the runtime's DType."""
    for number, (dtype, size) in enumerate([("<f4", 4), ("<f8", 8), ("<u2", 2), ("<f2", 2), ("<i4", 4), ("<i8", 8), ("|b1", 1)]):
        for shape in [(), (3,), (2, 3)]:
            header = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (dtype, shape)
            header += " " * (63 - (10 + len(header)) % 64) + "\n"
            count = 1
            for dim in shape:
                count *= dim
            yield bytes([number]) + b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(count * size)


def safetensors_seeds(tools):
    for dtype, size in (("F32", 4), ("F64", 8), ("BF16", 2), ("F16", 2), ("I32", 4), ("I64", 8), ("BOOL", 1), ("U8", 1)):
        text = ('{"__metadata__":{"format":"pt","run":"{}"},"a":{"dtype":"%s","shape":[2,3],"data_offsets":[0,%d]},'
                '"b":{"dtype":"%s","shape":[],"data_offsets":[%d,%d]}}' % (dtype, 6 * size, dtype, 6 * size, 7 * size)).encode()
        yield struct.pack("<Q", len(text)) + text + bytes(7 * size)


def json_seeds(tools):
    yield b'{"seed": 7, "next_offset": 128, "next_step": 3}'
    yield b'{"a": [1, {"b": null}], "c": "\\u0041", "d": -1.5e3, "e": true}'


def bundle_seeds(tools):
    for model in [["mlp", "--layers=1", "--width=8"], ["gpt2", "--layers=1", "--width=16"]]:
        text = subprocess.run([os.path.join(tools, "reprise-zoo"), *model], stdout=subprocess.PIPE, check=True).stdout
        for policy in ["save-all", "recompute-all"]:
            subprocess.run([os.path.join(tools, "reprise-compile"), "-", "-o", "seed.rpb", f"--policy={policy}"],
                           input=text, check=True)
            with open("seed.rpb", "rb") as stream:
                yield stream.read()
    programs = os.path.join(SOURCE, "test", "Tools", "Inputs", "two-programs.mlir")
    subprocess.run([os.path.join(tools, "reprise-compile"), programs, "-o", "seed.rpb"], check=True)
    with open("seed.rpb", "rb") as stream:
        yield stream.read()
    os.remove("seed.rpb")


def problem_seeds(tools):
    """The problems of the planner's tests, and a real one."""
    with open(os.path.join(SOURCE, "test", "Tools", "reprise-plan", "checkpoint-problem.test")) as stream:
        for name, text in re.findall(r"^#--- (\S+)\n(.*?)(?=^#---|\Z)", stream.read(), flags=re.M | re.S):
            if name.endswith(".json"):
                yield text.encode()
    model = subprocess.run([os.path.join(tools, "reprise-zoo"), "mlp", "--layers=2", "--width=8"], stdout=subprocess.PIPE, check=True).stdout
    yield subprocess.run([os.path.join(tools, "reprise-opt"), "-", "--reprise-to=autodiff", "--reprise-export-problem=target=cpu:x86-64-v3",
                          "-o", os.devnull], input=model, stdout=subprocess.PIPE, check=True).stdout


def model_seeds(tools):
    """Yields every chunk of every test of the dialect, as text and, if it is well-formed, as bytecode."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "test", "Dialect", "Reprise", "**", "*.mlir"), recursive=True)):
        with open(path) as stream:
            chunks = re.split(r"^// -----.*$", stream.read(), flags=re.M)
        for chunk in chunks:
            text = re.sub(r"^ *// .*\n", "", chunk, flags=re.M).encode()
            yield text
            opt = subprocess.run([os.path.join(tools, "reprise-opt"), "-", "--emit-bytecode"], input=text,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if opt.returncode == 0:
                yield opt.stdout


SEEDS = {"NpyFuzzer": npy_seeds, "SafetensorsFuzzer": safetensors_seeds, "JsonFuzzer": json_seeds, "BundleFuzzer": bundle_seeds, "ProblemFuzzer": problem_seeds, "ModelFuzzer": model_seeds}


def execute(binary, folder, *arguments):
    environment = dict(os.environ, ASAN_OPTIONS="allow_user_poisoning=0:detect_leaks=0:handle_abort=1")
    process = subprocess.run([binary, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return process.returncode, process.stdout.decode(errors="replace")


def blame(code, report):
    """Returns (owner, innermost frame of the owner): "our" if any of our functions is on the stack, otherwise
    "upstream"."""
    frames = re.findall(r"^ *#\d+ .*$", report, re.M)
    for whose, pattern in (("our", OURS), ("upstream", UPSTREAM)):
        for frame in frames:
            # ODS writes readProperties, but the reader that it calls is upstream's.
            if pattern.search(frame) and "readProperties" not in frame:
                return whose, frame.strip()
    return ("our", "no stack") if code else ("unrepeatable", "the input alone does no harm")


def triage(binary, folder):
    """Reduces and assigns each kept input once; yields (owner, frame, file)."""
    frames = set()
    for path in sorted(glob.glob(os.path.join(folder, "crashes", "*-*"))):
        if path.endswith(".reduced"):
            continue
        whose, frame = blame(*execute(binary, folder, TIMEOUT, path))
        place = re.sub(r"0x[0-9a-f]+|^#\d+", "", frame)
        if place in frames:
            continue
        frames.add(place)
        reduced = path + ".reduced"
        execute(binary, folder, TIMEOUT, "-minimize_crash=1", "-runs=2000", f"-exact_artifact_path={reduced}", path)
        yield whose, frame, reduced if os.path.exists(reduced) else path


def fuzz(build, tools, name, runs, seconds=None):
    """Returns the failures."""
    folder = os.path.join(build, "fuzz", name)
    corpus = os.path.join(folder, "corpus")
    for path in (corpus, os.path.join(folder, "crashes")):
        os.makedirs(path, exist_ok=True)
    os.chdir(folder)
    if not os.listdir(corpus):
        for number, seed in enumerate(SEEDS[name](tools)):
            with open(os.path.join(corpus, f"seed-{number}"), "wb") as stream:
                stream.write(seed)
    binary = os.path.join(build, "bin", name)
    # Forks go on after a crash.
    start, failures = time.time(), []
    _, output = execute(binary, folder, "-fork=1", "-ignore_crashes=1", "-ignore_ooms=1", "-ignore_timeouts=1",
                        f"-runs={runs}", f"-max_total_time={seconds or 0}", "-max_len=20000", TIMEOUT, "-rss_limit_mb=6000",
                        "-artifact_prefix=crashes/", "corpus")
    executions = max([int(count) for count in re.findall(r"^#(\d+): ", output, re.M)], default=0)
    print(f"{name}: {executions} executions, {executions / (time.time() - start):.0f} per second", flush=True)
    if executions < (1 if seconds else runs):
        failures.append(f"{name}: only {executions} executions:\n{output[-2000:]}")
    for whose, frame, path in triage(binary, folder):
        print(f"{name}: a crash in {whose} code: {frame}\n  {path}", flush=True)
        if whose == "our":
            failures.append(f"{name}: {frame}: {path}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--runs", type=int, default=10000, help="number of inputs per fuzzer (10000)")
    parser.add_argument("--seconds", type=int, help="seconds per fuzzer, instead of --runs")
    parser.add_argument("--tools", help="folder of reprise-zoo, reprise-compile and reprise-opt (BUILD/bin)")
    parser.add_argument("fuzzers", nargs="*", metavar="FUZZER", help="fuzzer to run (all)")
    arguments = parser.parse_intermixed_args()
    build = os.path.abspath(arguments.build)
    tools = os.path.abspath(arguments.tools or os.path.join(build, "bin"))
    passed, failures = 0, []
    for name in arguments.fuzzers or FUZZERS:
        found = fuzz(build, tools, name, -1 if arguments.seconds else arguments.runs, arguments.seconds)
        passed += not found
        failures += found
    for failure in failures:
        print("FAILED:", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
