#!/usr/bin/env python3
"""Records what a real engine says: its requests' own counts of cached tokens and its KV events, byte for byte, as `./warmpath capture` replays them.

    record.py adapters|several|media|thinking vllm|sglang OUT.jsonl      with the Python of an engine's environment (pyzmq, tokenizers)
    record.py windows|states vllm OUT.jsonl
    record.py pages|bigrams sglang OUT.jsonl
"""
import json
import pathlib
import random
import sys
import threading
import time
import urllib.request

import zmq

from fleet import NAME, Failed, Sglang, Vllm, adapter, check, running
from make_hybrid import hybrid
from record_media import media
from record_thinking import thinking

QUIET_S = 0.6  # between a request and the next: its events have come by then
VOCABULARY = 1000  # of the ids that prompts are made of


class Recorder:
    """One engine, one request after the other."""

    def __init__(self, engine, out, note):
        self.engine, self.out, self.began, self.count = engine, out, time.monotonic(), 0
        self.lock = threading.Lock()
        version = json.loads(urllib.request.urlopen(f"{engine.url}{'/version' if engine.kind == 'vllm' else '/server_info'}").read())["version"]
        self.line("meta", engine=f"{engine.kind} {version}", kind=engine.kind, block_size=engine.page, model=NAME, note=note, **({"bigrams": True} if getattr(engine, "bigrams", False) else {}))
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.connect(f"tcp://127.0.0.1:{engine.events}")
        self.socket.subscribe(b"")
        threading.Thread(target=self.listen, daemon=True).start()
        time.sleep(1)  # ZeroMQ tells nobody when a subscription has arrived

    def line(self, what, /, **fields):
        with self.lock:
            self.out.write(json.dumps({"t": round(time.monotonic() - self.began, 4), "k": what, **fields}, separators=(",", ":")) + "\n")

    def listen(self):
        while True:
            self.line("event", src=0, frames=[f.hex() for f in self.socket.recv_multipart()])

    def send(self, step, path, body, **more):
        """The request's name, and what the engine answers."""
        self.count += 1
        name = f"r{self.count:04}"
        self.line("request", id=name, step=step, path=path, body=body, **more)
        asked = urllib.request.Request(self.engine.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return name, urllib.request.urlopen(asked, timeout=120).read()

    def answered(self, name, usage, **more):
        """By the usage that OpenAI's API tells. Returns what was cached, when its events have come."""
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        self.line("response", id=name, status=200, prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"], cached_tokens=cached, **more)
        time.sleep(QUIET_S)
        return cached

    @staticmethod
    def generated(said):
        """The usage of an answer of SGLang's /generate, as OpenAI's API tells it."""
        meta = said["meta_info"]
        return {"prompt_tokens": meta["prompt_tokens"], "completion_tokens": meta["completion_tokens"], "prompt_tokens_details": {"cached_tokens": meta["cached_tokens"]}}

    def ask(self, step, ids, lora=None, salt=None, tokens=2):
        sampling = {"temperature": 0, "ignore_eos": True}
        if self.engine.kind == "vllm":
            path, body = "/v1/completions", {"model": lora or NAME, "prompt": ids, "max_tokens": tokens, "return_token_ids": True, **sampling}
        else:
            path, body = "/generate", {"input_ids": ids, "sampling_params": {"max_new_tokens": tokens, **sampling}, **({"lora_path": lora} if lora else {})}
        if salt:
            body["cache_salt"] = salt
        name, answer = self.send(step, path, body, prompt_ids=ids)
        said = json.loads(answer)
        usage, self.output = (said["usage"], said["choices"][0]["token_ids"]) if self.engine.kind == "vllm" else (self.generated(said), said["output_ids"])
        return self.answered(name, usage, output_ids=self.output, prompt_ids=ids)

    def ask_several(self, step, prompts, answers=1, stream=False, tokens=2):
        """Several prompts, or several answers to each, in one request of OpenAI's API."""
        body = {"model": NAME, "prompt": prompts if len(prompts) > 1 else prompts[0], "n": answers, "max_tokens": tokens, "temperature": 0.9, "ignore_eos": True}
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        name, answer = self.send(step, "/v1/completions", body, prompts=prompts)
        text = answer.decode()
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")] if stream else [json.loads(text)]
        usage = next(c["usage"] for c in reversed(chunks) if c.get("usage"))
        cached = self.answered(name, usage)
        print(f"{name} {step}: {cached} of {usage['prompt_tokens']}", flush=True)
        return cached


def adapters(kind):
    """Base and adapters on the same prompts, longer ones and salts; an adapter that is loaded while the engine runs."""
    engine = (Vllm if kind == "vllm" else Sglang)(adapters=["law"])

    def play(r):
        drawn = random.Random(1)
        block = engine.page
        a, b, more = ([drawn.randrange(100, VOCABULARY) for _ in range(n)] for n in (5 * block + 7, 3 * block, 2 * block))
        for lora in (None, "law"):
            r.ask(f"{lora or 'base'}: new", a, lora)
            check(r.ask(f"{lora or 'base'}: repeat", a, lora) > 0, "a repeated prompt is not cached")
        r.ask("law: longer", a + more, "law")
        r.ask("base: longer", a + more)
        r.ask("law: an exact multiple", b, "law")
        r.ask("law: an exact multiple, repeat", b, "law")
        for lora in (None, "law"):
            r.ask(f"{lora or 'base'}: salted", a, lora, salt="team")
            r.ask(f"{lora or 'base'}: salted, repeat", a, lora, salt="team")
        engine.adapter("load", "late", lora_path=str(adapter("late")))
        r.ask("late: new", a, "late")
        r.ask("late: repeat", a, "late")
        r.ask("base: after all", a)

    return engine, play


def caches(kind):
    """A model with caches of several kinds, in so few blocks that some leave: prompts again, cut, longer, and new ones."""
    engine = Vllm(blocks=96, context=1024, extra=["--model", hybrid(kind), "--load-format", "dummy", "--max-num-batched-tokens", "256"])

    def play(r):
        drawn = random.Random(7)
        block, known, found = engine.page, [], 0
        for _ in range(45):
            what = drawn.choice(["new", "again", "cut", "longer", "longer", "a multiple"]) if known else "new"
            ids = drawn.choice(known[-8:]) if known else []
            if what == "new":
                ids = [drawn.randrange(100, VOCABULARY) for _ in range(drawn.randrange(40, 500))]
            elif what == "longer":
                ids = ids + [drawn.randrange(100, VOCABULARY) for _ in range(drawn.randrange(1, 150))]
            elif what == "cut":
                ids = ids[:drawn.randrange(1, len(ids) + 1)]
            elif what == "a multiple":
                ids = ids[:max(1, len(ids) // block) * block]
            known.append(ids[:900])
            found += r.ask(what, known[-1], tokens=drawn.choice([2, 2, 40])) > 0
        check(found > 10, f"{found} prompts found something: this records nothing")

    return engine, play


def several(kind):
    """Several prompts in one request, with and without a common beginning, several answers to one, new and cached, streams and not."""
    engine = (Vllm if kind == "vllm" else Sglang)()

    def play(r):
        drawn = random.Random(2)
        block = engine.page

        def new(blocks, more=7):
            return [drawn.randrange(100, VOCABULARY) for _ in range(blocks * block + more)]

        for stream in (False, True):
            how = "stream" if stream else "whole"
            a, b, c = new(4), new(6), new(3)
            r.ask(f"{how}: a alone", a)
            r.ask_several(f"{how}: a cached, b and c new", [a, b, c], stream=stream)
            r.ask_several(f"{how}: all cached", [a, b, c], stream=stream)
            r.ask_several(f"{how}: all cached, the other way round", [c, b, a], stream=stream)
            d, head = new(5), new(4, 0)
            r.ask_several(f"{how}: two new ones", [d, new(2)], stream=stream)
            r.ask_several(f"{how}: two with a common beginning, new", [head + new(1), head + new(2)], stream=stream)
            r.ask_several(f"{how}: two with a common beginning, that is cached", [head + new(1), head + new(2)], stream=stream)
            r.ask_several(f"{how}: an exact multiple twice", [new(3, 0)] * 2, stream=stream)
            for n in (2, 4):
                e = new(5)
                r.ask_several(f"{how}: {n} answers, new", [e], n, stream)
                r.ask_several(f"{how}: {n} answers, cached", [e], n, stream)
                r.ask_several(f"{how}: {n} answers, longer", [e + new(3)], n, stream)
            r.ask_several(f"{how}: 2 answers to two prompts, new", [new(3), new(4)], 2, stream)
            r.ask_several(f"{how}: 2 answers to two prompts, cached", [a, b], 2, stream)
        r.ask("a alone, after all", a)

    return engine, play


def ends(engine):
    """Prompts that end around the ends of pages and go on in several ways there; as many as are evicted, asked again."""
    drawn = random.Random(engine.page)

    def some(count):
        return [drawn.randrange(100, VOCABULARY) for _ in range(count)]

    def play(r):
        page, asked = engine.page, []

        def ask(step, ids, salt=None):
            asked.append((ids, salt))
            return r.ask(step, ids, salt=salt)

        for over in (-1, 0, 1, 2):
            ids = some(4 * page + over)
            ask(f"four pages {over:+d}", ids)
            check(ask(f"four pages {over:+d}, repeat", ids) > 0, "a repeated prompt is not cached")
            for at in (2 * page - 1, 2 * page, 2 * page + 1, len(ids)):
                ask(f"four pages {over:+d}, other from {at} on", ids[:at] + some(page + 3))
        ask("salted", asked[-1][0], "team")
        ask("salted, repeat", asked[-1][0], "team")
        for turn in range(30):
            ids, salt = drawn.choice(asked[-20:] if turn % 3 else asked)
            at = drawn.randrange(len(ids) + 1)
            ask("a beginning of an earlier one and more", ids[:at] + some(drawn.randrange(1, 2 * page)), salt)

    return engine, play


def pages(kind):
    """Pages of 64 tokens, with room for 40 of them."""
    return ends(Sglang(page=64, tokens=2560))


def bigrams(kind):
    """EAGLE's keys, pairs of tokens, in pages of 16; with room for 40 of them. The scheduler, the radix tree and the events are SGLang's, without a draft model."""
    return ends(Sglang(bigrams=True, tokens=640))


PLAYS = {"adapters": adapters, "several": several, "media": media, "thinking": thinking, "pages": pages, "bigrams": bigrams, **{kind: lambda _, kind=kind: caches(kind) for kind in ("windows", "states")}}


def main(what, kind, out):
    engine, play = PLAYS[what](kind)
    with running(engine), open(out, "w", encoding="ascii") as file:
        recorder = Recorder(engine, file, (PLAYS[what].__doc__ or caches.__doc__))
        play(recorder)
        time.sleep(1)
    print(f"{out}: {recorder.count} requests, {pathlib.Path(out).stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in PLAYS:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Failed as problem:
        sys.exit(f"record: {problem}")
