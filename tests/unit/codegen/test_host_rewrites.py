from __future__ import annotations

from neuron_compile.codegen.host_rewrites import rewrite_for_host


def test_program_without_such_operations_is_not_even_read() -> None:
    assert rewrite_for_host(b"anything") == b"anything"
