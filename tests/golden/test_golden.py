"""Every golden case under `cases/`, checked with FileCheck."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from filecheck.matcher import Matcher
from filecheck.options import Options

from golden_case import GoldenCase

_END = "the end of the text"
FILES = sorted((Path(__file__).parent / "cases").glob("*.py"))


def cases() -> list[GoldenCase]:
    found: list[GoldenCase] = []
    for path in FILES:
        spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += [value for value in vars(module).values() if isinstance(value, GoldenCase)]
    return found


def matches(checks: str, text: str, folder: Path) -> bool:
    """Whether FileCheck is content; what it has to say goes to stderr.

    The package ignores a CHECK-NOT that nothing follows, so an end follows.
    """
    (folder / "checks").write_text(f"{checks}\n# CHECK: {_END}\n")
    (folder / "text").write_text(f"{text}\n{_END}\n")
    status: int = Matcher.from_opts(Options(str(folder / "checks"), str(folder / "text"))).run()
    return status == 0


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_form_is_as_expected(
    case: GoldenCase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = case.text()
    is_match = matches(case.checks, text, tmp_path)
    assert is_match, f"{capsys.readouterr().err}\n{text}"


def test_checks_that_do_not_hold_are_noticed(tmp_path: Path) -> None:
    assert matches("# CHECK: one\n# CHECK-NEXT: two", "one\ntwo", tmp_path)
    assert not matches("# CHECK: one\n# CHECK-NEXT: three", "one\ntwo", tmp_path)
    assert not matches("# CHECK: one\n# CHECK-NOT: two", "one\ntwo", tmp_path)


def test_every_file_has_cases() -> None:
    assert len(FILES) >= 3
    assert len(cases()) >= len(FILES)
