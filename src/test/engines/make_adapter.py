#!/usr/bin/env python3
"""Writes a LoRA adapter for the tiny model of make_model.py, as PEFT stores one.

    make_adapter.py MODEL OUT SEED    with the Python of an engine's environment (torch, safetensors)

Seeded random weights on q_proj and v_proj, so strong that an answer with the adapter differs from the one without; what the model may say stays the same.
"""
import argparse
import json
import pathlib

RANK = 8
PARTS = ("q_proj", "v_proj")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("seed", type=int)
    given = parser.parse_args()
    import torch
    from safetensors.torch import save_file

    config = json.loads((given.model / "config.json").read_text(encoding="utf-8"))
    hidden, head = config["hidden_size"], config["head_dim"]
    outputs = {"q_proj": head * config["num_attention_heads"], "v_proj": head * config["num_key_value_heads"]}
    torch.manual_seed(given.seed)
    weights = {}
    for layer in range(config["num_hidden_layers"]):
        for part in PARTS:
            name = f"base_model.model.model.layers.{layer}.self_attn.{part}"
            weights[f"{name}.lora_A.weight"] = torch.randn(RANK, hidden) / hidden ** 0.5
            weights[f"{name}.lora_B.weight"] = torch.randn(outputs[part], RANK) / RANK ** 0.5
    given.out.mkdir(parents=True, exist_ok=True)
    save_file(weights, given.out / "adapter_model.safetensors")
    (given.out / "adapter_config.json").write_text(json.dumps({
        "peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": str(given.model), "r": RANK, "lora_alpha": 2 * RANK,
        "lora_dropout": 0.0, "bias": "none", "target_modules": list(PARTS), "fan_in_fan_out": False, "inference_mode": True}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
