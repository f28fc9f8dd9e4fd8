"""A model of timm within a budget, with timm's loss, optimizer and scheduler.

Usage: images.py [--model=vit_tiny_patch16_224] [--budget=60%] [--codegen=inductor|eager] [--steps=4]
"""

import argparse

import reprise.torch
import timm
import torch
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="vit_tiny_patch16_224", help="name of a ViT of timm (vit_tiny_patch16_224)")
    parser.add_argument("--budget", default="60%", help="bytes, such as 64MiB, or a share of the step without replays (60%%)")
    parser.add_argument("--codegen", default="inductor", choices=["inductor", "eager"], help="the code to run (inductor)")
    parser.add_argument("--steps", type=int, default=4, help="number of training steps (4)")
    options = parser.parse_args()

    torch.manual_seed(0)
    model = timm.create_model(options.model, num_classes=10, img_size=32, patch_size=8, embed_dim=48, depth=3, drop_path_rate=0.1)
    # timm's own scripts compile the model in this place: --torchcompile
    model = reprise.torch.compile(model, budget=options.budget, codegen=options.codegen)
    optimizer = create_optimizer_v2(model, opt="adamw", lr=3e-3, weight_decay=0.05)
    scheduler = CosineLRScheduler(optimizer, t_initial=4 * options.steps, t_in_epochs=False)
    loss_of = LabelSmoothingCrossEntropy(0.1)

    images, labels = torch.randn(16, 3, 32, 32), torch.arange(16) % 10
    for number in range(options.steps):
        loss = loss_of(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step_update(number + 1)
        print(f"step {number}: loss {loss.item():.4f}")
    print(reprise.torch.plans()[-1])


if __name__ == "__main__":
    main()
