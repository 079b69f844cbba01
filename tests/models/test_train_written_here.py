"""Ten steps of models that no library wrote: convolutions, recurrence, two players, diffusion."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters
from torch.nn import functional as F

from models.adversarial import Game, discriminator, generator
from models.diffusion import Diffusion
from models.recurrent_language_model import RecurrentLanguageModel, next_token_loss
from models.residual_network import ResNet18
from models.u_net import UNet
from parity import compiled
from training_parity import assert_gradients_close, train_parity

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def classification_loss(model: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
    images, labels = batch
    return F.cross_entropy(model(images), labels)


def segmentation_loss(model: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
    images, mask = batch
    return F.binary_cross_entropy_with_logits(model(images), mask)


def denoising_loss(model: Any, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    loss: Tensor = model(*batch)
    return loss


@pytest.mark.parametrize(
    "memory_format",
    [
        pytest.param(torch.contiguous_format, id="nchw"),
        pytest.param(torch.channels_last, id="nhwc", marks=pytest.mark.slow),
    ],
)
def test_resnet_18(memory_format: torch.memory_format) -> None:
    model = ResNet18().to(memory_format=memory_format)  # type: ignore[call-overload]
    # The last stage is one pixel wide: statistics over few samples would amplify every rounding.
    images = torch.randn(16, 3, 32, 32).to(memory_format=memory_format)
    train_parity(model, (images, torch.randint(0, 10, (16,))), loss=classification_loss)


def test_u_net() -> None:
    batch = (torch.randn(2, 3, 16, 16), torch.rand(2, 1, 16, 16).round())
    train_parity(UNet(3, 1), batch, loss=segmentation_loss)


def test_lstm_language_model() -> None:
    tokens = torch.randint(0, 40, (3, 9))
    with torch._dynamo.config.patch(allow_rnn=True):
        train_parity(RecurrentLanguageModel(), tokens, loss=next_token_loss)


def test_lstm_is_left_to_eager_unless_dynamo_is_told_to_capture_it() -> None:
    """By default no backend sees a frame that calls `nn.LSTM`; who wants one graph is told why."""
    model = RecurrentLanguageModel()
    tokens = torch.randint(0, 40, (3, 9))
    graphs = counters["stats"]["unique_graphs"]
    expected, _ = model(tokens)
    actual, _ = compiled(model)(tokens)
    assert torch.equal(actual, expected)
    assert counters["stats"]["unique_graphs"] == graphs
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="allow_rnn=True"):
        compiled(model, fullgraph=True)(tokens)


def test_diffusion_step() -> None:
    batch = (torch.randn(2, 1, 8, 8), torch.tensor([3, 41]), torch.randn(2, 1, 8, 8))
    train_parity(Diffusion(), batch, loss=denoising_loss)


def test_adversarial_game_with_two_optimizers() -> None:
    players = generator(), discriminator()
    twins = copy.deepcopy(players)

    def game(nets: tuple[Any, Any], modules: tuple[Any, Any]) -> Game:
        return Game(*nets, *(torch.optim.AdamW(m.parameters(), lr=1e-3) for m in modules))

    eager = game(players, players)
    other = game((compiled(twins[0]), compiled(twins[1])), twins)
    for step in range(10):
        real, noise = torch.randn(4, 1, 8, 8), torch.randn(4, 8, 1, 1)
        expected, actual = eager.step(real, noise), other.step(real, noise)
        assert actual == pytest.approx(expected, rel=1e-4), f"losses of step {step}"
        if step == 0:
            # The generator's loss also left gradients in the discriminator, as it does in eager.
            for player, twin in zip(players, twins, strict=True):
                assert_gradients_close(player, twin)
    for player, twin in zip(players, twins, strict=True):
        torch.testing.assert_close(twin.state_dict(), player.state_dict(), rtol=1e-2, atol=1e-3)
