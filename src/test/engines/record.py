#!/usr/bin/env python3
"""Records what a real engine says: its requests' own counts of cached tokens and its KV events, byte for byte, as `./warmpath capture` replays them.

    record.py adapters|media vllm|sglang OUT.jsonl      with the Python of an engine's environment (pyzmq)
"""
import contextlib
import hashlib
import http.server
import json
import pathlib
import random
import sys
import threading
import time
import urllib.request

import zmq

from fleet import NAME, Failed, Sglang, Vllm, adapter, check, running, vision_model
from pictures import image, png

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
        self.count += 1
        name = f"r{self.count:04}"
        sampling = {"temperature": 0, "ignore_eos": True}
        if self.engine.kind == "vllm":
            path, body = "/v1/completions", {"model": lora or NAME, "prompt": ids, "max_tokens": tokens, "return_token_ids": True, **sampling}
        else:
            path, body = "/generate", {"input_ids": ids, "sampling_params": {"max_new_tokens": tokens, **sampling}, **({"lora_path": lora} if lora else {})}
        if salt:
            body["cache_salt"] = salt
        self.line("request", id=name, step=step, path=path, body=body, prompt_ids=ids)
        asked = urllib.request.Request(self.engine.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        said = json.loads(urllib.request.urlopen(asked, timeout=60).read())
        if self.engine.kind == "vllm":
            usage = said["usage"]
            cached, output = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0, said["choices"][0]["token_ids"]
            counts = usage["prompt_tokens"], usage["completion_tokens"]
        else:
            meta = said["meta_info"]
            cached, output, counts = meta["cached_tokens"], said["output_ids"], (meta["prompt_tokens"], meta["completion_tokens"])
        self.line("response", id=name, status=200, prompt_tokens=counts[0], completion_tokens=counts[1], cached_tokens=cached, output_ids=output, prompt_ids=ids)
        time.sleep(QUIET_S)
        return cached

    def chat(self, step, messages, tokens=2, salt=None):
        """A chat with images, named as the gateway names them. What it answers, and what was cached."""
        self.count += 1
        name = f"r{self.count:04}"
        parts = [p for m in messages if isinstance(m["content"], list) for p in m["content"] if p["type"] == "image_url"]
        body = {"model": NAME, "messages": messages, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "return_token_ids": True, **({"cache_salt": salt} if salt else {})}
        self.line("request", id=name, step=step, path="/v1/chat/completions", body=body)
        asked = urllib.request.Request(self.engine.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        said = json.loads(urllib.request.urlopen(asked, timeout=60).read())
        usage, ids = said["usage"], said["prompt_token_ids"]
        check(len(ids) == usage["prompt_tokens"], f"{step}: {len(ids)} ids of {usage['prompt_tokens']}")
        runs = [i for i, t in enumerate(ids) if t == IMAGE_PAD and (i == 0 or ids[i - 1] != IMAGE_PAD)]
        check(len(runs) == len(parts), f"{step}: {len(runs)} images of {len(parts)}")
        media = [[p.get("uuid"), i, next(n for n in range(len(ids) - i) if ids[i + n] != IMAGE_PAD)] for p, i in zip(parts, runs)]
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        named = {"prompt_ids": ids, "media": media} if all(m[0] for m in media) else {}  # else nobody but the engine knows what it is
        self.line("response", id=name, status=200, prompt_tokens=len(ids), completion_tokens=usage["completion_tokens"], cached_tokens=cached,
                  output_ids=said["choices"][0]["token_ids"], **named)
        time.sleep(QUIET_S)
        return said["choices"][0]["message"]["content"], cached


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


@contextlib.contextmanager
def served(file):
    """The address of a file."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(file)))
            self.end_headers()
            self.wfile.write(file)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/a.png"
    finally:
        server.shutdown()


def pads(given, length):
    """What SGLang puts in the place of an image whose hash it is given: four ids by turns."""
    digest = hashlib.sha256(b"sglang-mm-wide-pad-v1" + int(given, 16).to_bytes(8, "big")).digest()
    four = [1_000_000 + (int.from_bytes(digest[8 * i:8 * i + 8], "big") & (1 << 62) - 1) for i in range(4)]
    return [four[i % 4] for i in range(length)]


def sglang_media():
    """Images whose hashes are given, as /generate takes them, and chats, of whose images nobody knows the hashes."""
    from tokenizers import Tokenizer

    folder = vision_model()
    engine = Sglang(model=folder, extra=["--mm-attention-backend", "sdpa"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pad = json.loads((folder / "config.json").read_text())["image_token_id"]
    sizes = {}

    def play(r):
        def ask(step, text, *files):
            """A prompt with an image wherever it says IMAGE."""
            r.count += 1
            name = f"r{r.count:04}"
            given = [hashlib.sha256(f).hexdigest()[:16] for f in files]
            prompt = f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n".replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")
            body = {"text": prompt, "image_data": [image(f)["image_url"]["url"] for f in files], "mm_hashes": given,
                    "sampling_params": {"max_new_tokens": 2, "temperature": 0, "ignore_eos": True}}
            r.line("request", id=name, step=step, path="/generate", body=body)
            asked = urllib.request.Request(r.engine.url + "/generate", json.dumps(body).encode(), {"Content-Type": "application/json"})
            said = json.loads(urllib.request.urlopen(asked, timeout=60).read())
            meta, ids = said["meta_info"], []
            encoded = tokenizer.encode(prompt, add_special_tokens=False).ids
            if len(set(files)) == 1:
                sizes[files[0]] = (meta["prompt_tokens"] - len(encoded)) // len(files) + 1
            left = list(files)
            for token in encoded:
                if token == pad:
                    file = left.pop(0)
                    ids += pads(hashlib.sha256(file).hexdigest()[:16], sizes[file])
                else:
                    ids.append(token)
            check(len(ids) == meta["prompt_tokens"], f"{step}: {len(ids)} ids of {meta['prompt_tokens']}")
            r.line("response", id=name, status=200, prompt_tokens=len(ids), completion_tokens=meta["completion_tokens"],
                   cached_tokens=meta["cached_tokens"], output_ids=said["output_ids"], prompt_ids=ids)
            time.sleep(QUIET_S)
            return meta["cached_tokens"]

        def chat(step, *files):
            r.count += 1
            name = f"r{r.count:04}"
            body = {"model": NAME, "max_tokens": 2, "temperature": 0, "messages": [
                {"role": "user", "content": [*[image(f) for f in files], {"type": "text", "text": "What is it? " * 9}]}]}
            r.line("request", id=name, step=step, path="/v1/chat/completions", body=body)
            asked = urllib.request.Request(r.engine.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
            usage = json.loads(urllib.request.urlopen(asked, timeout=60).read())["usage"]
            r.line("response", id=name, status=200, prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"],
                   cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
            time.sleep(QUIET_S)

        red, blue = png(280, 252, 1), png(280, 252, 2)
        before = "Look at it and say what there is to see. " * 6
        ask("an image", before + "IMAGE What is it?", red)
        check(ask("the same again", before + "IMAGE What is it?", red) > 90, "an image that was there before is not cached")
        ask("another of the same size", before + "IMAGE What is it?", blue)
        ask("another question", before + "IMAGE What is it not, and why is it so, do you think?", red)
        ask("two images", "IMAGE and IMAGE Compare them.", red, blue)
        ask("two images again", "IMAGE and IMAGE Compare them.", red, blue)
        ask("two images, the other way round", "IMAGE and IMAGE Compare them.", blue, red)
        ask("the same twice", "IMAGE and IMAGE Compare them.", red, red)
        chat("a chat", red)
        chat("a chat, again", red)
        ask("no image", before + "What is it?")
        ask("the first one, at last", before + "IMAGE What is it?", red)

    return engine, play


def media(kind):
    """Images: the same again, others of the same size, two at once, conversations that go on, by address, salted."""
    if kind == "sglang":
        return sglang_media()
    folder = vision_model()
    global IMAGE_PAD
    IMAGE_PAD = json.loads((folder / "config.json").read_text())["image_token_id"]
    engine = Vllm(model=folder)

    def play(r):
        def text(words):
            return {"type": "text", "text": words}

        def user(*parts):
            return {"role": "user", "content": list(parts)}

        def named(file):
            """As a gateway sends it."""
            part = image(file)
            return {**part, "uuid": hashlib.sha256(part["image_url"]["url"].encode()).hexdigest()}

        system = {"role": "system", "content": "You look at pictures and say what there is to see. " * 5}
        red, blue, small = png(280, 252, 1), png(280, 252, 2), png(112, 84, 3)
        talk = [system, user(named(red), text("What is it?"))]
        said, _ = r.chat("an image", talk, tokens=40)
        check(r.chat("the same again", talk)[1] > 90, "an image that was there before is not cached")
        r.chat("another image of the same size", [system, user(named(blue), text("What is it?"))])
        r.chat("another question", [system, user(named(red), text("What is it not, and why is it so, do you think?"))])
        talk += [{"role": "assistant", "content": said}, user(text("Say more of it, and of what is beside it."))]
        said, cached = r.chat("its second turn", talk, tokens=40)
        check(cached > 90, "the second turn does not find the image")
        talk += [{"role": "assistant", "content": said}, user(text("And now of this one."), named(small), text("Both, please."))]
        r.chat("its third turn, with another image", talk, tokens=3)
        r.chat("the third turn again", talk)
        r.chat("two images", [user(named(red), named(blue), text("Compare them."))])
        r.chat("two images again", [user(named(red), named(blue), text("Compare them."))])
        r.chat("two images, the other way round", [user(named(blue), named(red), text("Compare them."))])
        r.chat("the same twice", [user(named(red), named(red), text("Compare them."))])
        r.chat("the same twice, again", [user(named(red), named(red), text("Compare them."))])
        r.chat("salted", talk[:2], salt="team")
        r.chat("salted, again", talk[:2], salt="team")
        r.chat("a name of the client's", [system, user({**image(blue), "uuid": "blue"}, text("What is it?"))])
        r.chat("a name of the client's, again", [system, user({**image(blue), "uuid": "blue"}, text("What is it?"))])
        r.chat("a name of the engine's", [system, user(image(blue), text("What is it?"))])
        r.chat("a name of the engine's, again", [system, user(image(blue), text("What is it?"))])
        with served(red) as url:
            there = {"type": "image_url", "image_url": {"url": url}}
            r.chat("by address", [system, user(there, text("What is it?"))])
            r.chat("by address, again", [system, user(there, text("What is it?"))])
            r.chat("by address with a name", [system, user({**there, "uuid": "red"}, text("What is it?"))])
            r.chat("by address with a name, again", [system, user({**there, "uuid": "red"}, text("What is it?"))])
        r.chat("no image", [system, user(text("What is it?"))])
        r.chat("the first one, at last", talk[:2])

    return engine, play


IMAGE_PAD = None  # its id in the vision model's vocabulary
PLAYS = {"adapters": adapters, "media": media}


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
