"""Explanations of misses."""

from __future__ import annotations

from neuron_compile.cache import ActionKey
from neuron_compile.cache.entry import ActionEntry
from neuron_compile.cache.explain import explain

_IR = b"module @main " * 40


def _key(parts: dict[str, str] | None = None, ir: bytes = _IR) -> ActionKey:
    named = {"tool neuronx-cc": "2.27", "flag --lnc": "2", "cpu features": "avx2"} | (parts or {})
    values = tuple((name, text.encode()) for name, text in named.items() if text)
    return ActionKey("codegen", (("ir", ir), *values))


def _entry(key: ActionKey, what: str = "") -> ActionEntry:
    return ActionEntry(key.digest, key.kind, key.records, (), 0.0, 0.0, what)


def _explained(wanted: ActionKey, *stored: ActionEntry) -> str:
    return str(explain(wanted.digest, wanted.kind, wanted.records, stored))


def test_a_changed_version_is_named_with_both_values() -> None:
    stored = _entry(_key(), "GPT2 forward")
    text = _explained(_key({"tool neuronx-cc": "2.28"}), stored)
    assert text == (
        f"nearest entry {stored.key[:12]} (GPT2 forward) differs in\n"
        "  tool neuronx-cc: 2.27 -> 2.28"
    )


def test_added_and_missing_parts_are_told_apart() -> None:
    text = _explained(_key({"flag --optlevel": "1", "flag --lnc": ""}), _entry(_key()))
    assert text.splitlines()[1:] == ["  flag --lnc: 2 is gone", "  flag --optlevel: 1 is new"]


def test_a_large_part_is_shown_by_size_and_digest() -> None:
    text = _explained(_key(ir=_IR + b"!"), _entry(_key()))
    assert f"ir: {len(_IR)} bytes, sha256 " in text
    assert f"-> {len(_IR) + 1} bytes" in text


def test_the_same_program_under_other_tools_explains_more_than_another_program() -> None:
    other_program = _entry(_key(ir=b"other " * 100), "other program")
    other_tools = _entry(_key({"tool neuronx-cc": "2.26", "flag --lnc": "1"}), "other tools")
    assert "(other tools)" in _explained(_key(), other_program, other_tools)


def test_an_empty_store_or_one_of_other_kinds_explains_by_that() -> None:
    assert _explained(_key()) == "the cache holds no codegen entry"
    lower = ActionKey("lower", _key().parts)
    assert _explained(_key(), _entry(lower)) == "the cache holds no codegen entry"


def test_the_key_itself_does_not_explain_its_miss() -> None:
    wanted = _key()
    found = explain(wanted.digest, wanted.kind, wanted.records, [_entry(wanted)])
    assert found.nearest is None
    assert found.looked_at == 0
