"""`neuron-compile neff` on the compiler's NEFFs and on ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neuron_compile.artifact.neff import HOST_EXECUTABLE, pack_neff
from neuron_compile.cli.neff import neff
from stand_ins import documented_neff

FILES = {"neff.json": b"{}", "sg00/def.json": b'{"a": 1}', "kelf-0.json": b""}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(neff, [str(argument) for argument in arguments])


@pytest.fixture
def device(tmp_path: Path) -> Path:
    file = tmp_path / "model.neff"
    uuid = bytes(range(16))
    file.write_bytes(documented_neff.write(FILES, name="net", lnc=2, is_gzipped=True, uuid=uuid))
    return file


@pytest.fixture
def host(tmp_path: Path) -> Path:
    file = tmp_path / "host.neff"
    file.write_bytes(pack_neff({HOST_EXECUTABLE: b"code"}, target="host", compressed=False))
    return file


def test_info_of_both_kinds(device: Path, host: Path) -> None:
    said = run("info", device)
    assert said.exit_code == 0
    assert "NEFF for a Neuron device" in said.output
    assert "2.0.0 stand-in" in said.output
    assert "sg00/def.json" in said.output
    assert "NEFF for this host" in run("info", host).output


def test_info_as_json_has_every_header_field(device: Path, host: Path) -> None:
    value = json.loads(run("info", "--json", device).output)
    fields = {name for name, *_ in documented_neff.Header._fields_} - {"pad"}
    assert fields <= set(value["header"])
    assert value["header"]["hash_algorithm"] == "md5"
    assert value["header"]["uuid"] == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert {member["name"]: member["bytes"] for member in value["members"]} == {
        name: len(data) for name, data in FILES.items()
    }
    assert (value["is_host"], value["is_sealed"]) == (False, False)
    ours = json.loads(run("info", "--json", host).output)
    assert (ours["is_host"], ours["is_sealed"]) == (True, True)


def test_unpack_writes_the_members_and_the_header(device: Path, tmp_path: Path) -> None:
    assert run("unpack", device).exit_code == 0
    for name, data in FILES.items():
        assert (tmp_path / "model" / name).read_bytes() == data
    header = json.loads((tmp_path / "model" / "neff-header.json").read_text())
    assert header["name"] == "net"
    again = run("unpack", device)
    assert again.exit_code == 1
    assert "exists" in again.output
    assert run("unpack", device, "-o", tmp_path / "else").exit_code == 0
    assert (tmp_path / "else" / "neff.json").exists()


def test_verify_says_which_file_is_damaged(device: Path, host: Path, tmp_path: Path) -> None:
    assert run("verify", device, host).exit_code == 0
    damaged = tmp_path / "damaged.neff"
    data = bytearray(host.read_bytes())
    data[-600] ^= 1
    damaged.write_bytes(data)
    said = run("verify", device, damaged)
    assert said.exit_code == 1
    assert f"{device}: ok" in said.output
    assert "DAMAGED: the NEFF's data does not have the digest" in said.output
    findings = json.loads(run("verify", "--json", device, damaged).output)
    assert [finding["ok"] for finding in findings] == [True, False]


@pytest.mark.parametrize("command", ["info", "unpack"])
def test_damaged_file_is_an_error_and_no_traceback(command: str, tmp_path: Path) -> None:
    file = tmp_path / "x.neff"
    file.write_bytes(b"too short")
    said = run(command, file)
    assert said.exit_code == 1
    assert "not a NEFF" in said.output
    assert not (tmp_path / "x").exists()
    assert run(command, tmp_path / "absent").exit_code == 2
