"""Operators kept whole for what they refuse: their parts would take any number.

`one_hot` is a comparison with every class once it is traced, and one of no class a row of zeros.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from neuron_compile.lowering.random_ops import NAMESPACE

_library: Final = torch.library.Library(NAMESPACE, "FRAGMENT")
_library.define(
    "one_hot(Tensor classes, int num_classes) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,)
)


def _one_hot(classes: Tensor, num_classes: int) -> Tensor:
    return classes.new_empty((*classes.shape, num_classes))


torch.library.register_fake(f"{NAMESPACE}::one_hot", _one_hot, lib=_library)


def one_hot(classes: Tensor, num_classes: int = -1) -> Tensor:
    """`aten.one_hot` while a graph is traced; a number of classes to be found depends on data."""
    if num_classes == -1:
        num_classes = int(classes.max()) + 1
    whole: Tensor = getattr(torch.ops, NAMESPACE).one_hot(classes, num_classes)
    return whole
