#!/usr/bin/env python3
"""Make the demo model's tokenizer and the golden ids that the Java tests compare with.

Trains a byte-level BPE on text that this script generates from demo_words.txt with a fixed seed, so the
vocabulary is our own and every run writes the same bytes. Writes

  src/tokens/main/resources/demo-model/tokenizer.json, tokenizer_config.json   what the demo and simulated engines use
  src/test/resources/tokens/golden.json                                 texts and their ids, from this library

Needs: pip install tokenizers==0.23.3

  make_demo_tokenizer.py [--check]    --check compares with the files in the tree and writes nothing
"""
import argparse
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

SEED = 20261101
VOCABULARY = 3072
SENTENCES = 60_000
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# Letters with one leading mark, digits one by one, marks, line ends, spaces: the way byte-level
# tokenizers of current open models cut text before BPE.
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CHATML = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def read_words():
    """demo_words.txt as section -> words, in file order."""
    sections, current = {}, None
    for line in (HERE / "demo_words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("["):
            current = sections.setdefault(line.strip("[] \n"), [])
        else:
            current.extend(line.split())
    return sections


def inflect(verb, ending):
    if verb.endswith("e") and ending in ("ed", "ing"):
        return verb[:-1] + ending
    if verb.endswith("y") and verb[-2] not in "aeiou" and ending in ("s", "ed"):
        return verb[:-1] + ("ies" if ending == "s" else "ied")
    return verb + ending


class Prose:
    """Endless sentences and code lines; common words more often than rare ones, as in real text."""

    def __init__(self, words, seed):
        self._rng = random.Random(seed)
        self._words = dict(words)
        self._words["verb forms"] = [inflect(v, e) for e in ("s", "ed", "ing") for v in words["verbs"]]
        self._words["plurals"] = [inflect(n, "s") for n in words["nouns"]]
        self._ranked = {}
        for kind in sorted(self._words):
            ranked = sorted(set(self._words[kind]))
            self._rng.shuffle(ranked)
            self._ranked[kind] = ranked

    def _word(self, kind):
        ranked = self._ranked[kind]
        return ranked[int(len(ranked) * self._rng.random() ** 1.7)]

    def _clause(self):
        shapes = [
            ["glue", "adjectives", "nouns", "verb forms", "glue", "nouns"],
            ["glue", "nouns", "glue", "verbs", "glue", "adjectives", "plurals", "adverbs"],
            ["glue", "glue", "verbs", "glue", "plurals", "glue", "glue", "nouns"],
            ["adverbs", "glue", "nouns", "glue", "adjectives", "glue", "verbs"],
            ["verbs", "glue", "adjectives", "nouns", "glue", "nouns", "verb forms"],
        ]
        return " ".join(self._word(kind) for kind in self._rng.choice(shapes))

    def sentence(self):
        rng = self._rng
        text = self._clause()
        for _ in range(rng.randrange(3)):
            text += rng.choice([", ", ", and ", "; ", " - ", " because ", " (", ": "]) + self._clause()
        text = text[0].upper() + text[1:]
        return text + rng.choice([".", ".", ".", ".", "?", "!", ".\n", ".\n\n", ":\n- "])

    def number(self):
        rng = self._rng
        return rng.choice([f"{rng.randrange(10)}", f"{rng.randrange(2000)}", f"{rng.random():.2f}", f"{rng.randrange(100)} %"])

    def code(self):
        rng, word = self._rng, self._word
        name, other = word("nouns"), word("nouns")
        return rng.choice([
            f"    {word('code')} {name} = {word('verbs')}_{other}({name}, {self.number()});\n",
            f"def {word('verbs')}_{name}(self, {other}):\n    return self.{other}[{self.number()}]\n",
            f'{{"{name}": "{other}", "{word("nouns")}": {self.number()}, "role": "user", "content": "{word("adjectives")}"}}\n',
            f"if ({name} != {word('code')} && {other}.size() > {self.number()}) {{\n        {word('code')};\n    }}\n",
            f"## {word('adjectives').capitalize()} {name}\n\n* `{other}`: {word('glue')} {word('plurals')}\n",
            f"import {name}.{other}.{word('nouns').capitalize()}{word('nouns').capitalize()};\n",
            f"| {name} | {self.number()} | {other} |\n|---|---|---|\n",
        ])

    def pieces(self, count):
        for _ in range(count):
            pick = self._rng.random()
            if pick < 0.82:
                yield self.sentence() + " "
            elif pick < 0.97:
                yield self.code()
            else:
                yield self.number() + " "


def train(words):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(Prose(words, SEED).pieces(SENTENCES), trainer)
    tokenizer.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL])
    return tokenizer


def config(tokenizer):
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 131072,
        "clean_up_tokenization_spaces": False,
        "add_prefix_space": False,
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "added_tokens_decoder": {
            str(tokenizer.token_to_id(s)): {
                "content": s, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True,
            } for s in SPECIAL
        },
        "chat_template": CHATML,
    }


def golden_texts(words):
    fixed = [
        "", " ", "\n", "\n\n", "  \n \n", "\r\n", "\t\tx", "a", "Hello, world!", " leading", "trailing ", "two  spaces   three",
        "I'm sure they're HERE, don't you'LL", "1234567890", "3.14159 - 2 = 1.14159", "naïve café Ünïcödé ß",
        "日本語のテキスト、漢字と仮名。", "Привет, мир!", "مرحبا بالعالم", "שלום", "नमस्ते दुनिया", "e\u0301 combining against \u00e9",
        "emoji 🙂 👩‍👩‍👧‍👦 🇩🇪 👍🏽 end", "zero\u200bwidth \ufeffbom \u00a0nbsp \u2028ls \u3000wide", "\u0000 nul \u001f control \u007f",
        "def f(x):\n    return x ** 2\n\n\nprint(f(3))", "{\"a\": [1, 2, {\"b\": null}]}",
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "<|endoftext|>", " <|im_end|> ", "<|im_start|", "<|im_start|>>",
        "<<|im_end|>|>", "<|im_end|><|im_end|>\n\n<|im_start|>", "a<|endoftext|>b<|im_start|>\n", "<| im_end |>", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 \U0010ffff",
    ]
    prose = list(Prose(words, SEED + 1).pieces(60))
    rng = random.Random(SEED + 2)
    mixed = ["".join(rng.choice(fixed + prose) for _ in range(rng.randrange(2, 6))) for _ in range(100)]
    return fixed + prose + mixed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    words = read_words()
    tokenizer = train(words)
    golden = [{"text": t, "ids": tokenizer.encode(t, add_special_tokens=False).ids} for t in golden_texts(words)]
    outputs = {
        "src/tokens/main/resources/demo-model/tokenizer.json": tokenizer.to_str(pretty=False) + "\n",
        "src/tokens/main/resources/demo-model/tokenizer_config.json": json.dumps(config(tokenizer), indent=2) + "\n",
        "src/test/resources/tokens/golden.json": "[\n" + ",\n".join(json.dumps(g) for g in golden) + "\n]\n",
    }
    stale = []
    for name, text in outputs.items():
        path = ROOT / name
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    print(f"vocabulary {tokenizer.get_vocab_size()}, {len(golden)} golden texts, {len(outputs['src/tokens/main/resources/demo-model/tokenizer.json'])} bytes",
          file=sys.stderr)
    if stale:
        sys.exit(f"differs from what this script makes: {', '.join(stale)}; run it without --check")


if __name__ == "__main__":
    main()
