"""A U-Net: an encoder and a decoder joined by skip connections.

O. Ronneberger and others, U-Net, 2015 (arXiv:1505.04597). `time` conditions every level, as the
noise predictor of a diffusion model needs it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ConvolutionPair(nn.Module):
    """Two 3x3 convolutions with group normalization; `time` (N, T) shifts the channels."""

    def __init__(self, inputs: int, outputs: int, time_features: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.norm = nn.GroupNorm(2, outputs)
        self.shift = nn.Linear(time_features, outputs) if time_features else None

    def forward(self, x: Tensor, time: Tensor | None) -> Tensor:
        y = F.silu(self.norm(self.first(x)))
        if self.shift is not None and time is not None:
            y = y + self.shift(time)[:, :, None, None]
        return F.silu(self.second(y))


class UNet(nn.Module):
    """(N, channels, H, W) to (N, outputs, H, W); H and W divisible by 4.

    One level up is a transposed convolution, the other a bilinear up-sampling, since models in use
    do either.
    """

    def __init__(self, channels: int, outputs: int, width: int = 8, time_features: int = 0) -> None:
        super().__init__()
        wide, wider = 2 * width, 4 * width
        self.down_1 = ConvolutionPair(channels, width, time_features)
        self.down_2 = ConvolutionPair(width, wide, time_features)
        self.bottom = ConvolutionPair(wide, wider, time_features)
        self.rise_2 = nn.ConvTranspose2d(wider, wide, 2, stride=2)
        self.up_2 = ConvolutionPair(2 * wide, wide, time_features)
        self.up_1 = ConvolutionPair(wide + width, width, time_features)
        self.head = nn.Conv2d(width, outputs, 1)

    def forward(self, x: Tensor, time: Tensor | None = None) -> Tensor:
        first = self.down_1(x, time)
        second = self.down_2(F.max_pool2d(first, 2), time)
        y = self.bottom(F.avg_pool2d(second, 2), time)
        y = self.up_2(torch.cat([self.rise_2(y), second], dim=1), time)
        y = F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)
        y = self.up_1(torch.cat([y, first], dim=1), time)
        picture: Tensor = self.head(y)
        return picture
