"""Models that the tests do not name: small configurations of transformers, torchvision, timm, diffusers and torch.nn.

`MODELS` maps a name to a function that returns a `models.Case` (test/Frameworks/models.py) in training mode. Weights are
random. A package that is not installed is an ImportError.
"""
import contextlib
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "Frameworks"))

import models
import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, VOCABULARY, CLASSES = 4, 32, 64, 10
#: Small values of the sizes that configurations of transformers have, by name.
SMALL = {
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers",
                     "num_encoder_layers", "encoder_num_hidden_layers"), 2),
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "dim", "emb_dim", "embedding_size", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "d_inner", "hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim"), 64),
    "num_key_value_heads": 2, "vocab_size": VOCABULARY, "max_position_embeddings": 64, "n_positions": 64, "head_dim": 8,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "num_labels": CLASSES, "image_size": 32,
}

MODELS = {}
_kept = []


def _config(kind, more):
    """Returns a small configuration; a size of None in `more` keeps the value of the package."""
    from transformers import AutoConfig
    known = AutoConfig.for_model(kind)
    sizes = {name: size for name, size in SMALL.items() if hasattr(known, name)} | more
    return AutoConfig.for_model(kind, **{name: size for name, size in sizes.items() if size is not None})


def _text(kind, task, **more):
    import transformers
    model = getattr(transformers, f"AutoModelFor{task}").from_config(_config(kind, more)).train()
    return models.Case(model, (), dict.fromkeys(("input_ids", "labels"), torch.randint(3, VOCABULARY, (BATCH, LENGTH))), lambda out: out.loss)


def _image(kind, **more):
    from transformers import AutoModelForImageClassification
    model = AutoModelForImageClassification.from_config(_config(kind, more)).train()
    images = torch.randn(BATCH, 3, model.config.image_size if hasattr(model.config, "image_size") else 32, 32)
    return models.Case(model, (), {"pixel_values": images, "labels": torch.arange(BATCH) % CLASSES}, lambda out: out.loss)


def _timm(name, size, **more):
    import timm
    return models.image_case(timm.create_model(name, num_classes=CLASSES, **more).train(), BATCH, size)


def _vision(name, size, **more):
    import torchvision
    return models.image_case(torchvision.models.get_model(name, num_classes=CLASSES, **more).train(), BATCH, size)


def _sum(model, *arguments, **named):
    def loss(out):
        parts = out if isinstance(out, tuple) else (getattr(out, "sample", out),)
        return parts[0].float().square().mean()
    return models.Case(model.train(), arguments, named, loss)


def _diffusers(name, make_arguments, **config):
    import diffusers
    return _sum(getattr(diffusers, name)(**config), **make_arguments())


