"""backend="reprise" on layers, losses and functions of PyTorch, area by area: results and gradients beside eager's."""
import checks
import torch
import torch.nn.functional as F
from torch import nn
from whole import compare, compiled, draw, run_parts

from reprise.torch import graphs


def try_activations():
    names = ["celu", "elu", "selu", "mish", "hardshrink", "softshrink", "softsign", "tanhshrink", "logsigmoid", "relu6", "glu"]
    compare("activations", lambda x: [getattr(F, name)(x) for name in names] + [F.threshold(x, 0.1, 0.5)], draw(6, 8))


#: Points at which pieces of functions meet, and points far out.
KINKS = torch.tensor([-20.0, -6.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0])


def try_kinks():
    """Derivatives where pieces of a function meet and where values are equal, and the digits of tails."""
    zero, names = torch.zeros(13), ["relu", "relu6", "silu", "hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "celu", "selu", "mish", "hardshrink",
                                    "softshrink", "softsign", "tanhshrink"]
    compare("kinks of activations", lambda x: [getattr(F, name)(x) for name in names], KINKS, tolerance=2e-6)
    compare("tails", lambda x: [F.softplus(x).log(), (-F.logsigmoid(x)).log(), F.softplus(x, beta=2)], KINKS, tolerance=1e-5)
    compare("kinks of functions", lambda x: [
        x.abs(), x.clamp(-1, 1), torch.sinc(x), torch.atan2(x, x), torch.logaddexp(x, zero), torch.sinh(x / 4), torch.asinh(x), x.square(),
        torch.maximum(x, zero), torch.minimum(x, zero), torch.fmax(x, zero), torch.remainder(x, 1.5)], KINKS, tolerance=2e-6)
    compare("limits", lambda x, low: [x.clamp(min=-1), x.clamp(max=2), x.clamp(2, 1), x.clamp(low, low + 3), torch.clamp_max(x, low)],
            KINKS, zero - 1)
    compare("kinks of losses", lambda x: [
        F.binary_cross_entropy_with_logits(x, zero + 0.25, reduction="none"), F.smooth_l1_loss(x, zero), F.huber_loss(x, zero), F.l1_loss(x, zero),
        F.soft_margin_loss(x, zero + 1), F.hinge_embedding_loss(x, zero - 1), F.multi_margin_loss(x[None], torch.tensor([2]))], KINKS)
    ends = torch.tensor([0.0, 1.0, 0.5, 0.0])
    compare("probabilities at their ends", lambda x: [F.binary_cross_entropy(x, torch.tensor([0.0, 1.0, 0.25, 0.0]), reduction="none")], ends)
    equal = torch.tensor([[1.0, 1.0, 0.0], [2.0, 3.0, 3.0], [4.0, 4.0, 4.0], [-1.0, -1.0, -2.0]])
    compare("equal values", lambda x: [x.amax(1), x.amin((0, 1)), x.max(), x.min(), x.amax(0, keepdim=True), x.max(1)[0]], equal)


def try_functions():
    small = draw(40) * 0.3
    whole = ["sinh", "cosh", "asinh", "tan", "atan", "exp2", "expm1", "erfc", "sinc", "frac"]
    inside = ["asin", "acos", "atanh", "log1p"]
    above = ["log2", "log10", "acosh", "logit"]
    for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-12)):
        given = small.to(dtype)
        compare(f"functions in {dtype}", lambda x: [getattr(torch, name)(x * 5) for name in whole]
                + [getattr(torch, name)(x.clamp(-0.9, 0.9)) for name in inside]
                + [getattr(torch, name)(x.abs() + 1.2) for name in above[:3]] + [torch.logit(x.sigmoid())],
                given, tolerance=tolerance)
        compare(f"angles in {dtype}", lambda x, y: [torch.atan2(x, y), torch.atan2(x, y * 100), torch.hypot(x, y)],
                given, draw(40, 1)[:, 0].to(dtype), tolerance=tolerance)
    compare("functions in bf16", lambda x: [torch.sinh(x), torch.atan(x), torch.log2(x.abs() + 1)], small.bfloat16(), tolerance=1e-2)
    tiny = torch.tensor([1e-6, -3e-5, 1e-4, 2e-3])
    compare("functions near zero", lambda x: [torch.expm1(x), torch.log1p(x), torch.sinh(x), torch.asinh(x), torch.atanh(x)],
            tiny, tolerance=1e-6)


