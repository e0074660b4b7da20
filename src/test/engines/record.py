#!/usr/bin/env python3
"""Records what a real engine says: its requests' own counts of cached tokens and its KV events, byte for byte, as `./warmpath capture` replays them.

    record.py adapters|thinking vllm|sglang OUT.jsonl      with the Python of an engine's environment (pyzmq, tokenizers)
"""
import json
import pathlib
import random
import sys
import threading
import time
import urllib.request

import zmq

from fleet import NAME, Failed, Sglang, Vllm, adapter, check, running, thinking_model

QUIET_S = 0.6  # between a request and the next: its events have come by then
VOCABULARY = 1000  # of the ids that prompts are made of


class Recorder:
    """One engine, one request after the other."""

    def __init__(self, engine, out, note):
        self.engine, self.out, self.began, self.count = engine, out, time.monotonic(), 0
        self.lock = threading.Lock()
        version = json.loads(urllib.request.urlopen(f"{engine.url}{'/version' if engine.kind == 'vllm' else '/server_info'}").read())["version"]
        self.line("meta", engine=f"{engine.kind} {version}", kind=engine.kind, block_size=engine.page, model=NAME, note=note)
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

    def ask(self, step, ids, lora=None, salt=None, tokens=2):
        """A prompt of ids; returns the tokens that were found in the cache, and the answer's ids."""
        sampling = {"temperature": 0, "ignore_eos": True}
        if self.engine.kind == "vllm":
            path, body = "/v1/completions", {"model": lora or NAME, "prompt": ids, "max_tokens": tokens, "return_token_ids": True, **sampling}
        else:
            path, body = "/generate", {"input_ids": ids, "sampling_params": {"max_new_tokens": tokens, **sampling}, **({"lora_path": lora} if lora else {})}
        if salt:
            body["cache_salt"] = salt
        name, said = self.send(step, path, body, prompt_ids=ids)
        if self.engine.kind == "vllm":
            cached, counts = self.usage(said)
            output = said["choices"][0]["token_ids"]
        else:
            meta = said["meta_info"]
            cached, output, counts = meta["cached_tokens"], said["output_ids"], (meta["prompt_tokens"], meta["completion_tokens"])
        self.answered(name, counts, cached, ids, output_ids=output)
        return cached, output

    def chat(self, step, messages, tokenizer, **members):
        """Returns the tokens that were found in the cache, and the ids of the prompt that the engine has made."""
        returned = "return_token_ids" if self.engine.kind == "vllm" else "return_prompt_token_ids"
        body = {"model": NAME, "messages": messages, "max_tokens": 1, "temperature": 0, returned: True, **members}
        name, said = self.send(step, "/v1/chat/completions", body)
        cached, counts = self.usage(said)
        ids = said.get("prompt_token_ids") or said["choices"][0]["prompt_token_ids"]
        self.answered(name, counts, cached, ids, prompt_text=tokenizer.decode(ids, skip_special_tokens=False))
        return cached, ids

    def send(self, step, path, body, **more):
        self.count += 1
        name = f"r{self.count:04}"
        self.line("request", id=name, step=step, path=path, body=body, **more)
        asked = urllib.request.Request(self.engine.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return name, json.loads(urllib.request.urlopen(asked, timeout=60).read())

    @staticmethod
    def usage(said):
        usage = said["usage"]
        return (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0, (usage["prompt_tokens"], usage["completion_tokens"])

    def answered(self, name, counts, cached, ids, **more):
        self.line("response", id=name, status=200, prompt_tokens=counts[0], completion_tokens=counts[1], cached_tokens=cached, prompt_ids=ids, **more)
        time.sleep(QUIET_S)


def adapters(kind):
    """Base and adapters on the same prompts, longer ones and salts; an adapter that is loaded while the engine runs."""
    engine = (Vllm if kind == "vllm" else Sglang)(adapters=["law"])

    def play(r):
        drawn = random.Random(1)
        block = engine.page
        a, b, more = ([drawn.randrange(100, VOCABULARY) for _ in range(n)] for n in (5 * block + 7, 3 * block, 2 * block))
        for lora in (None, "law"):
            r.ask(f"{lora or 'base'}: new", a, lora)
            check(r.ask(f"{lora or 'base'}: repeat", a, lora)[0] > 0, "a repeated prompt is not cached")
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


def thinking(kind):
    """Three turns of a model that thinks, with a round of tools; what it has thought is sent back by name, in the text, or not at all."""
    from tokenizers import Tokenizer

    model = thinking_model()
    engine = (Vllm if kind == "vllm" else Sglang)(model=model, extra=["--reasoning-parser", "qwen3"])
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    drawn = random.Random(2)

    def words(count):
        return " ".join(drawn.choice(WORDS) for _ in range(count))

    def play(r):
        def think(step, ids, thought, said):
            """As if the model had thought: the prompt goes on with it, and the engine computes some words more. Returns the answer's text and how
            many tokens the cache holds at most before the thought."""
            begun = ids + tokenizer.encode(f"<think>\n{thought}\n</think>\n\n{said}", add_special_tokens=False).ids
            _, output = r.ask(step, begun, tokens=2 * engine.page)
            return said + tokenizer.decode(output, skip_special_tokens=False), len(ids)

        def exactly(cached, expected, what):
            check(abs(cached - expected) <= engine.page, f"{what}: {cached} tokens cached, not about {expected}")

        history = [{"role": "system", "content": words(60)}, {"role": "user", "content": words(40)}]
        _, ids = r.chat("first turn", history, tokenizer)
        thought = words(80)
        said, before = think("first turn, thought", ids, thought, "It is")
        asks = {"role": "user", "content": words(40)}
        cached, ids = r.chat("second turn, no thought sent back", [*history, {"role": "assistant", "content": said}, asks], tokenizer)
        exactly(cached, before, "a second turn ends in the cache where the thought began")
        cached, named = r.chat("second turn, thought by name", [*history, {"role": "assistant", "content": said, "reasoning_content": thought}, asks], tokenizer)
        inline = {"role": "assistant", "content": f"<think>\n{thought}\n</think>\n\n{said}"}
        cached, inside = r.chat("second turn, thought in the text", [*history, inline, asks], tokenizer)
        check(ids == named == inside, "a thought of a turn that is over changes the prompt")
        exactly(cached, len(ids), "the same prompt again")

        wonder = words(80)
        call = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": '{"at": 7}'}}
        history += [{"role": "assistant", "content": said}, asks]
        _, before = think("second turn, thought and call", ids, wonder, 'I look.\n<tool_call>\n{"name": "look", "arguments": {"at": 7}}\n</tool_call><|im_end|>\n')
        called = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": "call00001", "content": words(40)}
        kept, whole = r.chat("tool's result, thought by name", [*history, {**called, "reasoning_content": wonder}, result], tokenizer)
        check(kept > before + 60, f"the thought in front of a call is not found again: {kept} of {len(whole)}")
        cached, _ = r.chat("tool's result, no thought sent back", [*history, called, result], tokenizer)
        exactly(cached, before, "without its thought a call is not found")
        cached, _ = r.chat("tool's result, thought by its other name", [*history, {**called, "reasoning": wonder}, result], tokenizer)
        last, before = think("tool's result, thought", whole, words(40), "Seven")
        history += [{**called, "reasoning_content": wonder}, result, {"role": "assistant", "content": last}, {"role": "user", "content": words(40)}]
        r.chat("third turn, thoughts of the tool's round dropped", history, tokenizer)
        r.chat("third turn, thinking off", history, tokenizer, chat_template_kwargs={"enable_thinking": False})
        r.chat("third turn, no effort", history, tokenizer, reasoning_effort="none")
        r.chat("third turn, high effort", history, tokenizer, reasoning_effort="high")

    return engine, play


WORDS = "river stone cloud lamp green quiet seven walks often under bridge paper letter winter apple".split()
PLAYS = {"adapters": adapters, "thinking": thinking}


def main(what, kind, out):
    engine, play = PLAYS[what](kind)
    with running(engine), open(out, "w", encoding="ascii") as file:
        recorder = Recorder(engine, file, PLAYS[what].__doc__)
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
