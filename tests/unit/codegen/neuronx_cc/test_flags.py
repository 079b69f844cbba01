"""One canonical form for flags however they are written."""

from __future__ import annotations

import pytest

from neuron_compile.codegen.neuronx_cc.flags import canonical_text, command_words, parse_flags
from neuron_compile.errors import OptionsError


@pytest.mark.parametrize(
    "text",
    [
        "-O2 --model-type transformer",
        "--model-type=transformer --optlevel=2",
        "--optlevel 1 -O=2  --model-type=generic --model-type=transformer",
        "-O 2 --model-type=transformer --cache_dir=/x --no_cache --log_level debug",
        "--verbose=35 -O2 --retry_failed_compilation --model-type=transformer --logfile l.txt",
        "--cache_dir '/a b' -O2 --model-type 'transformer'",
    ],
)
def test_spellings_of_one_meaning_have_one_form(text: str) -> None:
    assert canonical_text(parse_flags(text)) == "--model-type=transformer --optlevel=2"


@pytest.mark.parametrize(
    "text,flags",
    [
        ("", {}),
        ("-lnc 1", {"--lnc": "1"}),
        ("--logical-nc-config=2", {"--lnc": "2"}),
        ("--enable-saturate-infinity -O1", {"--enable-saturate-infinity": None, "--optlevel": "1"}),
        ("--internal-x=--a=b,c --y", {"--internal-x": "--a=b,c", "--y": None}),
        ("--internal-x 'two words' --y z", {"--internal-x": "two words", "--y": "z"}),
    ],
)
def test_flags_by_canonical_name(text: str, flags: dict[str, str | None]) -> None:
    assert parse_flags(text) == flags


def test_undocumented_flags_stay_and_are_part_of_the_key() -> None:
    flags = parse_flags("--internal-hlo2tensorizer-options=--verify-hlo=true")
    assert canonical_text(flags) == "--internal-hlo2tensorizer-options=--verify-hlo=true"
    assert command_words(parse_flags("--z 1 --a")) == ["--a", "--z=1"]


def test_silent_flags_reach_the_compiler_but_not_the_key() -> None:
    flags = parse_flags("--verbose=debug -O1")
    assert command_words(flags) == ["--optlevel=1", "--verbose=debug"]
    assert canonical_text(flags) == "--optlevel=1"


@pytest.mark.parametrize(
    "text,complaint",
    [
        ("-O4", "--optlevel is one of 1, 2, 3"),
        ("--model-type=resnet", "--model-type is one of"),
        ("--auto-cast", "needs a value"),
        ("--target=trn1", "set by the options"),
        ("--output x.neff", "set by the options"),
        ("--framework=XLA", "set by the options"),
        ("model.hlo", "not a flag"),
        ("--model-type 'generic", "cannot be split"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(OptionsError, match=complaint) as raised:
        parse_flags(text)
    assert "NEURON_CC_FLAGS" in str(raised.value)
