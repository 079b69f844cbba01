"""The remote tier against fsspec's file systems and a real S3 server, alive, dying and dead."""

from __future__ import annotations

import functools
import http.server
import socket
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import fsspec
import pytest

from neuron_compile.cache import (
    ActionCache,
    CachePolicy,
    CacheWarning,
    Outcome,
    RemotePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cache_actors import Actions, Fork, Say

_S3_OPTIONS = {"key": "user", "secret": "password", "client_kwargs": {"region_name": "eu-west-1"}}


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["memory", "file", "s3"])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> RemotePolicy:
    """An empty place that keeps objects."""
    if request.param == "memory":
        return RemotePolicy(f"memory://{tmp_path.name}", write_back=True)
    if request.param == "file":
        return RemotePolicy(f"file://{tmp_path}/remote", write_back=True)
    import s3fs

    options = {**_S3_OPTIONS, "endpoint_url": request.getfixturevalue("s3_endpoint")}
    bucket = tmp_path.name.replace("_", "-").lower()[:40]
    s3fs.S3FileSystem(**options).mkdir(bucket)
    return RemotePolicy(f"s3://{bucket}/team", options=options, write_back=True)


@pytest.fixture
def host(tmp_path: Path) -> Callable[..., ActionCache]:
    """Makes the cache of a machine of its own: its own directory, the shared remote."""

    def make(name: str, remote: RemotePolicy, **policy: Any) -> ActionCache:
        locks = tmp_path / name / "locks"
        return ActionCache(
            tmp_path / name / "store",
            policy=CachePolicy(remote=remote, locks_directory=locks, **policy),
        )

    return make


def _never() -> dict[str, bytes]:
    raise AssertionError("this should have come from the cache")


def _objects(remote: RemotePolicy) -> dict[str, bytes]:
    filesystem, root = fsspec.core.url_to_fs(remote.url, **remote.options)
    filesystem.invalidate_cache()
    return {path: filesystem.cat_file(path) for path in filesystem.find(root)}


def _overwrite(remote: RemotePolicy, folder: str, change: Callable[[bytes], bytes]) -> int:
    filesystem, _ = fsspec.core.url_to_fs(remote.url, **remote.options)
    changed = 0
    for path, data in _objects(remote).items():
        if f"/{folder}/" in path:
            filesystem.pipe_file(path, change(data))
            changed += 1
    return changed


def test_what_one_machine_produces_another_finds(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    first = host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    second = host("b", remote)
    found = second.get_or_produce(actions.key(1), _never)
    again = second.get_or_produce(actions.key(1), _never)
    outcomes = [first.outcome, found.outcome, again.outcome]
    assert outcomes == [Outcome.PRODUCED, Outcome.REMOTE_HIT, Outcome.HIT]
    assert dict(found.blobs) == dict(again.blobs) == actions.blobs(1)
    assert second.check().is_clean


def test_nothing_is_sent_unless_asked_for(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    reading = RemotePolicy(remote.url, options=remote.options)
    host("a", reading).get_or_produce(actions.key(1), actions.producer(1))
    assert _objects(remote) == {}


def test_blobs_that_are_there_are_neither_sent_nor_fetched_again(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    cache = host("a", remote)
    cache.get_or_produce(actions.key(0), actions.producer(0))
    assert len(_objects(remote)) == 3
    cache.get_or_produce(actions.key(4), actions.producer(4))  # shares a blob with 0
    assert len(_objects(remote)) == 5
    other = host("b", remote)
    other.get(actions.key(0))
    filesystem, _ = fsspec.core.url_to_fs(remote.url, **remote.options)
    shared = [path for path, data in _objects(remote).items() if data == actions.blobs(0)["shared"]]
    filesystem.rm(shared)
    assert dict(other.get(actions.key(4)) or {}) == actions.blobs(4)


@pytest.mark.parametrize("folder", ["ac", "cas"])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:1] + b"\0" + data[2:],
        lambda data: data * 2,
    ],
    ids=["empty", "cut", "flipped", "doubled"],
)
def test_damage_at_the_remote_is_a_miss_with_one_warning(
    remote: RemotePolicy,
    host: Callable[..., ActionCache],
    actions: Actions,
    folder: str,
    change: Callable[[bytes], bytes],
) -> None:
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    assert _overwrite(remote, folder, change)
    cache = host("b", remote)
    with pytest.warns(CacheWarning, match="remote's action") as caught:
        result = cache.get_or_produce(actions.key(1), actions.producer(1))
    assert len(caught) == 1
    assert cache.get(actions.key(1)) is not None
    assert result.outcome is Outcome.PRODUCED
    assert dict(result.blobs) == actions.blobs(1)
    assert cache.check().is_clean


