"""Legal FX graph to the torch dialect. The only user of Torch-MLIR's FX importer.

Every operation's location is its node's number, `loc("n12")`: a function of the graph alone, so
that the text holds no paths, and enough to find the user's line again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_map
from torch_mlir import ir
from torch_mlir.extras.fx_importer import (
    TORCH_DTYPE_TO_MLIR_TYPE,
    FxImporter,
    GraphNodeImporter,
)

from neuron_compile.lowering.dtypes import tensor_type
from neuron_compile.lowering.errors import LoweringError, UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.legalize.node_values import ORIGIN, placeholders, spec_of, value
from neuron_compile.lowering.legalize.region_checks import checks_of
from neuron_compile.lowering.legalize.regions import (
    counts_of,
    function_names,
    functions_of,
    inner_functions,
    numbered_nodes,
    operands_of,
    regions,
    result_values,
)
from neuron_compile.lowering.library.arguments import Arguments, DType, Operand, encode_arguments
from neuron_compile.lowering.library.control_flow import encode_control_flow, operator_of
from neuron_compile.lowering.library.region_writer import Function
from neuron_compile.lowering.library.symbol import library_symbol
from neuron_compile.lowering.library.table import find, is_library_only
from neuron_compile.lowering.program import LibraryCall, TensorSpec, TorchProgram
from neuron_compile.lowering.source_lines import source_line
from neuron_compile.lowering.torch_context import torch_context

# Arguments that say where or how a tensor is stored: meaningless inside a program.
_STORAGE_ARGUMENTS = frozenset({"device", "layout", "memory_format", "pin_memory", "generator"})


def import_fx(
    module: GraphModule,
    *,
    forced: frozenset[int] = frozenset(),
    opaque: frozenset[int] = frozenset(),
) -> TorchProgram:
    """The graph as a `TorchProgram`.

    Operations that the function library takes become custom calls. So do the nodes numbered in
    `forced`, which Torch-MLIR is known to refuse, and those in `opaque`, whose callee is unknown:
    they let lowering go on past operations that fail. Raises `UnsupportedOpError` with every
    operation that has no form in the torch dialect.

    Functions of control flow become functions of the program; their nodes are numbered after the
    graph's own.
    """
    importer = _Importer(numbered_nodes(module), forced, opaque)
    with _without_stack_traces(importer.numbers):
        try:
            for name, function in inner_functions(module).items():
                importer.import_stateless_graph(function.graph, func_name=name)
            importer.import_stateless_graph(module.graph)
        except Exception as error:
            raise LoweringError(
                "a graph could not be imported into the torch dialect",
                why=f"{type(error).__name__}: {error}",
            ) from error
    if importer.failures:
        raise UnsupportedOpError(
            [_unsupported(node, reason) for node, reason in importer.failures.items()]
        )
    text = importer.module.operation.get_asm(enable_debug_info=True)
    return TorchProgram(text, tuple(importer.calls.values()))


@contextlib.contextmanager
def _without_stack_traces(nodes: Iterable[Node]) -> Iterator[None]:
    # The importer would write them, file paths and all, into every location.
    traces = {node: node.meta.pop("stack_trace", None) for node in nodes}
    try:
        yield
    finally:
        for node, trace in traces.items():
            if trace is not None:
                node.meta["stack_trace"] = trace


def operand_types(node: Node) -> str:
    """The types of a node's tensor operands, for messages: `float32[2, 3], int64[3]`."""
    specs = (_tensor_spec(value(operand)) for operand in node.all_input_nodes)
    return ", ".join(f"{spec.dtype}{list(spec.shape)}" for spec in specs if spec)


def has_library_body(node: Node) -> bool:
    """Whether the function library has a body for a call that Torch-MLIR refuses."""
    if not isinstance(node.target, OpOverload):
        return False
    arguments, _ = _split_operands(node)
    return find(str(node.target), arguments, *_specs(node), forced=True) is not None


def _unsupported(node: Node, reason: str) -> UnsupportedOp:
    name = node.meta.get(ORIGIN, node.name)
    return UnsupportedOp(str(node.target), name, operand_types(node), reason, source_line(node))


