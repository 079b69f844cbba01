"""The environment, parsed in one place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import neuron_compile
from neuron_compile import OptionsError, cache, lowering
from neuron_compile.settings import VARIABLES, Settings, read_settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


def test_empty_environment_gives_the_defaults() -> None:
    assert read_settings({}) == Settings()
    assert read_settings(dict.fromkeys(VARIABLES, "")) == Settings()


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("NEURON_COMPILE_CACHE_DIR", "/a/b", "cache_dir", Path("/a/b")),
        ("NEURON_COMPILE_CACHE_DIR", "~/c", "cache_dir", Path.home() / "c"),
        ("NEURON_COMPILE_CACHE_URL", "s3://b/k", "cache_url", "s3://b/k"),
        ("NEURON_COMPILE_CACHE_SIZE", "20GB", "cache_size_bytes", 20_000_000_000),
        ("NEURON_COMPILE_CACHE_SIZE", "1.5 m", "cache_size_bytes", 1_500_000),
        ("NEURON_COMPILE_CACHE_SIZE", "7", "cache_size_bytes", 7),
        ("NEURON_COMPILE_CACHE_KEY_FILE", "/k", "cache_key_file", Path("/k")),
        ("NEURON_COMPILE_CACHE_TRUST", "1", "cache_trust", True),
        ("NEURON_COMPILE_CACHE_WRITE_REMOTE", "yes", "cache_write_remote", True),
        ("NEURON_COMPILE_REQUIRE_CACHE", "On", "require_cache", True),
        ("NEURON_COMPILE_REQUIRE_CACHE", "0", "require_cache", False),
        ("NEURON_COMPILE_DEBUG_DIR", "/d", "debug_dir", Path("/d")),
        ("NEURON_COMPILE_TARGET", "trn1", "target", "trn1"),
        ("NEURON_PLATFORM_TARGET_OVERRIDE", "trn2", "target", "trn2"),
        ("NEURON_COMPILE_KEEP_MEMORY", "0", "keep_memory", False),
        ("NEURON_COMPILE_KEEP_MEMORY", "1", "keep_memory", True),
        ("NEURON_COMPILE_WORKERS", "4", "workers", 4),
        ("TORCH_NEURONX_COMPILE_ONLY", "true", "compile_only", True),
        ("NEURON_CC_FLAGS", "-O1", "neuron_cc_flags", "-O1"),
        ("XLA_FLAGS", "--x", "xla_flags", "--x"),
        ("CI", "true", "is_ci", True),
        ("CI", "woodpecker", "is_ci", True),
        ("CI", "false", "is_ci", False),
    ],
)
def test_each_variable_sets_its_field_alone(
    variable: str, text: str, field: str, value: Any
) -> None:
    settings = read_settings({variable: text})
    others = {name for name in Settings.__slots__ if name != field}
    assert getattr(settings, field) == value
    assert all(getattr(settings, name) == getattr(Settings(), name) for name in others)


def test_own_name_of_the_target_wins_over_that_of_aws() -> None:
    both = {"NEURON_COMPILE_TARGET": "trn1", "NEURON_PLATFORM_TARGET_OVERRIDE": "trn2"}
    assert read_settings(both).target == "trn1"


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("NEURON_COMPILE_CACHE_SIZE", "much", "a size such as 500MB or 20GB"),
        ("NEURON_COMPILE_CACHE_SIZE", "-1GB", "a size such as 500MB or 20GB"),
        ("NEURON_COMPILE_REQUIRE_CACHE", "maybe", "0 or 1"),
        ("NEURON_COMPILE_WORKERS", "-2", "a whole number"),
        ("NEURON_COMPILE_WORKERS", "two", "a whole number"),
        pytest.param("NEURON_COMPILE_TIME_LIMIT", "9" * 5000, "a whole number", id="digits"),
        pytest.param("NEURON_COMPILE_MEMORY_LIMIT", "9" * 400 + "GB", "a size", id="size"),
    ],
)
def test_value_that_cannot_be_read_is_refused_by_name(
    variable: str, text: str, expected: str
) -> None:
    with pytest.raises(OptionsError) as raised:
        read_settings({variable: text})
    assert variable in str(raised.value)
    assert expected in str(raised.value)
    assert text in str(raised.value)


def test_misspelt_variables_of_ours_are_found_and_others_left_alone() -> None:
    settings = read_settings({"NEURON_COMPILE_CAHCE_DIR": "x", "NEURON_RT_NUM_CORES": "2", "A": ""})
    assert settings.unknown == ("NEURON_COMPILE_CAHCE_DIR",)


def test_document_has_the_table_of_variables() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert dict(rows) == VARIABLES


def test_environment_is_read_nowhere_else() -> None:
    """But for the log level that XLA itself reads, `doctor`, which shows the variables, and what
    worker processes inherit."""
    readers = {
        file.name
        for package in (neuron_compile, lowering, cache)
        for file in Path(str(package.__file__)).parent.rglob("*.py")
        if re.search(r"\bos\.(environ|getenv)\b", file.read_text())
    }
    assert readers <= {
        "settings.py",
        "native_logs.py",
        "doctor.py",
        *("launch.py", "process.py", "worker.py"),
    }
