"""Every environment variable that neuron-compile reads, in the one place that reads them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from neuron_compile.errors import OptionsError

# Name -> what it does: the table of docs/settings.md is made from this one.
VARIABLES: Final = {
    "NEURON_COMPILE_CACHE_DIR": "Folder of the artifact cache.",
    "NEURON_COMPILE_CACHE_URL": "AWS's name for the cache: a folder, or a URL of a remote cache.",
    "NEURON_COMPILE_CACHE_SIZE": "Size limit of the cache, such as 20GB; least recently used "
    "entries are removed beyond it.",
    "NEURON_COMPILE_CACHE_KEY_FILE": "File with a secret: artifacts are signed with it, and "
    "unsigned ones are not used.",
    "NEURON_COMPILE_CACHE_TRUST": "1 allows a cache folder that other users can write to.",
    "NEURON_COMPILE_CACHE_WRITE_REMOTE": "1 also publishes new artifacts to the remote cache.",
    "NEURON_COMPILE_REQUIRE_CACHE": "1 turns a cache miss into an error that explains the miss.",
    "NEURON_COMPILE_DEBUG_DIR": "Folder into which every graph's FX, torch dialect, StableHLO and "
    "manifest are written.",
    "NEURON_COMPILE_TARGET": "Default of the option `target`.",
    "NEURON_COMPILE_WORKERS": "Default of the option `workers`: processes that compile; 0 compiles "
    "in the calling process.",
    "NEURON_COMPILE_MEMORY_LIMIT": "Default of the option `memory_limit`: memory that compiling "
    "one graph may take, such as 8GB.",
    "NEURON_COMPILE_TIME_LIMIT": "Default of the option `time_limit`: seconds that each of "
    "lowering and code generation of one graph may take.",
    "NEURON_COMPILE_KEEP_MEMORY": "0 lets the C library return what programs free to the system "
    "after each run, as it does by default; it is kept otherwise, up to 2 GB.",
    "NEURON_COMPILE_CC_VERSION": "Version of neuronx-cc whose NEFFs are taken from the cache, for "
    "machines where it is not installed.",
    "NEURON_CC_FLAGS": "Further flags for neuronx-cc.",
    "NEURON_PLATFORM_TARGET_OVERRIDE": "AWS's name for the target of compilation.",
    "TORCH_NEURONX_COMPILE_ONLY": "1 compiles for a device and computes values on the host.",
    "CI": "Set by CI machines: progress is printed in plain lines.",
    "XLA_FLAGS": "Read by XLA itself; part of the key of host artifacts.",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment, parsed. Each field is the variable of the same name."""

    cache_dir: Path | None = None
    cache_url: str | None = None
    cache_size_bytes: int | None = None
    cache_key_file: Path | None = None
    cache_trust: bool = False
    cache_write_remote: bool = False
    require_cache: bool = False
    debug_dir: Path | None = None
    target: str | None = None
    workers: int | None = None
    memory_limit_bytes: int | None = None
    time_limit_seconds: int | None = None
    keep_memory: bool = True
    cc_version: str | None = None
    compile_only: bool = False
    neuron_cc_flags: str = ""
    xla_flags: str = ""
    is_ci: bool = False
    unknown: tuple[str, ...] = field(default=())


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Parse the environment (default: this process's). Raises `OptionsError` on a bad value."""
    env = os.environ if environment is None else environment
    return Settings(
        cache_dir=_path(env, "NEURON_COMPILE_CACHE_DIR"),
        cache_url=env.get("NEURON_COMPILE_CACHE_URL") or None,
        cache_size_bytes=_size(env, "NEURON_COMPILE_CACHE_SIZE"),
        cache_key_file=_path(env, "NEURON_COMPILE_CACHE_KEY_FILE"),
        cache_trust=_flag(env, "NEURON_COMPILE_CACHE_TRUST"),
        cache_write_remote=_flag(env, "NEURON_COMPILE_CACHE_WRITE_REMOTE"),
        require_cache=_flag(env, "NEURON_COMPILE_REQUIRE_CACHE"),
        debug_dir=_path(env, "NEURON_COMPILE_DEBUG_DIR"),
        target=env.get("NEURON_COMPILE_TARGET")
        or env.get("NEURON_PLATFORM_TARGET_OVERRIDE")
        or None,
        workers=_count(env, "NEURON_COMPILE_WORKERS"),
        memory_limit_bytes=_size(env, "NEURON_COMPILE_MEMORY_LIMIT"),
        time_limit_seconds=_count(env, "NEURON_COMPILE_TIME_LIMIT"),
        keep_memory=_flag(env, "NEURON_COMPILE_KEEP_MEMORY", default=True),
        cc_version=env.get("NEURON_COMPILE_CC_VERSION", "").strip() or None,
        compile_only=_flag(env, "TORCH_NEURONX_COMPILE_ONLY"),
        neuron_cc_flags=env.get("NEURON_CC_FLAGS", ""),
        xla_flags=env.get("XLA_FLAGS", ""),
        is_ci=env.get("CI", "").strip().lower() not in {"", "0", "false", "no", "off"},
        unknown=tuple(
            sorted(n for n in env if n.startswith("NEURON_COMPILE_") and n not in VARIABLES)
        ),
    )


def _path(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name)
    return Path(value).expanduser() if value else None


def _flag(env: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    value = env.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"0", "false", "no", "off"}:
        return False
    if value in {"1", "true", "yes", "on"}:
        return True
    raise _bad(name, value, "0 or 1")


def _count(env: Mapping[str, str], name: str) -> int | None:
    value = env.get(name, "").strip()
    if not value:
        return None
    try:
        # Python reads no number of more digits than it is told to.
        count = int(value) if value.isdecimal() else None
    except ValueError:
        count = None
    if count is None:
        raise _bad(name, value, "a whole number")
    return count


_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _size(env: Mapping[str, str], name: str) -> int | None:
    value = env.get(name, "").strip()
    if not value:
        return None
    size = parse_size(value)
    if size is None:
        raise _bad(name, value, "a size such as 500MB or 20GB")
    return size


def parse_size(text: str) -> int | None:
    """Bytes of a size such as `500MB` or `20 GB`, in powers of 1000; None if it is not one, or
    larger than any number."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip(), re.IGNORECASE)
    size = float(found[1]) * _UNITS[found[2].upper()] if found else math.inf
    return int(size) if size < math.inf else None


def _bad(name: str, value: str, expected: str) -> OptionsError:
    return OptionsError(
        f"the environment variable {name} has a value that cannot be used",
        where=(f"{name}={value}",),
        why=f"it must be {expected}.",
        hint=f"unset {name} or set it to {expected}.",
    )
