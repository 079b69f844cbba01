"""Image classifiers: ResNet-18, ConvNeXt and ViT, of `transformers`."""

from __future__ import annotations

from typing import Any

from torch import Tensor, randint, randn
from transformers import (
    ConvNextConfig,
    ConvNextForImageClassification,
    ResNetConfig,
    ResNetForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)

from benchmarks.workloads.hugging_face import built
from benchmarks.workloads.workload import Built, Workload

_CLASSES = 1000
# Scale -> images in a batch, pixels a side.
_IMAGES = {"tiny": (2, 32), "quick": (4, 64), "full": (4, 128)}
_VIT_IMAGES = {"tiny": (1, 32), "quick": (1, 128), "full": (2, 224)}


def _batch(count: int, side: int) -> dict[str, Tensor]:
    return {
        "pixel_values": randn(count, 3, side, side),
        "labels": randint(_CLASSES, (count,)),
    }


def _resnet_18(scale: str) -> Built:
    """K. He and others, 2015 (arXiv:1512.03385), table 1."""
    sizes: dict[str, Any] = {}
    if scale == "tiny":
        sizes = {"embedding_size": 4, "hidden_sizes": [4, 8]}
    configuration = ResNetConfig(
        **{
            "embedding_size": 64,
            "hidden_sizes": [64, 128, 256, 512],
            "depths": [2] * len(sizes.get("hidden_sizes", [0] * 4)),
            "layer_type": "basic",
            "num_labels": _CLASSES,
            **sizes,
        }
    )
    return built(ResNetForImageClassification, configuration, _batch(*_IMAGES[scale]))


def _convnext(scale: str) -> Built:
    """Z. Liu and others, 2022 (arXiv:2201.03545): ConvNeXt-T at a third of its depth."""
    widths = [4, 8, 8, 8] if scale == "tiny" else [96, 192, 384, 768]
    configuration = ConvNextConfig(hidden_sizes=widths, depths=[1, 1, 3, 1], num_labels=_CLASSES)
    return built(ConvNextForImageClassification, configuration, _batch(*_IMAGES[scale]))


def _vit(scale: str) -> Built:
    """A. Dosovitskiy and others, 2020 (arXiv:2010.11929): ViT/16, half as deep as the small one."""
    width, layers = {"tiny": (12, 1), "quick": (384, 2), "full": (384, 6)}[scale]
    count, side = _VIT_IMAGES[scale]
    configuration = ViTConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=6,
        intermediate_size=4 * width,
        image_size=side,
        num_labels=_CLASSES,
    )
    return built(ViTForImageClassification, configuration, _batch(count, side))


WORKLOADS = (
    Workload("resnet18", _resnet_18),
    Workload("convnext", _convnext),
    Workload("vit", _vit),
)
