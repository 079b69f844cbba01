"""A store, a clock that stands still, and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cache_actors import Clock, MakeCache, MakeKey
from neuron_compile.cache import ActionCache, ActionKey, CachePolicy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def clock() -> Clock:
    """Of every cache that `make` makes."""
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory that does not exist yet."""
    return tmp_path / "store"


@pytest.fixture
def make(store: Path, tmp_path: Path, clock: Clock) -> MakeCache:
    """Makes a cache object on the one store, as another process would have."""

    def make(on_wait: Callable[[str], None] = lambda _: None, **policy: Any) -> ActionCache:
        policy.setdefault("locks_directory", tmp_path / "locks")
        return ActionCache(store, policy=CachePolicy(**policy), clock=clock, on_wait=on_wait)

    return make


@pytest.fixture
def key() -> MakeKey:
    """A key by number; named parts may be added."""

    def make(number: int = 0, **parts: str) -> ActionKey:
        named = {"number": str(number), "tool": "1.0", **parts}
        return ActionKey("test", tuple((name, text.encode()) for name, text in named.items()))

    return make
