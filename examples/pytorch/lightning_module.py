"""A LightningModule whose network keeps a budget: one line in configure_model is all that is added.

The line is torch.compile: Trainer.fit ran the network without the graph that `self.network.compile(...)` had asked for
(Lightning 2.6.6, PyTorch 2.13).

Usage: lightning_module.py [--budget=60%] [--codegen=inductor|eager] [--steps=4]
"""

import argparse
import logging
import warnings

import lightning
import reprise.torch
import torch
import torch.nn.functional as F


class Classifier(lightning.LightningModule):
    def __init__(self, budget, codegen):
        super().__init__()
        self.save_hyperparameters()

    def configure_model(self):
        layer = torch.nn.TransformerEncoderLayer(32, 4, dim_feedforward=128, dropout=0.1, batch_first=True)
        network = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 3), torch.nn.Flatten(), torch.nn.Linear(16 * 32, 10))
        # The network alone is compiled. The loss, which Lightning scales, stays outside.
        self.network = reprise.torch.compile(network, budget=self.hparams.budget, codegen=self.hparams.codegen)

    def training_step(self, batch, number):
        inputs, labels = batch
        loss = F.cross_entropy(self.network(inputs), labels)
        print(f"step {self.global_step}: loss {loss.item():.4f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60%", help="bytes, such as 64MiB, or a share of the step without replays (60%%)")
    parser.add_argument("--codegen", default="inductor", choices=["inductor", "eager"], help="the code to run (inductor)")
    parser.add_argument("--steps", type=int, default=4, help="number of training steps (4)")
    options = parser.parse_args()

    warnings.simplefilter("ignore", UserWarning)  # of Lightning, about workers of the loader
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(0, verbose=False)
    data = torch.utils.data.TensorDataset(torch.randn(16, 16, 32), torch.arange(16) % 10)
    trainer = lightning.Trainer(max_steps=options.steps, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Classifier(options.budget, options.codegen), torch.utils.data.DataLoader(data, batch_size=16))
    print(reprise.torch.plans()[-1])


if __name__ == "__main__":
    main()