def try_steps():
    """Checks that step functions have the derivative 0, and that the remainder of a division has its own."""
    x = torch.tensor([-2.5, -1.5, -0.4, 0.5, 1.5, 2.6, 3.0, 8388609.0])
    compare("steps", lambda x: [x * torch.round(x), x + torch.floor(x), x * torch.ceil(x), x * torch.trunc(x),
                                torch.remainder(x[:7], 1.25), torch.fmod(x[:7], 1.25), x + (x.round() - x).detach()], x)
    compare("quotients", lambda x, y: [torch.remainder(x, y), torch.fmod(x, y), torch.fmax(x, y), torch.fmin(x, y),
                                       torch.logaddexp(x, y), torch.xlogy(x, y), torch.div(x, y, rounding_mode="trunc") * x],
            draw(20).abs() + 0.3, draw(20, 1)[:, 0].abs() + 0.2)


def try_norms():
    """Lengths of vectors that are zero have the gradient 0."""
    x, y = draw(5, 6), draw(4, 6)
    x[2], y[1] = 0, x[3]
    compare("lengths", lambda x, y: [x.norm(dim=1), torch.linalg.vector_norm(x, 1, 1), F.normalize(x, dim=1), torch.cdist(x, y),
                                     torch.cdist(x, x), torch.cdist(x, y, 1), F.pairwise_distance(x[:4], y),
                                     F.cosine_similarity(x[:4], y), torch.renorm(x, 2, 0, 1.0), x.std(1)], x, y)


def try_losses():
    classes = torch.tensor([1, 0, 5, 2])
    shares = torch.rand(4, 6, generator=torch.Generator().manual_seed(2))
    compare("losses", lambda x, y: [
        F.kl_div(F.log_softmax(x, -1), shares, reduction="batchmean"), F.kl_div(F.log_softmax(x, -1), F.log_softmax(y, -1), log_target=True, reduction="sum"),
        F.binary_cross_entropy_with_logits(x, shares, pos_weight=torch.arange(1.0, 7)), F.soft_margin_loss(x, shares.round()),
        F.multi_margin_loss(x, classes), F.multilabel_soft_margin_loss(x, shares.round()), F.triplet_margin_loss(x, y, x * y),
        F.hinge_embedding_loss(x, shares.round() * 2 - 1), F.cosine_embedding_loss(x, y, torch.ones(4)), F.huber_loss(x, y, delta=0.5),
        F.gaussian_nll_loss(x, y, shares), F.poisson_nll_loss(x, shares), F.margin_ranking_loss(x[:, 0], y[:, 0], torch.ones(4), 0.3),
        F.cross_entropy(x, shares), F.cross_entropy(x, classes, torch.arange(1.0, 7), label_smoothing=0.1)], draw(4, 6), draw(4, 6, 1)[..., 0])


def try_volumes():
    """Convolutions and pooling of volumes, and of images where PyTorch has further arguments."""
    x, w, v = draw(2, 4, 5, 6, 7), draw(6, 2, 3, 2, 3), draw(4, 3, 2, 3, 2)
    compare("volumes", lambda x, w, v: [
        F.conv3d(x, w, stride=(2, 1, 2), padding=(1, 0, 1), groups=2), F.conv3d(x, w, dilation=(2, 1, 1), groups=2),
        F.conv_transpose3d(x, v, stride=2, padding=(0, 1, 1), output_padding=(1, 0, 1), groups=2),
        F.conv_transpose3d(x, v, dilation=(2, 1, 1), groups=2)], x, w, v)
    compare("pooled volumes", lambda x: [
        F.max_pool3d(x, 2), F.max_pool3d(x, (2, 3, 2), stride=(1, 2, 1), padding=1, ceil_mode=True), F.avg_pool3d(x, 2),
        F.avg_pool3d(x, 3, 2, 1, count_include_pad=False), F.avg_pool3d(x, 3, 2, 1, ceil_mode=True), F.adaptive_avg_pool3d(x, (2, 4, 3)),
        F.adaptive_avg_pool3d(x, 1), F.local_response_norm(x[0], 3), F.max_pool3d(x[0], 2)], x)
    image = draw(2, 4, 9, 7)
    compare("images", lambda x, w: [
        F.conv_transpose2d(x, w, stride=3, output_padding=2), F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        F.adaptive_max_pool2d(x, (4, 3)), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x[..., :8, :6], 2), F.channel_shuffle(x, 2),
        F.interpolate(x, (13, 5)), F.interpolate(x, scale_factor=1.5), F.interpolate(x, (13, 5), mode="nearest-exact"),
        F.interpolate(x, scale_factor=2, mode="bicubic"), F.lp_pool2d(x.abs() + 0.1, 2, 3),
        *(F.pad(x, (1, 2, 2, 1), mode) for mode in ("reflect", "replicate", "circular"))], image, draw(4, 3, 2, 2))
    grid = (draw(2, 5, 4, 2) * 0.6).tanh()
    compare("sampled images", lambda x, grid, theta: [
        F.grid_sample(x, grid, align_corners=False), F.grid_sample(x, grid, padding_mode="border", align_corners=True),
        F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)], image, grid, draw(2, 2, 3) * 0.3)


