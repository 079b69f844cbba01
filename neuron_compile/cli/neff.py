"""`neuron-compile neff`: looks into NEFF files, the compiler's and ours."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from pathlib import Path
from typing import Any

import click

from neuron_compile.artifact.neff import Neff, unpack_neff
from neuron_compile.artifact.neff_header import MD5_PACKAGE, claims_seal
from neuron_compile.errors import ArtifactError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def neff() -> None:
    """Inspect, unpack and verify NEFF files."""


@neff.command()
@click.argument("file", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(file: Path, as_json: bool) -> None:
    """Show the header and the members of FILE."""
    description = describe(_read(file))
    if as_json:
        click.echo(json.dumps(description, indent=2, sort_keys=True))
        return
    header, members = description["header"], description["members"]
    click.echo(f"{file}: NEFF for {description['runs_on']}, {file.stat().st_size:,} bytes")
    for name, value in header.items():
        click.echo(f"  {name:<20} {value}")
    click.echo(f"{len(members)} members")
    for member in members:
        click.echo(f"  {member['bytes']:>12,}  {member['name']}")


@neff.command()
@click.argument("file", type=_FILE)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to create; FILE without its ending by default.",
)
def unpack(file: Path, output: Path | None) -> None:
    """Write the members of FILE into a new folder, with the header as neff-header.json."""
    content = _read(file)
    folder = output or file.with_suffix("")
    if folder.exists():
        raise click.ClickException(f"{folder} exists; choose another folder with --output")
    for name, data in content.members.items():
        # Names were checked when the file was read: none can leave the folder.
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    header = json.dumps(describe(content)["header"], indent=2) + "\n"
    (folder / "neff-header.json").write_text(header)
    click.echo(f"{len(content.members)} members in {folder}")


@neff.command()
@click.argument("files", type=_FILE, nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(files: tuple[Path, ...], as_json: bool) -> None:
    """Check every digest and size in FILES; the exit code is 1 if one is damaged."""
    findings = [_verdict(file) for file in files]
    if as_json:
        click.echo(json.dumps(findings, indent=2, sort_keys=True))
    else:
        for finding in findings:
            state = "ok" if finding["ok"] else f"DAMAGED: {finding['problem']}"
            click.echo(f"{finding['file']}: {state}")
    if not all(finding["ok"] for finding in findings):
        raise SystemExit(1)


def describe(content: Neff) -> dict[str, Any]:
    """A NEFF as plain values for people and tools: `runs_on`, `header`, `members`."""
    header = dataclasses.asdict(content.header)
    header["hash"] = content.header.hash.hex()
    header["hash_algorithm"] = "md5" if content.header.pkg_version == MD5_PACKAGE else "sha256"
    header["uuid"] = str(uuid.UUID(bytes=content.header.uuid))
    header["tpb_per_node"] = [count for count in content.header.tpb_per_node if count]
    header["feature_bits"] = f"{content.header.feature_bits:#x}"
    return {
        "runs_on": "this host" if content.is_host else "a Neuron device",
        "is_host": content.is_host,
        "is_sealed": claims_seal(content.header),
        "header": header,
        "members": [
            {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(content.members.items())
        ],
    }


def _verdict(file: Path) -> dict[str, Any]:
    try:
        content = unpack_neff(file.read_bytes())
    except ArtifactError as error:
        return {"file": str(file), "ok": False, "problem": error.what}
    except OSError as error:
        return {"file": str(file), "ok": False, "problem": str(error)}
    return {"file": str(file), "ok": True, "is_host": content.is_host}


def _read(file: Path) -> Neff:
    try:
        return unpack_neff(file.read_bytes())
    except (ArtifactError, OSError) as error:
        raise click.ClickException(f"{file}: {error}") from error
