"""An LSTM language model: embedding, two recurrent layers, projection onto the vocabulary."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

State = tuple[Tensor, Tensor]


class RecurrentLanguageModel(nn.Module):
    """Token numbers (N, T) and a state to logits (N, T, vocabulary) and the next state."""

    def __init__(self, vocabulary: int = 40, features: int = 16, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features)
        self.recurrent = nn.LSTM(features, features, layers, batch_first=True)
        self.project = nn.Linear(features, vocabulary)

    def forward(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        hidden, state = self.recurrent(self.embedding(tokens), state)
        return self.project(hidden), state


def next_token_loss(model: RecurrentLanguageModel, tokens: Tensor) -> Tensor:
    """Cross entropy of each token given those before it, the state carried over a cut."""
    middle = tokens.shape[1] // 2
    first, state = model(tokens[:, :middle])
    detached = (state[0].detach(), state[1].detach())
    second, _ = model(tokens[:, middle:-1], detached)
    loss = F.cross_entropy(first.flatten(0, 1), tokens[:, 1 : middle + 1].flatten())
    return loss + F.cross_entropy(second.flatten(0, 1), tokens[:, middle + 1 :].flatten())