def try_places():
    x, y = draw(4, 6), draw(4, 6, 1)[..., 0]
    at = torch.tensor([[0, 1], [2, 3], [5, 5], [0, 0]])
    compare("places", lambda x, y: [
        x.diagonal() * 2, x.diagonal(-1), x.diagonal(2, 1, 0), torch.diag_embed(y), torch.trace(x[:, :4]), x.unfold(1, 3, 2), x.rot90(),
        x.scatter_reduce(1, at.expand(4, 2), y[:, :2], "mean"), x.index_copy(0, at[0], y[:2]), x.kthvalue(2, 1)[0], x.median(1)[0],
        x * torch.bucketize(x, torch.tensor([-1.0, 0, 1])), x @ F.one_hot(at[:3].flatten(), 7).float(), x @ torch.eye(6, 3),
        torch.linalg.cross(x[:, :3], y[:, 3:]), torch.kron(x, y), F.bilinear(x, y, x[None, :, :4].expand(3, 4, 4)[:, :, [0, 1, 2, 3, 0, 1]].new_ones(3, 6, 6)),
        torch.addmv(y[:, 0], x, y[0]), x.nansum(1), (x * (x > -0.5)).cumprod(1), x.cumprod(0), torch.std_mean(x, 1)[0], x.nan_to_num()], x, y)


def try_draws():
    """Checks that draws have PyTorch's distributions; a gradient may end behind them."""
    forward = compiled(lambda x: (F.dropout(x * x, 0.5).detach() * x, torch.empty_like(x).exponential_(2.0),
                                  F.gumbel_softmax(x, hard=True), torch.normal(3.0, 0.5, (200, 50))))
    x = draw(200, 50).requires_grad_()
    stopped, waits, chosen, normal = forward(x)
    stopped.sum().backward(retain_graph=True)
    checks.check("a gradient ends behind dropout", torch.allclose(x.grad * x, stopped, rtol=1e-6), "other words were drawn")
    checks.check("exponential draws", abs(waits.mean().item() - 0.5) < 0.03 and waits.min() >= 0, str(waits.mean()))
    checks.check("one of a row is chosen", torch.allclose(chosen.detach().sum(1), torch.ones(200))
                 and not torch.equal(chosen.argmax(1), x.argmax(1)), "")
    checks.check("normal draws", abs(normal.mean().item() - 3) < 0.03 and abs(normal.std().item() - 0.5) < 0.02, str(normal.mean()))


def try_missing():
    """Checks that a call is of an op as the user knows it, not of its decomposition."""
    compiled(lambda x: torch.special.i1(x[:, :1]) * x)(draw(4, 6).requires_grad_())
    called = [each["callee"] for each in graphs()[-1].report.host_calls]
    checks.check("what is called", any(each.startswith("torch:aten.special_i1.default#") for each in called), str(called))


class Volumes(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(1, 6, 3, padding=1), nn.InstanceNorm3d(6, affine=True), nn.Mish(), nn.MaxPool3d(2),
                                  nn.Conv3d(6, 8, 3, padding=1), nn.BatchNorm3d(8), nn.CELU(), nn.Dropout3d(0.2),
                                  nn.ConvTranspose3d(8, 4, 2, stride=2), nn.Conv3d(4, 2, 1))

    def forward(self, x):
        return self.body(x)


def try_plans():
    """Checks that a net of volumes has the same bits under every plan."""
    torch.manual_seed(0)
    model, x, found = Volumes(), draw(2, 1, 8, 8, 8), []
    buffers = [each.clone() for each in model.buffers()]
    for options in ({}, {"policy": "recompute-all"}, {"budget": "70%"}):
        for each, before in zip(model.buffers(), buffers):
            each.copy_(before)
        torch.manual_seed(5)
        model.zero_grad(set_to_none=True)
        loss = F.cross_entropy(compiled(model, **options)(x), torch.ones(2, 8, 8, 8, dtype=torch.int64))
        loss.backward()
        found.append([loss.detach()] + [each.grad for each in model.parameters()] + [each.clone() for each in model.buffers()])
    for plan, results in zip(("recompute-all", "a budget"), found[1:]):
        checks.check(f"volumes under {plan}", all(map(torch.equal, results, found[0])), "other bits")


if __name__ == "__main__":
    run_parts(try_activations, try_kinks, try_functions, try_steps, try_norms, try_losses, try_volumes, try_places, try_draws, try_missing,
              try_plans)