class _Importer(FxImporter):  # type: ignore[misc]
    """Gathers, over a whole graph, the library calls and the nodes that could not be imported."""

    def __init__(self, nodes: list[Node], forced: frozenset[int], opaque: frozenset[int]) -> None:
        # The check writes to the root logger, which would thereby get a handler: a later
        # logging.basicConfig of the user's would do nothing.
        super().__init__(
            context=torch_context(), config_check=False, graph_node_importer_cls=_NodeImporter
        )
        self.numbers = {node: number for number, node in enumerate(nodes)}
        self.forced = forced
        self.opaque = opaque
        self.calls: dict[str, LibraryCall] = {}
        self.failures: dict[Node, str] = {}


class _NodeImporter(GraphNodeImporter):  # type: ignore[misc]
    def _import_torch_op_overload(self, loc: Any, node: Node, concrete_target: Any = None) -> None:
        number = self.fx_importer.numbers.get(node)
        if number is None:
            # A node that the base class made up on the way to another one.
            super()._import_torch_op_overload(loc, node, concrete_target)
            return
        loc = ir.Location.name(f"n{number}", context=self._c)
        if number in self.fx_importer.opaque:
            self._custom_call(loc, node, f"opaque_{number}", node.all_input_nodes)
            return
        if self._import_library_call(loc, node, forced=number in self.fx_importer.forced):
            return
        if is_library_only(*_specs(node)):
            self._fail(loc, node, "the function library has no body for it on complex tensors.")
            return
        try:
            super()._import_torch_op_overload(loc, node, concrete_target)
        except (NotImplementedError, TypeError, RuntimeError, AssertionError, KeyError) as error:
            self._unbind(node)
            if not self._import_library_call(loc, node, forced=True):
                self._fail(loc, node, f"the torch dialect cannot express it ({error}).")

    def _import_library_call(self, loc: Any, node: Node, *, forced: bool) -> bool:
        """Import a node as a library call, if the library takes it; tell whether it did."""
        arguments, operands = _split_operands(node)
        specs, results = _specs(node)
        operator = str(node.target)
        if find(operator, arguments, specs, results, forced=forced) is None:
            return False
        text = encode_arguments(arguments.positional, arguments.keyword)
        symbol = library_symbol(operator, text, specs, results)
        self.fx_importer.calls[symbol] = LibraryCall(
            symbol, operator, text, tuple(specs), tuple(results)
        )
        self._custom_call(loc, node, symbol, operands)
        return True

    def _import_regions(self, loc: Any, node: Node) -> None:
        """Import control flow as a call of a body that calls the functions."""
        number = self.fx_importer.numbers[node]
        loc = ir.Location.name(f"n{number}", context=self._c)
        operands = operands_of(node)
        functions = [
            _function(name, function)
            for name, function in zip(function_names(node), functions_of(node), strict=True)
        ]
        arguments = encode_control_flow(counts_of(node), functions)
        specs = [spec_of(value(operand)) for operand in operands]
        results = [spec_of(result) for result in value(node)]
        operator = operator_of(str(node.args[0]))
        symbol = library_symbol(operator, arguments, specs, results)
        self.fx_importer.calls[symbol] = LibraryCall(
            symbol, operator, arguments, tuple(specs), tuple(results)
        )
        self._custom_call(loc, node, symbol, operands)

    def _import_hop(self, loc: Any, node: Node, hop: Any) -> None:
        if hop is regions:
            self._import_regions(loc, node)
            return
        try:
            super()._import_hop(loc, node, hop)
        except (NotImplementedError, TypeError, RuntimeError, AssertionError, KeyError):
            self._fail(loc, node, "no lowering exists for this higher-order operator.")

    def _import_argument(self, loc: Any, arg: Any, expected_jit_type: Any = None) -> Any:
        # The base class imports a constant again for its second use, and then finds it there.
        if isinstance(arg, Node) and arg.op == "get_attr" and (arg, 0) in self._v:
            with loc:
                return self._convert_type(self.resolve_node_value(arg), expected_jit_type)
        return super()._import_argument(loc, arg, expected_jit_type)

    def _fail(self, loc: Any, node: Node, reason: str) -> None:
        self.fx_importer.failures[node] = reason
        self._unbind(node)
        self._custom_call(loc, node, "failed", node.all_input_nodes)

    def _unbind(self, node: Node) -> None:
        for index in range(len(_results(node))):
            self._v.pop((node, index), None)

    def _custom_call(self, loc: Any, node: Node, symbol: str, operands: Sequence[Node]) -> None:
        """A call of a function that is linked in after Torch-MLIR has run."""
        results = _results(node)
        live = [(i, result) for i, result in enumerate(results) if result is not None]
        values = [self._import_argument(loc, operand) for operand in operands]
        with loc, ir.InsertionPoint(self._b):
            entered = [
                ir.Operation.create(
                    "torch_c.to_builtin_tensor",
                    results=[self._builtin_type(value(operand))],
                    operands=[imported],
                ).result
                for operand, imported in zip(operands, values, strict=True)
            ]
            called = ir.Operation.create(
                "stablehlo.custom_call",
                results=[self._builtin_type(result) for _, result in live],
                operands=entered,
                attributes={
                    "call_target_name": ir.StringAttr.get(symbol),
                    "has_side_effect": ir.BoolAttr.get(False),
                },
            )
            left = [
                ir.Operation.create(
                    "torch_c.from_builtin_tensor",
                    results=[self._cc.value_info_to_type(result)],
                    operands=[produced],
                ).result
                for (_, result), produced in zip(live, called.results, strict=True)
            ]
        if isinstance(value(node), list | tuple):
            self._multi_result_nodes.add(node)
        for (index, _), produced in zip(live, left, strict=True):
            self.bind_node_value(node, produced, index)

    def _builtin_type(self, tensor: torch.Tensor) -> Any:
        spec = spec_of(tensor)
        return ir.Type.parse(tensor_type(spec.shape, spec.dtype), self._c)

    def _import_literal(self, py_value: Any, info: Any = None) -> Any:
        if not isinstance(py_value, torch.Tensor):
            return super()._import_literal(py_value, info)
        return _tensor_literal(py_value, self._cc)


