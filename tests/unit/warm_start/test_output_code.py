"""Code that AOTAutograd's cache can keep."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache

from neuron_compile.graph import GraphRole
from neuron_compile.lowering.program import Signature
from neuron_compile.warm_start.output_code import StorableCode, restoring_by
from neuron_compile.warm_start.stored_graph import StoredGraph

STORED = StoredGraph("Net", GraphRole.BACKWARD, 3, "cd" * 32, Signature((), (), (), ()))


def double(args: list[Any]) -> list[Any]:
    return [2 * arg for arg in args]


def test_compiles_when_it_is_first_called_and_once() -> None:
    compilations: list[int] = []

    def compile_it() -> Any:
        compilations.append(1)
        return double

    code = StorableCode(STORED, compile_it)
    assert not compilations
    assert code([4]) == code([4]) == [8]
    assert compilations == [1]


def test_a_failure_is_raised_at_each_call() -> None:
    def fail() -> Any:
        raise ValueError("no")

    code = StorableCode(STORED, fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            code([1])


def test_what_is_pickled_is_the_record_alone() -> None:
    code = StorableCode(STORED, lambda: double)
    code.compile_now()
    assert code.__getstate__() == {"stored": STORED.encode()}
    restored = pickle.loads(pickle.dumps(code))
    with restoring_by(lambda stored: double if stored == STORED else None):
        restored.post_compile([], None, {})
    assert restored([3]) == [6]


def test_the_copy_that_is_saved_leaves_the_original_callable() -> None:
    code = StorableCode(STORED, lambda: double)
    copied = copy.copy(code)
    copied.prepare_for_serialization()
    assert code([1]) == copy.deepcopy(code)([1]) == [2]


def test_what_the_user_saves_is_compiled_first_and_what_torch_saves_by_itself_is_not() -> None:
    compilations: list[int] = []

    def compile_it() -> Any:
        compilations.append(1)
        return double

    code = StorableCode(STORED, compile_it)
    kept = copy.copy(code)
    kept.prepare_for_serialization()
    with restoring_by(lambda _stored: None):
        pickle.dumps(kept)
    assert compilations == []
    pickle.dumps(kept)
    assert compilations == [1]
    assert code([1]) == [2]
    pickle.dumps(kept)
    assert len(compilations) == 2, "nothing is left to be done"


def test_what_is_not_plain_data_is_not_saved() -> None:
    code = StorableCode(None, lambda: double)
    with pytest.raises(BypassAOTAutogradCache):
        code.prepare_for_serialization()
    with pytest.raises(BypassAOTAutogradCache):
        pickle.dumps(code)
    assert code([1]) == [2]


def test_what_cannot_be_restored_is_compiled_anew() -> None:
    restored = pickle.loads(pickle.dumps(StorableCode(STORED, lambda: double)))
    with restoring_by(lambda _stored: None), pytest.raises(BypassAOTAutogradCache, match="Net"):
        restored.post_compile([], None, {})


def test_a_damaged_pickle_does_not_load() -> None:
    data = pickle.dumps(StorableCode(STORED, lambda: double))
    with pytest.raises(Exception, match="stored graph"):
        pickle.loads(data.replace(b'"Net"', b'"Nut"'))
