"""`neuron-compile cache`: looks at the artifact cache, checks, bounds, moves and empties it."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from neuron_compile.assembly import cache_for
from neuron_compile.cache import ActionCache, CacheError, Limits, bundle
from neuron_compile.cli.foreign_entries import foreign_entries
from neuron_compile.lowering.stablehlo_text import stablehlo_text
from neuron_compile.settings import parse_size, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_compile.cache import ActionEntry

_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
_SHORT: Final = 12
_STABLEHLO_MAGIC: Final = b"ML\xefR"


class _Size(click.ParamType[int]):
    """A number of bytes, as in 20GB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        size = parse_size(str(value))
        if size is None:
            self.fail(f"{value!r} is not a size such as 500MB or 20GB", param, ctx)
        return size


class _Age(click.ParamType[float]):
    """A number of seconds, as in 30d."""

    name = "age"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", str(value))
        if found is None:
            self.fail(f"{value!r} is not an age such as 12h, 30d or 8w", param, ctx)
        return float(found[1]) * _SECONDS[found[2]]


_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the cache; by default the one that the backend uses.",
)
@click.pass_context
def cache(ctx: click.Context, directory: Path | None) -> None:
    """Look at, check, bound, move and empty the artifact cache."""
    settings = read_settings()
    if directory is not None:
        settings = dataclasses.replace(settings, cache_dir=directory)
    ctx.obj = cache_for(settings)


@cache.command()
@click.option("--limit", default=50, show_default=True, help="Entries to show; 0 shows all.")
@_JSON
@click.pass_obj
def ls(store: ActionCache, limit: int, as_json: bool) -> None:
    """List entries, the most recently used first."""
    entries = list(store.entries(limit or None))
    if as_json:
        _print_json([_described(entry) for entry in entries])
        return
    rows = [
        (
            entry.key[:_SHORT],
            entry.kind,
            entry.what,
            _bytes(entry.size_bytes),
            f"{entry.produce_seconds:.1f} s",
            _ago(entry.created),
        )
        for entry in entries
    ]
    _print_table(("key", "kind", "what", "size", "took", "made"), rows)


@cache.command()
@_JSON
@click.pass_obj
def stats(store: ActionCache, as_json: bool) -> None:
    """Show the effective settings, the size, and why the last look-up missed."""
    found = store.stats()
    if as_json:
        _print_json(dataclasses.asdict(found))
        return
    limits = found.limits
    miss = found.last_miss
    rows = [
        ("directory", found.directory),
        ("remote", found.remote or "none"),
        ("state", found.problem or "in use"),
        ("entries", f"{found.entries:,} of {_or_unbounded(limits.max_entries, '{:,}'.format)}"),
        ("size", f"{_bytes(found.size_bytes)} of {_or_unbounded(limits.max_bytes, _bytes)}"),
        ("blobs", f"{found.blobs:,}"),
        ("set aside", f"{found.quarantined:,} damaged files"),
        ("last miss", f"{miss.what}, {_ago(miss.at)}" if miss else "none"),
    ]
    _print_table(("", ""), rows)
    if miss is not None:
        click.echo(found.last_miss_reason)


@cache.command()
@click.argument("key")
@click.option("--blob", "name", help="Write this blob, as it is, to the standard output.")
@_JSON
@click.pass_obj
def show(store: ActionCache, key: str, name: str | None, as_json: bool) -> None:
    """Show the entry whose key begins with KEY: its parts, its manifest, its StableHLO."""
    entry = _the_one(store, key)
    blobs = store.read(entry)
    if blobs is None:
        raise CacheError(f"the entry {entry.key[:_SHORT]} is damaged")
    if name is not None:
        if name not in blobs:
            raise CacheError(f"the entry has no blob {name}; it has {', '.join(blobs)}")
        sys.stdout.buffer.write(blobs[name])
        return
    texts = {name: text for name, data in blobs.items() if (text := _text(data)) is not None}
    if as_json:
        _print_json({**_described(entry), "texts": texts})
        return
    click.echo(f"{entry.kind} {entry.key}\n{entry.what}, {_ago(entry.created)}")
    click.echo(f"took {entry.produce_seconds:.1f} s")
    _print_table(("part", "value"), [(part.name, part.shown()) for part in entry.parts])
    rows = [(blob.name, _bytes(blob.size), blob.digest[:_SHORT]) for blob in entry.outputs]
    _print_table(("blob", "size", "sha256"), rows)
    for blob_name, text in texts.items():
        click.echo(f"--- {blob_name}\n{text}")


