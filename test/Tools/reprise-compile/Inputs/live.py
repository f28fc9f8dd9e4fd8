"""Reads what --estimate prints: bytes that are live at the peak lie in the arena, and the buffers listed are those bytes."""
import re
import sys

for path in sys.argv[1:]:
    text = open(path).read()
    arena = int(re.search(r"arena_bytes +(\d+) \([0-9.]+ [KMG]?i?B\)", text)[1])
    live = int(re.search(r"(\d+) bytes \(.*\) are live at the peak", text)[1])
    listed = [int(row[1]) for row in re.finditer(r"^ *(\d+) \(.*\)  .*, launches", text, re.M)]
    assert 0 < live <= arena, (path, live, arena)
    assert sum(listed) <= live and ("smaller ones" in text or sum(listed) == live), (path, sum(listed), live)
