"""XLA's log level is lowered, unless the user has set it."""

from __future__ import annotations

import os

import pytest

from neuron_compile.lowering.native_logs import quiet_native_logs


def test_default_is_quiet_and_a_level_of_the_users_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    quiet_native_logs()
    assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "1"
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    quiet_native_logs()
    assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "0"