CAUSAL = {
    "opt": {}, "bloom": {}, "falcon": {"head_dim": None}, "gpt_neo": {"attention_types": [[["global", "local"], 1]]}, "gptj": {"rotary_dim": 4},
    "gpt_neox": {}, "phi": {}, "phi3": {}, "qwen2": {}, "qwen3": {}, "qwen2_moe": {"num_experts": 4, "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 32}, "stablelm": {}, "starcoder2": {}, "olmo2": {}, "cohere": {}, "granite": {}, "gemma": {},
    "mistral": {}, "mpt": {}, "codegen": {"rotary_dim": 4}, "ctrl": {"dff": 64}, "rwkv": {"attention_hidden_size": 32}, "mamba2": {"num_heads": 8,
    "head_dim": 8, "state_size": 16, "n_groups": 1, "chunk_size": 16}, "nemotron": {}, "glm": {}, "smollm3": {}, "deepseek_v3": {
    "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 16, "q_lora_rank": 16,
    "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "first_k_dense_replace": 1, "head_dim": None, "num_key_value_heads": 4}, "persimmon": {}, "xlm": {},
    "gpt_bigcode": {}, "biogpt": {}, "xglm": {"attention_heads": 4},
}
MASKED = {
    "albert": {}, "roberta": {}, "electra": {}, "distilbert": {}, "deberta": {}, "deberta-v2": {}, "mobilebert": {"true_hidden_size": 32,
    "intra_bottleneck_size": 32}, "squeezebert": {}, "convbert": {}, "fnet": {},
    "nystromformer": {"num_landmarks": 8, "segment_means_seq_len": 32}, "roformer": {}, "megatron-bert": {}, "mpnet": {}, "modernbert": {},
    "esm": {"position_embedding_type": "rotary"}, "big_bird": {"attention_type": "original_full"},
    "longformer": {"attention_window": [8, 8]}, 
}
SEQ2SEQ = {"bart": {}, "mbart": {}, "pegasus": {}, "marian": {}, "blenderbot": {}, "m2m_100": {}, "mt5": {"d_kv": 8}, "led": {"attention_window": [8, 8]}}
IMAGES = {
    "beit": {"patch_size": 8}, "swin": {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "num_attention_heads": None, "num_hidden_layers": None, "num_layers": None, "hidden_size": None, "patch_size": 2,
    "window_size": 4}, "swinv2": {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "num_attention_heads": None, "num_hidden_layers": None, "num_layers": None, "hidden_size": None, "patch_size": 2, "window_size": 4},
    "convnext": {"hidden_sizes": [16, 32, 32, 32], "depths": [1, 1, 1, 1]}, "convnextv2": {"hidden_sizes": [16, 32, 32, 32],
    "depths": [1, 1, 1, 1]}, "resnet": {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1]}, "regnet": {"embedding_size": 16,
    "hidden_sizes": [16, 32], "depths": [1, 1], "groups_width": 8}, "poolformer": {"hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1]},
    "pvt": {"hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1],
    "num_attention_heads": [1, 2, 2, 4]}, "segformer": {"hidden_sizes": [16, 16, 32, 32],
    "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4]}, "dinov2": {"patch_size": 8}, "focalnet": {"embed_dim": 16, "depths": [1, 1], "focal_levels": [2, 2],
    "focal_windows": [3, 3], "patch_size": 4}, "mobilevit": {"hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 16, 24, 32, 32],
    "num_attention_heads": 2}, "bit": {"num_groups": 8, "embedding_size": 32, "hidden_sizes": [32, 64], "depths": [1, 1]}, "mobilenet_v2": {}, "mobilenet_v1": {},
    "vit_msn": {"patch_size": 8}, "ijepa": {"patch_size": 8}, 
}
TIMM = {"ghostnet_100": 64, "edgenext_xx_small": 64, "mobilenetv4_conv_small": 64, "repvgg_a0": 64, "resnetv2_50": 32, "cspdarknet53": 64,
        "fbnetc_100": 64, "hardcorenas_a": 64, "tinynet_e": 64, "lcnet_050": 64, "res2net50_14w_8s": 32, "mobileone_s0": 64, "rexnet_100": 64,
        "poolformerv2_s12": 64, "inception_next_atto": 64, "starnet_s1": 64, "fastvit_t8": 64}
TIMM_SIZED = {"mixer_s32_224": {"img_size": 64}, "resmlp_12_224": {"img_size": 64},
              "gmlp_ti16_224": {"img_size": 64}, "cait_xxs24_224": {"img_size": 32, "patch_size": 8, "depth": 2},
              "xcit_nano_12_p8_224": {"img_size": 32, "depth": 2}, "pit_ti_224": {"img_size": 64},
              "maxvit_rmlp_pico_rw_256": {"img_size": 64}, "sequencer2d_s": {"img_size": 32, "layers": (1, 1, 1, 1)}}
VISION = {"shufflenet_v2_x0_5": (64, {}), "squeezenet1_1": (64, {}), "mnasnet0_5": (64, {}), "googlenet": (64, {"aux_logits": False, "init_weights": True}),
          "regnet_y_400mf": (64, {}), "efficientnet_v2_s": (32, {}), "swin_v2_t": (32, {}), "wide_resnet50_2": (32, {}), "resnext50_32x4d": (32, {})}


def _fill():
    # Packages look for torchvision when they are imported.
    with contextlib.suppress(ImportError):
        _kept.append(models.vision_library())
    for task, kinds in (("CausalLM", CAUSAL), ("MaskedLM", MASKED), ("Seq2SeqLM", SEQ2SEQ)):
        MODELS.update({f"transformers {kind}": functools.partial(_text, kind, task, **more) for kind, more in kinds.items()})
    MODELS.update({f"transformers {kind}": functools.partial(_image, kind, **more) for kind, more in IMAGES.items()})
    MODELS.update({f"timm {name}": functools.partial(_timm, name, size) for name, size in TIMM.items()})
    MODELS.update({f"timm {name}": functools.partial(_timm, name, more["img_size"], **more) for name, more in TIMM_SIZED.items()})
    MODELS.update({f"torchvision {name}": functools.partial(_vision, name, size, **more) for name, (size, more) in VISION.items()})
    MODELS.update({
        "nn.Transformer": lambda: _sum(nn.Transformer(32, 4, 2, 2, 64, batch_first=True), torch.randn(4, 16, 32), torch.randn(4, 12, 32)),
        "nn.Conv3d": lambda: _sum(nn.Sequential(nn.Conv3d(2, 8, 3, padding=1), nn.BatchNorm3d(8), nn.GELU(), nn.MaxPool3d(2), nn.Conv3d(8, 8, 3),
                                                nn.GroupNorm(2, 8), nn.SiLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten()), torch.randn(2, 2, 8, 8, 8)),
        "diffusers UNet2DConditionModel": lambda: _diffusers("UNet2DConditionModel", lambda: {
            "sample": torch.randn(2, 4, 8, 8), "timestep": torch.tensor([3, 5]), "encoder_hidden_states": torch.randn(2, 8, 16)},
            sample_size=8, block_out_channels=(16, 32), layers_per_block=1, cross_attention_dim=16, norm_num_groups=4, attention_head_dim=8,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")),
        "diffusers AutoencoderKL": lambda: _diffusers("AutoencoderKL", lambda: {"sample": torch.randn(2, 3, 16, 16)}, block_out_channels=(16, 32),
            norm_num_groups=4, layers_per_block=1, down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2),
        "diffusers SD3Transformer2DModel": lambda: _diffusers("SD3Transformer2DModel", lambda: {
            "hidden_states": torch.randn(2, 4, 8, 8), "encoder_hidden_states": torch.randn(2, 6, 16), "pooled_projections": torch.randn(2, 16),
            "timestep": torch.tensor([3, 5])}, sample_size=8, patch_size=2, in_channels=4, num_layers=2, attention_head_dim=8, num_attention_heads=4,
            joint_attention_dim=16, caption_projection_dim=32, pooled_projection_dim=16, out_channels=4, pos_embed_max_size=8),
    })


_fill()
