"""NEFFs run by the stand-in for libnrt: numbers, order of calls, statuses, types."""

from __future__ import annotations

import gc
import threading

import pytest
import torch

from neuron_compile.artifact.neff import HOST_EXECUTABLE, pack_neff
from neuron_compile.errors import ArtifactError, ExecutionError
from neuron_compile.lowering import TensorSpec
from neuron_compile.runtime.nrt.executable import NrtExecutable
from neuron_compile.runtime.nrt.library import open_library
from neuron_compile.runtime.nrt.load import load_device_neff
from neuron_compile.runtime.nrt.runtime import NrtRuntime
from neuron_compile.runtime.nrt.status import NrtError

from .conftest import StandIn, manifest_of, neff_of, spec

F = spec("float32", 2, 3)
SUM = (neff_of([F, F], [F], "add output0 input0 input1"), manifest_of([F, F], [F]))


def test_numbers_come_back(runtime: NrtRuntime) -> None:
    program = NrtExecutable(
        neff_of(
            [F, F], [F, F], "add t0 input0 input1", "multiply output0 t0 input1", "copy output1 t0"
        ),
        manifest_of([F, F], [F, F]),
        runtime,
    )
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    for _ in range(3):
        product, total = program.execute([x, y])
        torch.testing.assert_close(product, (x + y) * y)
        torch.testing.assert_close(total, x + y)
    assert total.is_contiguous()
    assert total.data_ptr() not in {x.data_ptr(), y.data_ptr()}


def test_results_of_one_call_survive_the_next(runtime: NrtRuntime) -> None:
    program = NrtExecutable(*SUM, runtime)
    (first,) = program.execute([torch.ones(2, 3), torch.ones(2, 3)])
    program.execute([torch.zeros(2, 3), torch.zeros(2, 3)])
    assert torch.equal(first, torch.full((2, 3), 2.0))


def test_inputs_are_not_written_and_may_be_strided(runtime: NrtRuntime) -> None:
    program = NrtExecutable(*SUM, runtime)
    x, y = torch.randn(3, 2).t(), torch.randn(2, 3)
    kept = x.clone()
    (total,) = program.execute([x, y])
    torch.testing.assert_close(total, kept + y)
    assert torch.equal(x, kept)


def test_calls_are_made_in_the_documented_order(stand_in: StandIn) -> None:
    runtime = NrtRuntime(open_library(stand_in.path))
    program = NrtExecutable(*SUM, runtime)
    program.execute([torch.ones(2, 3), torch.ones(2, 3)])
    runtime.close()
    runtime.close()
    program.close()
    set_up = ["nrt_allocate_tensor_set"] + 2 * [
        "nrt_tensor_allocate",
        "nrt_add_tensor_to_tensor_set",
    ]
    assert stand_in.calls == [
        "nrt_init", "nrt_load", "nrt_get_model_tensor_info", "nrt_free_model_tensor_info", *set_up,
        *set_up[:3], "nrt_tensor_write", "nrt_tensor_write", "nrt_execute", "nrt_tensor_read",
        "nrt_destroy_tensor_set", "nrt_destroy_tensor_set", *3 * ["nrt_tensor_free"],
        "nrt_unload", "nrt_close",
    ]  # fmt: skip
    assert stand_in.violations == []
    with pytest.raises(ExecutionError, match="after the Neuron runtime was closed"):
        program.execute([torch.ones(2, 3), torch.ones(2, 3)])


def test_unused_executable_gives_everything_back(runtime: NrtRuntime, stand_in: StandIn) -> None:
    program = NrtExecutable(*SUM, runtime)
    assert stand_in.live > 0
    del program
    gc.collect()
    assert stand_in.live == 0


STEPS = [
    "nrt_load", "nrt_get_model_tensor_info", "nrt_allocate_tensor_set", "nrt_tensor_allocate",
    "nrt_add_tensor_to_tensor_set",
]  # fmt: skip
CODES = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 14, 15, 101, 1002, 1004, 1005, 1100, 1200, 1201, 1206]


@pytest.mark.parametrize(
    "function,status", [*((step, 4) for step in STEPS), *(("nrt_load", code) for code in CODES)]
)
def test_failed_load_is_explained_and_leaves_nothing(
    runtime: NrtRuntime, stand_in: StandIn, function: str, status: int
) -> None:
    stand_in.fail(function, status)
    with pytest.raises(NrtError, match=function) as raised:
        NrtExecutable(*SUM, runtime)
    assert raised.value.status == status
    assert "not documented" not in raised.value.why
    assert stand_in.live == 0


def test_failure_half_way_through_gives_back_what_was_taken(
    runtime: NrtRuntime, stand_in: StandIn
) -> None:
    for after in range(3):
        stand_in.fail("nrt_tensor_allocate", 4, after)
        with pytest.raises(NrtError, match="no memory"):
            NrtExecutable(*SUM, runtime)
        assert stand_in.live == 0


