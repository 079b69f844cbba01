"""What one call of each mode does."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.backends import Backend
from benchmarks.workloads.workload import (
    FORWARD_BACKWARD,
    INFERENCE,
    TRAIN_COMPILED,
    Built,
    Loss,
    Prediction,
)

Step = Callable[[], object]


def step_of(mode: str, built: Built, backend: Backend) -> Step:
    """The function to call again and again. Nothing is compiled before its first call.

    A step that trains clears the gradients first, so that each call does the same.
    """
    if mode == INFERENCE:
        return _inference(built, backend)
    backward = _forward_backward(built, backend)
    if mode == FORWARD_BACKWARD:
        return backward
    update = _update(built, backend, is_compiled=mode == TRAIN_COMPILED)

    def train() -> None:
        backward()
        update()

    return train


def _inference(built: Built, backend: Backend) -> Step:
    built.model.eval()
    predict = backend.compile(Prediction(built).eval())

    def infer() -> None:
        with torch.no_grad():
            predict(built.batch)

    return infer


def _forward_backward(built: Built, backend: Backend) -> Step:
    built.model.train()
    loss = backend.compile(Loss(built))

    def forward_backward() -> None:
        built.model.zero_grad(set_to_none=True)
        loss(built.batch).backward()

    return forward_backward


def _update(built: Built, backend: Backend, *, is_compiled: bool) -> Step:
    # Where eager PyTorch is to compete with a compiled optimizer, it does so with its fused one.
    fused = True if is_compiled and backend.is_eager else None
    optimizer = torch.optim.AdamW(built.model.parameters(), lr=1e-4, fused=fused)

    def update() -> None:
        optimizer.step()

    return backend.compile(update) if is_compiled else update
