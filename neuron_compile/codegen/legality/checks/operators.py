"""Operators that the compiler has not (NCC_EVRF001, EUOC002, EVRF029) and unknown custom calls
(NCC_EVRF015, EHCA005).

The documentation's list of operators is that of an early release and lacks some that later release
notes and examples use, so what is missing there is not refused for that alone: only what the
documentation or the compiler's own messages say is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from neuron_compile.codegen.legality.program_module import node_numbers
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.tensor_ops import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_compile.codegen.legality.device import Device

_ELSEWHERE: Final = (
    "keep it out of the compiled region with torch.compiler.disable, or pass "
    'options={"fallback": "eager"}.'
)

# Names of XLA's builder that `list-operators` would print, by StableHLO operation.
REFUSED_OPERATORS: Final = {
    "stablehlo.triangular_solve": "TriangularSolve",
    "stablehlo.cholesky": "Cholesky",
    "stablehlo.fft": "Fft",
    "stablehlo.infeed": "Infeed",
    "stablehlo.outfeed": "Outfeed",
    "stablehlo.send": "Send",
    "stablehlo.recv": "Recv",
    "stablehlo.sort": "Sort",
}

# Error code NCC_EVRF015 lists them.
KNOWN_CUSTOM_CALLS: Final = frozenset(
    {
        "AwsNeuronArgMax",
        "AwsNeuronArgMin",
        "AwsNeuronCollectiveMatmul",
        "AwsNeuronCustomNativeKernel",
        "AwsNeuronCustomOp",
        "AwsNeuronDevicePrint",
        "AwsNeuronDropoutMaskV1",
        "AwsNeuronErf",
        "AwsNeuronGelu",
        "AwsNeuronGeluApprxTanh",
        "AwsNeuronGeluBackward",
        "AwsNeuronIntMatmult",
        "AwsNeuronLNCShardingConstraint",
        "AwsNeuronModuleMarkerEnd-Backward",
        "AwsNeuronModuleMarkerEnd-Forward",
        "AwsNeuronModuleMarkerStart-Backward",
        "AwsNeuronModuleMarkerStart-Forward",
        "AwsNeuronRmsNorm",
        "AwsNeuronSilu",
        "AwsNeuronSiluBackward",
        "AwsNeuronSoftmax",
        "AwsNeuronSoftmaxBackward",
        "AwsNeuronTopK",
        "AwsNeuronTransferWithStaticRing",
        "NeuronBoundaryMarker-End",
        "NeuronBoundaryMarker-Start",
        "ResizeBilinear",
        "ResizeNearest",
        "ResizeNearestGrad",
    }
)


def check_operators(operation: Any, device: Device) -> Iterator[Refusal]:
    """An operator or custom call that the compiler does not have."""
    name = str(operation.name)
    if name not in REFUSED_OPERATORS and name != "stablehlo.custom_call":
        return
    nodes = node_numbers(operation)
    if name == "stablehlo.sort":
        sizes = "x".join(map(str, shape_of(operation.results[0])))
        yield Refusal(
            "EVRF029",
            name,
            nodes,
            f"{device.name} has no sort, and this one ({sizes}) is too large or its comparison too "
            "unusual to be done by a sorting network",
            "sort less at a time, or use torch.topk on floating-point numbers.",
        )
    elif name in REFUSED_OPERATORS:
        yield Refusal(
            "EVRF001",
            name,
            nodes,
            f"the compiler has no operator {REFUSED_OPERATORS[name]}",
            _ELSEWHERE,
        )
    else:
        target = operation.attributes["call_target_name"].value
        if target not in KNOWN_CUSTOM_CALLS:
            yield Refusal(
                "EVRF015",
                f"{name} @{target}",
                nodes,
                f"the compiler does not know the custom call {target}",
                _ELSEWHERE,
            )
