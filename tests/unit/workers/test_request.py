"""Requests as plain data, and what makes two builds of the tools different."""

from __future__ import annotations

import pytest

from neuron_compile import actions
from neuron_compile.workers.recipe import GeneratorRecipe
from neuron_compile.workers.request import GENERATE, LOWER, TASKS, Request, identity


def test_request_is_read_back() -> None:
    recipe = GeneratorRecipe("host", {"optimization_level": 3})
    for request in (Request.to(LOWER, {"a": b"1"}), Request.to(GENERATE, {"b": b""}, recipe)):
        assert Request.from_json(request.to_json(), request.inputs) == request
        assert request.identity


def test_identity_follows_the_tools_and_the_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    recipes = [GeneratorRecipe("host", {"optimization_level": level}) for level in (1, 3)]
    before = {identity(LOWER, None), *(identity(GENERATE, recipe) for recipe in recipes)}
    assert len(before) == 3
    monkeypatch.setattr(actions, "lowering_tools", lambda: (("lowering source", b"edited"),))
    assert identity(LOWER, None) not in before
    assert identity(GENERATE, recipes[0]) in before


def test_every_action_has_a_task() -> None:
    assert set(TASKS) == {"lower", "convert", "generate"}
