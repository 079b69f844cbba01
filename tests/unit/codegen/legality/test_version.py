from __future__ import annotations

from neuron_compile.codegen.legality.version import code_of, legality_digest


def test_docstrings_comments_and_layout_do_not_count_and_code_does() -> None:
    plain = "def f(x):\n    return x + 1\n"
    dressed = '"""Module."""\n# why\ndef f( x ):\n    """Does."""\n\n    return (x + 1)\n'
    assert code_of(plain) == code_of(dressed)
    assert code_of(plain) != code_of(plain.replace("1", "2"))


def test_digest_is_stable_within_a_source_tree() -> None:
    assert legality_digest() == legality_digest()
    assert len(legality_digest()) == 64
