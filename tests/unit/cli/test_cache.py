"""`neuron-compile cache` on stores of made-up entries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cache_actors import giving
from neuron_compile.cache import ActionCache, ActionKey, CacheError
from neuron_compile.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def run(store: Path, *arguments: object, **options: Any) -> Result:
    words = ["cache", "--directory", str(store), *map(str, arguments)]
    return CliRunner().invoke(main, words, **options)


def run_json(store: Path, *arguments: object) -> Any:
    said = run(store, *arguments, "--json")
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


def _key(number: int, tool: str = "1.0") -> ActionKey:
    return ActionKey("codegen", (("number", b"%d" % number), ("tool", tool.encode())))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three entries, each with a manifest and a binary."""
    cache = ActionCache(tmp_path / "store")
    for number in range(3):
        blobs = {"manifest.json": b'{"n":%d}' % number, "program": b"\0\xff" * (1000 + number)}
        cache.get_or_produce(_key(number), giving(**blobs), what=f"[red]graph {number}")
    return tmp_path / "store"


def test_ls_shows_every_entry_with_its_name_as_it_is(store: Path) -> None:
    said = run(store, "ls")
    assert said.exit_code == 0
    for number in range(3):
        assert _key(number).digest[:12] in said.output
        assert f"[red]graph {number}" in said.output
    listed = run_json(store, "ls")
    assert {entry["key"] for entry in listed} == {_key(number).digest for number in range(3)}
    assert len(run_json(store, "ls", "--limit", 2)) == 2


def test_stats_shows_settings_sizes_and_the_last_miss(store: Path) -> None:
    ActionCache(store).get_or_produce(_key(1, "1.1"), lambda: {"a": b"1"}, what="graph 1 again")
    said = run(store, "stats")
    assert said.exit_code == 0
    assert str(store) in said.output.replace("\n", "").replace(" ", "")
    assert "graph 1 again" in said.output
    assert "tool: 1.0 -> 1.1" in said.output
    stats = run_json(store, "stats")
    assert (stats["entries"], stats["problem"], stats["remote"]) == (4, "", None)
    assert stats["last_miss"]["what"] == "graph 1 again"


def test_show_prints_parts_and_text_and_single_blobs_as_they_are(store: Path) -> None:
    key = _key(2).digest
    said = run(store, "show", key[:20])
    assert said.exit_code == 0
    assert "tool" in said.output
    assert '{"n":2}' in said.output
    assert run(store, "show", key, "--blob", "program").stdout_bytes == b"\0\xff" * 1002
    shown = run_json(store, "show", key)
    assert shown["texts"] == {"manifest.json": '{"n":2}'}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("show", "zz"), "no entry of"),
        (("show", ""), "3 entries of"),
        (("export", "f", "zz"), "no entry"),
    ],
)
def test_a_key_must_name_one_entry(
    store: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    said = run(store, *(str(tmp_path / word) if word == "f" else word for word in arguments))
    assert said.exit_code == 1
    assert message in said.output


def test_show_refuses_an_unknown_blob(store: Path) -> None:
    said = run(store, "show", _key(0).digest, "--blob", "neff")
    assert said.exit_code == 1
    assert "manifest.json, program" in said.output


def test_show_prints_stablehlo_as_text(tmp_path: Path) -> None:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    from neuron_compile.lowering.library.link import mlir_context

    text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    module = ir.Module.parse(text, context=mlir_context())
    artifact = bytes(stablehlo.serialize_portable_artifact(module, "1.0.0"))
    ActionCache(tmp_path / "s").get_or_produce(_key(1), lambda: {"stablehlo": artifact})
    assert "func.func @main" in run(tmp_path / "s", "show", _key(1).digest).output


def test_verify_ends_with_one_on_damage_and_repairs_it(store: Path) -> None:
    assert run(store, "verify").exit_code == 0
    (damaged,) = (store / "ac").rglob(_key(1).digest)
    damaged.write_bytes(b"damaged")
    said = run(store, "verify", "--json")
    assert said.exit_code == 1
    assert json.loads(said.stdout)["problems"][0]["file"].endswith(_key(1).digest)
    assert "1 repaired" in run(store, "verify", "--repair").output
    assert run(store, "verify").exit_code == 0


def test_gc_keeps_to_the_limits_it_is_given(store: Path) -> None:
    assert run_json(store, "gc")["removed_entries"] == 0
    assert run_json(store, "gc", "--max-entries", 2)["entries"] <= 2
    done = run_json(store, "gc", "--max-size", "0B")
    assert (done["entries"], done["size_bytes"]) == (0, 0)
    assert "0 entries removed" in run(store, "gc", "--max-age", "30d").output


@pytest.mark.parametrize(
    "option, value", [("--max-size", "much"), ("--max-age", "7"), ("--max-age", "-1d")]
)
def test_gc_refuses_what_is_no_limit(store: Path, option: str, value: str) -> None:
    said = run(store, "gc", f"{option}={value}")
    assert said.exit_code == 2
    assert "is not" in said.output


def test_a_cache_goes_through_a_file(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "bundle"
    assert run_json(store, "export", file)["entries"] == 3
    taken = {"entries": 3, "foreign": []}
    assert run_json(tmp_path / "other", "import", file) == {**taken, "added": 3}
    assert run_json(tmp_path / "other", "import", file) == {**taken, "added": 0}
    file.write_bytes(file.read_bytes()[:-10])
    said = run(tmp_path / "third", "import", file)
    assert said.exit_code == 1
    assert "bundle" in said.output
    assert run_json(store, "export", file, _key(1).digest[:16])["entries"] == 1


def test_clear_asks_and_removes_everything(store: Path) -> None:
    assert run(store, "clear", input="n\n").exit_code == 1
    assert len(run_json(store, "ls")) == 3
    assert run_json(store, "clear", "--yes")["removed_entries"] == 3
    assert run_json(store, "ls") == []


def test_a_refused_directory_is_an_error_with_its_reason(store: Path) -> None:
    store.chmod(0o777)
    with pytest.warns(match="every user"):
        said = run(store, "verify")
    assert said.exit_code == 1
    assert "every user" in said.output


def test_errors_of_the_cache_are_no_tracebacks(store: Path, tmp_path: Path) -> None:
    said = run(store, "export", tmp_path / "no" / "such" / "folder")
    assert said.exit_code == 1
    assert not isinstance(said.exception, CacheError | OSError)
    assert "cannot be written" in said.output


def test_a_size_that_no_number_holds_is_refused(store: Path) -> None:
    said = run(store, "gc", "--max-size", "9" * 400)
    assert said.exit_code == 2
    assert "is not a size such as 500MB" in said.output
