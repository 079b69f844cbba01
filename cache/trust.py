"""Who else can write here? A cached executable is code, so a cache that others can write is their
code.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import TYPE_CHECKING

from neuron_compile.cache.errors import UntrustedDirectoryError

if TYPE_CHECKING:
    from pathlib import Path

_ROOT = 0


def check_trusted(directory: Path) -> None:
    """Raise `UntrustedDirectoryError` if anyone but this user and root can put files under
    `directory`.

    That is so when it is owned by another user, writable by all, or writable by a group that has
    other members; or when a directory above it lets others exchange it. A directory that does not
    exist yet is judged by those above it. Raises `OSError` if a directory cannot be looked at.
    """
    user = os.geteuid()
    place = directory.resolve()
    for path in (place, *place.parents):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        if path != place and status.st_mode & stat.S_ISVTX:
            continue  # sticky, as /tmp is: others may add to it and not exchange what is ours
        if status.st_uid not in (user, _ROOT):
            raise UntrustedDirectoryError(f"{path} belongs to {_user_name(status.st_uid)}")
        if status.st_mode & stat.S_IWOTH:
            raise UntrustedDirectoryError(f"{path} can be written by every user")
        if status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid, user):
            raise UntrustedDirectoryError(
                f"{path} can be written by the group {_group_name(status.st_gid)}"
            )


def _is_private_group(group: int, user: int) -> bool:
    """Whether `group` has no member but `user` (or root), as Debian and Fedora give each user."""
    if group == _ROOT:
        return True
    try:
        members = set(grp.getgrgid(group).gr_mem)
        account = pwd.getpwuid(user)
        primary = {entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == group}
    except (KeyError, OSError):
        return False
    return (members | primary) <= {account.pw_name, "root"}


def _user_name(user: int) -> str:
    try:
        return f"user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"user {user}"


def _group_name(group: int) -> str:
    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)
