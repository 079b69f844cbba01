"""The machines that NEFFs are made for."""

from __future__ import annotations

from neuron_compile.target import HOST, TARGETS


def test_targets_are_found_by_their_own_names() -> None:
    assert all(target.name == name for name, target in TARGETS.items())
    assert set(TARGETS) == {"host", "trn1", "trn1n", "trn2", "trn3", "inf2"}


def test_host_is_the_only_one_that_is_no_device() -> None:
    assert [target for target in TARGETS.values() if not target.is_device] == [HOST]


def test_two_physical_cores_make_one_logical_core_from_trn2_on() -> None:
    pairs = {name for name, target in TARGETS.items() if target.logical_cores == 2}
    assert pairs == {"trn2", "trn3"}
