"""Options and settings put together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from neuron_compile.assembly import assemble, cache_for, generator_for
from neuron_compile.cache import ActionKey, RemotePolicy, default_directory
from neuron_compile.errors import OptionsError
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings
from neuron_compile.target import HOST
from neuron_compile.workers.in_process import InProcess


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


def test_a_remote_url_is_the_remote_tier_of_the_local_folder(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path, cache_url="s3://bucket/team")
    remote = cache_for(settings).policy.remote
    assert remote is not None
    assert (remote.url, remote.write_back) == ("s3://bucket/team", False)
    assert cache_for(settings).directory == tmp_path
    writing = cache_for(Settings(cache_url="s3://bucket", cache_write_remote=True))
    assert writing.directory == default_directory()
    assert writing.policy.remote == RemotePolicy("s3://bucket", write_back=True)


def test_machines_share_a_folder_behind_their_own(tmp_path: Path) -> None:
    key = ActionKey("test", (("input", b"1"),))
    team = tmp_path / "a team"
    there = Settings(cache_url=team.as_uri(), cache_write_remote=True)
    first = cache_for(replace(there, cache_dir=tmp_path / "first"))
    assert first.directory == tmp_path / "first"
    first.get_or_produce(key, lambda: {"blob": b"content"})
    second = cache_for(replace(there, cache_dir=tmp_path / "second", require_cache=True))
    assert second.get_or_produce(key, dict).blobs["blob"] == b"content"
    assert team.is_dir()


def test_a_url_that_is_no_place_is_an_error_of_ours() -> None:
    with pytest.raises(OptionsError, match="NEURON_COMPILE_CACHE_URL") as failure:
        cache_for(Settings(cache_url="ftp://host/x"))
    assert "unknown scheme" in failure.value.why


def test_artifacts_travel_through_a_remote(tmp_path: Path) -> None:
    key = ActionKey("test", (("input", b"1"),))
    there = Settings(cache_url="memory://travel", cache_write_remote=True)
    first = cache_for(replace(there, cache_dir=tmp_path / "first"))
    first.get_or_produce(key, lambda: {"blob": b"content"})
    second = cache_for(replace(there, cache_dir=tmp_path / "second", require_cache=True))
    assert second.get_or_produce(key, dict).blobs["blob"] == b"content"


def test_nothing_is_started_where_nothing_is_to_be_compiled(tmp_path: Path) -> None:
    compiler = assemble(CompileOptions(), Settings(cache_dir=tmp_path, require_cache=True))
    compiler.warm()
    assert isinstance(compiler._runner, InProcess)