def _function(name: str, function: GraphModule) -> Function:
    inputs, results = (
        tuple(tensor_type(spec.shape, spec.dtype) for spec in map(spec_of, tensors))
        for tensors in (map(value, placeholders(function)), result_values(function))
    )
    return Function(name, inputs, results, len(checks_of(function)))


def _results(node: Node) -> list[Any]:
    result = value(node)
    return list(result) if isinstance(result, list | tuple) else [result]


def _specs(node: Node) -> tuple[list[TensorSpec], list[TensorSpec | None]]:
    """The types of a call's tensor operands, one for each use, and of its results."""
    _, operands = _split_operands(node)
    results = [_tensor_spec(result) for result in _results(node)]
    return [spec_of(value(operand)) for operand in operands], results


def _tensor_spec(result: Any) -> TensorSpec | None:
    return spec_of(result) if isinstance(result, torch.Tensor) else None


def _split_operands(node: Node) -> tuple[Arguments, list[Node]]:
    """A call's arguments as a plain tree, and the nodes that its numbered operands stand for."""
    operands: list[Node] = []

    def plain(argument: Any) -> Any:
        if isinstance(argument, Node):
            operands.append(argument)
            return Operand(len(operands) - 1)
        if isinstance(argument, torch.dtype):
            return DType(str(argument).removeprefix("torch."))
        if isinstance(argument, torch.device | torch.layout | torch.memory_format):
            return None
        return argument

    keyword = {k: v for k, v in node.kwargs.items() if k not in _STORAGE_ARGUMENTS}
    args, kwargs = tree_map(plain, (tuple(node.args), keyword))
    return Arguments(args, kwargs), operands


def _tensor_literal(tensor: torch.Tensor, types: Any) -> Any:
    """A constant with its elements in the module's text, since XLA reads no resource blobs."""
    with unset_fake_temporarily():
        dense = tensor.detach().cpu().resolve_neg().contiguous()
        element = TORCH_DTYPE_TO_MLIR_TYPE[dense.dtype]()
        attribute = ir.DenseElementsAttr.get(
            _as_numpy(dense), type=element, shape=list(dense.shape)
        )
    return ir.Operation.create(
        "torch.vtensor.literal",
        results=[types.create_vtensor_type(dense.dtype, dense.size())],
        attributes={"value": attribute},
    ).result


def _as_numpy(dense: torch.Tensor) -> Any:
    if dense.dtype in (torch.bfloat16, torch.float16):
        return dense.view(torch.int16).numpy().view(np.uint16)
    # A packed bool array would be read as a splat.
    return dense.view(torch.uint8).numpy() if dense.dtype is torch.bool else dense.numpy()
