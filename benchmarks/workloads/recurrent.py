"""A language model of two LSTM layers, unrolled into the graph by Inductor and by us alike."""

from __future__ import annotations

import torch
from torch import Tensor, nn, randint
from torch.nn import functional

from benchmarks.workloads.workload import Built, Workload

# Scale -> words, width, sequences, length.
_SIZES = {"tiny": (20, 4, 2, 3), "quick": (2000, 128, 8, 8), "full": (10_000, 512, 16, 16)}


class LstmLanguageModel(nn.Module):
    """Words (N, T) to logits of the next ones (N, T, words)."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.recurrent = nn.LSTM(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, text: Tensor) -> Tensor:
        hidden, _ = self.recurrent(self.embedding(text))
        logits: Tensor = self.head(hidden)
        return logits


def _predict(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    logits: Tensor = model(batch["text"])
    return logits


def _loss(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["text"]).flatten(0, 1), batch["next"].flatten())


def _build(scale: str) -> Built:
    words, width, *shape = _SIZES[scale]
    # Otherwise Dynamo leaves `nn.LSTM` to eager.
    torch._dynamo.config.allow_rnn = True
    batch = {"text": randint(words, shape), "next": randint(words, shape)}
    return Built(LstmLanguageModel(words, width), batch, _predict, _loss)


WORKLOADS = (Workload("lstm", _build),)
