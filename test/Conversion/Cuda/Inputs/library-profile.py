"""Checks that a profile has a row of each call of cuBLASLt: library-profile.py PROFILE"""
import json
import sys

profile = json.load(open(sys.argv[1]))
rows = profile["kernels"]
calls = [row for row in rows if "function" in row]
assert len(calls) == 7 and sum(row["calls"] for row in calls) == 7, calls
for row in calls:
    assert row["function"] == "cublasLtMatmul" and row["kernel"].startswith("cublasLtMatmul 2 ") or row["kernel"].startswith("cublasLtMatmul 3 "), row
    assert row["launch"] == row["kernel"] and row["ops"] == [], row
    assert row["seconds"] > 0 and row["flops"] > 0 and row["bytes"] > 0 and row["of_bound"] > 0, row
plain = next(row for row in calls if row["kernel"].startswith("cublasLtMatmul 2 2 1 48 40 64 "))
assert plain["flops"] == 2 * 48 * 40 * 64, plain
assert abs(sum(row["share"] for row in rows) - 1) < 1e-6
