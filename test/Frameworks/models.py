"""Models of other packages, unmodified, with small configurations and random weights, in training mode with dropout.

`build(name)` returns a Case: the model, its arguments, and a function from the output to a scalar loss. If the
architecture allows it, the sizes let activations outweigh gradients. A package that is not installed is an
ImportError.
"""
import dataclasses
import functools
import logging
import sys
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, VOCABULARY, WIDTH, CLASSES = 4, 48, 64, 32, 10
# Operators of torchvision's library, which cannot be loaded if its wheel is built for CUDA and PyTorch's is not.
VISION_OPS = """nms(Tensor a, Tensor b, float c) -> Tensor
qnms(Tensor a, Tensor b, float c) -> Tensor
roi_align(Tensor a, Tensor b, float c, SymInt d, SymInt e, int f, bool g) -> Tensor
_roi_align_backward(Tensor a, Tensor b, float c, SymInt d, SymInt e, SymInt f, SymInt g, SymInt h, SymInt i, int j, bool k) -> Tensor
ps_roi_align(Tensor a, Tensor b, float c, SymInt d, SymInt e, int f) -> (Tensor, Tensor)
_ps_roi_align_backward(Tensor a, Tensor b, Tensor c, float d, SymInt e, SymInt f, int g, SymInt h, SymInt i, SymInt j, SymInt k) -> Tensor
roi_pool(Tensor a, Tensor b, float c, SymInt d, SymInt e) -> (Tensor, Tensor)
_roi_pool_backward(Tensor a, Tensor b, Tensor c, float d, SymInt e, SymInt f, SymInt g, SymInt h, SymInt i, SymInt j) -> Tensor
ps_roi_pool(Tensor a, Tensor b, float c, SymInt d, SymInt e) -> (Tensor, Tensor)
_ps_roi_pool_backward(Tensor a, Tensor b, Tensor c, float d, SymInt e, SymInt f, SymInt g, SymInt h, SymInt i, SymInt j) -> Tensor
deform_conv2d(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, SymInt f, SymInt g, SymInt h, SymInt i, SymInt j, SymInt k, SymInt l, SymInt m, bool n) -> Tensor
_deform_conv2d_backward(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, SymInt g, SymInt h, SymInt i, SymInt j, SymInt k, SymInt l, SymInt m, SymInt n, bool o) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"""


@dataclasses.dataclass
class Case:
    """A model with one batch."""

    model: nn.Module
    args: tuple
    kwargs: dict
    loss: Callable[[Any], torch.Tensor]

    def step(self, forward=None, seed=7):
        """Runs a training step's passes; returns the loss. Gradients are in the parameters.

        The output is held until the backward pass is over, as in a program with a variable for it.
        """
        self.model.zero_grad(set_to_none=True)
        torch.manual_seed(seed)
        forward = self.model if forward is None else forward
        output = forward(*self.args, **self.kwargs)
        loss = self.loss(output)
        loss.backward()
        return loss.detach()

    def state(self):
        """Returns the state after a step: gradients and buffers, by name."""
        gradients = {name: each.grad.clone() for name, each in self.model.named_parameters() if each.grad is not None}
        return gradients, {name: each.clone() for name, each in self.model.named_buffers()}

    def restore(self, buffers):
        with torch.no_grad():
            for name, each in self.model.named_buffers():
                each.copy_(buffers[name])


CASES: dict[str, Callable[[], Case]] = {}


def case(make):
    CASES[make.__name__] = make
    return make


@functools.cache
def vision_library():
    """Imports torchvision, with its operators declared if they cannot be loaded. No model calls them."""
    try:
        import torchvision
        return torchvision, None
    except RuntimeError:
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in VISION_OPS.split("\n"):
        library.define(schema)
    import torchvision
    return torchvision, library


def text_case(model, *names, **more):
    tokens = torch.randint(3, VOCABULARY, (BATCH, LENGTH))
    return Case(model, (), {**{name: tokens for name in names or ("input_ids", "labels")}, **more}, lambda out: out.loss)


def image_case(model, batch, size):
    targets = torch.arange(batch) % CLASSES
    return Case(model, (torch.randn(batch, 3, size, size),), {}, lambda out: F.cross_entropy(out, targets))


@case
def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return text_case(GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=WIDTH, n_head=2, vocab_size=VOCABULARY, n_positions=64,
                                                bos_token_id=1, eos_token_id=2)))


@case
def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return text_case(LlamaForCausalLM(LlamaConfig(
        num_hidden_layers=2, hidden_size=WIDTH, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64,
        vocab_size=VOCABULARY, max_position_embeddings=64, attention_dropout=0.1)))


@case
def gemma2():
    from transformers import Gemma2Config, Gemma2ForCausalLM
    return text_case(Gemma2ForCausalLM(Gemma2Config(
        num_hidden_layers=2, hidden_size=WIDTH, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
        intermediate_size=64, vocab_size=VOCABULARY, max_position_embeddings=64, sliding_window=8, attention_dropout=0.1)))


@case
def mixtral():
    from transformers import MixtralConfig, MixtralForCausalLM
    return text_case(MixtralForCausalLM(MixtralConfig(
        num_hidden_layers=2, hidden_size=WIDTH, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64,
        vocab_size=VOCABULARY, num_local_experts=4, num_experts_per_tok=2, max_position_embeddings=64,
        output_router_logits=True, attention_dropout=0.1)))


