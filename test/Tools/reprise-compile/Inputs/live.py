"""Checks the output of --estimate: bytes that are live at the peak lie in the arena, and the listed buffers are these
bytes."""
import re
import sys


def count(text):
    return int(text.replace(",", ""))


for path in sys.argv[1:]:
    text = open(path).read()
    exact = r"(?:[0-9.]+ [KMG]iB \()?([0-9,]+) bytes\)?"
    arena = count(re.search(rf"^arena +{exact}$", text, re.M)[1])
    live = count(re.search(rf"^{exact} are live at the peak", text, re.M)[1])
    listed = [count(row[1]) for row in re.finditer(rf"^ *{exact}  .*, launches", text, re.M)]
    assert 0 < live <= arena, (path, live, arena)
    assert sum(listed) <= live and ("smaller ones" in text or sum(listed) == live), (path, sum(listed), live)
