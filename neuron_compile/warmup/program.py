"""Runs the user's program inside this process, as Python would."""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neuron_compile.errors import OptionsError


def program(target: str) -> Callable[[], None]:
    """What runs `target`: a script, or `module:function`, called without arguments.

    Raises `OptionsError` if it is neither.
    """
    if Path(target).is_file():
        return lambda: _run_script(target)
    _, _, function = target.partition(":")
    if function and not target.endswith(".py"):
        return lambda: named(target)()
    raise OptionsError(
        f"{target} cannot be run",
        why="there is no such file, and it is not of the form module:function.",
        hint="name a script, or a function that takes no arguments.",
    )


def named(name: str) -> Any:
    """What `module:attribute` names. Raises `OptionsError` if there is no such thing."""
    module, _, attribute = name.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionsError(
            f"{name} cannot be found",
            why=f"{type(error).__name__}: {error}",
            hint="name it module:function; the current folder is searched too.",
        ) from error
    return value


@contextmanager
def command_line(target: str, arguments: Sequence[str]) -> Iterator[None]:
    """Within it, `sys.argv` and `sys.path` are what the program expects."""
    argv, path = sys.argv[:], sys.path[:]
    script = Path(target)
    sys.argv[:] = [target, *arguments]
    sys.path.insert(0, str(script.parent.resolve() if script.is_file() else Path.cwd()))
    try:
        yield
    finally:
        sys.argv[:], sys.path[:] = argv, path


def _run_script(target: str) -> None:
    runpy.run_path(target, run_name="__main__")
