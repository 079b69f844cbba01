"""How AOTAutograd traces while the backend is asked for a graph, and only then."""

from __future__ import annotations

import pytest
import torch
import torch._functorch.config as functorch_config
from torch.nn import functional as F

from fx_graphs import capture, targets
from neuron_compile.tracing import traced_for_lowering


def settings() -> tuple[bool, bool, bool, bool]:
    return (
        torch._C._get_mkldnn_enabled(),
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
        functorch_config.remat_using_tags_for_fwd_loss_bwd_graph,
    )


def test_settings_are_as_before_afterwards_also_after_an_error() -> None:
    before = settings()
    with traced_for_lowering():
        assert settings() != before
    assert settings() == before
    with pytest.raises(KeyError), traced_for_lowering():
        raise KeyError
    assert settings() == before


def test_attention_is_traced_as_its_products() -> None:
    q = torch.randn(1, 2, 5, 4)
    with traced_for_lowering():
        found = targets(capture(lambda q: F.scaled_dot_product_attention(q, q, q), q))
    assert not [name for name in found if "scaled_dot_product" in name]
    assert found.count("bmm") + found.count("matmul") == 2
