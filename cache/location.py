"""Where a cache lives when the user names no place, and what AWS's URL setting means."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from neuron_compile.cache.errors import CacheError

_APPLICATION = "neuron-compile"
_REMOTE_SCHEMES = frozenset(
    {
        "s3",
        "s3a",
        "gs",
        "gcs",
        "abfs",
        "abfss",
        "az",
        "adl",
        "http",
        "https",
        "memory",
        "hdfs",
        "webdav",
    }
)


@dataclass(frozen=True, slots=True)
class CacheLocation:
    """A local directory (`None`: the default one) and a remote URL (`None`: no remote)."""

    directory: Path | None
    remote: str | None


def default_directory() -> Path:
    """This user's cache directory by the platform's rules (XDG on Linux)."""
    import platformdirs

    return Path(platformdirs.user_cache_path(_APPLICATION))


def locks_directory_for(directory: Path) -> Path:
    """Where locks for the store in `directory` live by default: on a local disk, in this user's own
    folder.
    """
    import tempfile

    store = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"{_APPLICATION}-locks-{os.getuid()}" / store


def directory_of_remote(url: str) -> Path | None:
    """The directory of this machine that a remote at `url` is; `None` if it is not one."""
    for scheme in ("file://", "local://"):
        if url.startswith(scheme):
            return Path(url.removeprefix(scheme))
    return None if "://" in url else Path(url)


def interpret_cache_url(url: str, *, has_directory: bool = False) -> CacheLocation:
    """What `NEURON_COMPILE_CACHE_URL` names: a path or `file://` is a directory, `s3://` and its
    like a remote. Where there is a directory already (`has_directory`), a `file://` URL is a remote
    too: a folder that machines share behind their own.

    Raises `CacheError` for an empty value, a scheme that is no store, and a `file://` URL of
    another host.
    """
    from urllib.parse import unquote, urlsplit

    text = url.strip()
    if not text:
        raise CacheError("the cache URL is empty")
    if "://" not in text:
        return CacheLocation(Path(text).expanduser(), None)
    parts = urlsplit(text)
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost") or not parts.path.strip("/"):
            raise CacheError(f"the cache URL {url!r} names no directory of this machine")
        directory = Path(unquote(parts.path))
        if has_directory:  # unquoted, for fsspec takes a URL of this kind literally
            return CacheLocation(None, f"file://{directory}")
        return CacheLocation(directory, None)
    if parts.scheme not in _REMOTE_SCHEMES:
        known = ", ".join(sorted(_REMOTE_SCHEMES))
        raise CacheError(
            f"the cache URL {url!r} has an unknown scheme; known are a path, file, {known}"
        )
    if not parts.netloc and parts.scheme != "memory":
        raise CacheError(f"the cache URL {url!r} names no bucket or host")
    return CacheLocation(None, text.rstrip("/"))
