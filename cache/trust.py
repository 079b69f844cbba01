"""Who else can write here? A cached executable is code, so a cache that others can write is their
code.
"""

from __future__ import annotations

import functools
import grp
import os
import pwd
import stat
from typing import TYPE_CHECKING

from neuron_compile.cache.errors import CorruptEntryError, UntrustedDirectoryError

if TYPE_CHECKING:
    from pathlib import Path

_ROOT = 0


def check_trusted(directory: Path, *folders: Path) -> None:
    """Raise `UntrustedDirectoryError` if anyone but this user and root can put files into
    `directory`, or into those `folders` of it that there are.

    That is so when it is owned by another user, writable by all, or writable by a group that has
    other members; or when a directory above it lets others exchange it. A directory that does not
    exist yet is judged by those above it: judge it again once it has been made, for below one like
    /tmp another user may have been faster. Raises `OSError` if a directory cannot be looked at.
    """
    _check_with_those_above(directory.resolve())
    for folder in folders:
        if folder.is_symlink():
            _check_with_those_above(folder.resolve())
        elif folder.exists():  # the directory itself may be a file: that is not a matter of trust
            _check(folder)


class Judge:
    """Believes a store's files if nobody but this user and root can have written them.

    Remembers the folders it has judged: who could open one later could write to it anyway.
    """

    def __init__(self) -> None:
        self._judged: set[Path] = set()

    def check_folder(self, folder: Path) -> None:
        """Raise `UntrustedDirectoryError` if others can put files into `folder`, a folder of a
        directory that is trusted; `OSError` if it cannot be looked at.
        """
        if folder in self._judged:
            return
        status = folder.lstat()
        flaw = "is a link" if stat.S_ISLNK(status.st_mode) else _flaw(status)
        if flaw:
            raise UntrustedDirectoryError(f"{folder} {flaw}")
        self._judged.add(folder)

    def check_file(self, status: os.stat_result) -> None:
        """Raise `CorruptEntryError` if others can have written a file with this `status`."""
        if flaw := _flaw(status):
            raise CorruptEntryError(f"file {flaw}")


def _check_with_those_above(place: Path) -> None:
    _check(place)
    for path in place.parents:
        _check(path, may_be_sticky=True)


def _check(path: Path, *, may_be_sticky: bool = False) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    if may_be_sticky and status.st_mode & stat.S_ISVTX:
        return  # as /tmp is: others may add to it and not exchange what is ours
    if flaw := _flaw(status):
        raise UntrustedDirectoryError(f"{path} {flaw}")


def _flaw(status: os.stat_result) -> str:
    """Who else can write to what has this status, in words; empty if nobody."""
    user = os.geteuid()
    if status.st_uid not in (user, _ROOT):
        return f"belongs to {_user_name(status.st_uid)}"
    if status.st_mode & stat.S_IWOTH:
        return "can be written by every user"
    if status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid, user):
        return f"can be written by the group {_group_name(status.st_gid)}"
    return ""


@functools.cache
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
