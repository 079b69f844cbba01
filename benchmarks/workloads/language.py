"""Language models of `transformers`: GPT-2, BERT, a Llama of 100M parameters, and T5.

Dropout and everything else is as the architecture's own configuration has it.
"""

from __future__ import annotations

import functools
from typing import Any

from torch import Tensor, randint
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from benchmarks.names import FORWARD_BACKWARD, INFERENCE
from benchmarks.workloads.hugging_face import built
from benchmarks.workloads.workload import Built, Workload

_TINY_WORDS = 50


def _batch(scale: str, words: int, sequences: int, length: int) -> dict[str, Tensor]:
    shape = (1, 8) if scale == "tiny" else (sequences, length)
    return {"input_ids": randint(words, shape), "labels": randint(words, shape)}


def _gpt2(scale: str, length: int) -> Built:
    """GPT-2 small, 124M parameters; 3 of its 12 layers if quick."""
    sizes: dict[str, dict[str, Any]] = {
        "tiny": {"n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": _TINY_WORDS},
        "quick": {"n_layer": 3},
        "full": {},
    }
    configuration = GPT2Config(use_cache=False, **sizes[scale])
    batch = _batch(scale, configuration.vocab_size, 1, length)
    return built(GPT2LMHeadModel, configuration, batch)


def _bert(scale: str) -> Built:
    """BERT-base, 110M parameters, 2 sequences of 128; 3 of its 12 layers if quick."""
    sizes: dict[str, dict[str, Any]] = {
        "tiny": {
            "num_hidden_layers": 1,
            "hidden_size": 8,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "vocab_size": _TINY_WORDS,
        },
        "quick": {"num_hidden_layers": 3},
        "full": {},
    }
    configuration = BertConfig(**sizes[scale])
    return built(BertForMaskedLM, configuration, _batch(scale, configuration.vocab_size, 2, 128))


def _llama(scale: str) -> Built:
    """100M parameters: rotary embeddings, RMS norms, gated layers, 4 query heads a key head."""
    width, layers, words = {
        "tiny": (12, 1, _TINY_WORDS),
        "quick": (768, 2, 16_000),
        "full": (1024, 6, 16_000),
    }[scale]
    configuration = LlamaConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        intermediate_size=8 * width // 3,
        num_attention_heads=6 if scale == "tiny" else width // 64,
        num_key_value_heads=2 if scale == "tiny" else 4,
        vocab_size=words,
        use_cache=False,
    )
    return built(LlamaForCausalLM, configuration, _batch(scale, words, 1, 128))


def _t5(scale: str) -> Built:
    """T5-small with 4 of its 6 layers in encoder and decoder, both at 128."""
    width, layers, words = {
        "tiny": (8, 1, _TINY_WORDS),
        "quick": (512, 1, 32_128),
        "full": (512, 4, 32_128),
    }[scale]
    configuration = T5Config(
        d_model=width,
        num_layers=layers,
        d_kv=width // 8,
        d_ff=4 * width,
        vocab_size=words,
        use_cache=False,
        decoder_start_token_id=0,
    )
    batch = _batch(scale, words, 1, 128)
    batch["decoder_input_ids"] = batch["input_ids"].flip(1)
    return built(T5ForConditionalGeneration, configuration, batch)


WORKLOADS = (
    Workload("bert_128", _bert),
    Workload("gpt2_128", functools.partial(_gpt2, length=128)),
    Workload(
        "gpt2_512",
        functools.partial(_gpt2, length=512),
        # The step adds to it what it adds to gpt2_128.
        modes=(FORWARD_BACKWARD, INFERENCE),
    ),
    Workload("llama_100m", _llama),
    Workload("t5", _t5),
)
