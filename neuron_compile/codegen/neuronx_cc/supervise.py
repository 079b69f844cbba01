"""Runs the compiler so that nothing of it outlives us. Started as a program of its own.

A compiler is a tree of processes that a killed parent leaves running. This one watches its parent:
when that is gone, crash and SIGKILL included, it kills the compiler's whole process group and
removes the working folder; when that writes to our standard input, it kills the group only. The
input that ends without a word is the earlier sign of a parent's death: its files are closed a
moment before we are an orphan. Kept to the standard library and few imports, since each compilation
starts it.

Arguments: seconds of grace, the working folder, the file for output, the compiler's command.
"""

import os
import select
import shutil
import signal
import sys
import time

_POLL_SECONDS = 0.05


def main() -> int:
    """Supervise one run; its exit code, or 128 and the signal as shells report it."""
    grace_seconds, folder, log_file, *command = sys.argv[1:]
    parent = os.getppid()
    # The parent decides; a Ctrl-C on the terminal reaches it too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    child = _start(command, folder, log_file)
    word = None
    while not _has_ended(child):
        word = _word(_POLL_SECONDS)
        if os.getppid() != parent or word is not None:
            _signal_group(child, signal.SIGTERM)
            deadline = time.monotonic() + float(grace_seconds)
            while not _has_ended(child) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            break
    # Before the leader is reaped, while its number cannot be another group's.
    _signal_group(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.getppid() != parent or (word or _word(0)) == b"":
        shutil.rmtree(folder, ignore_errors=True)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _start(command: list[str], folder: str, log_file: str) -> int:
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    child = os.fork()
    if child:
        os.close(log)
        return child
    try:
        os.setsid()
        os.chdir(folder)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.execv(command[0], command)  # noqa: S606 - the compiler that the user has installed
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _word(seconds: float) -> bytes | None:
    """What the parent says within the time: to end, or nothing (empty) since it is gone."""
    return os.read(0, 1) if select.select([0], [], [], seconds)[0] else None


def _signal_group(leader: int, number: signal.Signals) -> None:
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        # Too early: it leads no group yet.
        os.kill(leader, number)


if __name__ == "__main__":
    sys.exit(main())
