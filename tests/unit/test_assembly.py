"""Options and settings put together."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile.assembly import assemble, cache_for, generator_for
from neuron_compile.cache import default_directory
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings
from neuron_compile.target import HOST


def test_options_reach_the_generator() -> None:
    fast = generator_for(CompileOptions(optimization_level=1), Settings())
    full = generator_for(CompileOptions(optimization_level=3), Settings())
    flagged = generator_for(CompileOptions(), Settings(xla_flags="--a"))
    assert fast.target == HOST
    assert fast.fingerprint() != full.fingerprint() != flagged.fingerprint()


def test_folder_is_the_one_that_is_named_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    own, aws = tmp_path / "own", tmp_path / "aws"
    assert cache_for(Settings(cache_dir=own, cache_url=str(aws))).directory == own
    assert cache_for(Settings(cache_url=str(aws))).directory == aws
    assert cache_for(Settings(cache_url=aws.as_uri())).directory == aws
    assert cache_for(Settings()).directory == default_directory()


def test_settings_of_the_cache_reach_it(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path, cache_size_bytes=5000, require_cache=True)
    policy = cache_for(settings).policy
    assert policy.limits.max_bytes == 5000
    assert policy.require_cache
    assert not policy.allow_shared


def test_equal_settings_share_one_cache_object(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path)
    assert cache_for(settings) is cache_for(Settings(cache_dir=tmp_path))
    assert cache_for(settings) is not cache_for(Settings(cache_dir=tmp_path, require_cache=True))


def test_compiler_keeps_the_options(tmp_path: Path) -> None:
    options = CompileOptions(model_name="net")
    assert assemble(options, Settings(cache_dir=tmp_path)).options is options
