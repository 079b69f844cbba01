"""Whether locks taken in a directory are seen by everyone who shares it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_INCOHERENT: Final = frozenset({"nfs", "cifs", "smb3", "smbfs", "9p", "afs", "ncpfs", "vboxsf"})
"""File systems where `flock` may be local to each client, may need a daemon that is missing, or may
leave a lock behind when a client dies (NFS before version 4). NFS 4, Lustre, Ceph and GPFS
release by lease.
"""


def has_coherent_locks(directory: Path) -> bool:
    """Whether `flock` under `directory` excludes all who can reach it, and ends with its holder.

    Judged by the kind of file system (Linux); one served by FUSE is not trusted to.
    """
    kind = kind_of(directory)
    return kind not in _INCOHERENT and not kind.startswith("fuse")


def kind_of(directory: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the file system that holds `directory`, as in mountinfo (proc(5)); `""` if not
    known.
    """
    try:
        lines = mounts.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place = directory.resolve()
    best = ""
    best_depth = -1
    for line in lines:
        fields = line.split(" ")
        if "-" not in fields[6:] or len(fields) < fields.index("-", 6) + 2:
            continue
        mount = Path(fields[4].replace("\\040", " "))
        # Later lines cover earlier ones at the same place.
        if place.is_relative_to(mount) and len(mount.parts) >= best_depth:
            best, best_depth = fields[fields.index("-", 6) + 1], len(mount.parts)
    return best
