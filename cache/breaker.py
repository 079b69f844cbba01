"""A circuit breaker: what has just failed is left alone for a while, longer each time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST_REST: Final = 30.0
_LONGEST_REST: Final = 900.0


class Breaker:
    """Open after a failure: for 30 seconds, then twice as long each time, up to 15 minutes."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._rest = _FIRST_REST
        self._open_until = float("-inf")

    @property
    def is_open(self) -> bool:
        """Whether a call should not even be tried."""
        return self._monotonic() < self._open_until

    def failed(self) -> None:
        """Open."""
        self._open_until = self._monotonic() + self._rest
        self._rest = min(2 * self._rest, _LONGEST_REST)

    def succeeded(self) -> None:
        """Close, and forget earlier failures."""
        self._rest = _FIRST_REST
        self._open_until = float("-inf")
