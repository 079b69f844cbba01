"""One training step of each model that the tests train, for programs that are run by themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.adversarial import Game, discriminator, generator
from models.diffusion import Diffusion
from models.recurrent_language_model import RecurrentLanguageModel, next_token_loss
from models.residual_network import ResNet18
from models.transformers_zoo import build
from models.u_net import UNet

TRANSFORMERS = [
    "gpt2",
    "llama",
    "qwen3",
    "bert",
    "distilbert",
    "albert",
    "t5",
    "bart",
    "vit",
    "convnext",
]


def _compiled(module: nn.Module) -> Any:
    return torch.compile(module, backend="neuron", dynamic=False)


def _loss(model: nn.Module, loss_of: Callable[[Any], Tensor]) -> float:
    loss = loss_of(_compiled(model))
    loss.backward()
    return loss.item()


def _transformer(name: str) -> float:
    model, batch = build(name)
    return _loss(model, lambda f: f(**batch).loss)


def _residual_network() -> float:
    images, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,))
    return _loss(ResNet18(), lambda f: F.cross_entropy(f(images), labels))


def _u_net() -> float:
    images = torch.randn(2, 3, 16, 16)
    return _loss(UNet(3, 1), lambda f: f(images).square().mean())


def _language_model() -> float:
    tokens = torch.randint(0, 40, (3, 9))
    with torch._dynamo.config.patch(allow_rnn=True):
        return _loss(RecurrentLanguageModel(), lambda f: next_token_loss(f, tokens))


def _diffusion() -> float:
    batch = torch.randn(2, 1, 8, 8), torch.tensor([3, 41]), torch.randn(2, 1, 8, 8)
    return _loss(Diffusion(), lambda f: f(*batch))


def _game() -> float:
    players = generator(), discriminator()
    optimizers = [torch.optim.AdamW(player.parameters(), lr=1e-3) for player in players]
    game = Game(*map(_compiled, players), *optimizers)
    return sum(game.step(torch.randn(4, 1, 8, 8), torch.randn(4, 8, 1, 1)))


WRITTEN_HERE: dict[str, Callable[[], float]] = {
    "residual_network": _residual_network,
    "u_net": _u_net,
    "language_model": _language_model,
    "diffusion": _diffusion,
    "game": _game,
}


def step(name: str) -> float:
    """The loss of the first step of a model, whose gradients have been computed."""
    torch.manual_seed(0)
    return WRITTEN_HERE[name]() if name in WRITTEN_HERE else _transformer(name)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, step(name))
