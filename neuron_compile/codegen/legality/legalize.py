"""One pass over a program: mend what can be mended exactly, and list everything that cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from neuron_compile.codegen.legality.checks.indexing import check_indexing
from neuron_compile.codegen.legality.checks.integers import check_integers
from neuron_compile.codegen.legality.checks.memory import check_memory
from neuron_compile.codegen.legality.checks.operators import check_operators
from neuron_compile.codegen.legality.checks.precision import check_integers_through_float64
from neuron_compile.codegen.legality.checks.types import check_types
from neuron_compile.codegen.legality.checks.windows import check_windows
from neuron_compile.codegen.legality.device import Device
from neuron_compile.codegen.legality.program_module import (
    main_function,
    node_numbers,
    read_module,
    walk,
    write_module,
)
from neuron_compile.codegen.legality.refusal import Refusal, Rewritten
from neuron_compile.codegen.legality.rewrites.clamp_gather_indices import clamp_gather_indices
from neuron_compile.codegen.legality.rewrites.demote_float64 import demote_float64
from neuron_compile.codegen.legality.rewrites.dilate_convolution_input import (
    dilate_convolution_input,
    refused_dilations,
)
from neuron_compile.codegen.legality.rewrites.expand_chlo import expand_chlo
from neuron_compile.codegen.legality.rewrites.expand_threefry import expand_threefry
from neuron_compile.codegen.legality.rewrites.flip_arithmetic_shift import flip_arithmetic_shift
from neuron_compile.codegen.legality.rewrites.float_integer_scatter import (
    float_integer_scatter,
    scatter_code,
)
from neuron_compile.codegen.legality.rewrites.fold_windows import fold_windows
from neuron_compile.codegen.legality.rewrites.inline_calls import inline_calls
from neuron_compile.codegen.legality.rewrites.multiply_out_integer_dot import (
    multiply_out_integer_dot,
)
from neuron_compile.codegen.legality.rewrites.network_sort import network_sort
from neuron_compile.codegen.legality.rewrites.network_top_k import network_top_k
from neuron_compile.codegen.legality.rewrites.pad_scattered_operand import pad_scattered_operand
from neuron_compile.codegen.legality.rewrites.pad_window_base import pad_window_base
from neuron_compile.codegen.legality.rewrites.settle_shapes import settle_shapes
from neuron_compile.codegen.legality.rewrites.split_unsigned_constant import (
    split_unsigned_constant,
)
from neuron_compile.codegen.legality.rewrites.square_integer_power import square_integer_power
from neuron_compile.codegen.legality.rewrites.undilate_window import undilate_window

Rewrite = Callable[[Any, Device], bool]

# In this order: later ones see what earlier ones built, never the other way round. Folding removes
# window dilation too, so it comes first; networks and random bits may bring shifts and constants.
REWRITES: Final[tuple[tuple[str, str, Rewrite], ...]] = (
    ("EVRF013", "chlo.top_k", network_top_k),
    ("EVRF029", "stablehlo.sort", network_sort),
    ("EVRF019", "stablehlo.reduce_window", fold_windows),
    ("EVRF018", "stablehlo.reduce_window", undilate_window),
    ("EVRF017", "stablehlo.reduce_window", pad_window_base),
    ("EVRF011", "stablehlo.convolution", dilate_convolution_input),
    ("EVRF056", "stablehlo.gather", clamp_gather_indices),
    ("EVRF031", "stablehlo.scatter", pad_scattered_operand),
    ("EVRF060", "stablehlo.scatter", float_integer_scatter),
    ("EVRF035", "stablehlo.dot_general", multiply_out_integer_dot),
    ("EVRF062", "stablehlo.power", square_integer_power),
    ("EVRF006", "stablehlo.rng_bit_generator", expand_threefry),
    ("EVRF022", "stablehlo.shift_right_arithmetic", flip_arithmetic_shift),
    ("ESFH002", "stablehlo.constant", split_unsigned_constant),
)

_CHECKS: Final = (check_types, check_operators, check_windows, check_indexing, check_integers)


@dataclass(frozen=True, slots=True)
class Legalized:
    """A program as the compiler will see it, and what was found on the way.

    `stablehlo` is a portable artifact, legal if `refusals` is empty. `demoted_nodes` are the nodes
    that were written in float64 and run in float32; None if there was no float64.
    """

    stablehlo: bytes
    refusals: tuple[Refusal, ...]
    rewritten: tuple[Rewritten, ...]
    demoted_nodes: tuple[int, ...] | None


def legalize(program: bytes, device: Device) -> Legalized:
    """Mend and check a portable StableHLO artifact for one device.

    Raises `CodegenError` if `program` is no such artifact.
    """
    module = read_module(program)
    with module.context:
        inline_calls(module)
        settle_shapes(module)
        expand_chlo(module)
        through_float64 = tuple(check_integers_through_float64(module))
        demoted = demote_float64(module)
        rewritten = tuple(_rewrite(module, device))
        refusals = (*through_float64, *_refusals(module, device))
        return Legalized(write_module(module), refusals, rewritten, demoted)


def find_refusals(program: bytes, device: Device) -> tuple[Refusal, ...]:
    """What the compiler would refuse about a program as it stands, before anything is mended.

    Raises `CodegenError` if `program` is no portable StableHLO artifact.
    """
    module = read_module(program)
    with module.context:
        return tuple(_refusals(module, device))


def _rewrite(module: Any, device: Device) -> Iterator[Rewritten]:
    """Apply all rewrites. Most programs need few, so the walk for the others is saved."""
    names = {str(operation.name) for operation in walk(module.operation)}
    for entry in REWRITES:
        if entry[1] in names:
            done = list(_apply(module, entry, device))
            yield from done
            if done:
                names = {str(operation.name) for operation in walk(module.operation)}


def _apply(module: Any, entry: tuple[str, str, Rewrite], device: Device) -> Iterator[Rewritten]:
    code, name, rewrite = entry
    for operation in [found for found in walk(module.operation) if found.name == name]:
        nodes = node_numbers(operation)
        if name == "stablehlo.convolution":
            code = "EVRF010" if refused_dilations(operation)[0] else "EVRF011"
        elif rewrite is float_integer_scatter:
            code = scatter_code(operation)
        if rewrite(operation, device):
            yield Rewritten(code, name, nodes)


def _refusals(module: Any, device: Device) -> Iterator[Refusal]:
    for operation in walk(module.operation):
        for check in _CHECKS:
            yield from check(operation, device)
    yield from check_memory(main_function(module).operation, device)
