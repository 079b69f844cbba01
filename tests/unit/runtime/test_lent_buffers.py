"""Inputs are lent to XLA where they lie; parameters' buffers are kept while they stay there."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import torch
from torch import nn

from neuron_compile.pjrt.client import client
from neuron_compile.runtime.lent_buffers import LentBuffers


def lent() -> LentBuffers:
    return LentBuffers(client().local_devices()[0])


def test_memory_is_lent_not_copied() -> None:
    x = torch.ones(64)
    (buffer,) = lent().lend([x])
    assert buffer.unsafe_buffer_pointer() == x.data_ptr()


def test_parameter_keeps_its_buffer_while_its_memory_stays() -> None:
    buffers, parameter = lent(), nn.Parameter(torch.ones(64))
    (first,) = buffers.lend([parameter])
    with torch.no_grad():
        parameter.mul_(2)
    (second,) = buffers.lend([parameter])
    assert second is first
    parameter.data = torch.zeros(64)
    (third,) = buffers.lend([parameter])
    assert third.unsafe_buffer_pointer() == parameter.data_ptr()


def test_other_tensors_are_not_kept() -> None:
    buffers, x = lent(), torch.ones(64)
    (first,) = buffers.lend([x])
    (second,) = buffers.lend([x])
    assert second is not first


def test_copy_of_unaligned_parameter_is_not_kept() -> None:
    buffers, parameter = lent(), nn.Parameter(torch.ones(65)[1:])
    (first,) = buffers.lend([parameter])
    assert first.unsafe_buffer_pointer() != parameter.data_ptr()
    (second,) = buffers.lend([parameter])
    assert second is not first


def test_kept_buffer_does_not_keep_the_parameter_or_its_gradient() -> None:
    buffers, parameter = lent(), nn.Parameter(torch.ones(64))
    parameter.grad = torch.ones(64)
    gradient, alive = weakref.ref(parameter.grad), weakref.ref(parameter)
    buffers.lend([parameter])
    del parameter
    gc.collect()
    assert alive() is None
    assert gradient() is None


def test_what_moved_is_lent_anew_and_the_rest_as_before() -> None:
    buffers = lent()
    moving, staying, x = nn.Parameter(torch.ones(64)), nn.Parameter(torch.ones(64)), torch.ones(64)
    first = buffers.lend([moving, x, staying])
    moving.data = torch.zeros(64)
    second = buffers.lend([moving, x, staying])
    third = buffers.lend([moving, x, staying])
    assert second[2] is first[2]
    assert second[0].unsafe_buffer_pointer() == moving.data_ptr()
    assert [third[0], third[2]] == [second[0], second[2]]
    assert third[1].unsafe_buffer_pointer() == x.data_ptr()


def test_memory_is_freed_with_its_parameter() -> None:
    buffers, x = lent(), torch.ones(64)
    gone, staying = nn.Parameter(torch.ones(64)), nn.Parameter(torch.ones(64))
    buffers.lend([gone, x, staying])
    storage = weakref.ref(gone.untyped_storage())
    kept = weakref.ref(buffers._kept.buffers[0]) if buffers._kept else None
    assert kept is not None
    del gone
    gc.collect()
    assert kept() is None
    assert storage() is None


def test_values_are_those_of_the_memory_that_is_there() -> None:
    buffers, parameter = lent(), nn.Parameter(torch.zeros(1 << 16))
    buffers.lend([parameter])
    for value in range(1, 20):
        if value % 3 == 0:
            # The allocator is likely to give the same address again.
            del parameter
            parameter = nn.Parameter(torch.full((1 << 16,), float(value)))
        elif value % 3 == 1:
            parameter.data = torch.full((1 << 16,), float(value))
        else:
            size = parameter.untyped_storage().nbytes()
            parameter.untyped_storage().resize_(0)
            parameter.untyped_storage().resize_(size)
            with torch.no_grad():
                parameter.fill_(value)
        (buffer,) = buffers.lend([parameter])
        assert np.asarray(buffer).max() == np.asarray(buffer).min() == value
