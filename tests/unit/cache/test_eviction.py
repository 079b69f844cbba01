"""The choice of victims, on made-up stores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_compile.cache import Limits
from neuron_compile.cache.eviction import choose_victims
from neuron_compile.cache.layout import StoredFile

_NOW = 1_000_000.0


def _file(name: int, *, size: int = 100, age: float = 0.0, kind: str = "action") -> StoredFile:
    return StoredFile(kind, f"{name:064x}", size, _NOW - age)  # type: ignore[arg-type]


def _names(files: list[StoredFile]) -> list[int]:
    return [int(file.digest, 16) for file in files]


def test_within_the_limits_nothing_goes() -> None:
    files = [_file(1, age=50), _file(2, age=10)]
    assert choose_victims(files, Limits(max_bytes=200, max_entries=2), _NOW) == []


def test_the_least_recently_used_go_first_until_a_tenth_is_free() -> None:
    files = [_file(name, age=float(name)) for name in range(1, 12)]
    assert _names(choose_victims(files, Limits(max_bytes=1000), _NOW)) == [11, 10]


def test_entries_are_counted_as_well_as_bytes() -> None:
    files = [_file(name, age=float(name)) for name in range(1, 12)]
    files += [_file(100 + name, kind="blob", age=0.0) for name in range(50)]
    victims = choose_victims(files, Limits(max_bytes=None, max_entries=10), _NOW)
    assert _names(victims) == [11, 10]


def test_what_is_older_than_the_limit_goes_whatever_the_size() -> None:
    files = [_file(1, age=99), _file(2, age=101), _file(3, age=1)]
    limits = Limits(max_bytes=None, max_entries=None, max_age_seconds=100)
    assert _names(choose_victims(files, limits, _NOW)) == [2]


def test_what_is_held_stays_even_if_the_limit_cannot_be_met() -> None:
    files = [_file(1, age=9), _file(2, age=8)]
    held = {("action", files[0].digest)}
    assert _names(choose_victims(files, Limits(max_bytes=0), _NOW, held)) == [2]  # type: ignore[arg-type]


def test_what_was_used_just_now_stays_where_holds_cannot_be_seen() -> None:
    files = [_file(1, age=50), _file(2, age=150)]
    assert _names(choose_victims(files, Limits(max_bytes=0), _NOW, spare_seconds=100)) == [2]


def test_a_time_of_use_in_the_future_counts_as_now() -> None:
    files = [_file(1, age=-1e9), _file(2, age=0), _file(3, age=1)]
    assert _names(choose_victims(files, Limits(max_bytes=200), _NOW)) == [3, 1]


def test_of_files_used_at_once_actions_go_before_blobs() -> None:
    files = [_file(1, kind="blob", age=5), _file(2, age=5), _file(3, kind="blob", age=9)]
    victims = choose_victims(files, Limits(max_bytes=0), _NOW)
    assert [(file.kind, int(file.digest, 16)) for file in victims] == [
        ("blob", 3),
        ("action", 2),
        ("blob", 1),
    ]


_STORES = st.lists(
    st.builds(
        _file,
        st.integers(0, 10**6),
        size=st.integers(0, 1000),
        age=st.floats(-100, 100),
        kind=st.sampled_from(["action", "blob"]),
    ),
    unique_by=lambda file: (file.kind, file.digest),
)


@given(_STORES, st.integers(0, 20_000), st.integers(0, 30), st.floats(0, 100))
def test_the_rest_is_within_the_limits_and_was_used_no_earlier(
    files: list[StoredFile], max_bytes: int, entries: int, age: float
) -> None:
    limits = Limits(max_bytes, entries, age)
    victims = choose_victims(files, limits, _NOW)
    rest = [file for file in files if file not in victims]
    assert sum(file.size for file in rest) <= max_bytes
    assert sum(file.kind == "action" for file in rest) <= entries
    assert all(_NOW - file.used <= age for file in rest)
    if victims and rest:
        assert max(min(file.used, _NOW) for file in victims) <= min(
            min(file.used, _NOW) for file in rest
        )
    assert victims == choose_victims(list(reversed(files)), limits, _NOW)


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_or_unbounded_store_needs_nothing(count: int) -> None:
    files = [_file(1, age=1e9)] * count
    assert choose_victims(files, Limits(None, None, None), _NOW) == []
