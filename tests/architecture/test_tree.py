"""The shape of the source tree: what is installed, how large files are, and who tests what."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from source_tree import (
    ROOT,
    SOURCES,
    TESTS,
    can_fail,
    covered_modules,
    functions_of_tests,
    holds_code,
    module_name,
)

FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "misc"}


@pytest.mark.parametrize("path", [p for p in SOURCES if holds_code(p)], ids=str)
def test_source_file_is_tested(path: Path) -> None:
    """By a file of its name, one that imports it, or as a part of a file that has such a test."""
    assert module_name(path) in covered_modules()


@pytest.mark.parametrize("path", TESTS, ids=str)
def test_every_test_can_fail(path: Path) -> None:
    functions = functions_of_tests(path)
    assert functions
    assert [function.name for function in functions if not can_fail(function)] == []


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=str)
def test_file_is_named_for_what_it_holds(path: Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES
    assert path.stem in ("__init__", "__main__") or not path.stem.startswith("_")


def test_installed_packages_are_those_of_the_tree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {module_name(path) for path in SOURCES if path.name == "__init__.py"}
    assert set(project["tool"]["setuptools"]["packages"]) == packages
    assert {path.parent / "__init__.py" for path in SOURCES} <= set(SOURCES)


def test_most_files_are_small() -> None:
    sizes = sorted(len((ROOT / path).read_text().splitlines()) for path in SOURCES)
    assert sizes[len(sizes) // 2] <= 110
