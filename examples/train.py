"""Train a small GPT on the text of Python's manual, in eager PyTorch and compiled, side by side.

    python examples/train.py [--steps 60] [--graphs neuron-graphs]

Prints both losses, which agree, then what was compiled and where its NEFFs are. A second run finds
everything in the cache.
"""

from __future__ import annotations

import argparse
import copy
import os
import pydoc_data.topics
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, CONTEXT, BATCH, VOCABULARY = 128, 4, 4, 64, 16, 128


class Block(nn.Module):
    """Causal self-attention and a feed-forward network, each behind a layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> Tensor:
        """From and to float32 of shape (batch, context, width)."""
        split = self.queries_keys_values(self.attention_norm(x)).unflatten(2, (3, HEADS, -1))
        queries, keys, values = split.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        x = x + self.mix(attended.transpose(1, 2).flatten(2))
        update: Tensor = self.feed_forward(self.feed_forward_norm(x))
        return x + update


class SmallGPT(nn.Module):
    """Predicts the next byte of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, text: Tensor) -> Tensor:
        """The mean cross-entropy of int64 `text` of shape (batch, context + 1)."""
        x = self.tokens(text[:, :-1]) + self.places.weight
        logits = self.head(self.norm(self.blocks(x)))
        return functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())


def batches(steps: int) -> list[Tensor]:
    """Random pieces of the manual, as int64 of shape (batch, context + 1)."""
    manual = "\n".join(pydoc_data.topics.topics.values()).encode("ascii", "ignore")
    text = torch.frombuffer(bytearray(manual), dtype=torch.uint8).long()
    generator = torch.Generator().manual_seed(1)
    starts = torch.randint(len(text) - CONTEXT - 1, (steps, BATCH), generator=generator)
    return [torch.stack([text[i : i + CONTEXT + 1] for i in row]) for row in starts.tolist()]


def main() -> None:
    """Train twins and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--graphs", type=Path, default=Path("neuron-graphs"))
    arguments = parser.parse_args()
    # Ask for a folder with what each graph becomes: FX, StableHLO, NEFF.
    os.environ.setdefault("NEURON_COMPILE_DEBUG_DIR", str(arguments.graphs))

    torch.manual_seed(0)
    eager_model = SmallGPT()
    nn.init.normal_(eager_model.tokens.weight, std=0.02)
    twin = copy.deepcopy(eager_model)
    compiled_model: Any = torch.compile(twin, backend="neuron", dynamic=False)
    optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-3) for model in (eager_model, twin)]

    count = sum(parameter.numel() for parameter in twin.parameters())
    print(f"A GPT of {count:,} parameters, {BATCH} x {CONTEXT} bytes a step, on the host target.\n")
    print("step   eager   neuron   difference")
    seconds = [0.0, 0.0]
    for step, text in enumerate(batches(arguments.steps)):
        losses = []
        for side, (model, optimizer) in enumerate(
            zip((eager_model, compiled_model), optimizers, strict=True)
        ):
            start = time.perf_counter()
            loss = model(text)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            seconds[side] += (time.perf_counter() - start) * (step > 0)
        if step % 10 == 0 or step == arguments.steps - 1:
            eager_loss, loss_ = losses
            print(f"{step:4}  {eager_loss:.4f}   {loss_:.4f}      {abs(eager_loss - loss_):.0e}")

    from neuron_compile import report

    later = max(arguments.steps - 1, 1)
    print(f"\nms a step after the first: eager {1e3 * seconds[0] / later:.0f}, ", end="")
    print(f"neuron {1e3 * seconds[1] / later:.0f}\n\n{report()}\n")
    folder = Path(os.environ["NEURON_COMPILE_DEBUG_DIR"])
    for neff in sorted(folder.glob(f"{os.getpid()}_*/neff")):
        print(f"NEFF: {neff.resolve()} ({neff.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
