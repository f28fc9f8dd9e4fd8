#!/usr/bin/env python3
"""Changes every kind of file that the tools read, and sees how they end.

Usage: mutate-inputs.py BUILD [--count=N] [--seed=S] [--jobs=J] [--keep=FOLDER] [KIND]...

Each of N changed files of a kind goes through a tool, which must end with exit code 0, 1 or 2 within ten seconds of
processor time (a minute with sanitizers), must say an error if it fails, and must leave nothing half-written. Failures are kept in FOLDER
(default: mutants), and the exit code is 1 if there are any. Kinds: model, bytecode, bundle, plan, policy, device,
profile, array, tensors, folder, problem, offsets; all of them without an argument.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 10
MODELS = {
    "mlp": ["mlp", "--width=8", "--batch=2"],
    "gpt2": ["gpt2", "--layers=1", "--width=16", "--heads=2", "--seq=4", "--batch=2", "--vocab=8", "--dropout=0.1"],
    "loop": ["gpt2", "--layers=2", "--width=16", "--heads=2", "--seq=4", "--batch=2", "--vocab=8", "--loop"],
    "llama": ["llama", "--layers=1", "--width=16", "--heads=2", "--seq=4", "--batch=2", "--vocab=8", "--checkpoint=layer"],
    "resnet18": ["resnet18", "--width=4", "--image=8", "--batch=2", "--classes=4"],
    "lstm": ["lstm", "--width=8", "--seq=2", "--batch=2", "--vocab=8"],
}
POLICY = {"version": 1, "rules": [
    {"match": {"op": "dot_general", "every": 2, "bytes": ">=1KiB"}, "label": "must_save"},
    {"match": {"scope": "layer/[0-5]/**", "kind": "elementwise", "flops": "<1G", "dtype": "f32"}, "label": "prefer_recompute"},
    {"match": {"name": "residual*", "first": 2, "last": 1}, "label": "prefer_save"},
    {"policy": "save_from_both_policies(dots_saveable, every-nth-contraction(2))"}, {"default": "prefer_recompute"}]}
DEVICE = {"version": 1, "name": "x", "flops": {"f32": 1e11, "f64": 5e10}, "elementwise_flops": 1e10,
          "bytes_per_second": 2e10, "launch_seconds": 1e-6}
PROBLEM = {"version": 1, "operations": [
    {"name": "a", "cost": 9, "kind": "contraction", "results": [400]},
    {"name": "b", "cost": 2, "kind": "elementwise", "operands": [0], "results": [400]},
    {"name": "c", "cost": 9, "kind": "contraction", "operands": [1], "results": [100]},
    {"name": "d", "cost": 9, "kind": "contraction", "backward": True, "operands": [1, 2], "results": [{"bytes": 40, "outlives": True}]},
    {"name": "e", "cost": 3, "kind": "elementwise", "backward": True, "operands": [0, 2], "results": [400]}]}
NUMBERS = ["0", "-1", "1", "2", "7", "255", "4096", "1000000", "2147483648", "9223372036854775807", "9223372036854775808", "1e30",
           "1e31", "1e308", "1e400", "-1e308", "1e-30", "1e-320", "0.5", "nan", "inf", "0x10", "18446744073709551616"]


def change_bytes(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5])):
        data[chance.randrange(len(data))] = chance.choice([chance.randrange(256), 0, 255, 128])
    return bytes(data)


def cut(data, chance):
    begin, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return chance.choice([data[:begin], data[:begin] + data[end:], data[:end] + data[begin:]])


def change_lines(data, chance):
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    way = chance.randrange(4)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(other, lines[at])
    elif way == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = b""
    return b"\n".join(lines)


def change_tokens(data, chance):
    tokens = re.findall(rb"\w+|\s+|[^\w\s]", data)
    words = [i for i, token in enumerate(tokens) if not token.isspace()]
    if not words:
        return data
    for _ in range(chance.choice([1, 1, 2, 4])):
        at, other = chance.choice(words), chance.choice(words)
        tokens[at] = chance.choice([tokens[other], b"", tokens[at] + b" " + tokens[other]])
    return b"".join(tokens)


def change_numbers(data, chance):
    found = list(re.finditer(rb"-?\d+(\.\d+)?(e[-+]?\d+)?", data))
    for match in sorted(chance.sample(found, min(len(found), chance.choice([1, 1, 2, 3]))), key=lambda m: -m.start()):
        data = data[:match.start()] + chance.choice(NUMBERS).encode() + data[match.end():]
    return data


def nudge_number(data, chance):
    """Changes one whole number by one, or by a small factor: most of such files are still valid."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return data
    match = chance.choice(found)
    old = int(match[0])
    new = chance.choice([old + 1, max(0, old - 1), old * 2, old // 2, old * 3, old * 8, old * 10])
    return data[:match.start()] + str(new).encode() + data[match.end():]


def swap_like_tokens(data, chance):
    """Replaces one name or one number by another of the same file."""
    tokens = re.findall(rb"[%@#^!]?[A-Za-z_][\w.]*|\d+|\s+|[^\w\s]", data)
    kinds = [[i for i, token in enumerate(tokens) if re.match(kind, token)] for kind in (rb"[A-Za-z_]", rb"[%@#^!][A-Za-z_]", rb"\d")]
    kinds = [kind for kind in kinds if len(kind) > 1]
    if not kinds:
        return data
    at, other = chance.sample(chance.choice(kinds), 2)
    if chance.random() < 0.5:
        tokens[other], tokens[at] = tokens[at], tokens[other]
    else:
        tokens[at] = tokens[other]
    return b"".join(tokens)


def nest(data, chance):
    depth = chance.choice([90, 110, 50000])
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice([b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth]) + data[at:]


def repeat_key(data, chance):
    """Repeats a member of an object, which is an error for all values."""
    members = list(re.finditer(rb'([{,]\s*)("(?:[^"\\]|\\.)*"\s*:\s*(?:[-\w.+]+|"(?:[^"\\]|\\.)*"))(?=\s*[,}])', data))
    match = chance.choice(members)
    return data[:match.end()] + b", " + match[2] + data[match.end():]


def mark(data, chance):
    """Prepends a byte-order mark, as some editors do."""
    return b"\xef\xbb\xbf" + data


#: Changes that every reader refuses.
WRONG = {"plan": [repeat_key, mark], "policy": [repeat_key, mark], "device": [repeat_key, mark], "profile": [repeat_key, mark],
         "folder": [repeat_key, mark], "problem": [repeat_key, mark], "offsets": [mark], "model": [mark]}
GENTLE = [nudge_number, nudge_number, nudge_number, swap_like_tokens, swap_like_tokens, swap_like_tokens]
TEXT = [change_bytes, cut, change_lines, change_tokens, change_tokens, change_numbers, change_numbers, *GENTLE]
CHANGES = {"model": TEXT, "bytecode": [change_bytes, change_bytes, cut], "bundle": [change_bytes, cut], "array": [change_bytes, cut, change_tokens],
           "tensors": [change_bytes, cut, change_tokens]}


class Corpus:
    """Files to change, and the commands that read them: MUTANT is the file, OUT the output."""

    def __init__(self, tools, folder):
        self.tools, self.folder, self.cases = tools, folder, {}
        run = self.run
        for name, flags in MODELS.items():
            model = run(f"{name}.mlir", ["reprise-zoo", *flags], to_stdout=True)
            for entry in ("train", "hvp"):
                self.add("model", model, ["reprise-compile", "MUTANT", "-o", "OUT", "--threads=2", f"--entry={entry}"])
            self.add("model", model, ["reprise-opt", "MUTANT", "-o", "OUT"])
            bytecode = run(f"{name}.mlirbc", ["reprise-opt", model, "--emit-bytecode", "-o", "OUT"])
            self.add("bytecode", bytecode, ["reprise-compile", "MUTANT", "-o", "OUT", "--threads=2"])
            self.add("bytecode", bytecode, ["reprise-opt", "MUTANT", "-o", "OUT"])
            self.add_files_of(name, model)
        programs = os.path.join(SOURCE, "test", "Tools", "Inputs", "two-programs.mlir")
        self.add("model", programs, ["reprise-compile", "MUTANT", "-o", "OUT", "--threads=2"])
        self.add("model", programs, ["reprise-compile", "MUTANT", "--interpret", "--output-dir=OUT"])
        bundle = run("programs.rpb", ["reprise-compile", programs, "-o", "OUT", "--threads=2"])
        self.add("bundle", bundle, ["reprise-run", "MUTANT", "--threads=2", "--output-dir=OUT"])
        for name, value in ("policy", POLICY), ("device", DEVICE), ("problem", PROBLEM):
            with open(self.path(name + ".json"), "w") as stream:
                json.dump(value, stream, indent=1)
        with open(self.path("buffers.csv"), "w") as stream:
            stream.write("id,lower,upper,size\na,0,3,16\nb,1,5,32\nc,3,9,8\nd,2,4,64\n")
        gpt2 = self.path("gpt2.mlir")
        self.add("policy", self.path("policy.json"), ["reprise-compile", gpt2, "-o", "OUT", "--threads=2", "--allow-unmatched-rules", "--policy=MUTANT"])
        self.add("device", self.path("device.json"), ["reprise-compile", gpt2, "-o", "OUT", "--threads=2", "--budget=85%", "--device-file=MUTANT"])
        self.add("problem", self.path("problem.json"), ["reprise-plan", "checkpoint", "MUTANT", "--budget=80%", "-o", "OUT"])
        self.add("offsets", self.path("buffers.csv"), ["reprise-plan", "offsets", "MUTANT", "-o", "OUT"])

    def add_files_of(self, name, model):
        run = self.run
        bundle = run(f"{name}.rpb", ["reprise-compile", model, "-o", "OUT", "--threads=2"])
        self.add("bundle", bundle, ["reprise-run", "MUTANT", "--threads=2", "--output-dir=OUT"])
        plan = run(f"{name}.plan.json", ["reprise-compile", model, "--estimate", "--threads=2", "--plan-out=OUT"])
        self.add("plan", plan, ["reprise-compile", model, "-o", "OUT", "--threads=2", "--plan-in=MUTANT"])
        profile = run(f"{name}.profile.json", ["reprise-run", bundle, "--threads=2", "--profile-out=OUT"])
        self.add("profile", profile, ["reprise-compile", model, "-o", "OUT", "--threads=2", "--budget=95%", "--profile=MUTANT"])
        results = run(f"{name}.results", ["reprise-run", bundle, "--threads=2", "--output-dir=OUT"])
        for array in sorted(os.listdir(results))[:3]:
            path = os.path.join(results, array)
            if array.endswith(".npy"):
                argument = array[:-4].replace(".", "/")
                self.add("array", path, ["reprise-run", bundle, "--threads=2", "--output-dir=OUT", "--input", f"{argument}=MUTANT"])
        tensors = run(f"{name}.safetensors", ["reprise-run", bundle, "--threads=2", "--output-dir=OUT"])
        self.add("tensors", tensors, ["reprise-run", bundle, "--threads=2", "--output-dir=OUT", "--input-dir=MUTANT"])
        self.add("folder", os.path.join(results, "run.json"), ["reprise-run", bundle, "--threads=2", "--output-dir=OUT", "--input-dir=FOLDER"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, name, command, to_stdout=False):
        out = self.path(name)
        command = [word.replace("OUT", out) for word in command]
        with open(out if to_stdout else os.devnull, "wb") as stream:
            subprocess.run([os.path.join(self.tools, command[0]), *command[1:]], stdout=stream, check=True)
        return out

    def add(self, kind, path, command):
        self.cases.setdefault(kind, []).append((path, command))


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (3 * SECONDS, 3 * SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)


def judge(code, seconds, stderr, left, expected, is_wrong):
    if code not in (0, 1, 2):
        return f"ended with {code}"
    if is_wrong and not code:
        return "took what is wrong"
    if code and not re.search(r"error", stderr):
        return f"failed with {code} and no error"
    if seconds > SECONDS:
        return f"took {seconds:.1f} s"
    if code and left:
        return f"failed and left {left}"
    if not code and set(left) - {expected}:
        return f"left {left}"
    return ""


def prepare(command, original, data, folder):
    """Returns the command on a file with that content; a folder of results is copied around it."""
    mutant = os.path.join(folder, "in", os.path.basename(original))
    if "FOLDER" in " ".join(command):
        shutil.copytree(os.path.dirname(original), os.path.join(folder, "in"))
    else:
        os.mkdir(os.path.join(folder, "in"))
    with open(mutant, "wb") as stream:
        stream.write(data)
    names = {"MUTANT": mutant, "FOLDER": os.path.join(folder, "in"), "OUT": os.path.join(folder, "out", "out")}
    return [re.sub("MUTANT|FOLDER|OUT", lambda match: names[match[0]], word) for word in command]


def try_one(tools, kind, case, seed, keep):
    chance = random.Random(seed)
    original, command = chance.choice(case)
    with open(original, "rb") as stream:
        data = stream.read()
    refused = WRONG.get(kind, [])
    change = chance.choice([*CHANGES.get(kind, TEXT + [nest]), *refused])
    data = change(data, chance)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "out"))
        words = prepare(command, original, data, folder)
        process = subprocess.Popen([os.path.join(tools, words[0]), *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=open(os.path.join(folder, "stderr"), "wb"), preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        with open(os.path.join(folder, "stderr"), errors="replace") as stream:
            stderr = stream.read()
        wrong = judge(process.returncode, usage.ru_utime + usage.ru_stime, stderr, os.listdir(os.path.join(folder, "out")), "out",
                      change in refused)
    if wrong:
        os.makedirs(keep, exist_ok=True)
        path = os.path.join(keep, seed.replace("/", "-") + "-" + os.path.basename(original))
        with open(path, "wb") as stream:
            stream.write(data)
        wrong = f"{path}: {' '.join(command)}: {wrong}: {stderr[-300:]!r}"
    return process.returncode, wrong


def main():
    global SECONDS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("kinds", nargs="*", help="kinds of inputs to mutate (all)")
    parser.add_argument("--count", type=int, default=1000, help="number of mutants per kind (1000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the mutations (1)")
    parser.add_argument("--jobs", type=int, default=2, help="number of tools that run at the same time (2)")
    parser.add_argument("--keep", default="mutants", help="folder for mutants that a tool fails on (mutants)")
    options = parser.parse_intermixed_args()
    if re.search(r"^LLVM_USE_SANITIZER:\w+=.", pathlib.Path(options.build, "CMakeCache.txt").read_text(), re.M):
        SECONDS = 60
    tools = os.path.join(os.path.abspath(options.build), "bin")
    failures = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        corpus = Corpus(tools, folder)
        for kind in options.kinds or corpus.cases:
            seeds = [f"{kind}/{options.seed + i}" for i in range(options.count)]
            ends = list(pool.map(lambda seed: try_one(tools, kind, corpus.cases[kind], seed, options.keep), seeds))
            for _, wrong in ends:
                if wrong:
                    print(wrong)
            wrong = sum(1 for _, text in ends if text)
            failures += wrong
            codes = ", ".join(f"{sum(code == c for code, _ in ends)} with {c}" for c in (0, 1, 2))
            print(f"{kind}: {len(ends)} changed files ended {codes}; {wrong} wrong", flush=True)
    print(f"{failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
