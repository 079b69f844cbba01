"""A digest of code that changes programs, for the cache's key.

Of the code without comments, layout and docstrings, so that a NEFF that took an hour to build
survives an edit of those.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from pathlib import Path


@functools.cache
def source_digest(folder: Path, *patterns: str) -> str:
    """SHA-256 in hexadecimal of the files below `folder` that match, equal for equal code."""
    digest = hashlib.sha256()
    files = {file for pattern in patterns for file in folder.rglob(pattern)}
    for file in sorted(files):
        digest.update(str(file.relative_to(folder)).encode() + b"\0")
        digest.update(code_of(file.read_text()).encode() + b"\0")
    return digest.hexdigest()


def code_of(source: str) -> str:
    """The syntax tree of a Python module, as text, without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return ast.dump(tree)
