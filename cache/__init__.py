"""The artifact cache: an action cache over a content-addressed store. Bytes and digests only.

An action is a pure function from named bytes to named blobs. `ActionKey` names its inputs,
`ActionCache` gives its blobs, from the store or by carrying it out once. Nothing here knows what
the bytes mean. A name's module is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from neuron_compile.cache.action_cache import ActionCache
    from neuron_compile.cache.entry import ActionEntry, OutputBlob
    from neuron_compile.cache.errors import (
        CacheError,
        CacheMissError,
        CacheWarning,
        CorruptEntryError,
        UntrustedDirectoryError,
    )
    from neuron_compile.cache.explain import MissExplanation, PartDifference
    from neuron_compile.cache.key import ActionKey, KeyPart
    from neuron_compile.cache.location import (
        CacheLocation,
        default_directory,
        interpret_cache_url,
    )
    from neuron_compile.cache.policy import CachePolicy, Limits, RemotePolicy
    from neuron_compile.cache.result import ActionResult, Outcome

__all__ = [
    "ActionCache",
    "ActionKey",
    "ActionResult",
    "ActionEntry",
    "OutputBlob",
    "Outcome",
    "CachePolicy",
    "Limits",
    "RemotePolicy",
    "KeyPart",
    "MissExplanation",
    "PartDifference",
    "CacheLocation",
    "default_directory",
    "interpret_cache_url",
    "CacheError",
    "CacheMissError",
    "CacheWarning",
    "CorruptEntryError",
    "UntrustedDirectoryError",
]

_HOMES: Final = {
    "action_cache": ("ActionCache",),
    "entry": ("ActionEntry", "OutputBlob"),
    "errors": (
        "CacheError",
        "CacheMissError",
        "CacheWarning",
        "CorruptEntryError",
        "UntrustedDirectoryError",
    ),
    "explain": ("MissExplanation", "PartDifference"),
    "key": ("ActionKey", "KeyPart"),
    "location": ("CacheLocation", "default_directory", "interpret_cache_url"),
    "policy": ("CachePolicy", "Limits", "RemotePolicy"),
    "result": ("ActionResult", "Outcome"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
