"""Small random-weight models of many `transformers` architectures, built without a download.

One row an architecture. Adding one is adding a row; a field that a row does not set comes from the
kind's defaults, as far as the architecture's configuration has a field of that name.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers
from torch import Tensor, nn

TOKENS, VOCABULARY, LABELS = 16, 99, 3


@dataclass(frozen=True)
class Row:
    """How to build one architecture: its head, and what differs from the kind's defaults."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)


# Each architecture names its sizes in its own way; those it does not know are not passed.
TEXT_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "dim", "embedding_size"), 32),
    **dict.fromkeys(("word_embed_proj_dim", "moe_intermediate_size"), 32),
    **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim"), 64),
    **dict.fromkeys(("hidden_dim", "ffn_dim", "d_ff"), 64),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "rotary_dim"), 4),
    **dict.fromkeys(("num_experts", "num_local_experts", "state_size"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_experts_per_tok"), 2),
    **dict.fromkeys(("head_dim", "d_kv"), 8),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx"), 64),
    "sliding_window": 16,
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
    "use_cache": False,
}

VIT_FIELDS: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "patch_size": 8,
    "image_size": 32,
}

CAUSAL = (
    "gpt2 llama mistral qwen3 gemma2 phi opt bloom codegen stablelm olmo2 starcoder2 mixtral "
    "mamba gpt_oss persimmon"
)
MASKED = (
    "bert roberta distilbert albert electra deberta-v2 mpnet convbert squeezebert fnet modernbert "
    "roformer nystromformer longformer"
)
SEQUENCE_TO_SEQUENCE = "t5 bart marian led"

FOUR_STAGES = [16, 32, 32, 64]

ZOO: dict[str, Row] = {
    **{name: Row("causal") for name in CAUSAL.split()},
    **{name: Row("masked") for name in MASKED.split()},
    **{name: Row("sequence") for name in SEQUENCE_TO_SEQUENCE.split()},
    "vit": Row("image", VIT_FIELDS),
    "beit": Row("image", VIT_FIELDS),
    "dinov2": Row("image", {k: v for k, v in VIT_FIELDS.items() if k != "intermediate_size"}),
    "swin": Row(
        "image",
        {
            "image_size": 32,
            "patch_size": 2,
            "embed_dim": 16,
            "depths": [2, 2],
            "num_heads": [2, 2],
            "window_size": 4,
        },
    ),
    "resnet": Row(
        "image",
        {
            "embedding_size": 16,
            "hidden_sizes": [16, 32],
            "depths": [1, 1],
            "layer_type": "basic",
        },
    ),
    "regnet": Row(
        "image",
        {
            "embedding_size": 16,
            "hidden_sizes": [16, 32, 32, 32],
            "depths": [1, 1, 1, 1],
            "groups_width": 8,
        },
    ),
    "convnext": Row("image", {"hidden_sizes": [16, 32], "depths": [1, 1], "num_stages": 2}),
    "mobilenet_v2": Row("image", {"depth_multiplier": 0.35}),
    "segformer": Row("image", {"hidden_sizes": FOUR_STAGES, "decoder_hidden_size": 32}),
    "poolformer": Row("image", {"hidden_sizes": FOUR_STAGES, "depths": [1, 1, 1, 1]}),
}

HEADS = {
    "causal": transformers.AutoModelForCausalLM,
    "masked": transformers.AutoModelForMaskedLM,
    "sequence": transformers.AutoModelForSeq2SeqLM,
    "image": transformers.AutoModelForImageClassification,
}


def configuration(name: str, row: Row) -> Any:
    """The architecture's configuration at the row's size, every dropout rate zero."""
    if row.kind == "image":
        config = transformers.AutoConfig.for_model(name, num_labels=LABELS, **row.fields)
    else:
        known = transformers.AutoConfig.for_model(name)
        small = {k: v for k, v in TEXT_FIELDS.items() if getattr(known, k, None) is not None}
        config = transformers.AutoConfig.for_model(name, **{**small, **row.fields})
    for key, value in vars(config).items():
        if isinstance(value, float) and ("drop" in key or key.endswith("pdrop")):
            setattr(config, key, 0.0)
    return config


def batch(kind: str, config: Any) -> dict[str, Tensor]:
    """Two samples with labels, as keyword arguments of the model."""
    if kind == "image":
        size = config.image_size if isinstance(getattr(config, "image_size", None), int) else 64
        size = min(size, 64)
        return {"pixel_values": torch.randn(2, 3, size, size), "labels": torch.tensor([0, 2])}
    ids = torch.randint(3, VOCABULARY - 9, (2, TOKENS))
    inputs = {"input_ids": ids, "labels": ids.clone()}
    if kind != "causal":
        inputs["attention_mask"] = torch.ones_like(ids)
    if kind == "sequence":
        inputs["decoder_input_ids"] = ids.clone()
    return inputs


def build(name: str) -> tuple[nn.Module, dict[str, Tensor]]:
    """A model in training mode and a batch for it; the same ones each time."""
    torch.manual_seed(0)
    row = ZOO[name]
    config = configuration(name, row)
    model: nn.Module = HEADS[row.kind].from_config(config)
    return model.train(), batch(row.kind, config)
