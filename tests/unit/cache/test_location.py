"""Default places, and AWS's URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile.cache import CacheError, default_directory, interpret_cache_url
from neuron_compile.cache.location import directory_of_remote, locks_directory_for


def test_the_default_directory_is_the_users_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "neuron-compile"


def test_locks_of_different_stores_are_apart_and_of_one_store_together(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert locks_directory_for(tmp_path / "a") == locks_directory_for(tmp_path / "link")
    assert locks_directory_for(tmp_path / "a") != locks_directory_for(tmp_path / "b")


@pytest.mark.parametrize(
    "url, directory, remote",
    [
        ("/var/tmp/neuron-compile-cache", "/var/tmp/neuron-compile-cache", None),
        ("relative/dir", "relative/dir", None),
        ("file:///data/my%20cache", "/data/my cache", None),
        ("file://localhost/data", "/data", None),
        ("s3://bucket", None, "s3://bucket"),
        ("s3://bucket/a/b/", None, "s3://bucket/a/b"),
        (" gs://bucket/x ", None, "gs://bucket/x"),
        ("abfs://container/x", None, "abfs://container/x"),
        ("https://host/cache", None, "https://host/cache"),
        ("memory://cache", None, "memory://cache"),
    ],
)
def test_a_url_names_a_directory_or_a_remote(
    url: str, directory: str | None, remote: str | None
) -> None:
    location = interpret_cache_url(url)
    assert location.directory == (None if directory is None else Path(directory))
    assert location.remote == remote


def test_beside_a_directory_a_file_url_is_a_remote_and_a_path_is_not() -> None:
    location = interpret_cache_url("file:///mnt/my%20team", has_directory=True)
    assert (location.directory, location.remote) == (None, "file:///mnt/my team")
    location = interpret_cache_url("/mnt/team", has_directory=True)
    assert (location.directory, location.remote) == (Path("/mnt/team"), None)


@pytest.mark.parametrize(
    "url, directory",
    [
        ("file:///mnt/my team", "/mnt/my team"),
        ("local:///mnt", "/mnt"),
        ("/mnt", "/mnt"),
        ("s3://bucket/x", None),
        ("memory://x", None),
    ],
)
def test_a_remote_may_be_a_directory(url: str, directory: str | None) -> None:
    assert directory_of_remote(url) == (None if directory is None else Path(directory))


def test_a_home_directory_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert interpret_cache_url("~/cache").directory == Path("/home/somebody/cache")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "  ",
        "s3://",
        "s3:///path",
        "ftp://host/x",
        "file://",
        "file:///",
        "file://host/x",
        "x://y",
    ],
)
def test_what_names_no_place_is_refused(url: str) -> None:
    with pytest.raises(CacheError, match="cache URL"):
        interpret_cache_url(url)