@case
def bert():
    from transformers import BertConfig, BertForMaskedLM
    mask = torch.ones(BATCH, LENGTH, dtype=torch.long)
    mask[:, LENGTH - 4:] = 0
    return text_case(BertForMaskedLM(BertConfig(
        num_hidden_layers=2, hidden_size=WIDTH, num_attention_heads=2, intermediate_size=64, vocab_size=VOCABULARY,
        max_position_embeddings=64)), attention_mask=mask)


@case
def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    return text_case(T5ForConditionalGeneration(T5Config(
        num_layers=2, d_model=WIDTH, d_kv=16, num_heads=2, d_ff=64, vocab_size=VOCABULARY, decoder_start_token_id=0)))


@case
def vit():
    from transformers import ViTConfig, ViTForImageClassification
    model = ViTForImageClassification(ViTConfig(
        num_hidden_layers=2, hidden_size=WIDTH, num_attention_heads=2, intermediate_size=64, image_size=32, patch_size=4,
        num_labels=CLASSES, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1))
    return Case(model, (), dict(pixel_values=torch.randn(BATCH, 3, 32, 32), labels=torch.arange(BATCH)), lambda out: out.loss)


@case
def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    model = WhisperForConditionalGeneration(WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=8, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, d_model=WIDTH, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=32,
        max_target_positions=64, dropout=0.1, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3,
        suppress_tokens=None, begin_suppress_tokens=None))
    return text_case(model, "labels", input_features=torch.randn(BATCH, 8, 64))


@case
def mamba():
    from transformers import MambaConfig, MambaForCausalLM
    return text_case(MambaForCausalLM(MambaConfig(num_hidden_layers=2, hidden_size=WIDTH, state_size=4,
                                                  vocab_size=VOCABULARY)), use_cache=False)


def vision_case(name, batch, size):
    def make():
        torchvision, _ = vision_library()
        return image_case(getattr(torchvision.models, name)(num_classes=CLASSES), batch, size)
    make.__name__ = name
    return case(make)


for _name, _batch, _size in [("resnet18", 8, 96), ("resnet50", 4, 96), ("mobilenet_v3_small", 4, 96), ("densenet121", 2, 64),
                             ("convnext_tiny", 2, 64), ("swin_t", 2, 64)]:
    vision_case(_name, _batch, _size)


@case
def resnet10():
    """Returns resnet18 with one block per width instead of two, on smaller images."""
    resnet = vision_library()[0].models.resnet
    return image_case(resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=CLASSES), 8, 64)


@case
def unet2d():
    from diffusers import UNet2DModel
    model = UNet2DModel(sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, dropout=0.1,
                        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    return Case(model, (torch.randn(BATCH, 3, 16, 16), torch.tensor([3, 5, 7, 9])), {}, lambda out: out.sample.square().mean())


@case
def smp_unet():
    import segmentation_models_pytorch
    model = segmentation_models_pytorch.Unet("resnet18", encoder_weights=None, classes=4, decoder_channels=(64, 32, 16, 16, 8))
    targets = torch.zeros(2, 96, 96, dtype=torch.long)
    return Case(model, (torch.randn(2, 3, 96, 96),), {}, lambda out: F.cross_entropy(out, targets))


@case
def efficientnet():
    import timm
    return image_case(timm.create_model("efficientnet_b0", num_classes=CLASSES, drop_rate=0.1, drop_path_rate=0.1), 2, 64)


@case
def timm_vit():
    import timm
    return image_case(timm.create_model("vit_tiny_patch16_224", num_classes=CLASSES, img_size=64, patch_size=8, embed_dim=48,
                                        depth=2, drop_rate=0.1, attn_drop_rate=0.1, drop_path_rate=0.1), BATCH, 64)


class TokenModel(nn.Module):
    """Model of an embedding, a sequence model and a loss over tokens."""

    def __init__(self, make):
        super().__init__()
        self.embedding, self.inner, self.head = nn.Embedding(VOCABULARY, WIDTH), make(), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return F.cross_entropy(self.head(self.run(self.embedding(tokens))).flatten(0, 1), tokens.flatten())


class Lstm(TokenModel):
    def run(self, x):
        return self.inner(x)[0]


class Encoder(TokenModel):
    def run(self, x):
        return self.inner(x, is_causal=True, mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1]))


@case
def lstm():
    model = Lstm(lambda: nn.LSTM(WIDTH, WIDTH, 2, batch_first=True, dropout=0.1))
    return Case(model, (torch.randint(VOCABULARY, (BATCH, 12)),), {}, lambda loss: loss)


@case
def transformer():
    model = Encoder(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 2, 64, 0.1, batch_first=True), 2))
    return Case(model, (torch.randint(VOCABULARY, (BATCH, LENGTH)),), {}, lambda loss: loss)


def prepare():
    """Configures Dynamo for the models: it otherwise breaks graphs at warnings and at nn.LSTM."""
    torch.set_num_threads(1)
    torch._dynamo.config.allow_rnn = True
    quiet = {logging.Logger.warning_once} if hasattr(logging.Logger, "warning_once") else set()
    try:
        vision_library()
        import transformers
        quiet.add(transformers.modeling_utils.logger.warning_once)
        transformers.logging.set_verbosity_error()
    except ImportError:
        pass
    torch._dynamo.config.ignore_logging_functions = quiet


def build(name, seed=0):
    torch.manual_seed(seed)
    made = CASES[name]()
    made.model.train()
    return made
