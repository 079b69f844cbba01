"""The user's error for an action that came to no answer."""

from __future__ import annotations

from pathlib import Path

from neuron_compile import CodegenError, LoweringError
from neuron_compile.workers.failure import explain_failure
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.request import CONVERT, GENERATE, LOWER, Request


def explained(action: str, folder: Path | None, output: str = "") -> LoweringError | CodegenError:
    return explain_failure(
        Request(action, {"module": b""}),
        ActionLimits(),
        "the worker was ended by signal 6",
        hint="do this.",
        output=output,
        reproducers=folder,
    )


def test_class_follows_the_stage(tmp_path: Path) -> None:
    assert type(explained(LOWER, tmp_path)) is LoweringError
    assert type(explained(CONVERT, tmp_path)) is LoweringError
    assert type(explained(GENERATE, tmp_path)) is CodegenError


def test_message_has_reason_last_words_and_folder(tmp_path: Path) -> None:
    output = "".join(f"line {n}\n" for n in range(20)) + "Fatal Python error: Aborted\n\nThread 1\n"
    error = explained(LOWER, tmp_path, output)
    (folder,) = (tmp_path / "reproducers").iterdir()
    assert error.why == "the worker was ended by signal 6."
    assert error.where[-2:] == ("line 19", "Fatal Python error: Aborted")
    assert len(error.where) == 6
    assert error.hint.startswith("do this.\n")
    assert str(folder) in error.hint


def test_message_without_a_folder_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "no reproducer could be written" in explained(LOWER, tmp_path / "file").hint
    assert "NEURON_COMPILE_DEBUG_DIR" in explained(LOWER, None).hint
