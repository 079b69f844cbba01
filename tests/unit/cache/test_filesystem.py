"""Kinds of file systems, from made-up lists of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile.cache import filesystem

_MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw - nfs4 server:/home rw,vers=4.1
31 22 0:41 / /home/old rw master:2 - nfs server:/old rw,vers=3
32 22 0:42 / /mnt/my\040share rw - cifs //server/share rw
33 22 0:43 / /fsx rw - lustre 10.0.0.1@tcp:/x rw
34 22 0:44 / /sshfs rw - fuse.sshfs host: rw
broken line
"""


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/var/cache", "ext4"),
        ("/home/me/.cache", "nfs4"),
        ("/home/old/cache", "nfs"),
        ("/home/older", "nfs4"),
        ("/mnt/my share/x", "cifs"),
        ("/fsx", "lustre"),
        ("/sshfs/x", "fuse.sshfs"),
    ],
)
def test_the_innermost_mount_decides(tmp_path: Path, path: str, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(_MOUNTS)
    assert filesystem.kind_of(Path(path), mounts) == kind


@pytest.mark.parametrize(
    "kind, is_coherent",
    [
        ("ext4", True),
        ("nfs4", True),
        ("lustre", True),
        ("", True),
        ("nfs", False),
        ("cifs", False),
        ("fuse.x", False),
    ],
)
def test_locks_are_trusted_where_all_clients_see_them(
    monkeypatch: pytest.MonkeyPatch, kind: str, is_coherent: bool
) -> None:
    monkeypatch.setattr(filesystem, "kind_of", lambda directory: kind)
    assert filesystem.has_coherent_locks(Path("/x")) == is_coherent


def test_without_a_list_of_mounts_the_kind_is_unknown(tmp_path: Path) -> None:
    assert filesystem.kind_of(tmp_path, tmp_path / "none") == ""
