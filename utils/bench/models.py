"""Lists the models for comparison with PyTorch: flags of reprise-zoo, and inputs as (type, shape, low, high).

peers/models.py has the same models with the same names.
"""

TRANSFORMER = ["--layers=6", "--width=384", "--heads=6", "--batch=8", "--optimizer=adamw"]
TEXT = ["--seq=128", "--vocab=256"]
TOKENS = ("i4", (8, 128), 0, 256)
TEXT_INPUTS = {"tokens": TOKENS, "labels": TOKENS}
MODELS = {
    "mlp": (["mlp", "--layers=6", "--width=1024", "--classes=10", "--batch=256", "--dropout=0.1", "--optimizer=momentum"],
            {"x": ("f4", (256, 1024), 0, 0), "labels": ("i4", (256,), 0, 10)}),
    "gpt2": (["gpt2", *TRANSFORMER, *TEXT, "--dropout=0.1"], TEXT_INPUTS),
    "gpt2 without dropout": (["gpt2", *TRANSFORMER, *TEXT], TEXT_INPUTS),
    "llama": (["llama", *TRANSFORMER, *TEXT], TEXT_INPUTS),
    "bert": (["bert", *TRANSFORMER, *TEXT],
             {"tokens": TOKENS, "segments": ("i4", (8, 128), 0, 2), "lengths": ("i4", (8,), 64, 129),
              "labels": ("i4", (8, 128), -1450, 256)}),
    "vit": (["vit", *TRANSFORMER, "--seq=64", "--image=64", "--classes=10"],
            {"image": ("f4", (8, 3, 64, 64), 0, 0), "labels": ("i4", (8,), 0, 10)}),
    "resnet18": (["resnet18", "--width=64", "--batch=16", "--image=64", "--classes=1000", "--optimizer=momentum"],
                 {"image": ("f4", (16, 3, 64, 64), 0, 0), "labels": ("i4", (16,), 0, 1000)}),
    "unet": (["unet", "--layers=3", "--width=32", "--batch=8", "--image=64", "--classes=10", "--optimizer=adamw"],
             {"image": ("f4", (8, 3, 64, 64), 0, 0), "labels": ("i4", (8, 64, 64), 0, 10)}),
    "moe": (["moe", *TRANSFORMER, *TEXT], TEXT_INPUTS),
}
