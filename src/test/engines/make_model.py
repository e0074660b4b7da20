#!/usr/bin/env python3
"""Writes a tiny model that real engines run on a CPU: our demo tokenizer, a chat template, seeded random weights.

    make_model.py OUT [--thinking]    with the Python of an engine's environment (torch, transformers, tokenizers)

With --thinking it has the tags of a thought among its tokens and a chat template that keeps and drops thoughts.

Its greedy answers are *canonical*: the text of any answer, tokenised anew, gives the very tokens that made it. So an answer that
is moved to another engine in the middle must go on as if nothing had happened, and a conversation's history has the
tokens that the engine has in its cache. For that,
  * the tokenizer has no token with a line end in it but the line end itself, and
  * the model says only what cannot merge: digits, the line end, and words with their leading space. The rows of all other
    tokens in the last layer are zero, and the largest of some two thousand random numbers is above that.
The line end's row is long, so that answers break into lines, as real ones do, and streams pause behind white space.
It never ends an answer by itself: `max_tokens` does.
"""
import argparse
import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEMO = ROOT / "src/tokens/main/resources/demo-model"
THINKING = ROOT / "src/test/resources/templates/families/qwen3-thinking.jinja"
SEED = 20261123
LINE_END = "\u010a"  # as byte-level vocabularies write it
SPACE = "\u0120"
LINE_END_ROW = 2.5  # times as long as the others

# ChatML; a system or developer prompt, tools as JSON lines, calls and results of tools, contents as they are.
TEMPLATE = (
    "{%- if tools %}<|im_start|>system\n"
    "{%- if messages and messages[0].role == 'system' %}{{ messages[0].content }}\n\n{% endif %}"
    "# Tools\n{%- for tool in tools %}\n{{ tool | tojson }}{% endfor %}<|im_end|>\n"
    "{%- elif messages and messages[0].role == 'system' %}<|im_start|>system\n"
    "{{ messages[0].content }}<|im_end|>\n{%- endif %}"
    "{%- for message in messages %}"
    "{%- if not (loop.first and message.role == 'system') %}"
    "{{ '<|im_start|>' + message.role + '\n' + (message.content or '') }}"
    "{%- if message.tool_calls %}{% for call in message.tool_calls %}"
    "{{ '\n<tool_call>' + call.function.name + ' ' }}{{ call.function.arguments | tojson }}{{ '</tool_call>' }}"
    "{%- endfor %}{% endif %}{{ '<|im_end|>\n' }}"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}"
)


def write_tokenizer(out, thinking=False):
    tokenizer = json.loads((DEMO / "tokenizer.json").read_text(encoding="utf-8"))
    model = tokenizer["model"]

    def pair(merge):
        return merge if isinstance(merge, list) else merge.split(" ")

    model["merges"] = [m for m in model["merges"] if LINE_END not in "".join(pair(m))]
    config = json.loads((DEMO / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["chat_template"] = THINKING.read_text(encoding="utf-8") if thinking else TEMPLATE
    for tag in ("<think>", "</think>") if thinking else ():
        token = dict(content=tag, single_word=False, lstrip=False, rstrip=False, normalized=False, special=False)
        number = tokenizer["added_tokens"][-1]["id"] + 1
        tokenizer["added_tokens"].append({"id": number, **token})
        config["added_tokens_decoder"][str(number)] = token
    (out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    specials = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    return model["vocab"], specials


def spoken(out, vocabulary):
    """Ids that the model may say."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    ids = []
    for token, number in vocabulary.items():
        word = re.fullmatch(SPACE + r"[a-z]{2,}", token)
        if word or token == LINE_END or re.fullmatch(r"[0-9]", token):
            text = tokenizer.decode([number])
            if tokenizer.encode(text, add_special_tokens=False).ids == [number]:
                ids.append(number)
    return sorted(ids)


def speaks_only(model, ids, line_end):
    """Of these tokens; ends of lines are likelier."""
    import torch

    with torch.no_grad():
        head = model.lm_head.weight
        kept = torch.zeros(head.shape[0], dtype=torch.bool)
        kept[ids] = True
        head[~kept] = 0
        head[line_end] *= LINE_END_ROW


def write_weights(out, config, ids, line_end):
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(SEED)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(out)).to(torch.float32)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() == 2:
                # So strong that what was said before decides what is said next, and answers do not circle.
                weights.normal_(0, 0.6 if "embed" in name else 1.5 / weights.shape[1] ** 0.5)
    speaks_only(model, ids, line_end)
    model.save_pretrained(out, safe_serialization=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--thinking", action="store_true")
    out, thinking = (parsed := parser.parse_args()).out, parsed.thinking
    making = out.with_name(out.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    vocabulary, specials = write_tokenizer(making, thinking)
    config = dict(
        architectures=["Qwen3ForCausalLM"], model_type="qwen3", vocab_size=len(vocabulary) + len(specials),
        hidden_size=64, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=32, hidden_act="silu", max_position_embeddings=65536, rms_norm_eps=1e-6, rope_theta=10000.0,
        attention_bias=False, use_sliding_window=False, tie_word_embeddings=False, torch_dtype="float32",
        bos_token_id=specials["<|endoftext|>"], eos_token_id=specials["<|im_end|>"],
        pad_token_id=specials["<|endoftext|>"], use_cache=True)
    (making / "config.json").write_text(json.dumps(config, indent=1))
    (making / "generation_config.json").write_text(json.dumps(
        dict(eos_token_id=[specials["<|im_end|>"]], pad_token_id=specials["<|endoftext|>"], do_sample=False)))
    ids = spoken(making, vocabulary)
    write_weights(making, config, ids, vocabulary[LINE_END])
    shutil.rmtree(out, ignore_errors=True)
    making.rename(out)
    print(f"{out}: vocabulary of {config['vocab_size']}, of which it says {len(ids)}")


if __name__ == "__main__":
    main()
