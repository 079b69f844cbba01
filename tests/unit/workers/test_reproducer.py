"""Folders of failed actions: complete, bounded in number, the same for the same failure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.recipe import GeneratorRecipe
from neuron_compile.workers.reproducer import read_reproducer, write_reproducer
from neuron_compile.workers.request import GENERATE, LOWER, Request

LIMITS = ActionLimits(1000, 5.0)
REQUEST = Request(LOWER, {"module": b"module {}", "calls": b"[]"})


def write(root: Path, request: Request = REQUEST) -> Path:
    folder = write_reproducer(root, request, LIMITS, "it crashed", "last words\n")
    assert folder is not None
    return folder


@pytest.mark.parametrize(
    "request_",
    [
        REQUEST,
        Request(
            GENERATE,
            {"stablehlo": b"\x00\xff", "program.json": b"{}"},
            GeneratorRecipe("host", {"optimization_level": 1}),
        ),
    ],
    ids=["lower", "generate"],
)
def test_request_and_limits_are_read_back(tmp_path: Path, request_: Request) -> None:
    assert read_reproducer(write(tmp_path, request_)) == (request_, LIMITS)


def test_reader_is_told_what_happened_and_how_to_run_it(tmp_path: Path) -> None:
    folder = write(tmp_path)
    readme = (folder / "README.txt").read_text()
    assert "it crashed" in readme
    assert f"python -m neuron_compile.workers.reproduce {folder}\n" in readme
    assert (folder / "torch.mlir").read_bytes() == b"module {}"
    assert (folder / "output.txt").read_text() == "last words\n"


def test_same_failure_gets_the_same_folder_and_another_one_another(tmp_path: Path) -> None:
    first = write(tmp_path)
    assert write(tmp_path) == first
    assert write(tmp_path, Request(LOWER, {"module": b"module { }", "calls": b"[]"})) != first
    assert len(list(first.parent.iterdir())) == 2


def test_newest_twenty_are_kept(tmp_path: Path) -> None:
    folders = []
    for number in range(23):
        folders.append(write(tmp_path, Request(LOWER, {"module": b"%d" % number})))
        os.utime(folders[-1], ns=(number, number))
    last = write(tmp_path)
    assert {*folders[4:], last} == set(last.parent.iterdir())


def test_folder_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert write_reproducer(tmp_path / "file", REQUEST, LIMITS, "it crashed", "") is None


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"request\.json"):
        read_reproducer(tmp_path)
    (tmp_path / "request.json").write_text("{}")
    with pytest.raises(ValueError, match="no reproducer"):
        read_reproducer(tmp_path)
