"""The remote tier: the same actions and blobs, under a URL that fsspec understands.

It gives bytes; whether they are what they claim is checked by who asked. A remote that fails is
complained of once and left alone for a while: it never makes a look-up raise, and never holds one
up beyond its time limit.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final, TypeVar

from neuron_compile.cache.breaker import Breaker
from neuron_compile.cache.deadline import call_within, map_in_parallel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from neuron_compile.cache.complaints import Complaints
    from neuron_compile.cache.layout import Kind
    from neuron_compile.cache.policy import RemotePolicy

_T = TypeVar("_T")
_FORMAT: Final = "v1"
_WHOLE_WRITES: Final = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "memory"})
"""Where an object appears whole or not at all; elsewhere a file is written aside and renamed."""
_WITHOUT_LISTINGS: Final = frozenset({"http", "https"})
_FIRST_PAUSE: Final = 0.2
_PARALLEL: Final = 16


class Remote:
    """Objects under `policy.url`."""

    def __init__(
        self,
        policy: RemotePolicy,
        complaints: Complaints,
        *,
        breaker: Breaker | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.policy = policy
        self._complaints = complaints
        self._breaker = breaker or Breaker()
        self._sleep = sleep
        self._opened: tuple[int, Any, str] | None = None

    def read(self, kind: Kind, digest: str, size: int = 0) -> bytes | None:
        """The object's bytes, unverified; `None` if it is not there or there is no answer."""

        def fetch() -> bytes | None:
            filesystem, path = self._path(kind, digest)
            try:
                return bytes(filesystem.cat_file(path))
            except FileNotFoundError:
                return None

        return self._guarded(f"reading {kind} {digest[:12]}", fetch, self._seconds(size), None)

    def read_all(self, kind: Kind, digests: Collection[str], size: int) -> dict[str, bytes]:
        """Those of the objects that are there, unverified, of about `size` bytes at most each."""

        def fetch(digest: str) -> tuple[str, bytes] | None:
            filesystem, path = self._path(kind, digest)
            try:
                return digest, bytes(filesystem.cat_file(path))
            except FileNotFoundError:
                return None

        def fetch_all() -> dict[str, bytes]:
            self._open()
            found = map_in_parallel(fetch, digests, _PARALLEL)
            return dict(one for one in found if one is not None)

        if not digests:
            return {}
        seconds = self._seconds(size * len(digests))
        return self._guarded(f"reading {len(digests)} {kind}s", fetch_all, seconds, {})

    def write(self, kind: Kind, digest: str, data: bytes) -> bool:
        """Store an object; whether that worked."""

        def store() -> bool:
            filesystem, path = self._path(kind, digest)
            self._put(filesystem, path, data)
            return True

        name = f"writing {kind} {digest[:12]}"
        return self._guarded(name, store, self._seconds(len(data)), False)

    def present(self, kind: Kind, digests: Collection[str]) -> set[str]:
        """Those of `digests` that the remote has, by few requests: one for each that is alone in
        its folder, one listing for each folder with more.
        """
        folders: dict[str, list[str]] = {}
        for digest in digests:
            folders.setdefault(digest[:2], []).append(digest)

        def ask() -> set[str]:
            filesystem, root = self._open()
            filesystem.invalidate_cache()
            found = map_in_parallel(
                lambda group: self._present(filesystem, root, kind, group),
                folders.values(),
                _PARALLEL,
            )
            return set[str]().union(*found)

        if not folders:
            return set()
        return self._guarded("asking what is there", ask, self.policy.timeout_seconds, set())

    def _present(self, filesystem: Any, root: str, kind: Kind, group: list[str]) -> set[str]:
        if len(group) == 1 or not _WITHOUT_LISTINGS.isdisjoint(_protocols(filesystem)):
            paths = {digest: self._join(root, kind, digest) for digest in group}
            return {digest for digest, path in paths.items() if filesystem.exists(path)}
        folder = self._join(root, kind, group[0]).rpartition("/")[0]
        try:
            names = {str(path).rpartition("/")[2] for path in filesystem.ls(folder, detail=False)}
        except FileNotFoundError:
            return set()
        return names.intersection(group)

    def _put(self, filesystem: Any, path: str, data: bytes) -> None:
        if not _WHOLE_WRITES.isdisjoint(_protocols(filesystem)):
            filesystem.pipe_file(path, data)
            return
        aside = f"{self._open()[1]}/aside/{os.urandom(16).hex()}"
        for place in (aside, path):
            filesystem.makedirs(place.rpartition("/")[0], exist_ok=True)
        filesystem.pipe_file(aside, data)
        filesystem.mv(aside, path)

    def _path(self, kind: Kind, digest: str) -> tuple[Any, str]:
        filesystem, root = self._open()
        return filesystem, self._join(root, kind, digest)

    def _join(self, root: str, kind: Kind, digest: str) -> str:
        folder = "ac" if kind == "action" else "cas"
        return f"{root}/{folder}/{digest[:2]}/{digest}"

    def _open(self) -> tuple[Any, str]:
        # A connection does not survive a fork.
        if self._opened is None or self._opened[0] != os.getpid():
            import fsspec

            options: Mapping[str, Any] = self.policy.options
            filesystem, root = fsspec.core.url_to_fs(self.policy.url, **options)
            self._opened = (os.getpid(), filesystem, f"{root.rstrip('/')}/{_FORMAT}")
        return self._opened[1:]

    def _seconds(self, size: int) -> float:
        return self.policy.timeout_seconds + size / self.policy.slowest_bytes_per_second

    def _guarded(self, name: str, action: Callable[[], _T], seconds: float, otherwise: _T) -> _T:
        """`action` with retries, all within `seconds`; `otherwise` if it fails or is not to be
        tried.
        """
        if self._breaker.is_open:
            return otherwise
        try:
            result = call_within(seconds, lambda: self._retried(action))
        except Exception as error:  # each protocol library has its own exceptions
            self._breaker.failed()
            message = f"remote {self.policy.url}: {name} failed, going on without it for a while: "
            self._complaints.about("remote", f"{message}{type(error).__name__}: {error}")
            return otherwise
        self._breaker.succeeded()
        return result

    def _retried(self, action: Callable[[], _T]) -> _T:
        pause = _FIRST_PAUSE
        for _ in range(self.policy.retries):
            try:
                return action()
            except (ImportError, ValueError, PermissionError, NotImplementedError):
                raise  # trying again will not help
            except Exception:  # as above
                self._sleep(pause)
                pause *= 4
        return action()


def _protocols(filesystem: Any) -> tuple[str, ...]:
    names = filesystem.protocol
    return tuple(names) if isinstance(names, tuple | list) else (str(names),)
