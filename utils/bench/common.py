"""Common parts of the benchmarks: running tools, medians, tables, the machine."""

import array
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import time


class Bench:
    """The build folder and the folder of the results."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.out = self.build / "bench"
        self.out.mkdir(parents=True, exist_ok=True)

    def tool(self, name, *arguments, **environment):
        """Returns the standard output of one of our tools."""
        command = [str(self.build / "bin" / name), *map(str, arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
        if done.returncode:
            sys.exit(f"error: {' '.join(command)} failed with exit code {done.returncode}")
        return done.stdout

    def measure(self, name, *arguments):
        """Seconds and peak resident bytes of one call of a tool."""
        start = time.perf_counter()
        process = subprocess.Popen([str(self.build / "bin" / name), *map(str, arguments)], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"error: {name} {' '.join(map(str, arguments))} failed with exit code {process.returncode}")
        return time.perf_counter() - start, usage.ru_maxrss * 1024

    def zoo(self, file, model, *flags):
        path = self.out / file
        path.write_text(self.tool("reprise-zoo", model, *flags))
        return path

    def compile(self, model, bundle, *flags):
        """Compiles to a bundle in the folder of the results; returns its path and the report."""
        path, report = self.out / bundle, self.out / (bundle + ".report.json")
        self.tool("reprise-compile", model, "-o", path, f"--report={report}", *flags)
        return path, json.loads(report.read_text())

    def run(self, bundle, *flags):
        return json.loads(self.tool("reprise-run", bundle, "--json", *flags))

    def save(self, name, rows):
        """Writes build/bench/NAME.json, whole or not at all."""
        path = self.out / (name + ".json")
        text = json.dumps({"version": 1, "machine": machine(), "rows": rows}, indent=1) + "\n"
        (self.out / (name + ".json.new")).write_text(text)
        os.rename(self.out / (name + ".json.new"), path)
        return path


def machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    field = lambda key: next((line.split(":")[1].strip() for line in lines if line.startswith(key)), "unknown")
    flags = field("flags").split()
    return {"cpu": field("model name"), "family": field("cpu family"), "model": field("model\t"),
            "cores": len(os.sched_getaffinity(0)), "vectors": "AVX-512" if "avx512f" in flags else "AVX2",
            "load": os.getloadavg()[0]}


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


#: What print_table has printed under a name: name -> (heads, rows), for the pages.
TABLES = {}


def print_table(title, heads, rows, name=None):
    rows = [list(row) for row in rows]
    if name:
        TABLES[name] = (heads, rows)
    print(f"\n{title}")
    cells = [list(map(str, row)) for row in [heads, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    for row in cells:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))).rstrip())
    sys.stdout.flush()


def mebibytes(count):
    return f"{count / 2**20:,.1f}"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def peer(script, *arguments):
    """Returns the JSON output of a script of peers/, or None if PyTorch is not installed or does not support it."""
    path = pathlib.Path(__file__).resolve().parent / "peers" / script
    done = subprocess.run([sys.executable, str(path), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
    print(f"PyTorch ({script} {' '.join(map(str, arguments))}) left out: {reason}", file=sys.stderr)
    return None


def write_random(path, kind, shape, low=0, high=0):
    """Writes an .npy file of standard normal f32 ('f4') or of i32 in [low, high) ('i4')."""
    pick = random.Random(1)
    count = math.prod(shape)
    values = [pick.gauss(0, 1) if kind == "f4" else pick.randrange(low, high) for _ in range(count)]
    dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = array.array({"i4": "i", "f4": "f"}[kind], values).tobytes()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
