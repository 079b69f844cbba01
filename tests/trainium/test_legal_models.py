"""Every model that the tests train, forward and backward, as Trn2's compiler would get it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from models.adversarial import discriminator, generator
from models.diffusion import Diffusion
from models.recurrent_language_model import RecurrentLanguageModel, next_token_loss
from models.residual_network import ResNet18
from models.transformers_zoo import ZOO, build
from models.u_net import UNet
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize
from neuron_compile.codegen.neuronx_cc.hlo_program import to_hlo
from neuron_compile.explanation.capture import capture
from neuron_compile.explanation.lower_fully import lower_fully
from neuron_compile.options import CompileOptions
from neuron_compile.target import TARGETS
from neuron_compile.workers.in_process import InProcess
from stand_ins.hlo_proto import read_module
from stand_ins.refusals import refuse
from tiers import slow_unless

# What Dynamo says of models of `transformers`, as in the tests that train them.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`"),
]

Case = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

WRITTEN: dict[str, Callable[[], Case]] = {
    "resnet18": lambda: (
        lambda model, x, y: F.cross_entropy(model(x), y),
        (ResNet18(), torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))),
        {},
    ),
    "u_net": lambda: (UNet(3, 1), (torch.randn(2, 3, 16, 16),), {}),
    "diffusion": lambda: (
        Diffusion(),
        (torch.randn(2, 1, 8, 8), torch.tensor([3, 41]), torch.randn(2, 1, 8, 8)),
        {},
    ),
    "generator": lambda: (generator(), (torch.randn(4, 8, 1, 1),), {}),
    "discriminator": lambda: (discriminator(), (torch.randn(4, 1, 8, 8),), {}),
    "lstm": lambda: (
        next_token_loss, (RecurrentLanguageModel(), torch.randint(0, 20, (2, 9))), {},
    ),
}  # fmt: skip

# Architecture -> what Trn2 does not have.
REFUSED: dict[str, set[str]] = {
    # Fourier transforms, and the complex numbers they give.
    "fnet": {"EVRF001", "EVRF004"},
}


def case(name: str) -> Case:
    if name in WRITTEN:
        return WRITTEN[name]()
    model, batch = build(name)
    return model, (), batch


@pytest.mark.parametrize(
    "name", slow_unless([("gpt2",), ("generator",)], [(name,) for name in (*WRITTEN, *ZOO)])
)
def test_model_is_legal_for_trn2_and_its_hlo_can_be_read(name: str) -> None:
    torch.manual_seed(0)
    subject, args, kwargs = case(name)
    # By default Dynamo leaves a frame that calls `nn.LSTM` to eager.
    with torch._dynamo.config.patch(allow_rnn=True):
        captured = capture(subject, args, kwargs, CompileOptions(target="trn2"))
    assert captured.problems == []
    assert {graph.role.value for graph in captured.graphs} >= {"forward", "backward"}
    refused: set[str] = set()
    for graph in captured.graphs:
        lowering = lower_fully(graph.module, InProcess(HostCodeGenerator()), TARGETS["trn2"])
        assert (lowering.failures, lowering.problem) == ((), "")
        assert lowering.blobs is not None
        legal = legalize(lowering.blobs["stablehlo"], device_of("trn2"))
        refused |= {refusal.code for refusal in legal.refusals}
        if not legal.refusals:
            module = read_module(to_hlo(legal.stablehlo))
            assert list(refuse(module, "trn2", set())) == []
    assert refused == REFUSED.get(name, set())
