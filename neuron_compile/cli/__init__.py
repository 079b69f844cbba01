"""The command `neuron-compile`. A sub-command's module is imported when it is used."""

from __future__ import annotations

import importlib
from typing import Any, Final

import click

from neuron_compile import __version__
from neuron_compile.cache import CacheError
from neuron_compile.errors import NeuronCompileError

# Name -> what the overview says of it; `neuron_compile.cli.<name>` holds the command of that name.
_COMMANDS: Final = {
    "doctor": "Check the installation and compile a small program.",
    "explain": "Show what compiling a model would meet, without compiling it.",
    "ops": "Show which operators are supported, how, and in which dtypes.",
    "bisect": "Find the operations of a model that depart from eager PyTorch.",
    "cache": "Look at, check, bound, move and empty the artifact cache.",
    "warmup": "Fill the cache with every graph of a program.",
    "key": "Print the keys of a program's graphs.",
    "neff": "Look into NEFF files.",
}


class _LazyGroup(click.Group):
    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"neuron_compile.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (NeuronCompileError, CacheError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_LazyGroup)
@click.version_option(__version__, prog_name="neuron-compile")
def main() -> None:
    """Tools for neuron-compile, the torch.compile backend."""
