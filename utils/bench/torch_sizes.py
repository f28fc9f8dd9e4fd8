#!/usr/bin/env python3
"""First steps of deep models of small width, with a budget of 60 %: how planning grows with the number of ops.

Usage: torch_sizes.py [MODEL:LAYERS…]      default: llama:10 llama:20 llama:40 llama:80 mixtral:8 mixtral:32 unet:2
       torch_sizes.py --one MODEL:LAYERS BACKEND

Runs in the environment of `make test-frameworks`, each run in a process of its own, on one thread. Figures are CPU seconds, so
that other programs disturb them little. "plan" is the time in our partition function: problem, search and both graphs.
"""
import json
import resource
import subprocess
import sys
import tempfile
import time
import os
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "Frameworks"))

import models
import torch

DEFAULT = ("llama:10", "llama:20", "llama:40", "llama:80", "mixtral:8", "mixtral:32", "unet:2")
BACKENDS = {"aot_eager": {}, "reprise_plan": {"budget": "60%", "codegen": "eager"}, "reprise": {"budget": "60%"}}
TEXT = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64, "vocab_size": 64,
        "max_position_embeddings": 64, "attention_dropout": 0.1, "use_cache": False}


def llama(layers):
    from transformers import LlamaConfig, LlamaForCausalLM
    return models.text_case(LlamaForCausalLM(LlamaConfig(num_hidden_layers=layers, **TEXT)))


def mixtral(layers):
    from transformers import MixtralConfig, MixtralForCausalLM
    return models.text_case(MixtralForCausalLM(MixtralConfig(num_hidden_layers=layers, num_local_experts=4, num_experts_per_tok=2, **TEXT)))


def unet(layers):
    """Returns a UNet2DConditionModel with all four levels, and as many blocks per level."""
    from diffusers import UNet2DConditionModel
    model = UNet2DConditionModel(sample_size=16, block_out_channels=(16, 32, 32, 32), layers_per_block=layers, cross_attention_dim=16,
                                 norm_num_groups=4, attention_head_dim=8)
    return models.Case(model, (torch.randn(2, 4, 16, 16), torch.tensor([3, 5]), torch.randn(2, 8, 16)), {},
                       lambda out: out.sample.square().mean())


MAKERS = {"llama": llama, "mixtral": mixtral, "unet": unet}


def timed_partition(spent):
    """Counts the CPU seconds of our partition function in `spent`."""
    from reprise.torch._plan_partition import Partitioner
    partition = Partitioner.__call__

    def run(self, *arguments, **named):
        start = time.process_time()
        try:
            return partition(self, *arguments, **named)
        finally:
            spent.append(time.process_time() - start)
    Partitioner.__call__ = run


def run_one(name, backend):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    models.vision_library()
    kind, layers = name.split(":")
    case = MAKERS[kind](int(layers))
    case.model.train()
    case.step()
    spent = []
    timed_partition(spent)
    forward = torch.compile(case.model, backend=backend, options=BACKENDS[backend] or None)
    start = time.process_time()
    case.step(forward)
    return {"first": time.process_time() - start, "plan": sum(spent), "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main(arguments):
    if arguments[:1] == ["--one"]:
        print(json.dumps(run_one(*arguments[1:])))
        return
    print("| model | aot_eager (s) | reprise_plan (s) | of it plans (s) | resident (MiB) | reprise (s) | resident (MiB) |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments or DEFAULT:
        made = {}
        for backend in BACKENDS:
            with tempfile.TemporaryDirectory() as cache:
                done = subprocess.run([sys.executable, __file__, "--one", name, backend], capture_output=True, text=True,
                                      env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache})
            if done.returncode:
                print(f"{name}, {backend}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            made[backend] = json.loads(done.stdout.splitlines()[-1]) if not done.returncode else {"first": float("nan"), "plan": 0, "resident": 0}
        plan, whole = made["reprise_plan"], made["reprise"]
        print(f"| {name} | {made['aot_eager']['first']:.1f} | {plan['first']:.1f} | {plan['plan']:.1f} | {plan['resident']:.0f} | {whole['first']:.1f} "
              f"| {whole['resident']:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
