"""One training step of a denoising diffusion model.

J. Ho and others, Denoising Diffusion Probabilistic Models, 2020 (arXiv:2006.11239), algorithm 1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.u_net import UNet


def timestep_embedding(steps: Tensor, features: int) -> Tensor:
    """Sines and cosines (N, features) of integer time steps (N,), periods from 2 pi to 10^4."""
    half = features // 2
    frequencies = torch.exp(-math.log(10_000.0) * torch.arange(half) / half)
    angles = steps[:, None].float() * frequencies[None]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Diffusion(nn.Module):
    """Predicts the noise in a noised image; the linear noise schedule is a buffer."""

    kept: Tensor

    def __init__(self, channels: int = 1, timesteps: int = 50, features: int = 16) -> None:
        super().__init__()
        self.features = features
        self.register_buffer("kept", torch.cumprod(1 - torch.linspace(1e-4, 0.02, timesteps), 0))
        self.embed = nn.Sequential(
            nn.Linear(features, features), nn.SiLU(), nn.Linear(features, features)
        )
        self.network = UNet(channels, channels, time_features=features)

    def forward(self, images: Tensor, steps: Tensor, noise: Tensor) -> Tensor:
        """Mean squared error of the predicted noise: a scalar."""
        kept = self.kept[steps][:, None, None, None]
        noised = kept.sqrt() * images + (1 - kept).sqrt() * noise
        time = self.embed(timestep_embedding(steps, self.features))
        return F.mse_loss(self.network(noised, time), noise)
