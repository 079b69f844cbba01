"""Whole models as Trn2 would get them: legal, readable by the compiler, and training as in eager.

Every program is made legal for Trn2 first and then compiled for the host, so the numbers are those
of what the device would be given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.diffusion import Diffusion
from models.residual_network import ResNet18
from models.transformers_zoo import ZOO, build
from models.u_net import UNet
from neuron_compile import assembly
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import Legalized, legalize
from neuron_compile.codegen.neuronx_cc.hlo_program import to_hlo
from neuron_compile.lowering import LoweredProgram
from parity import check_parity, compiled
from stand_ins.hlo_proto import read_module
from stand_ins.refusals import refuse
from training_parity import train_parity

# What Dynamo says of models of `transformers`, as in the tests that train them.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`"),
]


class LegalHost(HostCodeGenerator):
    """Compiles the Trn2 form of every program for the host, and keeps it for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Legalized] = []

    def generate(self, program: LoweredProgram) -> Mapping[str, bytes]:
        legal = legalize(program.stablehlo, device_of("trn2"))
        self.seen.append(legal)
        return super().generate(dataclasses.replace(program, stablehlo=legal.stablehlo))


@pytest.fixture
def legal(monkeypatch: pytest.MonkeyPatch) -> Iterator[LegalHost]:
    """The generator in use; at the end, every program must have been legal and readable."""
    generator = LegalHost()
    monkeypatch.setattr(assembly, "generator_for", lambda _options, _settings: generator)
    yield generator
    assert generator.seen, "nothing was compiled"
    for program in generator.seen:
        assert program.refusals == ()
        module = read_module(to_hlo(program.stablehlo))
        assert list(refuse(module, "trn2", set())) == []


def classification_loss(model: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
    images, labels = batch
    return F.cross_entropy(model(images), labels)


class Mixed(nn.Module):
    """Forms that a device refuses as they are: strided and dilated convolution gradients, pooling
    with indices, top-k, integer arithmetic."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.wide = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1)
        self.out = nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = F.max_pool2d(self.wide(self.down(x).relu()), 2)
        h = self.up(h).flatten(2)
        best, where = h.topk(3, dim=-1)
        parity = (where >> 1) - (where // 2)
        result: Tensor = self.out((best + parity).mean(-1))
        return result


def test_forms_that_are_refused_as_they_are_train_as_in_eager(legal: LegalHost) -> None:
    batch = (torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,)))
    train_parity(Mixed(), batch, loss=classification_loss, steps=3)
    codes = {done.code for program in legal.seen for done in program.rewritten}
    assert {"EVRF022", "EVRF029"} <= codes


def test_random_bits_are_those_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(generator: HostCodeGenerator) -> Tensor:
        monkeypatch.setattr(assembly, "generator_for", lambda _options, _settings: generator)
        torch._dynamo.reset()
        torch.manual_seed(11)
        result: Tensor = compiled(lambda x: F.dropout(x, 0.3))(torch.ones(500))
        return result

    legal = LegalHost()
    # The cache would give the one's executable to the other.
    monkeypatch.setattr(legal, "fingerprint", lambda: (("test", b"legal"),))
    plain = drawn(HostCodeGenerator())
    assert torch.equal(drawn(legal), plain)
    assert 250 < (plain > 0).sum() < 450
    assert "EVRF006" in {done.code for done in legal.seen[0].rewritten}


@pytest.mark.parametrize(
    "function,inputs",
    [
        (lambda a, b: a @ b, lambda: [torch.randint(-(2**40), 2**40, (5, 5)) for _ in range(2)]),
        (lambda a, b: a**b, lambda: [torch.randint(-9, 9, (6,)), torch.randint(0, 70, (6,))]),
        (lambda a, b: a >> b, lambda: [torch.randint(-99, 99, (6,)), torch.arange(6)]),
        (
            lambda x, i: x.scatter_add(0, i, i + 2**40),
            lambda: [torch.zeros(5, dtype=torch.int64), torch.randint(0, 5, (40,))],
        ),
        (lambda x, k: x.sort(dim=-1, stable=True), lambda: [torch.randint(0, 9, (3, 20)), None]),
        (lambda x, k: x.topk(4), lambda: [torch.randperm(30), None]),
        (lambda x, k: x.cumsum(-1), lambda: [torch.randint(-(2**40), 2**40, (3, 20)), None]),
    ],
    ids=["product", "power", "shift", "scatter_add", "sort", "topk", "cumsum"],
)
def test_integers_stay_exact(
    legal: LegalHost, function: Callable[..., Any], inputs: Callable[[], list[Any]]
) -> None:
    torch.manual_seed(3)
    check_parity(function, *inputs(), calls=1)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32], ids=str)
def test_best_of_more_than_can_be_sorted(legal: LegalHost, dtype: torch.dtype) -> None:
    """A vocabulary of 128,256: the network sorts what the maxima of blocks leave."""
    logits = (torch.randn(2, 128_256) * 1000).to(dtype)
    if dtype.is_floating_point:
        logits[0, 77], logits[1, 5:9], logits[1, 100_000] = torch.nan, torch.inf, -torch.inf
    check_parity(lambda x: x.topk(20)[0], logits, calls=1)
    distinct = torch.randperm(128_256)[None]
    distinct = distinct.to(torch.float32 if dtype.is_floating_point else dtype)
    check_parity(lambda x: x.topk(20, largest=False), distinct, calls=1)


@pytest.mark.slow
def test_convolutional_network(legal: LegalHost) -> None:
    batch = (torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,)))
    train_parity(ResNet18(), batch, loss=classification_loss, steps=3)


@pytest.mark.slow
def test_u_net(legal: LegalHost) -> None:
    batch = (torch.randn(2, 3, 16, 16), torch.rand(2, 1, 16, 16).round())
    train_parity(
        UNet(3, 1),
        batch,
        loss=lambda model, b: F.binary_cross_entropy_with_logits(model(b[0]), b[1]),
        steps=3,
    )


@pytest.mark.slow
def test_diffusion(legal: LegalHost) -> None:
    batch = (torch.randn(2, 1, 8, 8), torch.tensor([3, 41]), torch.randn(2, 1, 8, 8))
    train_parity(Diffusion(), batch, loss=lambda model, b: model(*b), steps=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "t5", "vit", "gemma2", "convnext"])
def test_transformer(legal: LegalHost, name: str) -> None:
    assert name in ZOO
    train_parity(*build(name), steps=3)
