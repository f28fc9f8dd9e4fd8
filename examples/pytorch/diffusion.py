"""The training loop of diffusers within a budget: a U-Net learns to predict the noise of noisy images.

Usage: diffusion.py [--budget=60%] [--codegen=inductor|eager] [--steps=6]
"""

import argparse

import reprise.torch
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60%", help="bytes, such as 64MiB, or a share of the step without replays (60%%)")
    parser.add_argument("--codegen", default="inductor", choices=["inductor", "eager"], help="the code to run (inductor)")
    parser.add_argument("--steps", type=int, default=6, help="number of training steps (6)")
    options = parser.parse_args()

    torch.manual_seed(0)
    model = UNet2DModel(sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8,
                        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    images = torch.randn(1, 3, 16, 16).expand(32, -1, -1, -1) / 2
    scheduler = DDPMScheduler(num_train_timesteps=1000)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    rate = get_cosine_schedule_with_warmup(optimizer, num_warmup_steps=1, num_training_steps=4 * options.steps)
    accelerator = Accelerator(cpu=True)
    model, optimizer, loader, rate = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(images, batch_size=8), rate)
    # This line is all that is added.
    model.compile(backend="reprise_plan", options={"budget": options.budget, "codegen": options.codegen})

    number = 0
    while number < options.steps:
        for clean in loader:
            noise = torch.randn_like(clean)
            times = torch.randint(0, scheduler.config.num_train_timesteps, (len(clean),))
            predicted = model(scheduler.add_noise(clean, noise, times), times, return_dict=False)[0]
            loss = F.mse_loss(predicted, noise)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            rate.step()
            optimizer.zero_grad()
            print(f"step {number}: loss {loss.item():.4f}")
            number += 1
            if number == options.steps:
                break
    print(reprise.torch.plans()[-1])


if __name__ == "__main__":
    main()
