"""What the compiler's error codes mean and what helps, in a line each.

Source: AWS Neuron documentation, "Neuron Compiler Error Codes".
"""

from __future__ import annotations

from typing import Final

_TOO_LARGE: Final = (
    "the program needs more device memory than there is",
    "use a smaller batch or sequence, or shard the model over more cores.",
)
_TOO_LONG: Final = (
    "the program needs more instructions than fit",
    "split the model, shard it, or compile smaller parts of it.",
)
_NO_OPERATOR: Final = (
    "the compiler does not have this operator",
    "keep the operation out of the compiled region with torch.compiler.disable.",
)
_FLOAT8: Final = (
    "this 8-bit floating-point type is not supported on the target",
    "cast to bfloat16, or use float8_e5m2.",
)
_NO_INTEGERS: Final = (
    "the device would compute these integers in floating point or in fewer bits",
    "cast to float32, or allow it with NEURON_CC_FLAGS=--implicit-integer-downcast=...",
)

DOCUMENTED: Final[dict[str, tuple[str, str]]] = {
    "EARG001": (
        "the number of logical cores is not supported on the target",
        "leave --lnc out: it is 2 on trn2 and trn3, and 1 elsewhere.",
    ),
    "EBVF030": _TOO_LONG,
    "EVRF007": _TOO_LONG,
    "EXTP004": _TOO_LONG,
    "EOOM001": _TOO_LARGE,
    "EOOM002": _TOO_LARGE,
    "EVRF009": _TOO_LARGE,
    "EXSP001": _TOO_LARGE,
    "EHCA005": ("a custom call is not known to the compiler", _NO_OPERATOR[1]),
    "EVRF015": ("a custom call is not known to the compiler", _NO_OPERATOR[1]),
    "EMOD025": (
        "a shape is not known when compiling",
        "compile with dynamic=False, and pad or bucket inputs that vary.",
    ),
    "ESFH002": ("an unsigned 64-bit constant does not fit 32 bits", "use smaller numbers."),
    "ESPP004": ("an element type has no code", "cast to float32, bfloat16 or float16."),
    "ESPP047": _FLOAT8,
    "EVRF005": _FLOAT8,
    "EVRF051": _FLOAT8,
    "EVRF052": _FLOAT8,
    "EUOC002": _NO_OPERATOR,
    "EVRF001": _NO_OPERATOR,
    "EVRF004": ("the device has no complex numbers", "use real and imaginary parts."),
    "EVRF006": (
        "random bits are asked for by another than the default algorithm",
        "draw random numbers with PyTorch's own functions.",
    ),
    "EVRF010": ("a convolution dilates its input and its kernel", "dilate one of them by padding."),
    "EVRF011": ("a convolution with a stride dilates its input", "dilate it by padding."),
    "EVRF013": ("top-k of integers is not supported", "cast to float32 before torch.topk."),
    "EVRF016": ("a scatter combines integers or booleans", "scatter floating-point numbers."),
    "EVRF017": ("a window reduction dilates its input", "dilate it by padding."),
    "EVRF018": ("a window reduction dilates its window", "reduce slices of the input."),
    "EVRF019": ("a window reduction works on several arrays", "reduce each on its own."),
    "EVRF022": ("an arithmetic shift is not of 32-bit numbers", "cast to int32."),
    "EVRF029": ("the target has no sort", "sort less, or use torch.topk on floats."),
    "EVRF031": ("a scatter counts beyond its operand", "scatter no more rows than there are."),
    "EVRF056": (
        "a gather counts beyond its operand",
        "check that position embeddings are as many as positions.",
    ),
    "EVRF035": _NO_INTEGERS,
    "EVRF060": _NO_INTEGERS,
    "EVRF061": _NO_INTEGERS,
    "EVRF062": _NO_INTEGERS,
    "EVRF063": _NO_INTEGERS,
    "EVRF064": (
        "the compiler's verifier found the program inconsistent",
        "report this with the debug folder of NEURON_COMPILE_DEBUG_DIR.",
    ),
}
