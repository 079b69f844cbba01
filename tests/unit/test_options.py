"""`options={...}` as a mapping: validation, defaults, the environment's share."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from neuron_compile import OptionsError
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings
from neuron_compile.target import TARGETS


def test_nothing_given_means_the_documented_defaults() -> None:
    expected = CompileOptions(
        target="host",
        fallback="raise",
        float64="demote",
        optimization_level=2,
        model_name=None,
        bounds_checks=True,
    )
    assert CompileOptions.from_user(None, Settings()) == expected
    assert CompileOptions.from_user({}, Settings()) == expected


def test_given_values_are_taken_and_the_rest_stays() -> None:
    options = CompileOptions.from_user({"fallback": "eager", "model_name": "net"}, Settings())
    assert options == dataclasses.replace(CompileOptions(), fallback="eager", model_name="net")


def test_environments_target_holds_unless_one_is_given() -> None:
    settings = Settings(target="trn2")
    assert CompileOptions.from_user({}, settings).target == "trn2"
    assert CompileOptions.from_user({"target": "host"}, settings).target == "host"


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_is_accepted(name: str) -> None:
    options = CompileOptions.from_user({"target": name}, Settings())
    assert options.compile_target is TARGETS[name]


@pytest.mark.parametrize(
    "given",
    [
        {"bounds_checks": 1},
        {"bounds_checks": "yes"},
        {"optimization_level": True},
        {"optimization_level": 2.0},
        {"optimization_level": None},
        {"workers": None},
        {"time_limit": 10**400},
        {"time_limit": float("nan")},
        {"memory_limit": "9" * 400 + "GB"},
        {"target": ["host"]},
        {"Target": "host"},
    ],
    ids=str,
)
def test_value_of_another_type_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(OptionsError) as raised:
        CompileOptions.from_user(given, Settings())
    assert next(iter(given)) in raised.value.where[0]


def test_key_that_is_no_string_is_refused() -> None:
    with pytest.raises(OptionsError, match="3: unknown"):
        CompileOptions.from_user({3: "host"}, Settings())  # type: ignore[dict-item]


def test_users_mapping_is_left_as_it_was() -> None:
    given: dict[str, Any] = {}
    CompileOptions.from_user(given, Settings(target="trn1"))
    assert given == {}


@pytest.mark.parametrize("name", ["lnc", "model_name", "memory_limit", "time_limit"])
def test_none_is_the_default_where_it_is_one(name: str) -> None:
    settings = Settings(time_limit_seconds=7)
    assert CompileOptions.from_user({name: None}, settings) == CompileOptions.from_user(
        {}, settings
    )
    assert getattr(CompileOptions(), name) is None
