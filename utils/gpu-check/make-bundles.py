#!/usr/bin/env python3
"""Makes the input of utils/gpu-check.sh for a machine with a GPU: bundles, and the CPU's result for each.

Usage: make-bundles.py BUILD FOLDER [--large] [--target=NAME] [MODEL]...
--large adds full-size steps, which are only timed; NAME is cuda:sm_80 unless given

A line of FOLDER/cases.txt is: name, bundle, GPUs, steps, seed, and the hash of the CPU, -, =GROUP, whose cases have one
hash, or <LIMIT, which no loss reaches.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import bounds
import gradients
import ops

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = ["--width=64", "--heads=4", "--batch=4", "--seq=96", "--vocab=257"]
MODELS = {
    "bert": ["--layers=2", "--dropout=0.1", *TEXT],
    "gpt2": ["--layers=4", "--dropout=0.1", *TEXT],
    "llama": ["--layers=2", *TEXT],
    "lstm": ["--layers=2", "--width=48", "--batch=4", "--seq=16", "--vocab=257"],
    "mlp": ["--layers=4", "--width=200", "--batch=50", "--classes=17"],
    "moe": ["--layers=2", "--dropout=0.1", *TEXT],
    "resnet18": ["--width=16", "--batch=4", "--image=64"],
    "resnet50": ["--width=8", "--batch=4", "--image=64"],
    "unet": ["--layers=3", "--width=12", "--batch=4", "--image=48"],
    "vit": ["--layers=2", "--width=64", "--heads=4", "--batch=4", "--image=32", "--seq=64"],
}
# The sizes that other projects measure, with the name of ../bench/peers/models.py.
LARGE = {
    "gpt2": ("gpt2 124M, 32 texts", ["--layers=12", "--width=768", "--heads=12", "--batch=32", "--seq=1024", "--vocab=50257",
                                     "--dropout=0.1", "--optimizer=adamw"]),
    "llama": ("llama 1B", ["--layers=16", "--width=2048", "--heads=32", "--batch=4", "--seq=1024", "--vocab=32000", "--optimizer=adamw"]),
    "resnet50": ("resnet50, 128 images", ["--batch=128", "--image=224", "--classes=1000", "--optimizer=momentum"]),
}
PLANS = {"save-all": ["--policy=save-all"], "recompute-all": ["--policy=recompute-all"], "80%": ["--budget=80%"]}
STEPS, SEED = 3, 7
# Raw words: an integer drawn from [0, 2^32) is one.
WORDS = """func.func @train() -> (tensor<5000xi64> {reprise.name = "words"}) {
  %words = reprise.random_uniform_int {low = 0, high = 4294967296} : tensor<5000xi64>
  return %words : tensor<5000xi64>
}
"""


def philox(counter, key):
    """Returns four words of Philox4x32-10, as in its paper."""
    a, b, c, d = counter
    for turn in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        own = [(k + turn * w) & 0xFFFFFFFF for k, w in zip(key, (0x9E3779B9, 0xBB67AE85))]
        a, b, c, d = (right >> 32) ^ b ^ own[0], right & 0xFFFFFFFF, (left >> 32) ^ d ^ own[1], left & 0xFFFFFFFF
    return [a, b, c, d]


class Maker:
    def __init__(self, build, folder, target):
        self.bin, self.folder, self.target, self.cases = os.path.join(build, "bin"), folder, f"--target={target}", []
        self.beside, self.predicted = {"ops": [], "steps": []}, []
        os.makedirs(folder, exist_ok=True)

    def tool(self, name, *arguments):
        done = subprocess.run([os.path.join(self.bin, name), *arguments], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"make-bundles: {name} {' '.join(arguments)} failed")
        return done.stdout

    def write(self, name, text):
        path = os.path.join(self.folder, f"{name}.mlir")
        with open(path, "w") as stream:
            stream.write(text)
        return path

    def model(self, name, flags):
        return self.write(name, self.tool("reprise-zoo", name.split("-")[0], *flags))

    def add(self, name, model, flags, gpus=1, digest="-", steps=STEPS):
        bundle = f"{name}.rpb".replace("%", "")
        self.tool("reprise-compile", model, "-o", os.path.join(self.folder, bundle), self.target, *flags)
        self.cases.append(f"{name} {bundle} {gpus} {steps} {SEED} {digest}")

    def predict(self, name, model, flags):
        """Writes the cost model's prediction for each GPU that has a device file."""
        for device in ("a100", "h100", "h200", "b200"):
            report = os.path.join(self.folder, "report.json")
            self.tool("reprise-compile", model, "-o", os.path.join(self.folder, "predicted.rpb"), self.target, f"--report={report}",
                      f"--device-file={os.path.join(HERE, '../../docs/reference/devices', device + '.json')}", *flags)
            with open(report) as stream:
                seconds = sum(json.load(stream)["cost"].values())
            self.predicted.append(f"{name} {device.upper()} {seconds:.3g}\n")
        os.remove(os.path.join(self.folder, "predicted.rpb"))

    def run_on_cpu(self, model, *flags):
        bundle = os.path.join(self.folder, "cpu.rpb")
        self.tool("reprise-compile", model, "-o", bundle, *flags)
        figures = json.loads(self.tool("reprise-run", bundle, f"--steps={STEPS}", f"--seed={SEED}", "--json"))
        os.remove(bundle)
        return figures

    def hash_of_cpu(self, model, *flags):
        return self.run_on_cpu(model, *flags)["hash"]

    def add_gradients(self, name):
        """Adds the distance of 16 bits from f32. On a CPU sums are in f32 as well, so that a GPU may be only little
        farther away.

        Batch norms over few samples amplify rounding: if a CPU is far away, a GPU's distance tells nothing.
        """
        flags = [flag for flag in MODELS[name] if not flag.startswith("--dropout")]
        full = self.tool("reprise-zoo", name, *flags)
        for precision, unit in (("bf16", 2**-8), ("f16", 2**-11)):
            half = self.tool("reprise-zoo", name, *flags, f"--precision={precision}")
            model = self.write(f"{name}-gradients-{precision}", gradients.compare(full, half))
            distance = max(self.run_on_cpu(model)["loss"])
            if distance > 0.25:
                continue
            limit = f"<{1.25 * distance + unit:.6f}"
            self.add(f"{name}-gradients-{precision}", model, [], 1, limit)
            self.add(f"{name}-gradients-{precision}-library", model, ["--contractions=library"], 1, limit)

    def add_bounds(self):
        """Adds contractions in 16 bits for comparison with sums in f64: by tensor cores, and by libraries."""
        for name in bounds.PROGRAMS:
            for dtype in bounds.UNIT:
                model = self.write(f"bounds-{name}-{dtype}", bounds.program(name, dtype))
                for case, flags in ((f"bounds-{name}-{dtype}", []), (f"bounds-{name}-{dtype}-library", ["--contractions=library"])):
                    self.add(case, model, flags, 1, "<1")

    def add_words(self):
        """Adds random words, whose hash counts only if they are those of Philox itself."""
        assert philox((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))[0] == 0xD16CFE09
        model = self.write("philox-words", WORDS)
        with tempfile.TemporaryDirectory() as folder:
            bundle, out = os.path.join(folder, "cpu.rpb"), os.path.join(folder, "out")
            self.tool("reprise-compile", model, "-o", bundle)
            run = self.tool("reprise-run", bundle, f"--steps={STEPS}", f"--seed={SEED}", "--json", f"--output-dir={out}")
            with open(os.path.join(out, "words.npy"), "rb") as stream:
                drawn = list(struct.unpack("<5000q", stream.read()[-40000:]))
        # The last step begins behind the words of earlier steps.
        first = (STEPS - 1) * 5000 // 4
        if drawn != [word for block in range(1250) for word in philox((first + block, 0, 0, 0), (SEED, 0))]:
            sys.exit("make-bundles: the CPU's words are not those of Philox")
        self.add("philox-words", model, [], 1, json.loads(run)["hash"])

    def add_model(self, name):
        for precision in ("f32", "bf16"):
            model = self.model(f"{name}-{precision}", [*MODELS[name], f"--precision={precision}"])
            digest = self.hash_of_cpu(model)
            for plan, flags in PLANS.items():
                self.add(f"{name}-{precision}-{plan}", model, flags, 1, digest if precision == "f32" else f"={name}-{precision}")
            if precision != "f32": # with tensor cores by default
                self.add(f"{name}-{precision}-exact", model, ["--contractions=exact"], 1, digest)
                for plan, flags in PLANS.items():
                    library = ["--contractions=library", *flags]
                    self.add(f"{name}-{precision}-library-{plan}", model, library, 1, f"={name}-{precision}-library")
            else:
                # A capacity of experts is that of the whole batch.
                micro = [] if name == "moe" else ["--microbatches=2", "--schedule=1f1b"]
                self.add(f"{name}-stages", model, [*micro, "--stages=2"], 2, self.hash_of_cpu(model, *micro[:1]))

    def add_ops(self, is_large):
        """Adds ops for comparison with PyTorch's, and a step of one small launch, whose seconds are those of the
        runtime."""
        for name, text, peer, shape, goal in ops.list_ops(ops.LARGE if is_large else ops.SMALL):
            model = self.write(name, text)
            # Tensor cores add in another order, and a CPU takes long for a large op.
            self.add(name, model, [], 1, "-" if is_large or peer == "attention" else self.hash_of_cpu(model))
            self.predict(name, model, [])
            self.beside["ops"].append({"name": name, "bundle": f"{name}.rpb", "peer": peer, "shape": shape, "goal": goal})
        self.add("smallest-step", self.write("smallest-step", ops.rows("elementwise", 4, 8)), [], 1, "-", steps=100)

    def add_large(self, name):
        peer, flags = LARGE[name]
        full, half = self.model(f"{name}-large", flags), self.model(f"{name}-large-bf16", [*flags, "--precision=bf16"])
        library = ["--contractions=library"]
        # The plan has no policy, as for a user.
        for case, model, own in ((f"{name}-large", full, []), (f"{name}-large-bf16", half, []),
                                 (f"{name}-large-bf16-library", half, library),
                                 (f"{name}-large-bf16-library-80%", half, [*library, *PLANS["80%"]])):
            self.add(case, model, own)
            self.predict(case, model, own)
        self.beside["steps"] += [{"name": f"{name}-large-{precision}", "model": peer, "precision": precision} for precision in ("f32", "bf16")]

    def write_peers(self):
        for program in ("curand.py", "beside_torch.py", "whole.py", "../bench/peers/models.py"):
            shutil.copy(os.path.join(HERE, program), self.folder)
        with open(os.path.join(self.folder, "beside.json"), "w") as stream:
            json.dump(self.beside, stream, indent=1)
        with open(os.path.join(self.folder, "predicted.txt"), "w") as stream:
            stream.write("".join(self.predicted))


def main():
    build, folder, *rest = sys.argv[1:]
    targets = [flag.split("=", 1)[1] for flag in rest if flag.startswith("--target=")]
    maker = Maker(build, folder, (targets or ["cuda:sm_80"])[-1])
    maker.add_words()
    maker.add_bounds()
    for name in [name for name in rest if name in MODELS] or MODELS:
        maker.add_model(name)
        maker.add_gradients(name)
    maker.add_ops("--large" in rest)
    for name in LARGE if "--large" in rest else []:
        maker.add_large(name)
    maker.write_peers()
    with open(os.path.join(folder, "cases.txt"), "w") as stream:
        stream.write("".join(case + "\n" for case in maker.cases))


if __name__ == "__main__":
    main()
