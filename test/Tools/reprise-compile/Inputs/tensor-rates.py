"""The seconds of two models on a GPU of sm_90 by its device file, and without: tensor-rates.py DEVICE_FILE."""
import json
import subprocess
import sys


def cost(model, contractions, *flags):
    subprocess.run(["reprise-compile", model + ".mlir", "--estimate", "--target=cuda:sm_90", f"--contractions={contractions}",
                    "--report=rates.json", *flags], check=True, stdout=subprocess.DEVNULL)
    with open("rates.json") as stream:
        return json.load(stream)["cost"]


with open(sys.argv[1]) as stream, open("rates-of-file.json", "w") as file:
    rates = json.load(stream)
    del rates["memory"]  # without this the plan would be searched
    json.dump(rates, file)
known = {}
for model, contractions in (("f32", "tf32"), ("bf16", "tf32"), ("bf16", "library"), ("bf16", "exact")):
    known[contractions] = cost(model, contractions)
    equal = known[contractions] == cost(model, contractions, "--device-file=rates-of-file.json")
    print(f"{model} of {contractions} as by the file: {equal}")
print("faster on tensor cores:", known["library"]["forward"] < known["exact"]["forward"])
