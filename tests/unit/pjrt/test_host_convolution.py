from __future__ import annotations

import pytest

from neuron_compile.pjrt.host_convolution import HostConvolution

EXAMPLE = HostConvolution(
    role="kernel",
    data_order=(1, 0, 2, 3),
    kernel_order=(0, 1, 2, 3),
    result_order=(0, 1, 2, 3),
    strides=(2, 2),
    padding=(1, 1),
    dilation=(1, 1),
    groups=4,
    is_reversed=True,
)


def test_json_is_read_back() -> None:
    assert HostConvolution.from_json(EXAMPLE.to_json()) == EXAMPLE


@pytest.mark.parametrize("text", ["{", '{"role": "result"}', '{"color": 1}', "[]"])
def test_what_is_not_one_is_an_error(text: str) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)):
        HostConvolution.from_json(text)