@pytest.mark.parametrize("folder", ["ac", "cas"])
def test_who_meets_damage_at_the_remote_mends_it(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions, folder: str
) -> None:
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    before = _objects(remote)
    assert _overwrite(remote, folder, lambda data: data[:-1] + b"\0")
    with pytest.warns(CacheWarning, match="remote's action"):
        host("b", remote).get_or_produce(actions.key(1), actions.producer(1))
    found = host("c", remote).get_or_produce(actions.key(1), _never)
    assert found.outcome is Outcome.REMOTE_HIT
    blobs = {path: data for path, data in _objects(remote).items() if "/cas/" in path}
    assert blobs.items() <= before.items()


def test_an_action_whose_blob_is_gone_is_a_miss(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    filesystem, _ = fsspec.core.url_to_fs(remote.url, **remote.options)
    filesystem.rm([path for path in _objects(remote) if "/cas/" in path])
    assert host("b", remote).get(actions.key(1)) is None
    result = host("c", remote).get_or_produce(actions.key(1), actions.producer(1))
    assert result.outcome is Outcome.PRODUCED
    assert dict(host("d", remote).get(actions.key(1)) or {}) == actions.blobs(1)


def test_presence_is_asked_for_in_batches(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    cache = host("a", remote)
    for number in range(0, 40, 2):
        cache.get_or_produce(actions.key(number), actions.producer(number))
    wanted = {actions.key(number).digest: number for number in range(40)}
    present = host("b", remote).present([actions.key(number) for number in range(40)])
    assert sorted(wanted[digest] for digest in present) == list(range(0, 40, 2))
    assert host("b", remote).present([]) == set()


def test_what_has_lost_a_blob_or_is_damaged_is_not_present(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    writer = host("a", remote)
    keys = [actions.key(number) for number in range(3)]
    for number in range(3):
        writer.get_or_produce(keys[number], actions.producer(number))
    filesystem, _ = fsspec.core.url_to_fs(remote.url, **remote.options)
    own = actions.blobs(0)["own"]
    filesystem.rm([path for path, data in _objects(remote).items() if data == own])
    damaged = [path for path in _objects(remote) if path.endswith(keys[1].digest)]
    filesystem.pipe_file(damaged[0], b"not an entry")
    assert host("b", remote).present(keys) == {keys[2].digest}


def test_a_signed_remote_serves_signed_entries_only(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions, tmp_path: Path
) -> None:
    key_file = tmp_path / "key"
    key_file.write_bytes(b"k" * 32)
    key_file.chmod(0o600)
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    host("b", remote, key_file=key_file).get_or_produce(actions.key(2), actions.producer(2))
    signed = host("c", remote, key_file=key_file)
    assert dict(signed.get(actions.key(2)) or {}) == actions.blobs(2)
    with pytest.warns(CacheWarning, match="not signed"):
        assert signed.get(actions.key(1)) is None


def test_a_folder_that_others_can_write_is_a_remote_only_if_signed_or_allowed(
    host: Callable[..., ActionCache], actions: Actions, tmp_path: Path
) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team").chmod(0o777)
    (tmp_path / "key").write_bytes(b"k" * 32)
    (tmp_path / "key").chmod(0o600)
    remote = RemotePolicy(f"file://{tmp_path}/team", write_back=True)
    with pytest.warns(CacheWarning, match="every user"):
        refusing = host("a", remote)
    refusing.get_or_produce(actions.key(1), actions.producer(1))
    assert _objects(remote) == {}
    policies: tuple[dict[str, Any], ...] = ({"allow_shared": True}, {"key_file": tmp_path / "key"})
    for number, policy in enumerate(policies):
        host(f"b{number}", remote, **policy).get_or_produce(
            actions.key(number), actions.producer(number)
        )
        found = host(f"c{number}", remote, **policy).get_or_produce(actions.key(number), _never)
        assert found.outcome is Outcome.REMOTE_HIT


def test_without_a_readable_key_the_remote_is_not_believed_either(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions, tmp_path: Path
) -> None:
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    with pytest.warns(CacheWarning, match="cannot be read"):
        cache = host("b", remote, key_file=tmp_path / "none")
    assert cache.get(actions.key(1)) is None


def test_a_required_hit_may_come_from_the_remote(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    strict = host("b", remote, require_cache=True)
    assert strict.get_or_produce(actions.key(1), _never).outcome is Outcome.REMOTE_HIT


def test_with_no_usable_directory_the_remote_still_serves(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions
) -> None:
    host("a", remote).get_or_produce(actions.key(1), actions.producer(1))
    reader = host("b", remote, read_only=True)
    assert reader.get_or_produce(actions.key(1), _never).outcome is Outcome.REMOTE_HIT
    assert not reader.directory.exists()


@pytest.mark.multiprocess
@pytest.mark.parametrize("remote", ["file", "s3"], indirect=True)  # memory:// is one process's own
def test_a_forked_process_opens_a_connection_of_its_own(
    remote: RemotePolicy, host: Callable[..., ActionCache], actions: Actions, fork: Fork
) -> None:
    cache = host("a", remote)
    cache.get_or_produce(actions.key(1), actions.producer(1))
    other = host("b", remote)
    assert other.get(actions.key(2)) is None  # its connection is open before the fork
    child = fork(lambda say: say(other.get_or_produce(actions.key(1), _never).outcome))
    assert child.join() == [Outcome.REMOTE_HIT]


@pytest.fixture
def web_server(tmp_path: Path) -> Iterator[str]:
    """Serves a folder over HTTP, as an artifact server would."""
    (tmp_path / "remote").mkdir()
    handler = functools.partial(_QuietHandler, directory=str(tmp_path / "remote"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing on the standard error."""


def test_a_web_server_serves_what_a_folder_holds(
    host: Callable[..., ActionCache], actions: Actions, tmp_path: Path, web_server: str
) -> None:
    writer = host("a", RemotePolicy(f"file://{tmp_path}/remote", write_back=True))
    for number in range(20):
        writer.get_or_produce(actions.key(number), actions.producer(number))
    reader = host("b", RemotePolicy(web_server))
    result = reader.get_or_produce(actions.key(3), _never)
    assert result.outcome is Outcome.REMOTE_HIT
    assert dict(result.blobs) == actions.blobs(3)
    assert reader.get(actions.key(77)) is None
    assert len(reader.present([actions.key(number) for number in range(40)])) == 20


# --- Remotes in trouble ---


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


def _dead(port: int) -> RemotePolicy:
    options = {**_S3_OPTIONS, "endpoint_url": f"http://127.0.0.1:{port}"}
    return RemotePolicy("s3://bucket/x", options=options, write_back=True, timeout_seconds=0.5)


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("kind", ["silent", "closed"])
def test_a_dead_remote_costs_one_warning_and_no_hang(
    host: Callable[..., ActionCache], actions: Actions, silent_port: int, kind: str
) -> None:
    cache = host("a", _dead(silent_port if kind == "silent" else _closed_port()))
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CacheWarning)
        for number in range(10):
            result = cache.get_or_produce(actions.key(number), actions.producer(number))
            assert result.outcome is Outcome.PRODUCED
        assert cache.present([actions.key(50)]) == set()
    seconds = time.monotonic() - start
    messages = [str(item.message) for item in caught if item.category is CacheWarning]
    assert len(messages) == 1, messages
    assert "s3://bucket/x" in messages[0]
    assert seconds < 8, "the time limit of half a second applies once, then the breaker is open"


@pytest.mark.parametrize(
    "url", ["nosuchscheme://x/y", "s3://bucket/without/server"], ids=["unknown", "no-credentials"]
)
def test_a_remote_that_cannot_be_opened_costs_one_warning(
    host: Callable[..., ActionCache], actions: Actions, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    policy = RemotePolicy(
        url,
        options={"endpoint_url": f"http://127.0.0.1:{_closed_port()}"} if url[:2] == "s3" else {},
        write_back=True,
        timeout_seconds=1.0,
    )
    cache = host("a", policy)
    with pytest.warns(CacheWarning, match="going on without it") as caught:
        cache.get_or_produce(actions.key(1), actions.producer(1))
    assert len([item for item in caught if item.category is CacheWarning]) == 1
    cache.get_or_produce(actions.key(2), actions.producer(2))


class _Flaky(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Stand-in for a remote that fails as `script` says: one exception, or None, for each call."""

    protocol = "flaky"
    cachable = False

    def __init__(self, script: list[Exception | None], calls: list[str]) -> None:
        super().__init__()
        self._script = script
        self._calls = calls

    def cat_file(self, path: str, start: Any = None, end: Any = None, **kwargs: Any) -> bytes:
        self._calls.append(path)
        error = self._script.pop(0) if self._script else None
        raise error or FileNotFoundError(path)


@pytest.fixture
def flaky(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, list[str]]]:
    def make(*script: Exception | None) -> tuple[Any, list[str]]:
        from neuron_compile.cache.breaker import Breaker
        from neuron_compile.cache.complaints import Complaints
        from neuron_compile.cache.remote import Remote

        calls: list[str] = []
        filesystem = _Flaky(list(script), calls)
        monkeypatch.setattr(fsspec.core, "url_to_fs", lambda url, **_: (filesystem, "root"))
        now = [0.0]
        pauses: list[float] = []
        complaints = Complaints(f"store of {id(calls)}")
        remote = Remote(
            RemotePolicy("flaky://root"),
            complaints,
            breaker=Breaker(lambda: now[0]),
            sleep=pauses.append,
        )
        remote.now, remote.pauses, remote.complaints = now, pauses, complaints  # type: ignore[attr-defined]
        return remote, calls

    return make


def test_passing_trouble_is_tried_again_with_growing_pauses(
    flaky: Callable[..., tuple[Any, list[str]]],
) -> None:
    remote, calls = flaky(OSError("reset"), TimeoutError("slow"), None)
    assert remote.read("action", "ab" * 32) is None
    assert len(calls) == 3
    assert remote.pauses == [0.2, 0.8]
    assert not remote.complaints.counts


def test_trouble_that_stays_opens_the_breaker_which_closes_after_a_rest(
    flaky: Callable[..., tuple[Any, list[str]]],
) -> None:
    remote, calls = flaky(*[OSError("down")] * 6)
    with pytest.warns(CacheWarning, match="OSError: down"):
        assert remote.read("action", "ab" * 32) is None
    assert len(calls) == 3
    remote.read("action", "ab" * 32)
    assert len(calls) == 3, "left alone while the breaker is open"
    remote.now[0] = 31.0
    remote.read("action", "ab" * 32)
    assert len(calls) == 6
    remote.now[0] = 62.0
    remote.read("action", "ab" * 32)
    assert len(calls) == 6, "the second rest is twice as long"
    remote.now[0] = 92.0
    remote.read("action", "ab" * 32)
    assert len(calls) == 7
    assert remote.complaints.counts["remote"] == 2


def test_what_will_not_get_better_is_not_tried_again(
    flaky: Callable[..., tuple[Any, list[str]]],
) -> None:
    remote, calls = flaky(PermissionError("no"))
    with pytest.warns(CacheWarning, match="PermissionError: no"):
        remote.read("action", "ab" * 32)
    assert len(calls) == 1


def test_a_call_that_never_returns_does_not_keep_the_process_from_ending(
    tmp_path: Path, fork: Fork
) -> None:
    from neuron_compile.cache.deadline import call_within

    def hang(say: Say) -> None:
        with pytest.raises(TimeoutError):
            call_within(0.05, threading.Event().wait)
        say("given up")

    assert fork(hang).join(10) == ["given up"]
