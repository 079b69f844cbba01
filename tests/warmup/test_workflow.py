"""The example workflow uses what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from neuron_compile.cli import main
from neuron_compile.settings import VARIABLES

WORKFLOW = (Path(__file__).parents[2] / "examples" / "warm-cache.yml").read_text()
COMMANDS = re.findall(r"run: neuron-compile (.+)", WORKFLOW)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_understood(command: str) -> None:
    group: click.Command = main
    context = click.Context(main)
    arguments = shlex.split(command)
    while isinstance(group, click.Group):
        found = group.get_command(context, arguments.pop(0))
        assert found is not None
        group = found
    options, rest, _ = group.make_parser(context).parse_args(arguments)
    assert options or rest


def test_settings_exist() -> None:
    used = set(re.findall(r"NEURON_COMPILE_\w+", WORKFLOW))
    assert {"NEURON_COMPILE_CACHE_DIR", "NEURON_COMPILE_REQUIRE_CACHE"} <= used <= VARIABLES.keys()


def test_warms_saves_restores_and_proves() -> None:
    steps = ["cache/restore@", "neuron-compile warmup", "cache/save@", 'REQUIRE_CACHE: "1"']
    places = [WORKFLOW.index(step) for step in steps]
    assert places == sorted(places)
    assert len(COMMANDS) == 3
