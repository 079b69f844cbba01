"""The private interfaces of PyTorch that warm starts stand on are as they were."""

from __future__ import annotations

import inspect

import torch
import torch._functorch.config as functorch_config
from torch._functorch._aot_autograd import aot_autograd_result, graph_compile, schemas
from torch._functorch._aot_autograd.autograd_cache import (
    AOTAutogradCache,
    AOTAutogradCacheDetails,
    BypassAOTAutogradCache,
)
from torch._inductor.codecache import FxGraphHashDetails
from torch._inductor.output_code import OutputCode
from torch.compiler import _cache


def test_output_code_has_the_methods_that_are_overridden_and_no_others() -> None:
    methods = {
        name
        for name, value in vars(OutputCode).items()
        if inspect.isfunction(value) and not name.startswith("__")
    }
    assert methods == {"post_compile", "prepare_for_serialization", "set_triton_bundle"}


def test_compilers_that_make_aotautograd_consult_its_cache() -> None:
    parameters = inspect.signature(schemas.SerializableAOTDispatchCompiler).parameters
    assert list(parameters) == ["output_code_ty", "compiler_fn"]


def test_settings_that_are_patched() -> None:
    with functorch_config.patch(bundled_autograd_cache=True, force_non_lazy_backward_lowering=True):
        assert graph_compile._should_save_cache(len)
    with torch.compiler.config.patch(cache_key_tag="a tag"):  # type: ignore[attr-defined]
        assert torch.compiler.config.cache_key_tag == "a tag"
    assert "self.cache_key_tag = cconfig.cache_key_tag" in inspect.getsource(FxGraphHashDetails)


def test_key_holds_the_state_that_tracing_depends_on() -> None:
    source = inspect.getsource(AOTAutogradCacheDetails) + inspect.getsource(FxGraphHashDetails)
    for name in ("grad_enabled", "autocast_state", "deterministic_algorithms", "default_dtype"):
        assert f"self.{name}" in source


def test_code_is_copied_before_it_is_made_ready_for_pickling() -> None:
    source = inspect.getsource(aot_autograd_result.BundledOutputCodeLoadable.pre_save)
    assert source.index("copy(self.result)") < source.index("prepare_for_serialization()")


def test_a_refusal_to_be_saved_or_loaded_is_no_error() -> None:
    assert issubclass(BypassAOTAutogradCache, Exception)
    assert "except BypassAOTAutogradCache" in inspect.getsource(AOTAutogradCache.save)
    assert "except Exception" in inspect.getsource(AOTAutogradCache.try_load)


def test_artifacts_are_classes_with_a_type() -> None:
    assert isinstance(_cache.CacheArtifactFactory._artifact_types, dict)
    assert list(inspect.signature(_cache.CacheArtifactRecorder).parameters) == [
        "artifact_type",
        "key",
    ]
    assert "writer.write_bytes(cls.content)" in inspect.getsource(_cache.CacheArtifact.serialize)
