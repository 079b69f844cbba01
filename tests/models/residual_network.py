"""ResNet-18: eighteen weighted layers, BatchNorm in training mode, for small images.

K. He and others, Deep Residual Learning for Image Recognition, 2015 (arXiv:1512.03385), table 1.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut, projected where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        return F.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    """Images (N, 3, H, W) to logits (N, classes); `width` channels in the first stage."""

    def __init__(self, classes: int = 10, width: int = 8) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        blocks = []
        for stage in range(4):
            stride = 1 if stage == 0 else 2
            blocks += [
                BasicBlock(widths[stage], widths[stage + 1], stride),
                BasicBlock(widths[stage + 1], widths[stage + 1], 1),
            ]
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(8 * width, classes)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.blocks(self.stem(images))
        logits: Tensor = self.head(features.mean(dim=(2, 3)))
        return logits
