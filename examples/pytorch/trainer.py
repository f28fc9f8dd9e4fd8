"""A Hugging Face Trainer whose model keeps a budget: one line, model.transformer.compile(…), is all that is added.

Usage: trainer.py [--budget=70%] [--codegen=inductor|eager] [--steps=4]
"""

import argparse
import tempfile

import reprise.torch
import torch
import transformers


class Sentences(torch.utils.data.Dataset):
    """Tokens that repeat, so that there is something to learn."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = (torch.arange(32) + index) % 50
        return {"input_ids": tokens, "labels": tokens}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="70%", help="bytes, such as 64MiB, or a share of the step without replays (70%%)")
    parser.add_argument("--codegen", default="inductor", choices=["inductor", "eager"], help="the code to run (inductor)")
    parser.add_argument("--steps", type=int, default=4, help="number of training steps (4)")
    options = parser.parse_args()

    transformers.set_seed(0)
    sizes = transformers.GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=2, use_cache=False,
                                    bos_token_id=None, eos_token_id=None)
    model = transformers.GPT2LMHeadModel(sizes)
    # The layers as one graph; the loss, which Trainer scales by itself, stays outside.
    model.transformer.compile(backend="reprise_plan", options={"budget": options.budget, "codegen": options.codegen})

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(folder, max_steps=options.steps, per_device_train_batch_size=8,
                                                   learning_rate=5e-3, logging_steps=1, report_to=[], save_strategy="no",
                                                   use_cpu=True, disable_tqdm=True)
        transformers.Trainer(model, arguments, train_dataset=Sentences()).train()
    print(reprise.torch.plans()[-1])


if __name__ == "__main__":
    main()
