"""AOTAutograd's settings while our graphs go through it."""

from __future__ import annotations

from pathlib import Path

import torch

from neuron_compile.assembly import assemble
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings
from neuron_compile.warm_start.cache_tag import cache_tag
from neuron_compile.warm_start.storing import storing


def test_settings_hold_within_and_not_after(tmp_path: Path) -> None:
    compiler = assemble(CompileOptions(), Settings(cache_dir=tmp_path))
    config = torch._functorch.config
    before = (config.bundled_autograd_cache, torch.compiler.config.cache_key_tag)
    with storing(compiler, "Net", [torch.ones(2)]):
        assert config.bundled_autograd_cache
        assert config.force_non_lazy_backward_lowering
        within = torch.compiler.config.cache_key_tag
    assert within == cache_tag(compiler.options, compiler.generator, [torch.ones(2)])
    assert (config.bundled_autograd_cache, torch.compiler.config.cache_key_tag) == before


def test_no_graph_is_stored_where_every_stage_is_to_be_dumped(tmp_path: Path) -> None:
    assert assemble(CompileOptions(), Settings(cache_dir=tmp_path)).stores_graphs
    dumping = Settings(cache_dir=tmp_path, debug_dir=tmp_path / "debug")
    assert not assemble(CompileOptions(), dumping).stores_graphs
