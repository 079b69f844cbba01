"""The derivative of weight normalization, https://arxiv.org/abs/1602.07868 (equation 3)."""

from __future__ import annotations

import torch


def weight_norm_interface_backward(
    grad_w: torch.Tensor,
    saved_v: torch.Tensor,
    saved_g: torch.Tensor,
    saved_norms: torch.Tensor,
    dim: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of v and g for w = g v / |v|, the norm taken over every dimension but `dim`."""
    reduced = [axis for axis in range(saved_v.dim()) if axis != dim % saved_v.dim()]
    norms = saved_norms.to(grad_w.dtype)
    projection = (grad_w * saved_v).sum(reduced, keepdim=True) if reduced else grad_w * saved_v
    grad_v = (saved_g / norms) * (grad_w - saved_v * (projection / (norms * norms)))
    return grad_v, projection / norms
