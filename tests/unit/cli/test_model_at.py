"""`FILE.py:FUNCTION`, read."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from neuron_compile.cli.model_at import model_at


def written(tmp_path: Path, body: str) -> str:
    file = tmp_path / "models.py"
    file.write_text(f"def make():\n    return {body}\n")
    return f"{file}:make"


def test_model_comes_with_arguments_and_keywords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [])
    assert model_at(written(tmp_path, "abs, [1]")) == (abs, (1,), {})
    assert model_at(written(tmp_path, "abs, (1,), {'a': 2}")) == (abs, (1,), {"a": 2})


@pytest.mark.parametrize("body", ["abs", "(abs, 1)", "(abs, (), 3)", "(abs,)"])
def test_anything_else_is_a_usage_error(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(click.UsageError, match="must return"):
        model_at(written(tmp_path, body))
