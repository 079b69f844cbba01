"""XLA's typed foreign function interface, from Python: custom calls that call back.

The structures are those of `xla/ffi/api/c_api.h`, as far as a call on the host needs them. A
program names a function; each process that compiles, loads or runs it registers one of that name.

Must not know: tensors, and what a function computes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any, Final, NamedTuple

_METADATA: Final = 1
_EXECUTE: Final = 3
_INTERNAL: Final = 13


class BufferView(NamedTuple):
    """Row-major memory of XLA's, valid during a call; `element` is its `XLA_FFI_DataType`."""

    address: int
    element: int
    shape: tuple[int, ...]


# Reads the first buffers, writes the second; the string is the call's attribute `description`.
ForeignFunction = Callable[[Sequence[BufferView], Sequence[BufferView], str], None]


class _Extension(ctypes.Structure):
    _fields_ = (("struct_size", c_size_t), ("type", c_int), ("next", c_void_p))


class _Version(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("major", c_int),
        ("minor", c_int),
    )


class _Metadata(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("version", _Version),
        ("traits", c_uint32),
        ("state_type", c_int64),
    )


class _MetadataExtension(ctypes.Structure):
    _fields_ = (("base", _Extension), ("metadata", POINTER(_Metadata)))


class _ErrorArguments(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("message", c_char_p),
        ("code", c_int),
    )


_CreateError = ctypes.CFUNCTYPE(c_void_p, POINTER(_ErrorArguments))


class _Api(ctypes.Structure):
    """The head of a longer table."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("version", _Version),
        ("internal", c_void_p),
        ("create_error", _CreateError),
    )


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("element", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dimensions", POINTER(c_int64)),
    )


class _Buffers(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("types", c_void_p),
        ("buffers", POINTER(POINTER(_Buffer))),
    )


class _Bytes(ctypes.Structure):
    _fields_ = (("data", c_void_p), ("size", c_size_t))


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("types", c_void_p),
        ("names", c_void_p),
        ("values", POINTER(POINTER(_Bytes))),
    )


class _CallFrame(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", POINTER(_Extension)),
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
        ("future", c_void_p),
    )


_Handler = ctypes.CFUNCTYPE(c_void_p, POINTER(_CallFrame))
_registered: list[Any] = []
_failures: list[BaseException] = []


def take_failure() -> BaseException | None:
    """What a function raised last, if nobody has asked since."""
    try:
        return _failures.pop()
    except IndexError:
        return None
    finally:
        _failures.clear()


def register(name: str, function: ForeignFunction) -> None:
    """Let custom calls to `name` call `function`, as long as the process lives.

    The calls have one attribute, a string. An exception in `function` is an error of the program
    that calls it. Registering a name twice is an error of XLA's.
    """
    from jaxlib import xla_client

    def handle(pointer: Any) -> int | None:
        frame = pointer.contents
        if frame.extension and frame.extension.contents.type == _METADATA:
            _describe(frame)
            return None
        if frame.stage != _EXECUTE:
            return None
        try:
            description = frame.attributes.values[0].contents
            function(
                _views(frame.arguments),
                _views(frame.results),
                ctypes.string_at(description.data, description.size).decode(),
            )
        except BaseException as error:  # nothing may unwind through XLA's frames
            _failures.append(error)
            return _failed(frame, f"{name}: {type(error).__name__}: {error}")
        return None

    handler = _Handler(handle)
    _registered.append(handler)
    xla_client.register_custom_call_target(name, _capsule(handler), platform="cpu", api_version=1)


def _describe(frame: Any) -> None:
    """Answer what XLA asks at registration: the interface's version, here whichever XLA has."""
    extension = ctypes.cast(frame.extension, POINTER(_MetadataExtension)).contents
    metadata = extension.metadata.contents
    metadata.version.major = frame.api.contents.version.major
    metadata.version.minor = frame.api.contents.version.minor
    metadata.traits = 0
    metadata.state_type = 0


def _views(buffers: Any) -> list[BufferView]:
    views = []
    for number in range(buffers.count):
        buffer = buffers.buffers[number].contents
        views.append(
            BufferView(buffer.data, buffer.element, tuple(buffer.dimensions[: buffer.rank]))
        )
    return views


def _failed(frame: Any, message: str) -> int | None:
    arguments = _ErrorArguments(
        ctypes.sizeof(_ErrorArguments), None, message.encode(errors="replace"), _INTERNAL
    )
    error: int | None = frame.api.contents.create_error(ctypes.byref(arguments))
    return error


def _capsule(handler: Any) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (c_void_p, c_char_p, c_void_p)
    return new(ctypes.cast(handler, c_void_p), None, None)
