"""One warning a kind."""

from __future__ import annotations

import warnings

from neuron_compile.cache import CacheWarning
from neuron_compile.cache.complaints import Complaints


def test_each_kind_is_warned_of_once_in_the_process_and_counted_always() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            for complaints in (mine := Complaints("/store/one"), Complaints("/store/one")):
                complaints.about("disk", "full")
                complaints.about("disk", "still full")
                complaints.about("damage", "flipped")
    assert [str(warning.message) for warning in caught] == [
        "compile cache /store/one: full",
        "compile cache /store/one: flipped",
    ]
    assert all(warning.category is CacheWarning for warning in caught)
    assert mine.counts == {"disk": 2, "damage": 1}
