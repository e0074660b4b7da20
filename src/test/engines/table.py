#!/usr/bin/env python3
"""The cases that a fleet of real engines must stand, through the real `openai` client (`./warmpath verify`, step "engines").

    table.py [CASE...]       all of them without a name; --list names them
"""

import concurrent.futures
import contextlib
import signal
import sys
import tempfile
import threading
import time

import openai

import one_piece
import smoke
from fleet import NAME, Failed, Gateway, MooncakeMaster, Nats, Relay, Sglang, Vllm, adapter, check, running, vision_model, wait_until
from pictures import image, png
from talk import chat, client, complete, expect_exact, words

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def two_sglang(**more):
    return [Sglang(f"sglang-{i}", **more) for i in range(2)]


def by_name(gateway, engines):
    return {gateway.worker_of(e)["name"]: e for e in engines}


def at_once(asks):
    with concurrent.futures.ThreadPoolExecutor(len(asks)) as pool:
        return [f.result() for f in [pool.submit(a) for a in asks]]


def turns(gateway, conversations=6, count=5, tokens=16, seed=0, settle=True):
    """Over one system prompt, streamed and not, half of them at once. Returns all answers; all are checked but the first at once."""
    api = client(gateway)
    system = words(f"system {seed}", 300)
    histories = [[{"role": "system", "content": system}] for _ in range(conversations)]
    seen = []

    def ask(i, turn):
        history = histories[i]
        history.append({"role": "user", "content": words(f"{seed} {i} {turn}", 40)})
        answer = chat(api, history, tokens, stream=i % 2 == 0)
        history.append({"role": "assistant", "content": answer.text})
        return answer

    for turn in range(count):
        half = conversations // 2
        for i in range(half):
            if settle:
                gateway.settle()
            answer = ask(i, turn)
            expect_exact(answer, f"conversation {i}, turn {turn}")
            seen.append(answer)
        gateway.settle()
        together = at_once([lambda i=i: ask(i, turn) for i in range(half, conversations)])
        for i, answer in enumerate(together):
            # Those that begin at once share blocks that none of them has yet.
            if turn > 0:
                expect_exact(answer, f"conversation {half + i}, turn {turn}, at once")
        seen += together
    return seen


@case
def idle():
    """Two idle minutes: ready, no word of unhealthy, no generated token."""
    engines = [Sglang(), Vllm()]
    with running(*engines), contextlib.ExitStack() as gateways:
        ups = []
        pairs = [(e, Gateway([e], name=f"gateway-{e.name}")) for e in engines]
        for engine, gateway in pairs:
            gateways.enter_context(running(gateway))
            smoke.learnt(gateway, engine)
            ups.append(engine.computed())
        end = time.monotonic() + 120
        while time.monotonic() < end:
            for engine, gateway in pairs:
                smoke.stays_ready(gateway, [engine], 0.5)
        for (engine, gateway), before in zip(pairs, ups):
            check(engine.computed() == before, f"{engine.name} generated for its health checks")
            failed = [l for l in gateway.metrics().splitlines() if l.startswith("warmpath_fleet_failed_probes")]
            check(all(l.endswith((" 0", " 0.0")) for l in failed), f"failed checks: {failed}")


@case
def conversations():
    """6 conversations of 5 turns over two SGLangs, and behind vLLM."""
    for engines in (two_sglang(), [Vllm()]):
        with running(*engines):
            gateway = Gateway(engines)
            with running(gateway):
                seen = turns(gateway)
                exact = sum(a.predicted == a.cached for a in seen)
                print(f"    {engines[0].kind}: {exact} of {len(seen)} predictions equal", flush=True)
                check(exact >= len(seen) - 3, "more than the first at once differ")


@case
def throughput():
    """As many answers in one piece as streamed ones, with keys of 20 tenants and without, by 1, 8 and 32 clients."""
    for engine in (Sglang(), Vllm()):
        with running(engine), tempfile.TemporaryDirectory() as folder:
            keys = ("--api-key-file", one_piece.key_file(folder))
            for gateway in (Gateway([engine], name=f"{engine.name}-keys", more=keys), Gateway([engine], name=f"{engine.name}-open")):
                with running(gateway):
                    one_piece.play(engine, gateway, (1, 8, 32))


