"""What one call of each mode does."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch

from benchmarks.backends import Backend
from benchmarks.names import FORWARD_BACKWARD, INFERENCE, TRAIN_COMPILED
from benchmarks.workloads.workload import Built, Loss, Prediction

Step = Callable[[], object]


class Modes:
    """The steps of one workload under one backend, which share the compiled loss."""

    def __init__(self, built: Built, backend: Backend) -> None:
        self._built = built
        self._backend = backend

    def step(self, mode: str) -> Step:
        """The function to call again and again. Compiling begins at its first call.

        One that trains clears the gradients first, so that each call does the same.
        """
        self._built.model.train(mode != INFERENCE)
        if mode == INFERENCE:
            return self._inference()
        if mode == FORWARD_BACKWARD:
            return self._forward_backward
        update = self._update(is_compiled=mode == TRAIN_COMPILED)

        def train() -> None:
            self._forward_backward()
            update()

        return train

    @functools.cached_property
    def _loss(self) -> Callable[..., torch.Tensor]:
        return self._backend.compile(Loss(self._built))

    def _forward_backward(self) -> None:
        self._built.model.zero_grad(set_to_none=True)
        self._loss(self._built.batch).backward()

    def _inference(self) -> Step:
        predict = self._backend.compile(Prediction(self._built).eval())

        def infer() -> None:
            with torch.no_grad():
                predict(self._built.batch)

        return infer

    def _update(self, *, is_compiled: bool) -> Step:
        # Against a compiled optimizer, eager PyTorch is represented by its fused one.
        fused = True if is_compiled and self._backend.is_eager else None
        optimizer = torch.optim.AdamW(self._built.model.parameters(), lr=1e-4, fused=fused)

        def update() -> None:
            optimizer.step()

        return self._backend.compile(update) if is_compiled else update
