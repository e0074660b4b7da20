#!/usr/bin/env python3
"""Writes a tiny Qwen2-VL that real engines run on a CPU: the tokenizer of make_model.py with tokens for images, seeded random weights, a processor.

    make_vision_model.py OUT        with the Python of an engine's environment (torch, torchvision, transformers, tokenizers)

An image has one token for each 28 x 28 pixels. What the model says is as canonical as what make_model.py's says, and it depends on the image.
"""
import argparse
import json
import pathlib
import shutil

from make_model import LINE_END, SEED, speaks_only, spoken, write_tokenizer

IMAGE_TOKENS = ["<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"]

# ChatML of texts and parts; what an image becomes is the processor's business.
TEMPLATE = (
    "{%- for message in messages %}{{ '<|im_start|>' + message.role + '\n' }}"
    "{%- if message.content is string %}{{ message.content }}{%- else %}"
    "{%- for part in message.content %}"
    "{%- if part.type == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{%- elif part.type == 'text' %}{{ part.text }}{%- endif %}"
    "{%- endfor %}{%- endif %}{{ '<|im_end|>\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}"
)


def add_image_tokens(out, first):
    """Behind all others; the id of each."""
    ids = {}
    tokenizer = json.loads((out / "tokenizer.json").read_text(encoding="utf-8"))
    for token in IMAGE_TOKENS:
        ids[token] = first + len(ids)
        tokenizer["added_tokens"].append(dict(
            id=ids[token], content=token, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True))
    (out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    config = json.loads((out / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["chat_template"] = TEMPLATE
    config["extra_special_tokens"] = {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}
    for number, token in zip(ids.values(), tokenizer["added_tokens"][-len(ids):]):
        if "added_tokens_decoder" in config:
            config["added_tokens_decoder"][str(number)] = {k: v for k, v in token.items() if k != "id"}
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    return ids


def write_processor(out):
    from transformers import AutoTokenizer, Qwen2VLImageProcessor, Qwen2VLProcessor, Qwen2VLVideoProcessor

    sizes = dict(patch_size=14, temporal_patch_size=2, merge_size=2)
    images = Qwen2VLImageProcessor(size=dict(shortest_edge=4 * 28 * 28, longest_edge=1024 * 28 * 28), **sizes)
    videos = Qwen2VLVideoProcessor(size=dict(shortest_edge=4 * 28 * 28, longest_edge=1024 * 28 * 28), **sizes)
    Qwen2VLProcessor(
        image_processor=images, tokenizer=AutoTokenizer.from_pretrained(out), video_processor=videos, chat_template=TEMPLATE).save_pretrained(out / "processor")
    for file in (out / "processor").iterdir():  # the tokenizer's files stay as they are
        if "tokenizer" not in file.name and file.name != "special_tokens_map.json":
            file.rename(out / file.name)
    shutil.rmtree(out / "processor")


def write_weights(out, config, ids, line_end):
    import torch
    from transformers import Qwen2VLForConditionalGeneration

    torch.manual_seed(SEED)
    model = Qwen2VLForConditionalGeneration(config).to(torch.float32)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() >= 2:
                weights.normal_(0, 0.6 if "embed_tokens" in name else 1.5 / weights[0].numel() ** 0.5)
    speaks_only(model, ids, line_end)
    model.save_pretrained(out, safe_serialization=True)


def main():
    from transformers import Qwen2VLConfig

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    making = out.with_name(out.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    vocabulary, specials = write_tokenizer(making)
    first = max([*vocabulary.values(), *specials.values()]) + 1
    tokens = add_image_tokens(making, first)
    text = dict(
        vocab_size=first + len(tokens), hidden_size=64, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, hidden_act="silu", max_position_embeddings=65536, rms_norm_eps=1e-6, tie_word_embeddings=False,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0, mrope_section=[4, 6, 6]),
        bos_token_id=specials["<|endoftext|>"], eos_token_id=specials["<|im_end|>"], pad_token_id=specials["<|endoftext|>"])
    vision = dict(depth=2, embed_dim=64, num_heads=2, hidden_size=64, mlp_ratio=2, patch_size=14, spatial_merge_size=2, temporal_patch_size=2, in_chans=3)
    config = Qwen2VLConfig(
        text_config=text, vision_config=vision, image_token_id=tokens["<|image_pad|>"], video_token_id=tokens["<|video_pad|>"],
        vision_start_token_id=tokens["<|vision_start|>"], vision_end_token_id=tokens["<|vision_end|>"], tie_word_embeddings=False,
        architectures=["Qwen2VLForConditionalGeneration"], dtype="float32")
    config.save_pretrained(making)
    (making / "generation_config.json").write_text(json.dumps(
        dict(eos_token_id=[specials["<|im_end|>"]], pad_token_id=specials["<|endoftext|>"], do_sample=False)))
    write_processor(making)
    ids = spoken(making, vocabulary)
    write_weights(making, config, ids, vocabulary[LINE_END])
    shutil.rmtree(out, ignore_errors=True)
    making.rename(out)
    print(f"{out}: vocabulary of {first + len(tokens)}, image token {tokens['<|image_pad|>']}")


if __name__ == "__main__":
    main()
