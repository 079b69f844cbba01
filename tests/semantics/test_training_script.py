"""A whole training script behaves the same when only `torch.compile` is added to it."""

from __future__ import annotations

import copy
import io
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from parity import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        # A bias before BatchNorm has no gradient but rounding, which Adam would blow up.
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.head = nn.Linear(4 * 3 * 3, 3)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.head(self.features(images).flatten(1))
        if labels is None:
            return {"logits": logits}
        return {"logits": logits, "loss": F.cross_entropy(logits, labels)}


def script(wrap: Callable[[nn.Module], Any]) -> dict[str, Any]:
    """Epochs with an odd last batch, clipping, schedule, weight average, evaluation, resuming."""
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(10, 1, 6, 6), torch.arange(10) % 3)
    module = Classifier()
    model = wrap(module)
    average = torch.optim.swa_utils.AveragedModel(module)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
    log: dict[str, Any] = {"loss": [], "norm": [], "accuracy": []}
    for epoch in range(2):
        model.train()
        loader = DataLoader(data, 4, shuffle=True, generator=torch.Generator().manual_seed(epoch))
        for images, labels in loader:
            loss = model(images, labels)["loss"]
            optimizer.zero_grad(set_to_none=epoch == 0)
            loss.backward()
            log["norm"].append(nn.utils.clip_grad_norm_(model.parameters(), 0.5).item())
            optimizer.step()
            scheduler.step()
            average.update_parameters(module)
            log["loss"].append(loss.item())
        model.eval()
        with torch.no_grad():
            logits = torch.cat([model(images)["logits"] for images, _ in DataLoader(data, 4)])
        log["accuracy"].append((logits.argmax(1) == data.tensors[1]).float().mean().item())
        file = io.BytesIO()
        torch.save({"model": module.state_dict(), "optimizer": optimizer.state_dict()}, file)
        file.seek(0)
        saved = torch.load(file)
        module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    log["state"] = copy.deepcopy(module.state_dict())
    log["average"] = copy.deepcopy(average.module.state_dict())
    return log


def test_script_logs_and_ends_with_the_same_weights() -> None:
    expected, actual = script(lambda m: m), script(compiled)
    for key in ("loss", "norm"):
        assert actual[key] == pytest.approx(expected[key], rel=1e-4), key
    assert actual["accuracy"] == expected["accuracy"]
    for key in ("state", "average"):
        torch.testing.assert_close(actual[key], expected[key], rtol=1e-3, atol=1e-4)


def test_gradient_accumulation_with_a_scaled_loss() -> None:
    results = []
    for wrap in (lambda m: m, compiled):
        torch.manual_seed(3)
        module = nn.Linear(5, 2)
        model: Any = wrap(module)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for step in range(4):
            x = torch.randn(3, 5)
            (model(x).square().mean() / 2).backward()
            if step % 2:
                optimizer.step()
                optimizer.zero_grad()
        results.append(module.state_dict())
    torch.testing.assert_close(results[1], results[0])


def test_loss_and_model_compiled_as_one_function() -> None:
    results = []
    for wrap in (lambda f: f, compiled):
        torch.manual_seed(3)
        module = nn.Sequential(nn.Embedding(11, 4), nn.Flatten(), nn.Linear(12, 11))

        def loss_of(tokens: Tensor, labels: Tensor, net: nn.Module = module) -> Tensor:
            return F.cross_entropy(net(tokens), labels, ignore_index=-100, label_smoothing=0.1)

        function: Any = wrap(loss_of)
        optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
        losses = []
        for _ in range(3):
            tokens = torch.randint(0, 11, (4, 3))
            loss = function(tokens, torch.tensor([1, -100, 3, 10]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        results.append(losses)
    assert results[1] == pytest.approx(results[0], rel=1e-4)


def test_generation_with_a_cache_that_grows() -> None:
    """Each step has a new shape; all are right."""
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    function = compiled(module, dynamic=None)
    with torch.no_grad():
        keys = torch.zeros(1, 0, 8)
        for _ in range(4):
            token = torch.randn(1, 1, 8)
            keys = torch.cat([keys, token], 1)
            expected, _ = module(token, keys, keys, need_weights=False)
            actual, _ = function(token, keys, keys, need_weights=False)
            torch.testing.assert_close(actual, expected)
