"""Normalization with statistics, losses with weights and ignored targets, layers that train."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from parity import check_parity


def test_batch_norm_keeps_its_statistics() -> None:
    check_parity(nn.BatchNorm2d(3), torch.randn(4, 3, 5, 5, requires_grad=True), grad=True)
    cumulative = nn.BatchNorm1d(3, momentum=None)
    check_parity(cumulative, torch.randn(4, 3, requires_grad=True), grad=True)


def test_targets_that_are_ignored() -> None:
    logits = torch.randn(4, 5, requires_grad=True)
    target = torch.tensor([0, -100, 4, 2])
    check_parity(lambda z, t: F.cross_entropy(z, t), logits, target, grad=True)
    check_parity(
        lambda z, t: F.cross_entropy(z, t, ignore_index=1), torch.randn(3, 5), torch.ones(3).long()
    )


def test_class_weights_over_several_dimensions() -> None:
    weights = torch.tensor([1.0, 2.0, 0.5])
    logits, target = torch.randn(2, 3, 4, requires_grad=True), torch.randint(0, 3, (2, 4))
    check_parity(
        lambda z, t: F.cross_entropy(z, t, weight=weights, label_smoothing=0.1),
        logits,
        target,
        grad=True,
    )


def test_transformer_layer_and_convolutional_network() -> None:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    check_parity(layer, torch.randn(2, 5, 16, requires_grad=True), grad=True)
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(72, 4),
    )
    check_parity(network, torch.randn(2, 3, 8, 8, requires_grad=True), grad=True, bound=1e-4)


def test_causal_attention() -> None:
    q = torch.randn(1, 2, 4, 8, requires_grad=True)
    check_parity(lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True), q, grad=True)
