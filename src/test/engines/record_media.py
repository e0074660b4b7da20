"""What record.py plays of images. Its documentation has more."""
import contextlib
import hashlib
import http.server
import json
import threading

from fleet import NAME, Sglang, Vllm, check, vision_model
from pictures import image, png


def chat(r, pad, step, messages, tokens=2, salt=None):
    """A chat with images, named as the gateway names them. What it answers, and what was cached."""
    parts = [p for m in messages if isinstance(m["content"], list) for p in m["content"] if p["type"] == "image_url"]
    body = {"model": NAME, "messages": messages, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "return_token_ids": True, **({"cache_salt": salt} if salt else {})}
    name, answer = r.send(step, "/v1/chat/completions", body)
    said = json.loads(answer)
    usage, ids = said["usage"], said["prompt_token_ids"]
    check(len(ids) == usage["prompt_tokens"], f"{step}: {len(ids)} ids of {usage['prompt_tokens']}")
    runs = [i for i, t in enumerate(ids) if t == pad and (i == 0 or ids[i - 1] != pad)]
    check(len(runs) == len(parts), f"{step}: {len(runs)} images of {len(parts)}")
    media = [[p.get("uuid"), i, next(n for n in range(len(ids) - i) if ids[i + n] != pad)] for p, i in zip(parts, runs)]
    named = {"prompt_ids": ids, "media": media} if all(m[0] for m in media) else {}  # else nobody but the engine knows what it is
    cached = r.answered(name, usage, output_ids=said["choices"][0]["token_ids"], **named)
    return said["choices"][0]["message"]["content"], cached


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
    """Images whose hashes are given, as /generate takes them, and chats, of whose images nobody knows the hashes; their events carry a session's name."""
    from tokenizers import Tokenizer

    folder = vision_model()
    engine = Sglang(model=folder, extra=["--mm-attention-backend", "sdpa"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pad = json.loads((folder / "config.json").read_text())["image_token_id"]
    sizes = {}

    def play(r):
        def ask(step, text, *files):
            """A prompt with an image wherever it says IMAGE."""
            given = [hashlib.sha256(f).hexdigest()[:16] for f in files]
            prompt = f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n".replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")
            body = {"text": prompt, "image_data": [image(f)["image_url"]["url"] for f in files], "mm_hashes": given,
                    "sampling_params": {"max_new_tokens": 2, "temperature": 0, "ignore_eos": True}}
            name, answer = r.send(step, "/generate", body)
            said, ids = json.loads(answer), []
            usage = r.generated(said)
            encoded = tokenizer.encode(prompt, add_special_tokens=False).ids
            if len(set(files)) == 1:
                sizes[files[0]] = (usage["prompt_tokens"] - len(encoded)) // len(files) + 1
            left = list(files)
            for token in encoded:
                if token == pad:
                    file = left.pop(0)
                    ids += pads(hashlib.sha256(file).hexdigest()[:16], sizes[file])
                else:
                    ids.append(token)
            check(len(ids) == usage["prompt_tokens"], f"{step}: {len(ids)} ids of {usage['prompt_tokens']}")
            return r.answered(name, usage, output_ids=said["output_ids"], prompt_ids=ids)

        def chat(step, *parts, tokens=2, asked="What is it? " * 9):
            """A user's turn; each part is a file or a text. Its events carry the step as the name of a session, as a gateway sends it."""
            content = [image(p) if isinstance(p, bytes) else {"type": "text", "text": p} for p in [*parts, asked]]
            body = {"model": NAME, "max_tokens": tokens, "temperature": 0, "session_id": step, "messages": [{"role": "user", "content": content}]}
            name, answer = r.send(step, "/v1/chat/completions", body)
            r.answered(name, json.loads(answer)["usage"])

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
        green, small = png(280, 252, 4), png(112, 84, 3)
        chat("a chat", green)
        chat("a chat, again", green)
        chat("a chat that begins alike", green, asked="And what is this? " * 9)
        chat("a chat with two images", green, "and", small, tokens=40)
        chat("a chat with two images, again", green, "and", small, tokens=40)
        chat("a chat of the small one", before, small, asked="?")
        chat("a chat of the small one, again", before, small, asked="?")
        chat("a chat with the same twice", small, "and", small)
        ask("no image", before + "What is it?")
        ask("the first one, at last", before + "IMAGE What is it?", red)

    return engine, play


def media(kind):
    """Images: the same again, others of the same size, two at once, conversations that go on, by address, salted."""
    if kind == "sglang":
        return sglang_media()
    folder = vision_model()
    pad = json.loads((folder / "config.json").read_text())["image_token_id"]
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
        said, _ = chat(r, pad, "an image", talk, tokens=40)
        check(chat(r, pad, "the same again", talk)[1] > 90, "an image that was there before is not cached")
        chat(r, pad, "another image of the same size", [system, user(named(blue), text("What is it?"))])
        chat(r, pad, "another question", [system, user(named(red), text("What is it not, and why is it so, do you think?"))])
        talk += [{"role": "assistant", "content": said}, user(text("Say more of it, and of what is beside it."))]
        said, cached = chat(r, pad, "its second turn", talk, tokens=40)
        check(cached > 90, "the second turn does not find the image")
        talk += [{"role": "assistant", "content": said}, user(text("And now of this one."), named(small), text("Both, please."))]
        chat(r, pad, "its third turn, with another image", talk, tokens=3)
        chat(r, pad, "the third turn again", talk)
        chat(r, pad, "two images", [user(named(red), named(blue), text("Compare them."))])
        chat(r, pad, "two images again", [user(named(red), named(blue), text("Compare them."))])
        chat(r, pad, "two images, the other way round", [user(named(blue), named(red), text("Compare them."))])
        chat(r, pad, "the same twice", [user(named(red), named(red), text("Compare them."))])
        chat(r, pad, "the same twice, again", [user(named(red), named(red), text("Compare them."))])
        chat(r, pad, "salted", talk[:2], salt="team")
        chat(r, pad, "salted, again", talk[:2], salt="team")
        chat(r, pad, "a name of the client's", [system, user({**image(blue), "uuid": "blue"}, text("What is it?"))])
        chat(r, pad, "a name of the client's, again", [system, user({**image(blue), "uuid": "blue"}, text("What is it?"))])
        chat(r, pad, "a name of the engine's", [system, user(image(blue), text("What is it?"))])
        chat(r, pad, "a name of the engine's, again", [system, user(image(blue), text("What is it?"))])
        with served(red) as url:
            there = {"type": "image_url", "image_url": {"url": url}}
            chat(r, pad, "by address", [system, user(there, text("What is it?"))])
            chat(r, pad, "by address, again", [system, user(there, text("What is it?"))])
            chat(r, pad, "by address with a name", [system, user({**there, "uuid": "red"}, text("What is it?"))])
            chat(r, pad, "by address with a name, again", [system, user({**there, "uuid": "red"}, text("What is it?"))])
        chat(r, pad, "no image", [system, user(text("What is it?"))])
        chat(r, pad, "the first one, at last", talk[:2])

    return engine, play
