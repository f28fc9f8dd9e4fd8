# reprise: every op in ODS is described and takes part in the round-trip tests beside this folder.
#
# usage: closed_lists.py SOURCE_DIR
import glob
import json
import os
import re
import shutil
import subprocess
import sys

source = sys.argv[1]
tests = os.path.join(source, "test/Dialect/Reprise/IR")
tblgen = shutil.which("llvm-tblgen")
mlir_include = os.path.join(os.path.dirname(os.path.realpath(tblgen)), "../include")
definitions = os.path.join(source, "include/reprise/Dialect/Reprise/IR/RepriseOps.td")
records = json.loads(
    subprocess.run(
        [tblgen, "--dump-json", "-I", os.path.join(source, "include"), "-I", mlir_include, definitions],
        check=True,
        capture_output=True,
    ).stdout
)
ops = {
    record["opName"]: record
    for record in (records[name] for name in records["!instanceof"]["Op"])
    if record["opDialect"]["def"] == "Reprise_Dialect"
}
written = ""
for path in glob.glob(os.path.join(tests, "*-ops.mlir")):
    text = open(path, encoding="utf-8").read()
    runs = [line for line in text.splitlines() if line.startswith("// RUN:")]
    if not any("--emit-bytecode" in run for run in runs) or not any("--mlir-print-op-generic" in run for run in runs):
        sys.exit(f"{path} does not go through bytecode and generic text")
    # Only ops in FileCheck's expectations count, not those of the input.
    written += "\n".join(line for line in text.splitlines() if "// CHECK" in line) + "\n"

print(len(ops), "ops")
for name, record in sorted(ops.items()):
    for field in ("summary", "description"):
        if not record[field].strip():
            print(f"{name} has no {field}")
    if not re.search(rf"reprise\.{name}\b(?!_)", written):
        print(f"{name} is in no round-trip test")
