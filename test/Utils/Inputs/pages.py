"""Prints a page for check-pages.test and bench-pages.test. Usage: pages.py index|table"""
import sys

INDEX = """# Index

[Rooms](explanation/Architecture.md), [times](reference/benchmarks/Time.md#times), `lib/reprise/Low`, `Low/*.h`
"""
TABLE = """# Times

<!-- bench: time.step -->
| model | seconds |
|---|---:|
| gpt2 | 1.5 |

*Measured on 2026-01-02 at commit 0123abc, on a CPU, 2 cores.*
<!-- end -->
"""

print({"index": INDEX, "table": TABLE}[sys.argv[1]], end="")
