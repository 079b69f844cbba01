"""The cache as its users see it: outcomes, damage, trust, limits."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cache_actors import giving
from neuron_compile.cache import (
    ActionCache,
    CacheError,
    CacheMissError,
    CachePolicy,
    CacheWarning,
    Limits,
    Outcome,
)
from neuron_compile.cache.digests import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache_actors import Clock, MakeCache, MakeKey

_BLOBS = {"manifest.json": b"{}", "program": b"\x7fELF" + bytes(range(256)) * 20, "empty": b""}


def _never() -> dict[str, bytes]:
    raise AssertionError("this should have come from the cache")


def _only_file(store: Path, folder: str, content: bytes | None = None) -> Path:
    files = [path for path in (store / folder).rglob("*") if path.is_file()]
    if content is not None:
        files = [path for path in files if path.read_bytes() == content]
    (found,) = files
    return found


# --- Hits and misses ---


def test_the_first_call_produces_and_the_next_hit_with_equal_bytes(
    make: MakeCache, key: MakeKey
) -> None:
    first = make().get_or_produce(key(), lambda: dict(_BLOBS), what="graph 0")
    cache = make()
    second = cache.get_or_produce(key(), _never)
    assert (first.outcome, second.outcome) == (Outcome.PRODUCED, Outcome.HIT)
    assert dict(first.blobs) == dict(second.blobs) == _BLOBS
    assert dict(cache.get(key()) or {}) == _BLOBS
    assert second.is_hit
    assert not first.is_hit
    assert second.produce_seconds == first.produce_seconds > 0.0
    assert first.seconds_saved == 0.0
    assert next(cache.entries()).what == "graph 0"


def test_another_key_is_another_entry(make: MakeCache, key: MakeKey) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: {"a": b"1"})
    assert cache.get(key(2)) is None
    assert dict(cache.get_or_produce(key(2), lambda: {"a": b"2"}).blobs) == {"a": b"2"}
    assert dict(cache.get(key(1)) or {}) == {"a": b"1"}


def test_what_produce_raises_comes_through_and_is_not_remembered(
    make: MakeCache, key: MakeKey
) -> None:
    class CompilerKilledError(Exception):
        pass

    def fail() -> dict[str, bytes]:
        raise CompilerKilledError("signal 9")

    cache = make()
    for error in (CompilerKilledError, KeyboardInterrupt):
        with pytest.raises(error):
            cache.get_or_produce(key(), fail if error is CompilerKilledError else _interrupt)
    assert list(cache.entries()) == []
    assert cache.get_or_produce(key(), lambda: dict(_BLOBS)).outcome is Outcome.PRODUCED
    assert cache.check().is_clean


def _interrupt() -> dict[str, bytes]:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "blobs", [{}, None, b"bytes", {"a": "text"}, {"a": None}, {"../a": b""}, {1: b""}, {"a/b": b""}]
)
def test_what_is_no_mapping_of_named_bytes_is_refused_and_not_stored(
    make: MakeCache, key: MakeKey, blobs: Any
) -> None:
    cache = make()
    with pytest.raises(TypeError, match="producing graph 7 gave"):
        cache.get_or_produce(key(), lambda: blobs, what="graph 7")
    assert cache.stats().entries == 0


def test_equal_blobs_are_stored_once(make: MakeCache, key: MakeKey) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: {"a": b"same" * 1000, "b": b"same" * 1000})
    cache.get_or_produce(key(2), lambda: {"c": b"same" * 1000})
    assert (cache.stats().entries, cache.stats().blobs) == (2, 1)


def test_the_work_that_hits_saved_is_counted(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make()
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def produce() -> dict[str, bytes]:
        now[0] += 3600.0
        return dict(_BLOBS)

    assert cache.get_or_produce(key(), produce).produce_seconds == 3600.0
    cache.get_or_produce(key(), _never)
    cache.get(key())
    counts = cache.stats().counts
    assert counts["seconds_saved"] == 7200.0
    assert (counts["hits"], counts["misses"], counts["produced"]) == (2, 1, 1)


def test_files_are_readable_as_the_umask_says(make: MakeCache, key: MakeKey, store: Path) -> None:
    old = os.umask(0o027)
    try:
        make().get_or_produce(key(), lambda: {"a": b"1"})
    finally:
        os.umask(old)
    for folder in ("ac", "cas"):
        assert stat.S_IMODE(_only_file(store, folder).stat().st_mode) == 0o640
        assert stat.S_IMODE((store / folder).stat().st_mode) & 0o027 == 0


def test_no_umask_opens_a_store_to_others(make: MakeCache, key: MakeKey, store: Path) -> None:
    old = os.umask(0)
    try:
        store.parent.chmod(0o755)
        make().get_or_produce(key(), lambda: {"a": b"1"})
    finally:
        os.umask(old)
    folders = [store, *(path for path in store.rglob("*") if path.is_dir())]
    assert [path for path in folders if path.stat().st_mode & 0o022] == []
    assert make().get(key()) is not None


# --- Presence ---


def test_an_entry_is_present_with_all_of_its_blobs_or_not_at_all(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    for number in range(4):
        cache.get_or_produce(key(number), giving(a=b"%d" % number))
    (store / "cas" / digest_of(b"1")[:2] / digest_of(b"1")).unlink()
    (store / "cas" / digest_of(b"2")[:2] / digest_of(b"2")).write_bytes(b"")
    (store / "ac" / key(3).digest[:2] / key(3).digest).write_bytes(b"")
    assert cache.present([key(number) for number in range(5)]) == {key(0).digest}
    assert cache.present([]) == set()


# --- Required hits ---


def test_a_miss_under_require_cache_names_the_graph_and_explains(
    make: MakeCache, key: MakeKey
) -> None:
    make().get_or_produce(key(1), lambda: dict(_BLOBS), what="GPT2 forward")
    strict = make(require_cache=True)
    assert strict.get_or_produce(key(1), _never).outcome is Outcome.HIT
    with pytest.raises(CacheMissError) as caught:
        strict.get_or_produce(key(1, tool="1.1"), _never, what="GPT2 forward")
    message = str(caught.value)
    assert "GPT2 forward is not in the cache" in message
    assert "tool: 1.0 -> 1.1" in message


def test_the_last_miss_can_be_explained_by_another_process(make: MakeCache, key: MakeKey) -> None:
    make().get_or_produce(key(1), lambda: dict(_BLOBS), what="step 1")
    make().get_or_produce(key(1, tool="1.1"), lambda: dict(_BLOBS), what="step 2")
    stats = make().stats()
    assert stats.last_miss is not None
    assert stats.last_miss.what == "step 2"
    assert "tool: 1.0 -> 1.1" in stats.last_miss_reason


# --- Damage ---


def _damages() -> list[object]:
    def cut(percent: int) -> Callable[[bytes], bytes]:
        return lambda data: data[: len(data) * percent // 100]

    return [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(cut(1), id="cut at 1 %"),
        pytest.param(cut(50), id="cut at 50 %"),
        pytest.param(cut(99), id="cut at 99 %"),
        pytest.param(lambda data: data + b"\0", id="longer"),
        pytest.param(lambda data: bytes([data[0] ^ 1]) + data[1:], id="first bit"),
        pytest.param(lambda data: data[:-1] + bytes([data[-1] ^ 128]), id="last bit"),
        pytest.param(lambda data: bytes(len(data)), id="zeros"),
        pytest.param(lambda data: b"\x80\x04cos\nsystem\n(S'touch pwned'\ntR.", id="pickle"),
    ]


@pytest.mark.parametrize("folder", ["ac", "cas"])
@pytest.mark.parametrize("damage", _damages())
def test_damage_is_a_miss_with_one_warning_and_is_set_aside(
    make: MakeCache, key: MakeKey, store: Path, folder: str, damage: Callable[[bytes], bytes]
) -> None:
    make().get_or_produce(key(), lambda: {"a": _BLOBS["program"]})
    path = _only_file(store, folder)
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    cache = make()
    assert not cache.check().is_clean
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [cache.get_or_produce(key(), lambda: {"a": _BLOBS["program"]}) for _ in range(2)]
    assert [result.outcome for result in results] == [Outcome.PRODUCED, Outcome.HIT]
    assert [warning.category for warning in caught] == [CacheWarning]
    assert "set aside" in str(caught[0].message)
    assert [path.read_bytes() for path in (store / "quarantine").iterdir()] == [damaged]
    assert cache.check().is_clean
    assert cache.stats().complaints["damage"] >= 1


@pytest.mark.parametrize("folder", ["ac", "cas"])
@pytest.mark.parametrize("kind", ["directory", "link", "fifo", "unreadable link"])
def test_a_thing_that_is_no_file_in_the_place_of_one_is_a_miss(
    make: MakeCache, key: MakeKey, store: Path, tmp_path: Path, folder: str, kind: str
) -> None:
    make().get_or_produce(key(), lambda: {"a": b"12345"})
    path = _only_file(store, folder)
    content = path.read_bytes()
    path.unlink()
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        target = tmp_path / "elsewhere"
        if kind == "link":
            target.write_bytes(content)
        path.symlink_to(target)
    cache = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = cache.get_or_produce(key(), lambda: {"a": b"12345"})
        assert dict(result.blobs) == {"a": b"12345"}
        assert dict(cache.get_or_produce(key(), lambda: {"a": b"12345"}).blobs) == {"a": b"12345"}
    assert len(caught) == 1


def test_an_entry_of_another_key_in_the_place_of_one_is_a_miss(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: {"a": b"1"})
    entry = _only_file(store, "ac").read_bytes()
    other = store / "ac" / key(2).digest[:2] / key(2).digest
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(entry)
    with pytest.warns(CacheWarning, match="another key"):
        result = cache.get_or_produce(key(2), lambda: {"a": b"2"})
    assert dict(result.blobs) == {"a": b"2"}
    assert dict(cache.get(key(1)) or {}) == {"a": b"1"}


def test_an_action_whose_blob_is_gone_is_a_quiet_miss_and_is_mended(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(), lambda: dict(_BLOBS))
    _only_file(store, "cas", b"{}").unlink()
    assert cache.get(key()) is None
    assert next(problem.what for problem in cache.check().problems).startswith("its blob")
    assert cache.get_or_produce(key(), lambda: dict(_BLOBS)).outcome is Outcome.PRODUCED
    assert cache.check().is_clean


def test_an_entry_that_is_of_no_use_can_be_discarded(make: MakeCache, key: MakeKey) -> None:
    cache = make()
    cache.get_or_produce(key(), lambda: {"a": b"for another processor"})
    with pytest.warns(CacheWarning, match="the loader refuses it; set aside"):
        cache.discard(key(), "the loader refuses it")
    result = cache.get_or_produce(key(), lambda: {"a": b"for this one"})
    assert result.outcome is Outcome.PRODUCED
    assert dict(make().get(key()) or {}) == {"a": b"for this one"}


def test_a_file_that_another_process_mended_meanwhile_is_not_set_aside(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(), lambda: {"a": b"12345"})
    cache._local.store.set_aside("blob", _only_file(store, "cas").name, inode=1)
    assert dict(cache.get(key()) or {}) == {"a": b"12345"}
    assert list((store / "quarantine").iterdir()) == []


def test_foreign_files_and_other_processes_leftovers_do_no_harm(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make(limits=Limits(max_bytes=100_000))
    cache.get_or_produce(key(), lambda: dict(_BLOBS))
    shard = _only_file(store, "ac").parent
    odd = [
        shard / ".nfs000000001",
        shard / "file.tmp",
        store / "ac" / "README",
        store / "cas" / ("f" * 64),
        shard / ("ab" * 32 + ".atime"),
    ]
    for path in odd:
        path.write_bytes(b"not ours")
    cache.evict(Limits(max_bytes=0, max_entries=0))
    assert dict(cache.get_or_produce(key(), lambda: dict(_BLOBS)).blobs) == _BLOBS
    audit = cache.check(repair=True)
    assert audit.is_clean
    assert len(audit.foreign) == len(odd)
    assert all(path.exists() for path in odd)
    assert cache.stats().entries == 1


# --- Trust ---


def test_a_directory_that_others_can_write_is_refused_unless_allowed(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    make().get_or_produce(key(), lambda: dict(_BLOBS))
    store.chmod(0o777)
    with pytest.warns(CacheWarning, match="can be written by every user") as caught:
        cache = make()
    result = cache.get_or_produce(key(), lambda: {"a": b"anew"})
    assert len(caught) == 1
    assert result.outcome is Outcome.UNCACHED
    assert dict(result.blobs) == {"a": b"anew"}
    assert cache.get(key()) is None
    assert "every user" in cache.stats().problem
    for refused in (cache.check, cache.evict, cache.clear):
        with pytest.raises(CacheError, match="every user"):
            refused()
    assert make(allow_shared=True).get_or_produce(key(), _never).outcome is Outcome.HIT


def test_with_a_key_unsigned_and_wrongly_signed_entries_are_misses(
    make: MakeCache, key: MakeKey, tmp_path: Path
) -> None:
    key_files = []
    for name in ("mine", "other"):
        path = tmp_path / name
        path.write_bytes(name.encode() * 8)
        path.chmod(0o600)
        key_files.append(path)
    make().get_or_produce(key(1), lambda: dict(_BLOBS))
    make(key_file=key_files[1]).get_or_produce(key(2), lambda: dict(_BLOBS))
    signed = make(key_file=key_files[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcomes = [
            signed.get_or_produce(key(number), lambda: dict(_BLOBS)).outcome
            for number in (1, 2, 1, 2)
        ]
    (warning,) = caught
    assert "not signed" in str(warning.message)
    assert outcomes == [Outcome.PRODUCED, Outcome.PRODUCED, Outcome.HIT, Outcome.HIT]
    assert make().get_or_produce(key(1), _never).outcome is Outcome.HIT


def test_with_a_key_that_cannot_be_read_nothing_is_believed(
    make: MakeCache, key: MakeKey, tmp_path: Path
) -> None:
    make().get_or_produce(key(), lambda: dict(_BLOBS))
    with pytest.warns(CacheWarning, match="cannot be read"):
        cache = make(key_file=tmp_path / "none")
    assert cache.get_or_produce(key(), lambda: {"a": b"anew"}).outcome is Outcome.UNCACHED


# --- Limits ---


def test_the_least_recently_used_entries_make_room(
    make: MakeCache, key: MakeKey, clock: Clock
) -> None:
    # An entry takes two blocks: 8 KiB.
    cache = make(limits=Limits(max_bytes=10 * 8192))
    for number in range(10):
        clock.now += 3601
        cache.get_or_produce(key(number), giving(a=b"%d" % number))
    clock.now += 3601
    cache.get(key(0))
    for number in range(10, 13):
        clock.now += 3601
        cache.get_or_produce(key(number), giving(a=b"%d" % number))
    left = {number for number in range(13) if cache.get(key(number)) is not None}
    assert cache.stats().size_bytes <= 10 * 8192
    assert {0, 12} <= left
    assert not {1, 2, 3} & left
    assert cache.check().is_clean


def test_what_a_result_still_holds_is_not_evicted_and_then_is(
    make: MakeCache, key: MakeKey
) -> None:
    cache, other = make(), make()
    held = cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    copy = other.get(key(1))
    cache.get_or_produce(key(2), lambda: dict(_BLOBS))
    assert other.evict(Limits(max_bytes=0)).removed_entries == 1
    assert other.get(key(2)) is None
    assert dict(held.blobs) == dict(copy or {}) == _BLOBS
    del held
    assert other.evict(Limits(max_bytes=0)).removed_entries == 0
    del copy
    assert other.evict(Limits(max_bytes=0)).removed_entries == 1
    assert other.stats().entries == other.stats().blobs == 0


def test_an_entry_larger_than_the_cache_is_not_stored_and_said_so(
    make: MakeCache, key: MakeKey
) -> None:
    cache = make(limits=Limits(max_bytes=10_000))
    with pytest.warns(CacheWarning, match="too many for a cache of 10000"):
        result = cache.get_or_produce(key(), lambda: {"a": b"x" * 20_000})
    assert result.outcome is Outcome.UNCACHED
    assert cache.stats().entries == 0


def test_an_age_limit_is_kept(make: MakeCache, key: MakeKey, clock: Clock) -> None:
    cache = make(limits=Limits(max_age_seconds=7 * 86_400.0))
    cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    clock.now += 8 * 86_400
    cache.get_or_produce(key(2), lambda: dict(_BLOBS))
    assert cache.get(key(1)) is None
    assert cache.get(key(2)) is not None


def test_publishing_does_not_walk_the_store(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make()
    cache.get_or_produce(key(0), lambda: dict(_BLOBS))
    walked: list[Path] = []
    real = os.scandir

    def scandir(path: Path) -> Any:
        walked.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for number in range(1, 30):
        cache.get_or_produce(key(number), giving(a=b"%d" % number))
        cache.get(key(number))
    assert walked == []


def test_clear_leaves_nothing_and_what_is_in_memory_stays(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    result = cache.get_or_produce(key(), lambda: dict(_BLOBS))
    assert cache.clear().removed_entries == 1
    assert cache.stats().entries == cache.stats().blobs == 0
    assert dict(result.blobs) == _BLOBS
    assert cache.get_or_produce(key(), lambda: dict(_BLOBS)).outcome is Outcome.PRODUCED


def test_being_asked_for_is_being_used_once_an_hour(
    make: MakeCache, key: MakeKey, store: Path, clock: Clock
) -> None:
    cache = make()
    cache.get_or_produce(key(), lambda: {"a": b"1"})
    made = clock.now
    paths = [_only_file(store, "ac"), _only_file(store, "cas")]
    clock.now += 3599
    cache.get(key())
    assert [path.stat().st_mtime for path in paths] == [made, made]
    clock.now += 2
    cache.get(key())
    assert [path.stat().st_mtime for path in paths] == [clock.now, clock.now]


# --- The package ---


def test_importing_the_cache_loads_nothing_heavy() -> None:
    program = (
        "import sys; from neuron_compile.cache import ActionCache;"
        "heavy = {'torch', 'jax', 'jaxlib', 'torch_mlir', 'numpy', 'pickle', 'fsspec', 'filelock',"
        " 'platformdirs', 'tempfile', 'asyncio', 'socket', 'uuid', 'logging'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_the_package_imports_nothing_of_the_product_above_it_and_no_pickle() -> None:
    import neuron_compile.cache as package

    for path in Path(str(package.__file__)).parent.glob("*.py"):
        for line in path.read_text().splitlines():
            words = line.split()
            if words[:1] not in (["import"], ["from"]):
                continue
            assert words[1].partition(".")[0] not in (
                "pickle",
                "torch",
                "jax",
                "jaxlib",
                "torch_mlir",
            )
            assert (
                words[1] == "neuron_compile.cache"
                or not words[1].startswith("neuron_compile")
                or words[1].startswith("neuron_compile.cache.")
            )


def test_the_home_directory_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    cache = ActionCache(Path("~/cache"), policy=CachePolicy(read_only=True))
    assert cache.directory == tmp_path / "cache"
