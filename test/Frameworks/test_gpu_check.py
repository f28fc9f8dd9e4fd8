"""Tests of gpu-check.sh's comparison with PyTorch on a machine without a GPU: PyTorch on the CPU, Reprise's ops on the
emulated driver."""
import contextlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import checks
import torch

SOURCE, BUILD = os.environ["REPRISE_SOURCE"], os.environ["REPRISE_BUILD"]
sys.path[:0] = [os.path.join(SOURCE, "utils/gpu-check"), os.path.join(SOURCE, "utils/bench/peers")]
import beside_torch  # noqa: E402
import models  # noqa: E402
import ops  # noqa: E402


def printed(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        sys.argv = ["beside_torch.py", *arguments]
        beside_torch.main()
    return text.getvalue()


def main():
    torch.set_num_threads(1)
    models.MODELS["small"] = (lambda: models.Mlp(2, 16, 4, 0.1), lambda: (torch.randn(8, 16), torch.randint(0, 4, (8,))), "momentum")
    large = importlib.import_module("make-bundles").LARGE.values()
    checks.check("PyTorch has the large models", {name for name, _ in large} <= set(models.MODELS))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(SOURCE, "utils/gpu-check/make-bundles.py"), BUILD, folder, "mlp"], check=True)
        path = os.path.join(folder, "beside.json")
        with open(path) as stream:
            cases = json.load(stream)
        cases["steps"] = [{"name": "small-f32", "model": "small", "precision": "f32"}, {"name": "small-bf16", "model": "small", "precision": "bf16"}]
        with open(path, "w") as stream:
            json.dump(cases, stream)
        os.environ["LD_LIBRARY_PATH"] = os.path.join(BUILD, "gpu-emulator")
        text = printed(folder, "cpu")
        for name, *_ in ops.list_ops(ops.SMALL):
            row = re.search(rf"^\| {name} \| (\S+) \| (\S+) \| (\S+) \| 0\.\d+ \|$", text, re.M)
            checks.check(f"{name} is timed on both sides", row and float(row[1]) > 0 and float(row[2]) > 0, text)
        for name in ("small-f32", "small-bf16"):
            for mode in beside_torch.MODES:
                row = re.search(rf"^\| {name}, {mode} \| (\S+) \| - \|$", text, re.M)
                checks.check(f"{name} is timed, {mode}", row and float(row[1]) > 0, text)
        if not torch.cuda.is_available():
            checks.check("without a GPU it says so", printed(folder) == "skipped: PyTorch finds no GPU\n")
    checks.finish()


if __name__ == "__main__":
    main()
