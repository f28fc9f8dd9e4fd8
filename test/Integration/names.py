#!/usr/bin/env python3
"""Names of schedules, policies, targets, checkpoint modes and kinds of contractions stand in one table each.

Tools ask the table, and pages name all of it.
"""

import os
import pathlib
import re

from checks import check, finish, tool

SOURCE = pathlib.Path(os.environ["REPRISE_SOURCE"])
PLANNING, PIPELINE = "docs/reference/PlanningProblems.md", "docs/reference/Pipeline.md"
#: The plans of five policies are on every curve: a choice, which budget-rules.py compares with the table.
CHOICE = {"lib/reprise/Compiler/Pareto.cpp"}


def completed(flag):
    """Returns the values that the compiler's completion offers for a flag."""
    text = tool("reprise-compile", "--help=bash")
    return set(re.search(rf"^ *{flag}\) .*compgen -W '([^']*)'", text, re.M).group(1).split())


#: The flag, what its values have beside names, the files with the table, and the pages that name all of it.
TABLES = [
    ("--schedule", {"auto"}, {"lib/reprise/Planning/Pipeline/Rules.cpp"}, [PIPELINE, PLANNING]),
    ("--policy", {"plugin:"}, {"lib/reprise/Policy/Builtins.cpp"}, ["docs/reference/Policies.md"]),
    ("--target", set(), {"lib/reprise/Conversion/Cpu/Target.cpp", "lib/reprise/Conversion/Targets/Targets.cpp"}, []),
    ("--checkpoint", set(), {"include/reprise/Dialect/Pipe/IR/CheckpointModes.h"}, [PIPELINE]),
    ("--contractions", set(), {"include/reprise/Target/Contractions.h"}, ["docs/reference/Cuda.md"]),
]


def main():
    texts = {str(path.relative_to(SOURCE)): path.read_text() for folder in ("lib", "include", "tools", "python/reprise")
             for path in (SOURCE / folder).rglob("*") if path.suffix in (".cpp", ".h", ".td", ".py")}
    for flag, others, homes, pages in TABLES:
        names = {name.removeprefix("cpu:") for name in completed(flag) - others}
        check(f"{flag}: names", len(names) >= 3, str(names))
        for page in pages:
            missing = [name for name in names if name not in (SOURCE / page).read_text()]
            check(f"{flag}: {page} has all", not missing, str(missing))
        lists = {}
        for path, text in texts.items():
            found = {name for name in names if re.search(rf'"(?:cpu:)?{re.escape(name)}"', text)}
            if len(found) >= 3 and path not in homes | CHOICE:
                lists[path] = sorted(found)
        check(f"{flag}: one table", not lists, str(lists))
    finish()


main()