@pytest.mark.parametrize("function", ["nrt_tensor_write", "nrt_execute", "nrt_tensor_read"])
def test_failed_call_can_be_repeated(runtime: NrtRuntime, stand_in: StandIn, function: str) -> None:
    program = NrtExecutable(*SUM, runtime)
    stand_in.fail(function, 5)
    inputs = [torch.ones(2, 3), torch.ones(2, 3)]
    with pytest.raises(NrtError, match="NRT_TIMEOUT"):
        program.execute(inputs)
    assert torch.equal(program.execute(inputs)[0], torch.full((2, 3), 2.0))


def test_results_that_are_no_numbers_are_results(
    runtime: NrtRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = NrtExecutable(*SUM, runtime)
    monkeypatch.setenv("STAND_IN_EXECUTE_STATUS", "1003")
    nan = torch.full((2, 3), float("nan"))
    assert program.execute([nan, nan])[0].isnan().all()
    monkeypatch.setenv("STAND_IN_EXECUTE_STATUS", "1006")
    with pytest.raises(NrtError, match="index is out of bounds"):
        program.execute([nan, nan])


def test_int64_kept_where_the_neff_has_it(runtime: NrtRuntime) -> None:
    kind = spec("int64", 3)
    program = NrtExecutable(
        neff_of([kind, kind], [kind], "add output0 input0 input1"),
        manifest_of([kind, kind], [kind]),
        runtime,
    )
    x = torch.tensor([2**40, -5, 7])
    assert torch.equal(program.execute([x, x])[0], x + x)


def test_int64_is_never_read_as_pairs_of_int32(runtime: NrtRuntime) -> None:
    kind = spec("int64", 3)
    program = NrtExecutable(
        neff_of([kind, kind], [kind], "add output0 input0 input1", narrow=True),
        manifest_of([kind, kind], [kind]),
        runtime,
    )
    x = torch.tensor([2**30, -5, 7])
    (result,) = program.execute([x, torch.tensor([1, 1, -9])])
    assert result.dtype == torch.int64
    assert result.tolist() == [2**30 + 1, -4, -2]
    with pytest.raises(ExecutionError, match="do not fit the device"):
        program.execute([torch.tensor([2**31, 0, 0]), x])


def test_bool_and_float64_cross_by_value(runtime: NrtRuntime) -> None:
    flag, wide = spec("bool", 3), spec("float64", 3)
    program = NrtExecutable(
        neff_of(
            [flag, wide],
            [flag, wide],
            "copy output0 input0",
            "add output1 input1 input1",
            narrow=True,
        ),
        manifest_of([flag, wide], [flag, wide]),
        runtime,
    )
    mask, numbers = torch.tensor([True, False, True]), torch.tensor([0.5, 1e300, -2.0]).double()
    numbers[1] = 3.0
    flags, doubled = program.execute([mask, numbers])
    assert torch.equal(flags, mask)
    assert doubled.dtype == torch.float64
    assert torch.equal(doubled, numbers * 2)


@pytest.mark.parametrize(
    "inputs,outputs",
    [
        ([F], [F]),
        ([F, F, F], [F]),
        ([F, F], [F, F]),
        ([F, spec("int32", 2, 3)], [F]),
        ([F, spec("float32", 2, 4)], [F]),
        ([F, F], [spec("bfloat16", 2, 3)]),
    ],
    ids=str,
)
def test_neff_of_another_program_is_refused(
    runtime: NrtRuntime, stand_in: StandIn, inputs: list[TensorSpec], outputs: list[TensorSpec]
) -> None:
    with pytest.raises(ExecutionError, match=r"of its program|what its program says"):
        NrtExecutable(SUM[0], manifest_of(inputs, outputs), runtime)
    assert stand_in.live == 0


def test_wrong_number_of_arguments_is_refused(runtime: NrtRuntime) -> None:
    with pytest.raises(ExecutionError, match="takes 2 tensors and got 1"):
        NrtExecutable(*SUM, runtime).execute([torch.ones(2, 3)])


def test_threads_take_turns(runtime: NrtRuntime) -> None:
    program = NrtExecutable(*SUM, runtime)
    wrong: list[float] = []

    def work(value: float) -> None:
        for _ in range(50):
            x = torch.full((2, 3), value)
            if not torch.equal(program.execute([x, x])[0], x + x):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_host_neff_is_not_loaded_and_a_device_would_refuse_it(
    runtime: NrtRuntime, stand_in: StandIn
) -> None:
    host = pack_neff({HOST_EXECUTABLE: b"x"}, target="host", compressed=False)
    with pytest.raises(ArtifactError, match="for the host"):
        load_device_neff(host, SUM[1], library=stand_in.path)
    with pytest.raises(NrtError, match="NRT_UNSUPPORTED_NEFF_VERSION"):
        NrtExecutable(host, SUM[1], runtime)
    with pytest.raises(ArtifactError):
        load_device_neff(SUM[0][:-1], SUM[1], library=stand_in.path)
