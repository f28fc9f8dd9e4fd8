"""The slowest parts of tests, from the lines that test/Integration/checks.py and check-frameworks.py print."""
import re

#: Line of a file of tests, before the lines of its parts.
FILE = re.compile(r"^-- (\w+): \d+ s, CPU \d+ s$")
PART = re.compile(r"^-- +([\d.]+) CPU s: (.*)$")


def find_parts(name, output):
    """Returns the parts that an output names: (CPU seconds, name of the file and of the part)."""
    found = []
    for line in output.splitlines():
        if file := FILE.match(line):
            name = file.group(1)
        elif part := PART.match(line):
            found.append((float(part.group(1)), f"{name}: {part.group(2)}"))
    return found


def show(parts, count=40):
    """Prints the slowest parts, the slowest one first."""
    print(f"the slowest of {len(parts)} parts of at least a second, in CPU seconds:")
    for seconds, name in sorted(parts, reverse=True)[:count]:
        print(f"{seconds:8.1f}  {name}")
