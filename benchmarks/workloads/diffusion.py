"""A step of a denoising diffusion model: J. Ho and others, 2020 (arXiv:2006.11239).

Training is their algorithm 1, inference one step of their algorithm 2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.workloads.workload import Built, Workload

_STEPS = 1000
# Scale -> width, images, pixels a side.
_SIZES = {"tiny": (8, 1, 8), "quick": (32, 1, 32), "full": (64, 4, 32)}


class Residual(nn.Module):
    """Two normalized convolutions and a shortcut; the time (N, T) shifts the channels."""

    def __init__(self, inputs: int, outputs: int, time: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.GroupNorm(4, inputs), nn.GroupNorm(4, outputs)
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shift = nn.Linear(time, outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        y = self.first(functional.silu(self.first_norm(x))) + self.shift(time)[:, :, None, None]
        y = self.second(functional.silu(self.second_norm(y)))
        result: Tensor = y + self.shortcut(x)
        return result


class Attention(nn.Module):
    """Self-attention of 4 heads over the pixels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, width)
        self.enter, self.leave = nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        split = self.enter(self.norm(x)).flatten(2).unflatten(1, (3, 4, -1)).transpose(3, 4)
        attended = functional.scaled_dot_product_attention(split[:, 0], split[:, 1], split[:, 2])
        result: Tensor = x + self.leave(attended.transpose(2, 3).reshape(x.shape))
        return result


class Denoiser(nn.Module):
    """Images (N, 3, H, W) at times (N,) to the noise in them; H and W divisible by 4."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width, time, wide = width, 4 * width, 2 * width
        self.embed = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.fall_1, self.fall_2 = Residual(width, width, time), Residual(width, wide, time)
        self.bottom, self.attention = Residual(wide, wide, time), Attention(wide)
        self.shrink_1 = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.shrink_2 = nn.Conv2d(wide, wide, 3, stride=2, padding=1)
        self.rise_2, self.rise_1 = (
            Residual(2 * wide, wide, time),
            Residual(wide + width, width, time),
        )
        self.leave = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        half = self.width // 2
        rates = torch.exp(-math.log(10_000) * torch.arange(half) / half)
        angles = times[:, None].float() * rates
        time = self.embed(torch.cat([angles.sin(), angles.cos()], dim=1))
        first = self.fall_1(self.enter(x), time)
        second = self.fall_2(self.shrink_1(first), time)
        y = self.attention(self.bottom(self.shrink_2(second), time))
        y = functional.interpolate(y, scale_factor=2.0, mode="nearest")
        y = self.rise_2(torch.cat([y, second], dim=1), time)
        y = functional.interpolate(y, scale_factor=2.0, mode="nearest")
        noise: Tensor = self.leave(self.rise_1(torch.cat([y, first], dim=1), time))
        return noise


def _predict(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    """The images, a step less noisy."""
    kept = batch["kept"][batch["times"]][:, None, None, None]
    beta = batch["beta"][batch["times"]][:, None, None, None]
    noise = model(batch["images"], batch["times"])
    cleaner: Tensor = (batch["images"] - beta / (1 - kept).sqrt() * noise) / (1 - beta).sqrt()
    return cleaner + beta.sqrt() * batch["noise"]


def _loss(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    kept = batch["kept"][batch["times"]][:, None, None, None]
    noised = kept.sqrt() * batch["images"] + (1 - kept).sqrt() * batch["noise"]
    return functional.mse_loss(model(noised, batch["times"]), batch["noise"])


def _build(scale: str) -> Built:
    width, count, side = _SIZES[scale]
    beta = torch.linspace(1e-4, 0.02, _STEPS)
    batch = {
        "images": torch.randn(count, 3, side, side),
        "noise": torch.randn(count, 3, side, side),
        "times": torch.randint(_STEPS, (count,)),
        "beta": beta,
        "kept": (1 - beta).cumprod(0),
    }
    return Built(Denoiser(width), batch, _predict, _loss)


WORKLOADS = (Workload("diffusion", _build),)
