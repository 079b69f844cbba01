from __future__ import annotations

import pytest

from neuron_compile.pjrt import host_kernels
from neuron_compile.pjrt.host_convolution import CONVOLUTION
from neuron_compile.pjrt.host_kernels import ensure_host_kernels, implement


def test_our_names_are_registered_once_and_others_left(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    monkeypatch.setattr(host_kernels, "register", lambda name, _: names.append(name))
    monkeypatch.setattr(host_kernels, "_registered", set())
    for _ in range(2):
        ensure_host_kernels(("lapack_sgetrf", CONVOLUTION))
    assert names == [CONVOLUTION]


def test_a_name_calls_the_function_given_last(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(host_kernels, "_functions", {})
    call = host_kernels._calling("name")
    with pytest.raises(KeyError, match="name"):
        call((), (), "")
    implement("name", lambda _arguments, _results, text: seen.append(text))
    call((), (), "text")
    assert seen == ["text"]
