"""The command and the environment of a worker."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest

from neuron_compile.workers.launch import (
    WORKER_MODULE,
    decisive_environment,
    worker_command,
    worker_environment,
)


def test_command_names_the_interpreter_the_module_and_the_parent() -> None:
    command = worker_command(WORKER_MODULE)
    assert command[0] == sys.executable
    assert command[-3:] == ["-m", WORKER_MODULE, str(os.getpid())]
    assert "-P" in command


def test_x_options_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "_xoptions", {"utf8": True, "pycache_prefix": "/p", "importtime": True}
    )
    command = worker_command(WORKER_MODULE)
    assert {"-Xutf8", "-Xpycache_prefix=/p"} <= set(command)
    assert "-Ximporttime" not in command


def test_folders_of_the_packages_are_found_by_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_worker.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "unrelated")
    monkeypatch.setenv("PYTHONPATH", "/users/own")
    folders = worker_environment("some_worker")["PYTHONPATH"].split(os.pathsep)
    assert str(tmp_path) in folders
    assert str(tmp_path / "unrelated") not in folders
    assert folders[-1] == "/users/own"


def test_environment_is_inherited_but_for_the_users_warnings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--x")
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    environment = worker_environment(WORKER_MODULE)
    assert environment["XLA_FLAGS"] == "--x"
    assert "PYTHONWARNINGS" not in environment


def test_flags_of_xla_are_decisive_and_the_cache_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = decisive_environment()
    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIR", "/elsewhere")
    assert decisive_environment() == before
    monkeypatch.setenv("XLA_FLAGS", "--x")
    assert decisive_environment() != before


def test_module_that_a_program_made_itself_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", types.ModuleType("scipy"))
    monkeypatch.setenv("PYTHONPATH", "/users/own")
    folders = worker_environment(WORKER_MODULE)["PYTHONPATH"].split(os.pathsep)
    assert folders[-1] == "/users/own"
    assert len(folders) > 1
