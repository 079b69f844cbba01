"""Every model that the tests train: warmed here, run without a miss somewhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsewhere import Place, environment_of_its_own
from models import one_step

PROGRAM = """
import json, sys

from models.one_step import step
from torch._dynamo.utils import counters

losses = {name: step(name) for name in sys.argv[1:]}
neuron = counters["neuron"]
produced = neuron["lower_produced"] + neuron["codegen_produced"]
print(json.dumps({"losses": losses, "produced": produced, "graphs": neuron["graphs"]}))
"""

NAMES = [*one_step.TRANSFORMERS, *one_step.WRITTEN_HERE]
TESTS = str(Path(__file__).parents[1])

pytestmark = [pytest.mark.slow, pytest.mark.multiprocess]


def test_models_find_all_their_graphs_in_a_warmed_cache(tmp_path: Path) -> None:
    here = Place(tmp_path / "here", PROGRAM, PYTHONPATH=TESTS)
    here.warm(arguments=["--", *NAMES])
    there = Place(
        tmp_path / "far" / "away",
        PROGRAM,
        PYTHONPATH=TESTS,
        NEURON_COMPILE_REQUIRE_CACHE="1",
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "none"),
    )
    found = there.run(*NAMES, python=environment_of_its_own(tmp_path / "environment"))
    assert found["produced"] == 0
    assert found["graphs"] >= 2 * len(NAMES)
    assert set(found["losses"]) == set(NAMES)
