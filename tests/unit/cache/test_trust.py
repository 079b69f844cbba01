"""Whose directories are trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import UntrustedDirectoryError
from neuron_compile.cache.trust import check_trusted

if TYPE_CHECKING:
    from pathlib import Path


def _made(path: Path, mode: int) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_ones_own_directory_is_trusted(tmp_path: Path, mode: int) -> None:
    check_trusted(_made(tmp_path / "cache", mode))
    check_trusted(tmp_path / "cache" / "not" / "there" / "yet")


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_one_that_everybody_can_write_is_not(tmp_path: Path, mode: int) -> None:
    with pytest.raises(UntrustedDirectoryError, match="every user"):
        check_trusted(_made(tmp_path / "cache", mode))


def test_one_below_a_directory_that_everybody_can_write_is_not(tmp_path: Path) -> None:
    parent = _made(tmp_path / "open", 0o777)
    with pytest.raises(UntrustedDirectoryError, match="open can be written"):
        check_trusted(_made(parent / "cache", 0o700))
    parent.chmod(0o1777)
    check_trusted(parent / "cache")


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    _made(tmp_path / "open", 0o777)
    (tmp_path / "cache").symlink_to(tmp_path / "open")
    with pytest.raises(UntrustedDirectoryError):
        check_trusted(tmp_path / "cache")


def test_another_users_directory_is_not_trusted_and_roots_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(tmp_path / "cache", 0o755)
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4242)
    if owner == 0:
        check_trusted(tmp_path / "cache")
        os.chown(tmp_path / "cache", 1234, -1)
    with pytest.raises(UntrustedDirectoryError, match="belongs to user"):
        check_trusted(tmp_path / "cache")


def test_a_group_with_other_members_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = _made(tmp_path / "cache", 0o770)
    monkeypatch.setattr("neuron_compile.cache.trust._is_private_group", lambda group, user: False)
    with pytest.raises(UntrustedDirectoryError, match="by the group"):
        check_trusted(cache)
    monkeypatch.setattr("neuron_compile.cache.trust._is_private_group", lambda group, user: True)
    check_trusted(cache)
