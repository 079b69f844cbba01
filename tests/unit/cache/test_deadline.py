"""Calls that may never return."""

from __future__ import annotations

import os
import threading

import pytest

from neuron_compile.cache.deadline import call_within, map_in_parallel


def test_results_and_errors_come_through() -> None:
    assert call_within(10, lambda: 7) == 7
    with pytest.raises(KeyError, match="NOT SET"):
        call_within(10, lambda: os.environ["NOT SET"])


def test_a_call_without_end_is_given_up() -> None:
    forever = threading.Event()
    with pytest.raises(TimeoutError, match="no answer within"):
        call_within(0.01, forever.wait)
    forever.set()


def test_each_item_is_mapped_once() -> None:
    assert sorted(map_in_parallel(lambda item: item * 2, range(100), 8)) == list(range(0, 200, 2))
    assert map_in_parallel(str, [], 8) == []


def test_the_first_error_of_a_map_comes_through_even_an_index_error() -> None:
    with pytest.raises(IndexError, match="mine"):
        map_in_parallel(_fail, range(100), 4)


def _fail(item: int) -> int:
    raise IndexError("mine")
