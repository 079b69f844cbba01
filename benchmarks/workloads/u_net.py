"""Image segmentation by a U-Net: O. Ronneberger and others, 2015 (arXiv:1505.04597), padded."""

from __future__ import annotations

import torch
from torch import Tensor, nn, rand, randn
from torch.nn import functional

from benchmarks.workloads.workload import Built, Workload

# Scale -> width of the first level, levels, images, pixels a side.
_SIZES = {"tiny": (4, 2, 1, 16), "quick": (16, 3, 1, 64), "full": (32, 4, 2, 96)}


def _pair(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class UNet(nn.Module):
    """Images (N, 3, H, W) to one logit for each pixel (N, 1, H, W)."""

    def __init__(self, width: int, levels: int) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(levels)]
        self.falling = nn.ModuleList(
            _pair(inputs, outputs) for inputs, outputs in zip([3, *widths], widths, strict=False)
        )
        self.bottom = _pair(widths[-1], 2 * widths[-1])
        self.rises = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in widths[::-1])
        self.rising = nn.ModuleList(_pair(2 * w, w) for w in widths[::-1])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """H and W are divisible by 2 to the number of levels."""
        skipped = []
        for pair in self.falling:
            x = pair(x)
            skipped.append(x)
            x = functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for rise, pair in zip(self.rises, self.rising, strict=True):
            x = pair(torch.cat([rise(x), skipped.pop()], dim=1))
        logits: Tensor = self.head(x)
        return logits


def _predict(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    logits: Tensor = model(batch["images"])
    return logits


def _loss(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    return functional.binary_cross_entropy_with_logits(model(batch["images"]), batch["masks"])


def _build(scale: str) -> Built:
    width, levels, count, side = _SIZES[scale]
    batch = {"images": randn(count, 3, side, side), "masks": rand(count, 1, side, side).round()}
    return Built(UNet(width, levels), batch, _predict, _loss)


WORKLOADS = (Workload("u_net", _build),)
