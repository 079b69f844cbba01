"""Under which heading of PyTorch's documentation each entry of the operator database stands."""

from __future__ import annotations

from typing import Any, Final

from torch.testing._internal.opinfo.core import (
    BinaryUfuncInfo,
    ReductionOpInfo,
    SpectralFuncInfo,
    UnaryUfuncInfo,
)

from ops.expectations import RANDOM

_PREFIXES: Final = {
    "linalg.": "torch.linalg",
    "fft.": "torch.fft",
    "special.": "torch.special",
    "masked.": "torch.masked",
    "signal.": "torch.signal",
    "sparse.": "torch.sparse",
    "torch.ops.": "Operators without a public name",
    "_": "Operators without a public name",
}
_FUNCTIONAL: Final = "torch.nn.functional: "
_FUNCTIONAL_SECTIONS: Final = {
    "Convolution": ("conv", "unfold", "fold"),
    "Pooling": ("avg_pool", "max_pool", "max_unpool", "lp_pool", "adaptive_", "fractional_"),
    "Attention": ("scaled_dot_product", "multi_head"),
    "Dropout": ("dropout", "alpha_dropout", "feature_alpha"),
    "Loss functions": (
        "binary_cross", "cross_entropy", "ctc_loss", "gaussian_nll", "hinge", "huber", "kl_div",
        "l1_loss", "linear_cross", "margin", "mse_loss", "multi_margin", "multilabel", "nll_loss",
        "poisson_nll", "smooth_l1", "soft_margin", "triplet", "cosine_embedding",
    ),
    "Linear and embedding functions": ("linear", "bilinear", "embedding", "one_hot"),
    "Distance functions": ("pairwise", "cosine_sim", "pdist"),
    "Vision functions": (
        "pixel_", "pad", "interpolate", "upsample", "grid_sample", "affine_grid", "channel_shuffle",
    ),
    "Normalization": ("batch_norm", "group_norm", "instance", "layer_norm", "local_r", "normalize",
                      "rms_norm"),
}  # fmt: skip
_SECTIONS: Final = {
    "Creation": (
        "arange", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "full",
        "full_like", "linspace", "logspace", "new_empty", "new_empty_strided", "new_full",
        "new_ones", "new_zeros", "ones", "ones_like", "zeros", "zeros_like", "scalar_tensor",
        "complex", "polar", "heaviside", "tril_indices", "triu_indices", "asarray", "as_strided",
    ),
    "Indexing, slicing, joining, mutating": (
        "__getitem__", "argwhere", "as_strided_copy", "as_strided_scatter", "block_diag", "cat",
        "chunk", "column_stack", "diagonal_scatter", "dsplit", "dstack", "gather", "hsplit",
        "hstack", "index_add", "index_copy", "index_fill", "index_put", "index_reduce",
        "index_select", "masked_fill", "masked_scatter", "masked_select", "movedim", "narrow",
        "narrow_copy", "nonzero", "nonzero_static", "permute", "permute_copy", "put", "reshape",
        "reshape_as", "scatter", "scatter_add", "scatter_reduce", "select", "select_scatter",
        "slice", "slice_scatter", "split", "split_list_args", "split_with_sizes",
        "split_with_sizes_copy", "squeeze", "squeeze_copy", "stack", "swapaxes", "t", "t_copy",
        "take", "take_along_dim", "tensor_split", "tile", "transpose", "transpose_copy", "unbind",
        "unbind_copy", "unravel_index", "unsafe_chunk", "unsafe_split", "unsqueeze",
        "unsqueeze_copy", "vsplit", "vstack", "where", "expand", "expand_as", "expand_copy",
        "view", "view_as", "view_copy", "unfold", "unfold_copy", "repeat", "roll", "flip",
        "fliplr", "flipud", "rot90", "repeat_interleave", "H", "T", "mH", "mT", "flatten",
        "ravel", "unflatten", "atleast_1d", "atleast_2d", "atleast_3d", "alias_copy",
    ),
    "BLAS and LAPACK": (
        "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "cholesky",
        "cholesky_inverse", "cholesky_solve", "dot", "geqrf", "inner", "logdet", "lu", "lu_solve",
        "lu_unpack", "matmul", "matrix_exp", "mm", "mv", "ormqr", "pinverse", "qr", "svd",
        "svd_lowrank", "pca_lowrank", "triangular_solve", "trapz", "trapezoid", "vdot",
        "__rmatmul__", "tensordot", "kron", "outer", "einsum", "mse", "addmm.decomposed",
    ),
    "Comparison": (
        "allclose", "argsort", "eq", "equal", "ge", "gt", "isclose", "isfinite", "isin", "isinf",
        "isnan", "isneginf", "isposinf", "isreal", "kthvalue", "le", "lt", "maximum", "minimum",
        "fmax", "fmin", "ne", "sort", "msort", "topk",
    ),
    "Pointwise": (
        "addcdiv", "addcmul", "clamp", "lerp", "mvlgamma", "frexp", "float_power", "quantize",
    ),
    "Reduction": (
        "aminmax", "cummax", "cummin", "cumprod", "cumsum", "logcumsumexp", "logsumexp",
        "count_nonzero", "dist", "max", "min", "median", "nanmedian", "mode", "nanquantile",
        "norm", "quantile", "std_mean", "var_mean", "std", "var", "unique", "unique_consecutive",
        "histc", "histogram", "histogramdd", "bincount",
    ),
}  # fmt: skip


def group_of(name: str, op: Any) -> str:
    """The heading for the entry called `name`."""
    own = name.partition(".")[0]
    for prefix, heading in _PREFIXES.items():
        if name.startswith(prefix) and not name.startswith("__"):
            return heading
    if name.startswith("nn.functional."):
        return _FUNCTIONAL + _functional(name.removeprefix("nn.functional."))
    if name in RANDOM:
        return "torch: Random sampling"
    for section, names in _SECTIONS.items():
        if own in names:
            return f"torch: {section}"
    return f"torch: {_of_kind(op)}"


def _functional(name: str) -> str:
    for section, beginnings in _FUNCTIONAL_SECTIONS.items():
        if name.startswith(beginnings):
            return section
    return "Non-linear activation functions"


def _of_kind(op: Any) -> str:
    if isinstance(op, UnaryUfuncInfo | BinaryUfuncInfo):
        return "Pointwise"
    if isinstance(op, ReductionOpInfo):
        return "Reduction"
    return "Spectral" if isinstance(op, SpectralFuncInfo) else "Other operations"
