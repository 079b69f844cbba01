"""The repository's files, and which of its test functions can fail."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = {
    "neuron_compile": "neuron_compile",
    "lowering": "neuron_compile.lowering",
    "cache": "neuron_compile.cache",
}
SOURCES: Final = sorted(
    path.relative_to(ROOT)
    for folder in PACKAGES
    for path in (ROOT / folder).rglob("*.py")
    # Installed as a module outside of the package.
    if "torch_logs_name" not in path.parts
)
TESTS: Final = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file of the repository."""
    return ast.parse((ROOT / path).read_text())


def module_name(path: Path) -> str:
    """The import name of a source file."""
    inner = path.with_suffix("").parts[1:]
    return ".".join((PACKAGES[path.parts[0]], *(part for part in inner if part != "__init__")))


def holds_code(path: Path) -> bool:
    """Whether a file defines a function or a class."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.walk(parsed(path)))


@functools.cache
def covered_modules() -> frozenset[str]:
    """Modules with a test file of their name or imported by a test, and those of the same package
    (`neuron_compile.codegen`, `lowering.library`) that they are made of."""
    files = {module_name(path): path for path in SOURCES}
    tested = {name for name, path in files.items() if _mirror(path).exists()}
    for path in (ROOT / "tests").rglob("*.py"):
        tested |= _imported(path.relative_to(ROOT)) & files.keys()
    pending = list(tested)
    while pending:
        path = files[pending.pop()]
        for name in (_imported(path) & files.keys()) - tested:
            if files[name].parts[:2] == path.parts[:2] or files[name].parent == path.parent:
                tested.add(name)
                pending.append(name)
    return frozenset(tested)


def _mirror(path: Path) -> Path:
    inner = path.relative_to("neuron_compile") if path.parts[0] == "neuron_compile" else path
    return ROOT / "tests" / "unit" / inner.parent / f"test_{path.name}"


def _imported(path: Path) -> set[str]:
    """Every module that a file imports, or imports a name from."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def functions_of_tests(path: Path) -> list[ast.FunctionDef]:
    """The test functions of a file."""
    return [
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def can_fail(function: ast.FunctionDef) -> bool:
    """Whether a function asserts, expects an exception or a warning, or calls what does."""
    return _asserts_itself(function) or not _called(function).isdisjoint(_asserting_names())


@functools.cache
def _asserting_names() -> frozenset[str]:
    """Names of functions under tests/ that assert, by themselves or through others."""
    functions = [
        node
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(parsed(path.relative_to(ROOT)))
        if isinstance(node, ast.FunctionDef)
    ]
    names = {function.name for function in functions if _asserts_itself(function)}
    while more := {f.name for f in functions if f.name not in names and _called(f) & names}:
        names |= more
    return frozenset(names)


def _asserts_itself(function: ast.FunctionDef) -> bool:
    expected = {"raises", "warns", "fail", "check_call", "check_output"}
    # Functions of ours that do nothing but raise.
    validators = ("assert_", "check_", "require_", "reject_")
    return any(
        isinstance(node, ast.Assert) or _is_checked_run(node) for node in ast.walk(function)
    ) or any(name in expected or name.startswith(validators) for name in _called(function))


def _is_checked_run(node: ast.AST) -> bool:
    """`subprocess.run(..., check=True)`: the child asserts."""
    return isinstance(node, ast.Call) and any(keyword.arg == "check" for keyword in node.keywords)


def _called(function: ast.FunctionDef) -> set[str]:
    return set(_names(function))


def _names(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2]
