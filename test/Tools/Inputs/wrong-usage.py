"""Calls reprise-compile wrongly and prints the code and all messages."""
import subprocess

CALLS = [[], ["m.mlir", "n.mlir"], ["m.mlir", "--buget=3"], ["m.mlir", "--threads"], ["m.mlir", "--threads=many"],
         ["m.mlir", "--unroll=1"], ["m.mlir", "--entry="], ["m.mlir", "-o", "a", "-o", "b"],
         *(["m.mlir", "-o", "b", f"--budget={budget}"] for budget in ("1.5", "1e6", "1.5B"))]
for words in CALLS:
    done = subprocess.run(["reprise-compile", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.returncode, done.stdout, end="")