@case
def shapes():
    """Tools with history, developer and system, unicode, parts, 6k tokens, salts, logprobs, completions, n=2, batches."""
    for engine in (Sglang(), Vllm()):
        gateway = Gateway([engine])
        with running(engine):
            with running(gateway):
                smoke.forms(gateway)
                more_shapes(gateway, engine)


def more_shapes(gateway, engine):
    api = client(gateway)
    user = lambda text: {"role": "user", "content": text}
    call = {"role": "assistant", "content": "", "tool_calls": [{
        "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"town": "Oslo"}'}}]}
    tools = [{"type": "function", "function": {
        "name": "weather", "description": "of a town", "parameters": {"type": "object", "properties": {
            "town": {"type": "string"}}}}}]
    history = [user(words(21, 80)), call, {"role": "tool", "tool_call_id": "call_1", "content": words(22, 40)}, user("And now?")]
    asks = {
        "tools with history": lambda: chat(api, history, tools=tools, tool_choice="none"),
        "developer and system": lambda: chat(api, [
            {"role": "system", "content": words(23, 60)}, {"role": "developer", "content": words(24, 60)}, user(words(25, 40))]),
        "6k tokens": lambda: chat(api, [user(words(26, 4300))], 4),
        "salt": lambda: chat(api, [user(words(27, 120))], extra_body={"cache_salt": "a"}),
        "logprobs": lambda: chat(api, [user(words(28, 120))], logprobs=True, top_logprobs=2),
        "completion with ids": lambda: complete(api, list(range(100, 300)), 4),
        "n=2": lambda: chat(api, [user(words(29, 120))], n=2, temperature=0.5),  # vLLM: not greedily
        "batch": lambda: complete(api, [words(30, 80), words(31, 80)], 4),
    }
    for what, ask in asks.items():
        for which in ("first", "second"):
            gateway.settle()
            answer = ask()
            expect_exact(answer, f"{engine.kind}: {what}, {which} time")
        print(f"    {engine.kind}: {what}: {answer}", flush=True)


class Streams:
    """Long streams at once, each with the members of its own in `more`. `answers()` waits for them; `victim()` is the worker of most of them, once each
    has begun."""

    def __init__(self, gateway, count, tokens, more=None):
        self.progress = {}  # stream: worker and chunks
        self.pool = concurrent.futures.ThreadPoolExecutor(count)
        api = client(gateway, timeout=300)
        self.running = [self.pool.submit(self.one, api, i, tokens, more[i] if more else {}) for i in range(count)]

    def one(self, api, i, tokens, more):
        def watch(worker, chunks):
            self.progress[i] = worker, chunks

        return chat(api, [{"role": "user", "content": words(f"long {i}", 60)}], tokens, stream=True, watch=watch, **more)

    def answers(self):
        answers = [r.result() for r in self.running]
        self.pool.shutdown()
        return answers

    def victim(self, chunks=40):
        def begun():
            seen = list(self.progress.values())
            return seen if len(seen) == len(self.running) and min(c for _, c in seen) >= chunks else None

        seen = [worker for worker, _ in wait_until("all streams run", begun, 60, 0.01)[0]]
        return max(set(seen), key=seen.count)


@case
def killed():
    """kill -9 of one of two SGLangs under eight streams: each is complete, and equal to the undisturbed run."""
    disturbed(signal.SIGKILL)


@case
def stopped():
    """SIGSTOP of one of two SGLangs under eight streams: the same, within 20 s of the stop."""
    disturbed(signal.SIGSTOP)


def disturbed(how, count=8, tokens=1500):
    engines = two_sglang()
    with running(*engines):
        gateway = Gateway(engines)
        with running(gateway):
            began = time.monotonic()
            calm = [a.text for a in Streams(gateway, count, tokens).answers()]
            undisturbed = time.monotonic() - began
            names = by_name(gateway, engines)
            streams = Streams(gateway, count, tokens)
            victim = names[streams.victim()]
            told = time.monotonic()
            victim.signal(how)
            if how == signal.SIGSTOP:
                noticed = wait_until(
                    "the stopped engine is unhealthy", lambda: gateway.worker_of(victim)["state"] == "unhealthy", 15)[1]
                print(f"    noticed after {noticed:.1f} s", flush=True)
                check(noticed <= 10, "later than 10 s")
            answers = streams.answers()
            took = time.monotonic() - told
            victim.signal(signal.SIGCONT)
            moved = [l for l in gateway.metrics().splitlines() if l.startswith("warmpath_migrations_total")]
            completed = sum(float(l.rsplit(" ", 1)[1]) for l in moved if 'result="completed"' in l)
            print(f"    {undisturbed:.1f} s undisturbed; all ended {took:.1f} s after it, {completed:.0f} moved", flush=True)
            check(completed > 0, f"nothing was moved: {moved}")
            for i, answer in enumerate(answers):
                check(answer.finish == "length", f"stream {i} ended as {answer.finish!r}")
                check(answer.text == calm[i], f"stream {i} differs:\n{calm[i]!r}\n{answer.text!r}")
            if how == signal.SIGSTOP:
                check(took <= 20 + undisturbed, f"took {took:.1f} s")


@case
def restarts():
    """An engine restarted empty; the gateway restarted with state and without: the first predictions after it are right."""
    engines = two_sglang()
    with running(*engines):
        gateway = Gateway(engines, more=["--state-directory", tempfile.mkdtemp(prefix="warmpath-state-")])
        with running(gateway):
            first = turns(gateway, 4, 2, seed="a")
            api = client(gateway)
            worker = first[-1].worker
            victim = by_name(gateway, engines)[worker]
            victim.kill()
            victim.start()
            victim.wait()
            wait_until("it is ready again", lambda: gateway.worker_of(victim)["state"] == "ready", 15)
            exact = lambda: all(s["state"] == "exact" for s in gateway.json("/events/sources")["data"])
            wait_until("its events are followed again", exact, 3)
            answer = chat(api, [{"role": "system", "content": words("system a", 300)}], extra_body={
                "nvext": {"backend_instance_id": int(gateway.worker_of(victim)["id"])}})
            check(answer.worker == worker, f"it did not go to {worker}: {answer}")
            check(answer.predicted == 0 == answer.cached, f"restarted empty: {answer}")
            gateway.settle()
            turns(gateway, 4, 2, seed="b")
            gateway.settle()
        with running(gateway):  # with its state
            gateway.settle()
            again = chat(client(gateway), [{"role": "system", "content": words("system b", 300)}])
            check(again.cached > 0, f"nothing cached: {again}")
            expect_exact(again, "after a restart with state")
        bare = Gateway(engines, name="gateway-bare")
        with running(bare):  # without: the engines' replay buffers tell
            bare.settle()
            again = chat(client(bare), [{"role": "system", "content": words("system b", 300)}])
            check(again.cached > 0, f"nothing cached: {again}")
            expect_exact(again, "after a restart without state")


@case
def nats():
    """Events through relays and NATS; the server is killed and comes back: the first predictions after it are right."""
    engines, server = two_sglang(), Nats()
    with running(server, *engines), running(*[Relay(e, server) for e in engines]):
        gateway = Gateway(engines, more=["--event-plane", "nats"], env={"NATS_SERVER": server.url})
        with running(gateway):
            exact = lambda: all(s["state"] == "exact" for s in gateway.json("/events/sources")["data"])
            wait_until("events come through NATS", exact, 20)
            turns(gateway, 4, 2, seed="before")
            server.kill()
            wait_until("the gateway notices that NATS is gone", lambda: not exact(), 20)
            chat(client(gateway), [{"role": "user", "content": words("while it is away", 200)}])
            server.start()
            server.wait()
            wait_until("all events are there again", exact, 30)
            for seed in ("while it is away", "after"):
                gateway.settle()
                expect_exact(chat(client(gateway), [{"role": "user", "content": words(seed, 200)}]), seed)
            turns(gateway, 4, 2, seed="before")
            gateway.settle()
            again = chat(client(gateway), [{"role": "system", "content": words("system before", 300)}])
            check(again.cached > 0, f"nothing cached: {again}")
            expect_exact(again, "after NATS came back")


@case
def busy():
    """A prefill of half a minute and streams behind it: nothing is unhealthy, cancelled or moved."""
    # With SGLang's attention on a CPU one prompt takes so long, with vLLM's several at once and one after the other.
    for engine, at_a_time in ((Sglang(tokens=65536, context=61440), 1), (Vllm(blocks=8000, context=61440), 4)):
        gateway = Gateway([engine])
        with running(engine):
            with running(gateway):
                long_prefill(gateway, engine, at_a_time)


def long_prefill(gateway, engine, at_a_time):
    api = client(gateway, timeout=600)
    stop = threading.Event()
    seen = []

    def watch():
        while not stop.is_set():
            seen.append(gateway.worker_of(engine)["state"])
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        began = time.monotonic()
        stream = lambda: chat(api, [{"role": "user", "content": words(41, 60)}], 200, stream=True)
        short = lambda: chat(api, [{"role": "user", "content": words(43, 60)}], 20)
        long = []

        def prefills(i):
            while not long or time.monotonic() - began < 30:
                long.append(chat(api, [{"role": "user", "content": words(f"busy {i} {len(long)}", 35000)}], 4))

        waiting = [stream, *[lambda i=i: prefills(i) for i in range(at_a_time)], short]
        answers = [a for a in at_once(waiting) if a]
        took = time.monotonic() - began
    finally:
        stop.set()
        watcher.join()
    answers += long
    print(f"    {engine.kind}: {len(long)} prompt(s) of {long[0].prompt} tokens, {took:.0f} s in all", flush=True)
    check(took >= 30, f"the engine was busy for {took:.0f} s only: this shows nothing")
    check(set(seen) == {"ready"}, f"states: {sorted(set(seen))}\n{gateway.tail()}")
    check(all(a.finish == "length" for a in answers), "an answer was cut")
    moved = [l for l in gateway.metrics().splitlines() if l.startswith(("warmpath_migrations_total", "warmpath_retries_total"))]
    check(all(l.endswith((" 0", " 0.0")) for l in moved), f"something was moved: {moved}")
    check("UNHEALTHY" not in gateway.text(), gateway.tail())


@case
def host_tier():
    """HiCache in host memory: more conversations than the device holds; what comes back from the host is predicted."""
    engine = Sglang(tokens=4096, tier="host")
    with running(engine):
        gateway = Gateway([engine])
        with running(gateway):
            seen = turns(gateway, 8, 3, seed="host")
            exact = sum(a.predicted == a.cached for a in seen)
            print(f"    {exact} of {len(seen)} predictions equal", flush=True)
            source = gateway.json("/events/sources")["data"][0]
            check(source["offloaded_blocks"] > 0, f"nothing went to the host: {source}")


@case
def pool():
    """Two SGLangs with a Mooncake pool and its real master: what one stored, the other fetches, as predicted."""
    master = MooncakeMaster()
    with running(master):
        engines = two_sglang(tokens=4096, tier="mooncake", master=master)
        with running(*engines):
            # As src/docs/how-to/hicache.md has it.
            gateway = Gateway(engines, more=["--shared-cache-type", "hicache"])
            with running(gateway):
                api = client(gateway)
                ids = [int(gateway.worker_of(e)["id"]) for e in engines]
                prompt = [{"role": "user", "content": words(51, 400)}]
                to = lambda i: {"nvext": {"backend_instance_id": ids[i]}}
                first = chat(api, prompt, extra_body=to(0))
                gateway.settle()
                time.sleep(3)  # the pool is written behind the answer
                second = chat(api, prompt, extra_body=to(1))
                print(f"    {first}; {second}", flush=True)
                check(second.cached > 0, f"nothing came from the pool: {second}")
                expect_exact(second, "from the pool")


@case
def ranks():
    """DP=2: each rank has its own cache and events; predictions hold for the rank that the gateway names."""
    engine = Sglang(dp=2)
    with running(engine):
        gateway = Gateway([engine])
        with running(gateway):
            check(gateway.workers()[0]["dp_size"] == 2, "two ranks are not known")
            seen = turns(gateway, 6, 3, seed="dp")
            exact = sum(a.predicted == a.cached for a in seen)
            print(f"    {exact} of {len(seen)} predictions equal", flush=True)


def adapters(here, there):
    """Requests go where their adapter is, or to the engine that has a place for it, each predicted exactly, while adapters come and go."""
    gateway = Gateway([here, there])
    with running(here, there), running(gateway):
        api = client(gateway)
        prompt = [{"role": "user", "content": words("adapters", 200)}]
        named = {e: gateway.worker_of(e)["name"] for e in (here, there)}
        to_there = {"nvext": {"backend_instance_id": int(gateway.worker_of(there)["id"])}}
        seen = []

        def models():
            return {m["id"]: m.get("parent") for m in gateway.json("/v1/models")["data"]}

        def change(what, name, engine):
            """Has an adapter loaded or unloaded. Returns the seconds until the gateway knows."""
            engine.adapter(what, name, **({"lora_path": str(adapter(name))} if what == "load" else {}))
            return wait_until(
                f"the gateway sees the {what} of {name}", lambda: (name in gateway.worker_of(engine)["models"]) == (what == "load"), 30)[1]

        def ask(model, at=None):
            answer = chat(api, prompt, 8, model=model)
            expect_exact(answer, model)
            check(answer.predicted is not None, f"{model}: nothing predicted: {dict(answer.headers)}")
            check(at is None or answer.worker == named[at], f"{model} is not answered by {named.get(at)}: {answer}")
            seen.append(answer)
            return answer

        def twice(model, at=None):
            """Its answer; the prompt is computed the first time, as no other model's blocks are its own."""
            said = []
            for cached in (False, True):
                gateway.settle()
                answer = ask(model, at)
                check((answer.cached > 0) == cached, f"{model}: {answer}")
                said.append(answer.text)
            check(said[0] == said[1], f"{model}: {said}")
            return said[0]

        def cost(answer):
            """Milliseconds that the adapter costs, by engine."""
            row = gateway.json(f"/router/decisions?request_id={answer.headers['x-request-id']}")["decisions"][0]
            terms = {c["worker"]: c["terms"]["adapter_ms"] for c in row["decision"]["candidates"]}
            return terms[named[here]], terms[named[there]]

        check(models() == {NAME: None, "law": NAME, "right": NAME}, f"models: {models()}")
        answers = [twice(NAME), twice("law", here), twice("right", there)]
        took = change("load", "late", there)
        answers.append(twice("late", there))
        check(len(set(answers)) == 4, f"adapters change nothing: {answers}")
        tokens = gateway.worker_of(there)["tokens"]
        check(set(tokens.values()) == {"engine's files"}, f"tokens: {tokens}")

        busy = ["late", "later"][:there.adapters_at_once]
        if "later" in busy:
            change("load", "later", there)
        change("load", "late", here)
        change("load", "right", here)
        streams = Streams(gateway, len(busy), 1500, [{"model": name, "extra_body": to_there} for name in busy])
        streams.victim(3)
        elsewhere, active = ask("right", here), ask("late")
        check(not any(s.done() for s in streams.running), "the streams were over too early: this shows nothing")
        free, waits = cost(elsewhere)
        check(waits > free > 0, f"an adapter that has a place costs {free} ms, one that waits for it {waits}")
        loads, runs = cost(active)
        check(loads > runs == 0, f"an adapter that is loaded costs {loads} ms, one that runs {runs}")
        for answer in streams.answers():
            expect_exact(answer, "stream")

        for engine in (there, here):
            change("unload", "late", engine)
            if engine is there:
                gateway.settle()
                ask("late", here)
        check("late" not in models(), f"models: {models()}")
        try:
            chat(api, prompt, 8, model="late")
            raise Failed("an adapter that has gone is answered")
        except openai.NotFoundError:
            pass
        print(f"    {len(seen)} requests of 4 models predicted exactly; an adapter was found after {took:.1f} s; loading it cost {free:.0f} ms, a place {waits:.0f} ms",
              flush=True)


@case
def adapters_vllm():
    """LoRA adapters with two vLLMs: exact, asked where they are, found when they come, gone when they go."""
    adapters(*[Vllm(f"vllm-{name}", adapters=[name]) for name in ("law", "right")])


@case
def adapters_sglang():
    """The same with two SGLangs."""
    adapters(*[Sglang(f"sglang-{name}", adapters=[name]) for name in ("law", "right")])


def media(engine, unseen, sizes):
    """Turns of two conversations, each with images old and new. `unseen`: why the first one is not predicted whole; `sizes`: one of its size is then known."""
    gateway = Gateway([engine])
    with running(engine), running(gateway):
        api = client(gateway)
        system = {"role": "system", "content": words("pictures", 60)}

        def talk(history, file, asked, stream=False, why=None, most=None):
            """One turn; `most`: tokens of the prompt that cannot be cached."""
            picture = [image(file)] if file else []
            history.append({"role": "user", "content": [*picture, {"type": "text", "text": asked}]})
            gateway.settle()
            answer = chat(api, history, 40, stream=stream)
            history.append({"role": "assistant", "content": answer.text})
            if why:  # its beginning is known, and nothing of the image
                check(0 <= answer.cached - answer.predicted <= engine.page, f"{asked}: {answer}")
            else:
                expect_exact(answer, asked)
            check(answer.headers.get("x-warmpath-not-exact") == why, f"{asked}: {answer}, {answer.headers.get('x-warmpath-not-exact')}")
            check(most is None or answer.prompt - answer.cached <= most, f"{asked}: {answer}")
            return answer

        red, blue, small = png(280, 252, 1), png(280, 252, 2), png(112, 84, 3)
        one, other = [system], [system]
        talk(one, red, "What is it?", why=unseen)
        talk(one, None, "Say more of it.", stream=True, most=70)
        talk(other, blue, "And what is this?", why=None if sizes else unseen)
        talk(one, small, "And this one?", why=unseen, most=110)
        talk(one, None, "Which of both is red?", most=70)
        talk(other, small, "And this one?", stream=True, most=110)
        last = talk(other, red, "And how about this one, do you know it?", most=200)
        again = [system, {"role": "user", "content": [image(red), {"type": "text", "text": "What is it?"}]}]
        check(chat(api, again, 40).text == one[2]["content"], "an image that is cached is another one")
        alike = [[{"role": "user", "content": [image(png(280, 252, seed)), {"type": "text", "text": "What is it?"}]}] for seed in (4, 5)]
        at_once([lambda messages=messages: chat(api, messages, 8) for messages in alike])
        for messages in alike:
            gateway.settle()
            answer = chat(api, messages, 8)
            expect_exact(answer, "again, of two at once")
            check(answer.prompt - answer.cached <= engine.page, f"again, of two at once: {answer}, {answer.headers.get('x-warmpath-not-exact')}")
        print(f"    seven turns with images predicted exactly, the last one {last.predicted} of {last.prompt} tokens", flush=True)


@case
def media_vllm():
    """Images with vLLM: conversations are matched through them, and what is not known says why."""
    media(Vllm("vllm-vision", model=vision_model()), "media of a length not seen yet", sizes=True)


@case
def media_sglang():
    """The same with SGLang, which names images by a hash of its own: matched through those that it was seen to compute."""
    media(Sglang("sglang-vision", model=vision_model(), extra=["--mm-attention-backend", "sdpa"]), "media not seen yet", sizes=False)


def main(names):
    if names == ["--list"]:
        for name, function in CASES.items():
            print(f"{name:14} {function.__doc__.splitlines()[0]}")
        return 0
    unknown = [n for n in names if n not in CASES]
    if unknown:
        print(f"engines: there is no case {', '.join(unknown)}; {', '.join(CASES)} are", file=sys.stderr)
        return 2
    failed = 0
    for name in names or CASES:
        began = time.monotonic()
        print(f"engines: {name}: {CASES[name].__doc__.splitlines()[0]}", flush=True)
        try:
            CASES[name]()
            print(f"engines: {name}: holds, {time.monotonic() - began:.0f} s", flush=True)
        except Exception as problem:  # the next cases are told of, too
            failed += 1
            kind = "" if isinstance(problem, Failed) else type(problem).__name__ + ": "
            print(f"engines: {name}: FAILED after {time.monotonic() - began:.0f} s: {kind}{problem}", flush=True)
    print(f"{len(names or CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
