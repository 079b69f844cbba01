"""A store, a clock that stands still, and actions to put into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from neuron_compile.cache import ActionCache, ActionKey, CachePolicy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory that does not exist yet."""
    return tmp_path / "store"


@pytest.fixture
def make(store: Path, tmp_path: Path, clock: Clock) -> Callable[..., ActionCache]:
    """Makes a cache object on the one store, as another process would have."""

    def make(on_wait: Callable[[str], None] = lambda _: None, **policy: Any) -> ActionCache:
        policy.setdefault("locks_directory", tmp_path / "locks")
        return ActionCache(store, policy=CachePolicy(**policy), clock=clock, on_wait=on_wait)

    return make


@pytest.fixture
def key() -> Callable[..., ActionKey]:
    """A key by number; named parts may be added."""

    def make(number: int = 0, **parts: str) -> ActionKey:
        named = {"number": str(number), "tool": "1.0", **parts}
        return ActionKey("test", tuple((name, text.encode()) for name, text in named.items()))

    return make
