"""A StableHLO artifact as text, for people."""

from __future__ import annotations


def stablehlo_text(artifact: bytes) -> str:
    """The module of a portable artifact, with large constants abbreviated."""
    from jaxlib.mlir.dialects import stablehlo

    from neuron_compile.lowering.library.link import mlir_context

    module = stablehlo.deserialize_portable_artifact(mlir_context(), artifact)
    text: str = module.operation.get_asm(large_elements_limit=32)
    return text
