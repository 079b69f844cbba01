"""A folder with everything that is needed to run a failed action again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from neuron_compile.cache.blobs import Blobs
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.request import GENERATE, Request

REQUEST_FILE: Final = "request.json"
_KEPT_FOLDERS: Final = 20

# Names of inputs -> names of files that tools know what to do with.
_FILES: Final = {"module": "torch.mlir", "calls": "calls.json", "stablehlo": "program.stablehlo"}
_NAMES: Final = {file: name for name, file in _FILES.items()}


def write_reproducer(
    root: Path, request: Request, limits: ActionLimits, reason: str, output: str
) -> Path | None:
    """The folder `root/reproducers/...` for a request that failed for `reason`, printing `output`.

    The same request gets the same folder; the newest 20 are kept. None if it cannot be written.
    """
    folder = root / "reproducers" / f"{request.action}-{_digest(request)}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        try:
            _fill(staged, folder, request, limits, reason, output)
            shutil.rmtree(folder, ignore_errors=True)
            staged.rename(folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        _prune(folder.parent)
    except OSError:
        return None
    return folder


def read_reproducer(folder: Path) -> tuple[Request, ActionLimits]:
    """What `write_reproducer` wrote. Raises `OSError`, and `ValueError` for another folder."""
    try:
        described: dict[str, Any] = json.loads((folder / REQUEST_FILE).read_text())
        inputs = {
            _NAMES.get(file, file): (folder / file).read_bytes() for file in described["files"]
        }
        request = Request.from_json({**described["request"], "identity": ""}, inputs)
        return request, ActionLimits(**described["limits"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder} is no reproducer: {error!r}") from error


def _fill(
    staged: Path, folder: Path, request: Request, limits: ActionLimits, reason: str, output: str
) -> None:
    files = {_FILES.get(name, name): data for name, data in request.inputs.items()}
    for name, data in files.items():
        (staged / name).write_bytes(data)
    described = {
        "request": request.to_json(),
        "limits": asdict(limits),
        "files": sorted(files),
    }
    (staged / REQUEST_FILE).write_text(json.dumps(described, indent=1, sort_keys=True) + "\n")
    (staged / "output.txt").write_text(output)
    (staged / "README.txt").write_text(_readme(folder, request, reason))


def _readme(folder: Path, request: Request, reason: str) -> str:
    stage = "Code generation" if request.action == GENERATE else "Lowering"
    return (
        f"{stage} failed: {reason}\n\n"
        "Run it again, in a process of its own and under the same limits:\n\n"
        f"    python -m neuron_compile.workers.reproduce {folder}\n\n"
        "With --here it runs in that very process, for a debugger. The inputs are "
        f"{', '.join(_FILES.get(name, name) for name in request.inputs)}; what the compiler "
        "printed is in output.txt. The files hold the program and its constants, no parameters.\n"
    )


def _digest(request: Request) -> str:
    return _digest_of(request.to_json(), request.inputs)


def _digest_of(described: dict[str, Any], inputs: Blobs) -> str:
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name, data in sorted(inputs.items()):
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:12]


def _prune(parent: Path) -> None:
    """Keep the newest. Another process may be at it too."""
    ages = []
    for path in parent.iterdir():
        with contextlib.suppress(OSError):
            ages.append((path.stat().st_mtime_ns, os.fspath(path)))
    for _, name in sorted(ages)[:-_KEPT_FOLDERS]:
        shutil.rmtree(name, ignore_errors=True)
