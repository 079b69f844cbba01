"""Processes and actions as fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cache_actors import Actions, Child, Fork, Say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def fork() -> Iterator[Fork]:
    """Runs a function in a forked process; it is given a function to report lines with."""
    children: list[Child] = []

    def start(work: Callable[[Say], None]) -> Child:
        children.append(Child(work))
        return children[-1]

    yield start
    for child in children:
        if child.status is None:
            child.kill()
            child.join()


@pytest.fixture
def actions() -> Actions:
    """Numbered actions."""
    return Actions()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory that does not exist yet."""
    return tmp_path / "store"
