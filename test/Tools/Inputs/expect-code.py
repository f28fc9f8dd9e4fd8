"""Runs a command and checks its exit code, which `not` cannot: expect-code.py CODE COMMAND..."""
import subprocess
import sys

run = subprocess.run(sys.argv[2:])
if run.returncode != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, got {run.returncode}")
