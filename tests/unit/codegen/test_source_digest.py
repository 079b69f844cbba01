from __future__ import annotations

from pathlib import Path

from neuron_compile.codegen.source_digest import code_of, source_digest


def test_docstrings_comments_and_layout_do_not_count_and_code_does() -> None:
    plain = "def f(x):\n    return x + 1\n"
    dressed = '"""Module."""\n# why\ndef f( x ):\n    """Does."""\n\n    return (x + 1)\n'
    assert code_of(plain) == code_of(dressed)
    assert code_of(plain) != code_of(plain.replace("1", "2"))


def test_digest_is_of_the_files_that_match_their_names_and_their_code(tmp_path: Path) -> None:
    def digest(name: str, **files: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        for file, text in files.items():
            (folder / f"{file}.py").write_text(text)
        return source_digest(folder, "a*.py", "b.py")

    base = digest("base", a="x = 1", b="y = 2")
    assert digest("elsewhere", a="x = 1  # one", b="y = 2", c="z = 3") == base
    assert digest("edited", a="x = 1", b="y = 3") != base
    assert digest("renamed", a2="x = 1", b="y = 2") != base
