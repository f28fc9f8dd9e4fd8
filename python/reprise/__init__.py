"""A graph compiler for training: checkpointing, budgets and stages change memory and time, never a bit.

    program = reprise.compile(pathlib.Path("gpt2.mlir"), budget="60%")
    print(program.report)
    result = reprise.run(program, {"tokens": tokens}, steps=100)

docs/reference/Python.md is the guide.
"""

from ._core import api_version, version as __version__
from ._compile import Program, compile, load, verify
from ._errors import Cancelled, Error, RepriseWarning, UsageError
from ._plan import Plan, plan
from ._policy import Graph, Op, Value
from ._report import Report
from ._run import Result, Run, run

__all__ = ["Cancelled", "Error", "Graph", "Op", "Plan", "Program", "Report", "RepriseWarning", "Result", "Run",
           "UsageError", "Value", "api_version", "compile", "load", "plan", "run", "verify"]
