"""The command's overview, its errors, and how little it loads."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from neuron_compile import ExecutionError, __version__, cli
from neuron_compile.cache import CacheError
from neuron_compile.cli import main


def test_overview_lists_the_commands_and_each_has_help() -> None:
    overview = CliRunner().invoke(main, ["--help"]).output
    for name, text in cli._COMMANDS.items():
        assert name in overview
        assert text in overview
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_version_is_the_packages() -> None:
    assert __version__ in CliRunner().invoke(main, ["--version"]).output


def test_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["docter"])
    assert result.exit_code == 2
    assert "docter" in result.output


@pytest.mark.parametrize("error", [ExecutionError("it failed", hint="that."), CacheError("full")])
def test_our_errors_are_messages_and_not_tracebacks(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    @click.command()
    def fails() -> None:
        raise error

    monkeypatch.setattr(main, "get_command", lambda *_: fails)
    result = CliRunner().invoke(main, ["fails"])
    assert result.exit_code == 1
    assert result.output == f"Error: {error}\n"


@pytest.mark.multiprocess
def test_overview_loads_neither_torch_nor_a_compiler() -> None:
    code = (
        "import sys; from neuron_compile.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'torch_mlir', 'jaxlib', 'rich', 'fsspec'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
