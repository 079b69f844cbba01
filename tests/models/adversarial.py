"""A generative adversarial network: two modules, two optimizers, three backward passes a step.

The generator's loss goes through the discriminator, whose own gradients it must not disturb.
A. Radford and others, DCGAN, 2015 (arXiv:1511.06434), at toy size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Network = Callable[[Tensor], Tensor]


def generator(noise: int = 8, width: int = 8) -> nn.Sequential:
    """Noise (N, noise, 1, 1) to images (N, 1, 8, 8) in (-1, 1)."""
    return nn.Sequential(
        nn.ConvTranspose2d(noise, 2 * width, 2, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )


def discriminator(width: int = 8) -> nn.Sequential:
    """Images (N, 1, 8, 8) to one logit each (N, 1)."""
    return nn.Sequential(
        nn.Conv2d(1, width, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width, 2 * width, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(8 * width, 1),
    )


@dataclass
class Game:
    """Both players, callable (perhaps compiled), with an optimizer each."""

    generator: Network
    discriminator: Network
    generator_optimizer: torch.optim.Optimizer
    discriminator_optimizer: torch.optim.Optimizer

    def step(self, real: Tensor, noise: Tensor) -> tuple[float, float]:
        """One update of each player; both losses."""
        fake = self.generator(noise)
        scores, fooled = self.discriminator(real), self.discriminator(fake.detach())
        loss = F.binary_cross_entropy_with_logits(scores, torch.ones_like(scores))
        loss = loss + F.binary_cross_entropy_with_logits(fooled, torch.zeros_like(fooled))
        self.discriminator_optimizer.zero_grad()
        loss.backward()
        self.discriminator_optimizer.step()

        judged = self.discriminator(fake)
        deceit = F.binary_cross_entropy_with_logits(judged, torch.ones_like(judged))
        self.generator_optimizer.zero_grad()
        deceit.backward()
        self.generator_optimizer.step()
        return loss.item(), deceit.item()
