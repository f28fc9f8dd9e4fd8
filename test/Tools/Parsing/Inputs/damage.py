"""Runs a tool on damaged copies of a file and counts the exit codes other than 0 and 1.

Usage: damage.py FILE TOOL [ARGUMENT]...    (FILE's copy is appended to the arguments)
"""
import random
import subprocess
import sys

with open(sys.argv[1], "rb") as stream:
    original = stream.read()
generator = random.Random(3)
copies = [original[:size] for size in range(0, len(original), 16)]
for _ in range(100):
    copy = bytearray(original)
    for _ in range(generator.randint(1, 3)):
        copy[generator.randrange(12, len(copy))] = generator.randrange(256)
    copies.append(bytes(copy))

deaths = 0
for index, copy in enumerate(copies):
    path = sys.argv[1] + ".damaged"
    with open(path, "wb") as stream:
        stream.write(copy)
    run = subprocess.run(sys.argv[2:] + [path], capture_output=True)
    silent = run.returncode == 1 and b"error: " not in run.stderr
    if run.returncode not in (0, 1) or silent:
        deaths += 1
        print("copy", index, "code", run.returncode, run.stderr[-500:], file=sys.stderr)
print(deaths, "of", len(copies), "damaged files ended the tool")