@cache.command()
@click.option("--repair", is_flag=True, help="Set damage aside and remove what is of no use.")
@_JSON
@click.pass_obj
def verify(store: ActionCache, repair: bool, as_json: bool) -> None:
    """Check every byte; the exit code is 1 if an entry is damaged."""
    audit = store.check(repair=repair)
    if as_json:
        _print_json({**dataclasses.asdict(audit), "is_clean": audit.is_clean})
    else:
        for problem in audit.problems:
            click.echo(f"{problem.file}: {problem.what}")
        click.echo(
            f"{audit.actions:,} entries, {audit.blobs:,} blobs, {_bytes(audit.size_bytes)}: "
            f"{len(audit.problems):,} problems, {audit.repaired:,} repaired; "
            f"{audit.orphan_blobs:,} blobs of no entry, {audit.abandoned:,} abandoned files, "
            f"{len(audit.foreign):,} foreign files"
        )
    if not audit.is_clean and not repair:
        raise SystemExit(1)


@cache.command()
@click.option("--max-size", type=_Size(), help="Such as 20GB.")
@click.option("--max-entries", type=click.IntRange(min=0))
@click.option("--max-age", type=_Age(), help="Such as 30d: what was not used for so long goes.")
@_JSON
@click.pass_obj
def gc(
    store: ActionCache,
    max_size: int | None,
    max_entries: int | None,
    max_age: float | None,
    as_json: bool,
) -> None:
    """Remove the least recently used entries beyond the limits; what is in use stays."""
    usual = store.policy.limits
    limits = Limits(
        usual.max_bytes if max_size is None else max_size,
        usual.max_entries if max_entries is None else max_entries,
        usual.max_age_seconds if max_age is None else max_age,
    )
    _print_collection(dataclasses.asdict(store.evict(limits)), as_json)


@cache.command(name="export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("keys", nargs=-1)
@_JSON
@click.pass_obj
def export_(store: ActionCache, file: Path, keys: tuple[str, ...], as_json: bool) -> None:
    """Write the entries whose keys begin with KEYS, or all, into FILE."""
    chosen = [_the_one(store, key).key for key in keys] if keys else None
    try:
        count = store.export_bundle(file, chosen)
    except OSError as error:
        raise CacheError(f"{file} cannot be written: {error}") from error
    if as_json:
        _print_json({"entries": count, "file": str(file)})
    else:
        click.echo(f"{count:,} entries in {file}")


@cache.command(name="import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_JSON
@click.pass_obj
def import_(store: ActionCache, file: Path, as_json: bool) -> None:
    """Take over the entries of FILE: all of them, or none if any is damaged.

    Those with code for another processor are named: they are kept, and of no use here.
    """
    done = store.import_bundle(file)
    with file.open("rb") as stream:
        keys = bundle.index(stream).actions
    foreign = foreign_entries(entry for entry in store.entries(None) if entry.key in keys)
    if as_json:
        _print_json({**dataclasses.asdict(done), "foreign": [entry.key for entry in foreign]})
        return
    click.echo(f"{done.entries:,} entries, {done.added:,} of them new")
    for entry in foreign:
        click.echo(f"{entry.key[:_SHORT]} is for another processor: {entry.what}")


@cache.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@_JSON
@click.pass_obj
def clear(store: ActionCache, yes: bool, as_json: bool) -> None:
    """Remove every entry."""
    if not yes:
        click.confirm(f"Remove every entry of {store.directory}?", abort=True, err=True)
    _print_collection(dataclasses.asdict(store.clear()), as_json)


def _the_one(store: ActionCache, prefix: str) -> ActionEntry:
    found = store.find(prefix)
    if len(found) != 1:
        number = "no entry" if not found else f"{len(found)} entries"
        raise CacheError(f"{number} of {store.directory} has a key that begins with {prefix!r}")
    return found[0]


def _described(entry: ActionEntry) -> dict[str, Any]:
    return {**dataclasses.asdict(entry), "size_bytes": entry.size_bytes}


def _text(data: bytes) -> str | None:
    """A blob as text for people, if it is text or StableHLO."""
    if data.startswith(_STABLEHLO_MAGIC):
        return stablehlo_text(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").replace("\t", "").isprintable() else None


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, sort_keys=True))


def _print_collection(done: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _print_json(done)
        return
    click.echo(
        f"{done['removed_entries']:,} entries removed ({_bytes(done['removed_bytes'])}), "
        f"{done['entries']:,} left ({_bytes(done['size_bytes'])})"
    )


def _print_table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*titles, box=SIMPLE_HEAD, show_header=any(titles), pad_edge=False)
    for row in rows:
        # Text, not markup: names come from files.
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console(file=sys.stdout, highlight=False).print(table)


def _bytes(count: int) -> str:
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def _or_unbounded(limit: int | None, shown: Any) -> str:
    return "unbounded" if limit is None else str(shown(limit))


def _ago(at: float) -> str:
    seconds = max(0.0, time.time() - at)
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
