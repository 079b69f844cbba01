"""The compiler's flags in one canonical form, from our options and from `NEURON_CC_FLAGS`.

Spelling, order and repetition of flags do not change what is compiled, so they must not change the
cache's key; nor may flags that were never the compiler's.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from neuron_compile.errors import OptionsError

# AWS's cache wrapper takes these out of NEURON_CC_FLAGS; value: whether an argument follows.
_CACHE_FLAGS: Final = {
    "--cache_dir": True,
    "--no_cache": False,
    "--retry_failed_compilation": False,
    "--log_level": True,
}

# What the generator itself decides; value: whether an argument follows.
_OWN_FLAGS: Final = {"--framework": True, "--target": True, "--output": True}

# Documented flags whose argument may be a separate word, and what it may be (None: anything).
_VALUED: Final[Mapping[str, tuple[str, ...] | None]] = MappingProxyType(
    {
        "--model-type": ("generic", "transformer", "unet-inference"),
        "--auto-cast": ("none", "matmult", "all"),
        "--auto-cast-type": ("bf16", "fp16", "tf32", "fp8_e4m3"),
        "--native-int64": ("default", "enabled", "disabled"),
        "--implicit-integer-downcast": None,
        "--distribution-strategy": None,
        "--lnc": ("1", "2"),
        "--optlevel": ("1", "2", "3"),
        "--logfile": None,
        "--verbose": None,
    }
)
_ALIASES: Final = {"-O": "--optlevel", "-lnc": "--lnc", "--logical-nc-config": "--lnc"}

# They change what is said, not what is made.
SILENT_FLAGS: Final = frozenset({"--verbose", "--logfile"})

Flags = Mapping[str, str | None]


def parse_flags(text: str) -> dict[str, str | None]:
    """The compiler's flags in `text`: canonical name to argument, None for flags without.

    Of repeated flags the last holds, as for the compiler. Raises `OptionsError` on what cannot be
    read, on documented flags with an undocumented value, and on flags that are not the user's.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _bad(text, f"it cannot be split into words: {error}") from error
    flags: dict[str, str | None] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            raise _bad(word, "it is not a flag")
        name, has_value, value = _spelled_out(word)
        takes_value = _takes_value(name)
        if not has_value and takes_value is not False and words and not words[0].startswith("-"):
            value, has_value = words.pop(0), True
        if name in _CACHE_FLAGS:
            continue
        if name in _OWN_FLAGS:
            raise _bad(word, f"{name} is set by the options of torch.compile")
        if takes_value and not has_value:
            raise _bad(word, f"{name} needs a value")
        flags[name] = value if has_value else None
        _check_value(name, value, word)
    return flags


def command_words(flags: Flags) -> list[str]:
    """The flags as words of a command line, sorted by name."""
    return [name if value is None else f"{name}={value}" for name, value in sorted(flags.items())]


def canonical_text(flags: Flags) -> str:
    """The flags that change what is compiled, as one line."""
    return shlex.join(
        command_words({name: v for name, v in flags.items() if name not in SILENT_FLAGS})
    )


def _spelled_out(word: str) -> tuple[str, bool, str]:
    """Canonical name, whether a value is attached, and it: `-O2`, `-O=2`, `--optlevel=2`."""
    name, equals, value = word.partition("=")
    if name.startswith("-O") and name[2:].isdigit():
        return "--optlevel", True, name[2:]
    return _ALIASES.get(name, name), bool(equals), value


def _takes_value(name: str) -> bool | None:
    """Whether a value must follow; None for flags that are not documented."""
    if name in _VALUED:
        return True
    known = _CACHE_FLAGS | _OWN_FLAGS
    if name in known:
        return known[name]
    return False if name.startswith(("--enable-", "--disable-")) else None


def _check_value(name: str, value: str, word: str) -> None:
    allowed = _VALUED.get(name)
    if allowed is not None and value not in allowed:
        raise _bad(word, f"{name} is one of {', '.join(allowed)}")


def _bad(word: str, why: str) -> OptionsError:
    return OptionsError(
        "NEURON_CC_FLAGS has something that cannot be used",
        where=(word,),
        why=f"{why}.",
        hint="see the command line reference of neuronx-cc.",
    )
