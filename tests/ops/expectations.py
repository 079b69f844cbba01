"""Which entries are not expected to be right, and why. Strict: see `test_operators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Expectation:
    """What is expected of an entry, and why.

    `outcome` is one of these. `"unsupported"`: some samples must raise `UnsupportedOpError` or
    `DynamicShapesError`, the others are right. `"inexact"`: not right, for some result differs from
    eager's by more than PyTorch's tolerance; `tolerance`, relative and absolute, says by how much
    at most, so that no greater error hides behind it. `"ambiguous"`: eager's own choice among
    equals is not determined. `"excluded"`: cannot be right by its nature, and must not be.
    `dtypes` are those concerned; empty means all.
    """

    outcome: str
    reason: str
    dtypes: tuple[str, ...] = ()
    tolerance: tuple[float, float] | None = None


_UNINITIALISED: Final = "returns memory that nobody has written"
_EAGER_ROUNDS: Final = "eager's own result is farther from float64 than PyTorch's tolerance"
_ROUNDS: Final = "rounds in another order than eager, and the rounding is amplified"
_LAST_BIT: Final = "a step differs from eager's by its last bit of 16, and the rest amplifies it"
_DRAWS: Final = "draws random numbers"

# Samples that give other numbers for another seed are compared by shape and dtype; distributions
# have tests of their own.
RANDOM: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            "bernoulli",
            "cauchy",
            "exponential",
            "geometric",
            "log_normal",
            "multinomial",
            "normal",
            "normal.in_place",
            "normal.number_mean",
            "uniform",
            "rand_like",
            "randint",
            "randint_like",
            "randn",
            "randn_like",
            "nn.functional.alpha_dropout",
            "nn.functional.dropout",
            "nn.functional.dropout2d",
            "nn.functional.dropout3d",
            "nn.functional.feature_alpha_dropout.with_train",
            "nn.functional.fractional_max_pool2d",
            "nn.functional.fractional_max_pool3d",
            "nn.functional.multi_head_attention_forward",
            "nn.functional.rrelu",
            "nn.functional.scaled_dot_product_attention",
            "torch.ops.aten._efficient_attention_forward",
            "torch.ops.aten._flash_attention_forward",
            "svd_lowrank",
            "pca_lowrank",
        ),
        _DRAWS,
    ),
}

# Shapes and dtypes are compared.
UNINITIALISED: Final[dict[str, str]] = dict.fromkeys(
    (
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
    ),
    _UNINITIALISED,
)

# Compared as the entry itself processes the results before it differentiates them.
NOT_UNIQUE: Final[dict[str, str]] = dict.fromkeys(
    (
        "linalg.eig",
        "linalg.eigh",
        "linalg.svd",
        "svd",
        "svd_lowrank",
        "pca_lowrank",
    ),
    "vectors are determined up to a sign or phase",
)

# Only the first result is compared.
FIRST_RESULT: Final[dict[str, str]] = dict.fromkeys(
    ("kthvalue", "mode", "topk"), "which of several equal elements is found is not determined"
)

_DATA_DEPENDENT: Final = "the size of a result, or a Python value, depends on data"
_SPARSE: Final = "sparse layouts have no form in StableHLO"

_INTEGERS: Final = ("int64", "int32", "uint8", "bool")
_TIES: Final = "the order of equal elements is not determined"
_STORAGE: Final = "the storage holds more than the tensor, and a program gets the tensor alone"

EXPECTATIONS: Final[dict[str, tuple[Expectation, ...]]] = {
    **dict.fromkeys(
        (
            "__getitem__",
            "allclose",
            "argwhere",
            "bincount",
            "equal",
            "item",
            "linalg.lstsq",
            "linalg.lstsq.grad_oriented",
            "masked_select",
            "narrow",
            "nn.functional.gaussian_nll_loss",
            "nn.functional.one_hot",
            "nonzero",
            "repeat_interleave",
            "tensor_split",
            "unique",
            "unique_consecutive",
        ),
        (Expectation("excluded", _DATA_DEPENDENT),),
    ),
    **dict.fromkeys(
        ("sparse.mm.reduce", "sparse.sampled_addmm", "to_sparse"),
        (Expectation("excluded", _SPARSE),),
    ),
    **dict.fromkeys(
        ("index_fill", "index_put"),
        (
            Expectation(
                "excluded",
                "PyTorch's formula of the gradient makes a tensor whose size depends on data",
                ("float32", "bfloat16", "float16", "complex64"),
            ),
        ),
    ),
    **dict.fromkeys(
        ("sort", "argsort", "msort"),
        (Expectation("ambiguous", _TIES, (*_INTEGERS, "bfloat16", "float16")),),
    ),
    **dict.fromkeys(
        ("svd", "svd_lowrank", "pca_lowrank", "linalg.svd"),
        (
            Expectation(
                "excluded", "PyTorch's formula of the gradient looks at values", ("complex64",)
            ),
        ),
    ),
    "hash_tensor": (Expectation("unsupported", "programs have no uint64"),),
    **dict.fromkeys(
        (
            "nn.functional.interpolate.bilinear",
            "nn.functional.interpolate.bicubic",
            "nn.functional.upsample_bilinear",
            "_upsample_bilinear2d_aa",
        ),
        (Expectation("unsupported", "eager weighs in fixed point", ("uint8",)),),
    ),
    # Nearer to float64 than eager is, wherever the two differ by more than the tolerance.
    **dict.fromkeys(
        ("nn.functional.layer_norm", "linalg.eigh", "stft"),
        (Expectation("inexact", _EAGER_ROUNDS, ("float32",), (1e-4, 1e-4)),),
    ),
    "logcumsumexp": (Expectation("inexact", _EAGER_ROUNDS, ("complex64",), (5e-3, 5e-2)),),
    "matrix_exp": (Expectation("inexact", _ROUNDS, ("float32", "complex64"), (5e-3, 5e-2)),),
    **dict.fromkeys(
        ("grid_sampler_2d", "grid_sampler_3d"),
        (Expectation("inexact", _ROUNDS, ("float32",), (1e-4, 1e-4)),),
    ),
    **dict.fromkeys(
        (
            "_batch_norm_with_update",
            "kron",
            "nn.functional.adaptive_avg_pool1d",
            "nn.functional.bilinear",
            "nn.functional.max_pool3d",
        ),
        (Expectation("inexact", _LAST_BIT, ("bfloat16",), (1e-1, 1e-3)),),
    ),
    **dict.fromkeys(
        (
            "_segment_reduce.lengths",
            "_segment_reduce.offsets",
            "cross",
            "linalg.cross",
            "log_softmax",
            "masked.log_softmax",
            "nn.functional.binary_cross_entropy_with_logits",
            "special.xlog1py",
        ),
        (Expectation("inexact", _LAST_BIT, ("float16",), (5e-2, 1e-3)),),
    ),
    "nn.functional.linear_cross_entropy": (
        Expectation("inexact", _LAST_BIT, ("bfloat16",), (1e-1, 2e-2)),
    ),
    **dict.fromkeys(
        (
            "nn.functional.linear_cross_entropy.chunked",
            "nn.functional.linear_cross_entropy.chunked_none",
        ),
        (Expectation("inexact", _LAST_BIT, ("bfloat16", "float16"), (1e-1, 2e-2)),),
    ),
    # The rounding of the result, of which the gradient is made, is not always eager's.
    "softmax": (Expectation("inexact", _ROUNDS, ("bfloat16",), (5e-2, 1e-3)),),
    # Eager's gradients are themselves up to 0.15 from float64.
    "nn.functional.scaled_dot_product_attention": (
        Expectation("inexact", _LAST_BIT, ("bfloat16",), (5e-2, 1.5e-1)),
    ),
    "nn.functional.conv_transpose3d": (
        Expectation("inexact", _ROUNDS, ("float32", "complex64"), (1e-4, 1e-4)),
    ),
    **dict.fromkeys(
        ("__rpow__", "linalg.cond", "linalg.pinv.hermitian"),
        (Expectation("inexact", _ROUNDS, ("complex64",), (1e-3, 1e-3)),),
    ),
    "renorm": (
        Expectation(
            "ambiguous", "eager's gradient of the norm of order infinity is NaN", ("complex64",)
        ),
    ),
    "topk": (Expectation("ambiguous", _TIES, ("bfloat16",)),),
    "mode": (Expectation("ambiguous", _TIES, ("bfloat16", "float16")),),
    "as_strided.partial_views": (Expectation("unsupported", _STORAGE),),
    **dict.fromkeys(
        ("complex", "view_as_complex"),
        (
            Expectation(
                "excluded", "StableHLO has no complex numbers of 16-bit parts", ("float16",)
            ),
        ),
    ),
    "chalf": (Expectation("excluded", "StableHLO has no complex numbers of 16-bit parts"),),
    "empty_strided": (Expectation("excluded", "a result whose elements overlap in memory"),),
}


def counted_values(name: str) -> str:
    """Which elements of the entry's results count: see `examine`."""
    if name in UNINITIALISED:
        return "none"
    return "seed to seed" if name in RANDOM else "all"


def compared_results(name: str) -> str:
    """How much of the entry's results is determined: `"all"`, `"first"`, or as `"processed"` by the
    entry itself."""
    if name in NOT_UNIQUE:
        return "processed"
    return "first" if name in FIRST_RESULT else "all"


def expectation(name: str, dtype_name: str) -> Expectation | None:
    """What is expected of an entry in a dtype; None: that it is right."""
    for candidate in EXPECTATIONS.get(name, ()):
        if not candidate.dtypes or dtype_name in candidate.dtypes:
            return candidate
    return None
