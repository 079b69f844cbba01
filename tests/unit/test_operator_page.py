"""The page of operators: what it says, and that the one in docs/ is of the stored results."""

from __future__ import annotations

from pathlib import Path

from neuron_compile.operator_page import as_markdown
from neuron_compile.operator_support import OperatorSupport, Outcome, known_operators

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"


def test_a_row_and_the_totals() -> None:
    right, refused = Outcome("right", "right", 4, 4), Outcome("refused", "none", 1, 4)
    outcomes = {"float32": right, "int64": refused}
    row = OperatorSupport("a|b", "torch: Pointwise", ("library",), (), ("note",), outcomes)
    page = as_markdown([row])
    assert "\n## torch: Pointwise\n" in page
    assert "| `a\\|b` | library | float32, int64 refused | float32 | note |" in page
    assert "| float32 | 1 | 1 | 4 |" in page
    assert "| int64 | 1 | 0 | 4 |" in page


def test_the_documentation_is_of_the_stored_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == as_markdown(known_operators()), (
        "run: neuron-compile ops --markdown > docs/operators.md"
    )
