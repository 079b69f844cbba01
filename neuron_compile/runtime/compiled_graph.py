"""A loaded program under AOTAutograd's calling convention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from neuron_compile.errors import ExecutionError
from neuron_compile.lowering.program import (
    ConstantResult,
    CopiedResult,
    InputResult,
    SameResult,
    Signature,
    TensorSpec,
    ViewResult,
)
from neuron_compile.runtime.arguments import Arguments
from neuron_compile.runtime.boundary import exit_of
from neuron_compile.runtime.executable import Executable


class CompiledGraph:
    """Calls an executable with a graph's arguments and gives the graph's results.

    Takes its arguments in a list that it empties (AOTAutograd's boxed convention) and holds none
    longer than it needs it: those that the program does not read, or reads as a copy, are let go of
    before it runs, the others when it has run; those that are results stay. Results have the
    dtype and strides of the eager ones.
    """

    def __init__(self, name: str, signature: Signature, executable: Executable) -> None:
        # On the instance, not the class: torch.compile wraps callables and copies their __dict__.
        self._boxed_call = True
        self.name = name
        self._executable = executable
        self._signature = signature
        self._argument_count = len(signature.inputs)
        self._kept_inputs = signature.kept_inputs
        self._arguments = Arguments([self._spec(index) for index in signature.kept_inputs])
        self._output_count = len(signature.outputs)
        # Those that leave as they are have none.
        self._leaves = tuple(
            (number, leave)
            for number, spec in enumerate(signature.outputs)
            if (leave := exit_of(spec)) is not None
        )
        self._slots = signature.result_slots
        self._returned = tuple(
            {slot.argument for slot in self._slots if isinstance(slot, InputResult)}
        )
        self._is_plain = self._slots == tuple(range(self._output_count))
        self._seed_count = signature.seed_count
        self._checks = signature.checks

    def _spec(self, index: int) -> TensorSpec:
        spec = self._signature.inputs[index]
        if spec is None:
            raise ExecutionError(
                f"graph {self.name} takes a number as a tensor", why="this is a defect of ours."
            )
        return spec

    def __call__(self, args: list[Any]) -> Sequence[Any]:
        """Run. Raises `ExecutionError`, or what eager raises for an index out of range."""
        if len(args) != self._argument_count:
            raise ExecutionError(
                f"graph {self.name} takes {self._argument_count} arguments, got {len(args)}"
            )
        returned = {index: args[index] for index in self._returned} if self._returned else {}
        inputs = self._arguments.enter(list(map(args.__getitem__, self._kept_inputs)))
        args.clear()
        if self._seed_count:
            inputs.append(torch.randint(_SEED_LOW, _SEED_HIGH, (self._seed_count,)))
        outputs = self._executable.execute(inputs)
        del inputs
        if self._checks:
            self._raise_failed_check(outputs.pop())
        if len(outputs) != self._output_count:
            raise ExecutionError(
                f"graph {self.name} has {self._output_count} results, its program {len(outputs)}",
                why="this is a defect of ours.",
            )
        for number, leave in self._leaves:
            outputs[number] = leave(outputs[number])
        return outputs if self._is_plain else self._fill_slots(outputs, returned)

    def _fill_slots(self, results: list[torch.Tensor], returned: dict[int, Any]) -> list[Any]:
        filled: list[Any] = []
        for slot in self._slots:
            match slot:
                case None:
                    filled.append(None)
                case int():
                    filled.append(results[slot])
                case InputResult(argument):
                    filled.append(returned[argument])
                case SameResult(earlier):
                    # An object of its own: autograd attaches its state to the object.
                    filled.append(filled[earlier].detach())
                case CopiedResult(earlier):
                    filled.append(filled[earlier].clone())
                case ViewResult(output, spec, offset):
                    # Detached first: as a view of another result, autograd would give it that one's
                    # history.
                    base = results[output].detach()
                    filled.append(base.as_strided(spec.shape, spec.strides, offset))
                case ConstantResult(value):
                    filled.append(value)
        return filled

    def _raise_failed_check(self, failed: torch.Tensor) -> None:
        if not failed.any():
            return
        check = self._checks[int(failed.nonzero()[0])]
        raise _EXCEPTIONS[check.exception](check.message)


_SEED_LOW, _SEED_HIGH = -(1 << 63), (1 << 63) - 1
_EXCEPTIONS: dict[str, type[Exception]] = {
    "IndexError": IndexError,
    "RuntimeError": RuntimeError,
    "ZeroDivisionError": ZeroDivisionError,
}
