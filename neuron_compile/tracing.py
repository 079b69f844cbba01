"""How AOTAutograd is to trace: what PyTorch would make opaque, or take apart too early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
import torch._functorch.config as functorch_config
from torch.nn.attention import SDPBackend, sdpa_kernel

from neuron_compile.lowering.decompose.flex_attention import flex_attention_as_products
from neuron_compile.lowering.decompose.scan_gradient import scan_gradient
from neuron_compile.lowering.decompose.while_loop_gradient import while_loop_gradient
from neuron_compile.lowering.decompose.whole_operators import whole_operators


@contextmanager
def traced_for_lowering() -> Iterator[None]:
    """While it lasts, AOTAutograd's graphs hold what the lowering can see into, with the gradients
    that PyTorch lacks for the CPU."""
    with ExitStack() as settings:
        # Attention as the products and the softmax that it is: the fused CPU kernels are opaque,
        # forward and backward.
        settings.enter_context(sdpa_kernel(SDPBackend.MATH))
        settings.enter_context(flex_attention_as_products())
        settings.enter_context(_recurrent_layers_as_steps())
        settings.enter_context(whole_operators())
        settings.enter_context(while_loop_gradient())
        settings.enter_context(scan_gradient())
        # In graphs that are not split, PyTorch writes checkpointed operations down twice, and gives
        # up on random ones. XLA would make one of the two again.
        settings.enter_context(
            functorch_config.patch(remat_using_tags_for_fwd_loss_bwd_graph=False)
        )
        yield


@contextmanager
def _recurrent_layers_as_steps() -> Iterator[None]:
    """Without oneDNN, PyTorch traces an LSTM as its steps; with it, as one opaque operator."""
    was_enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(was_enabled)
