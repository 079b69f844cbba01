"""Ten AdamW steps of small language and vision models go as they do in eager."""

from __future__ import annotations

import pytest

from models.transformers_zoo import build
from training_parity import train_parity

# Dynamo itself reads `.grad` of a non-leaf argument where a graph breaks.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def rows(names: str, *marks: pytest.MarkDecorator) -> list[object]:
    return [pytest.param(name, marks=marks) for name in names.split()]


@pytest.mark.parametrize(
    "name",
    rows("gpt2 bert")
    + rows("llama qwen3 distilbert albert t5 bart vit convnext", pytest.mark.slow),
)
def test_training_follows_eager(name: str) -> None:
    model, batch = build(name)
    train_parity(model, batch)
