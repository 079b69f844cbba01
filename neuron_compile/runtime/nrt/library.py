"""libnrt's functions with their types. Source: `nrt.h` and `nrt_experimental.h`.

This file knows the C interface and nothing of when to call what.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Final

from neuron_compile.errors import ExecutionError

DEFAULT_LIBRARIES: Final = (
    Path("/opt/aws/neuron/lib/libnrt.so.1"),
    Path("/opt/aws/neuron/lib/libnrt.so"),
)
NO_FRAMEWORK: Final = 1
ON_DEVICE: Final = 0
USAGE_INPUT: Final = 0

Handle = c_void_p


class TensorInfo(ctypes.Structure):
    """`nrt_tensor_info_t`."""

    _fields_ = (
        ("name", c_char * 256),
        ("usage", c_int),
        ("size", c_size_t),
        ("dtype", c_int),
        ("shape", POINTER(c_uint32)),
        ("ndim", c_uint32),
    )


class TensorInfoArray(ctypes.Structure):
    """`nrt_tensor_info_array_t`, whose `tensor_array` has `tensor_count` entries."""

    _fields_ = (("tensor_count", c_uint64), ("tensor_array", TensorInfo * 0))

    def entries(self) -> Any:
        """The array with its real length; it lives as long as this structure."""
        address = ctypes.addressof(self) + TensorInfoArray.tensor_array.offset
        return (TensorInfo * self.tensor_count).from_address(address)


# Name -> result type, argument types. `c_int` results are statuses.
_PROTOTYPES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "nrt_init": (c_int, (c_int, c_char_p, c_char_p)),
    "nrt_close": (None, ()),
    "nrt_load": (c_int, (c_void_p, c_size_t, c_int32, c_int32, POINTER(Handle))),
    "nrt_unload": (c_int, (Handle,)),
    "nrt_get_model_tensor_info": (c_int, (Handle, POINTER(POINTER(TensorInfoArray)))),
    "nrt_free_model_tensor_info": (c_int, (POINTER(TensorInfoArray),)),
    "nrt_allocate_tensor_set": (c_int, (POINTER(Handle),)),
    "nrt_destroy_tensor_set": (None, (POINTER(Handle),)),
    "nrt_add_tensor_to_tensor_set": (c_int, (Handle, c_char_p, Handle)),
    "nrt_tensor_allocate": (c_int, (c_int, c_int, c_size_t, c_char_p, POINTER(Handle))),
    "nrt_tensor_free": (None, (POINTER(Handle),)),
    "nrt_tensor_write": (c_int, (Handle, c_void_p, c_size_t, c_size_t)),
    "nrt_tensor_read": (c_int, (Handle, c_void_p, c_size_t, c_size_t)),
    "nrt_execute": (c_int, (Handle, Handle, Handle)),
}


def find_library() -> Path | None:
    """The installed libnrt, or None where there is none."""
    return next((path for path in DEFAULT_LIBRARIES if path.exists()), None)


def open_library(path: Path) -> ctypes.CDLL:
    """libnrt with every function typed. Calls release the interpreter lock.

    Raises `ExecutionError` if the file is no libnrt.
    """
    try:
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ExecutionError(
            f"the Neuron runtime {path} cannot be loaded",
            why=str(error),
            hint="reinstall aws-neuronx-runtime-lib.",
        ) from error
    return library
