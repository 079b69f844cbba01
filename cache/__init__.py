"""The artifact cache: an action cache over a content-addressed store. Bytes and digests, nothing
else.

An action is a pure function from named bytes to named blobs. `ActionKey` names its inputs,
`ActionCache` gives its blobs, from the store or by carrying it out once. Nothing here knows what
the bytes mean.
"""

from __future__ import annotations

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
from neuron_compile.cache.location import CacheLocation, default_directory, interpret_cache_url
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
