"""Writes a table as bench.py --pages does. Usage: bench-pages.py FOLDER UTILS_BENCH"""
import pathlib
import sys

sys.path.insert(0, sys.argv[2])
sys.dont_write_bytecode = True
import pages  # noqa: E402

MACHINE = {"cpu": "a CPU", "family": 1, "model": 2, "cores": 4, "vectors": "AVX2"}
folder = pathlib.Path(sys.argv[1])
tables = {"time.step": (["model", "seconds"], [["gpt2", 2.5], ["a|b", 3]]), "time.other": (["model"], [["gpt2"]])}
missing = pages.write(tables, pages.make_stamp(MACHINE), folder)
assert missing == ["time.other"], missing
text = (folder / "Time.md").read_text()
assert not list(pages.problems(text)), list(pages.problems(text))
