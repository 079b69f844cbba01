"""The model that a command is told of as `FILE.py:FUNCTION`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import click


def model_at(place: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The model and its arguments, by the user's function. Raises `click.UsageError`."""
    file, colon, name = place.rpartition(":")
    path = Path(file)
    if not colon or not path.is_file():
        raise click.UsageError(f"{place!r} is not FILE.py:FUNCTION of an existing file")
    # What a script beside it imports is found as if the script were run.
    sys.path.insert(0, str(path.resolve().parent))
    function = runpy.run_path(str(path)).get(name)
    if not callable(function):
        raise click.UsageError(f"{file} has no function {name}")
    made = function()
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise click.UsageError(f"{name} must return (model, args) or (model, args, kwargs)")
    args, kwargs = made[1], made[2] if len(made) == 3 else {}
    if not isinstance(args, tuple | list) or not isinstance(kwargs, dict):
        raise click.UsageError(f"{name} must return args as a tuple and kwargs as a dict")
    return made[0], tuple(args), kwargs
