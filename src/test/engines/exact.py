"""Where it matters what engines really have: the same load through gateways that know it, guess it and do not care.

Each case is a situation in which a guess from what was sent can go wrong. Its load goes through round-robin, our default and
smg's cache_aware (a tree of the characters that it has sent), in an order that is drawn for each round, in front of the same two
engines; their caches are flushed before. `live.py exact --case NAME` plays one.
"""

import contextlib
import json
import os
import random
import statistics
import time

from figures import hit_rates, table
from fleet import Failed, Gateway, Nats, Sglang, Smg, Vllm, check, get, running, wait_until
from loads import Conversations, documents, documents_alike, mixed

TURNS_FOR_ALL, OURS, SMG = "round-robin", "kv (the default)", "smg cache_aware"

CASES = {}
LIMITS = {}  # by how much more than smg's our hit rate must be, at least


def case(above_smg):
    def kept(function):
        CASES[function.__name__], LIMITS[function.__name__] = function, above_smg
        return function

    return kept


def two(kind=Sglang, **more):
    """Two of a kind; each SGLang has a core of its own."""
    core = lambda i: {"core": i % os.cpu_count()} if kind is Sglang else {}
    return [kind(f"{kind.kind}-{i}", **core(i), **more) for i in range(2)]


def gateways(engines, count=1, more=(), env=None):
    """`count` of each kind; those of one kind stand beside each other."""
    def of(kind, make):
        return [make(f"{kind}-{i}") for i in range(count)]

    made = {
        TURNS_FOR_ALL: of("round-robin", lambda n: Gateway(engines, n, more=["--router-mode", "round-robin"])),
        OURS: of("gateway", lambda n: Gateway(engines, n, more=more, env=env))}
    if Smg.program.exists():
        made[SMG] = of("smg", lambda n: Smg(engines, n))
    return made


def flat(made):
    return [g for each in made.values() for g in each]


def fresh(engines, made):
    """Empty caches, and gateways that have heard of it."""
    for engine in engines:
        engine.flush()
    for gateway in flat(made):
        if isinstance(gateway, Gateway):
            gateway.settle()


class Field:
    """What cases have in common: how often a load is played, and the engines that run, as long as cases ask for the same ones."""

    def __init__(self, rounds, stack):
        self.rounds, self.stack, self.up = rounds, stack, {}

    def engines(self, what, make):
        """Those that `make` makes, or that it made when it was asked for the same before."""
        if what not in self.up:
            self.stack.close()
            self.up = {what: make()}
            self.stack.enter_context(running(*self.up[what]))
        return self.up[what]

    def tight(self, kind, **size):
        """Two engines, and one as large as both, which is asked without a gateway."""
        return self.engines(f"tight {kind.kind}", lambda: [
            *two(kind, context=4096, **size),
            kind(f"{kind.kind}-both", context=4096, **{k: 2 * v for k, v in size.items()})])

    def roomy(self):
        """Two engines with room for all, and an endless one, which is asked without a gateway."""
        return self.engines("roomy", lambda: [*two(tokens=65536), Sglang("sglang-endless", tokens=131072)])

    def compare(self, engines, play, bound=None, **of_gateways):
        """`play(gateways, seed)` through each kind; `bound`: a name and an engine that is asked without a gateway."""
        made = gateways(engines, **of_gateways)
        found = {name: [] for name in made}
        busier = {name: [] for name in made}
        with running(*flat(made)):
            for r in range(self.rounds):
                order = list(made)
                random.Random(r).shuffle(order)
                for name in order:
                    fresh(engines, made)
                    before = [e.computed() for e in engines]
                    found[name].append(play(made[name], f"round {r}"))
                    work = [e.computed() - b for e, b in zip(engines, before)]
                    busier[name].append(max(work) / sum(work))
                if bound:
                    bound[1].flush()
                    found.setdefault(bound[0], []).append(play([bound[1]], f"round {r}"))
        table(found)
        parts = ", ".join(f"{name} {100 * statistics.mean(each):.0f} %" for name, each in busier.items())
        print(f"\nPart of the work that the busier engine did: {parts}")
        return hit_rates(found)


@case(-0.03)
def evictions(field):
    """24 documents of 900 tokens where 18 have room; the popular ones change in the middle."""
    return evicting(field, Sglang, tokens=8192)


@case(0.05)
def preface(field):
    """The same, and all documents begin alike, by a third."""
    return evicting(field, Sglang, documents_alike, tokens=8192)


@case(0.05)
def preface_vllm(field):
    """The same with vLLM."""
    return evicting(field, Vllm, documents_alike, blocks=256)


@case(-0.03)
def unequal(field):
    """24 documents of 900 tokens where one engine has room for 15 and the other for 3."""
    sizes = (14336, 2560)
    engines = field.engines("unequal", lambda: [
        Sglang(f"sglang-{i}", tokens=t, core=i % os.cpu_count()) for i, t in enumerate(sizes)])
    return field.compare(engines, documents)


@case(-0.06)
def tiers(field):
    """Documents for which devices and host memory (HiCache) are too small."""
    host = ["--hicache-size", "0", "--hicache-ratio", "1.5"]
    return field.compare(field.engines("tiers", lambda: two(tokens=4096, tier="host", extra=host)), documents)


def evicting(field, kind, play=documents, **size):
    *engines, both = field.tight(kind, **size)
    return field.compare(engines, play, ("one cache as large as both", both))


@case(0.07)
def gateway_restart(field):
    """The gateway restarts in the middle of conversations; what comes after it counts."""
    *engines, endless = field.roomy()

    def play(fronts, seed):
        talk = Conversations(seed)
        talk.turns(fronts, 3)
        for front in fronts:
            if front is not endless:
                front.stop()
                front.start()
                front.wait()
        return talk.turns(fronts, 2)

    return field.compare(engines, play, ("one endless cache", endless))


@case(0.03)
def gateways_beside(field):
    """Two gateways, which a conversation's turns go to by turns."""
    *engines, endless = field.roomy()
    server = Nats()
    with running(server):
        return field.compare(
            engines, lambda fronts, seed: Conversations(seed).turns(fronts, 5), ("one endless cache", endless),
            count=2, more=["--router-replica-sync"], env={"NATS_SERVER": server.url})


@case(0.0)
def forms(field):
    """The same characters with other tokens (tools, tenants), the same tokens with other characters (chat, text)."""
    *engines, endless = field.roomy()
    return field.compare(engines, mixed, ("one endless cache", endless))


@case(-0.08)
def engine_restart(field):
    """An engine is killed under conversations, which go on, and comes back empty; what comes after its end counts."""
    *engines, _ = field.roomy()
    made = gateways(engines)
    found = {name: [] for name in made}
    with running(*flat(made)):
        for r in range(field.rounds):
            # One restart for all: so each has prompts of its own, of the same lengths.
            talks = {name: Conversations(f"round {r}", mark=f"{name} ") for name in made}
            order = list(made)
            random.Random(r).shuffle(order)
            fresh(engines, made)
            for name in order:
                talks[name].turns(made[name], 2)
            victim = engines[r % 2]
            victim.kill()
            seen = {name: talks[name].turns(made[name], 1) for name in order}
            victim.start()
            victim.wait()
            known_again(victim, made)
            for name in order:
                found[name].append(seen[name] + talks[name].turns(made[name], 2))
    table(found)
    return hit_rates(found)


def known_again(engine, made):
    """Waits until all gateways send to it again, and ours follow its events."""
    for gateway in flat(made):
        if isinstance(gateway, Gateway):
            wait_until("it is ready again", lambda: gateway.worker_of(engine)["state"] == "ready", 15)
            follows = lambda: all(s["state"] == "exact" for s in gateway.json("/events/sources")["data"])
            if gateway in made[OURS]:
                wait_until("its events are followed again", follows, 5)
        else:
            healthy = lambda: all(w["is_healthy"] for w in json.loads(get(gateway.url + "/workers")[1])["workers"])
            wait_until("smg sees it healthy again", healthy, 60)


def holds(name, hits):
    """Margins below what was seen; all are asked in the same minutes."""
    check(hits[OURS] > hits[TURNS_FOR_ALL] + 0.03, f"{name}: hardly more than round-robin: {hits}")
    if SMG in hits:
        check(hits[OURS] > hits[SMG] + LIMITS[name], f"{name}: not {LIMITS[name]} above smg: {hits}")


def run(names, rounds, checked):
    with contextlib.ExitStack() as stack:
        field = Field(rounds, stack)
        for name in names:
            began = time.monotonic()
            print(f"\n{name}: {CASES[name].__doc__}\n", flush=True)
            hits = CASES[name](field)
            print(f"\n{name}: {time.monotonic() - began:.0f} s", flush=True)
            if checked:
                holds(name, hits)
                try:
                    holds(name, {**hits, OURS: hits[TURNS_FOR_ALL]})
                except Failed:
                    continue  # the control: who only takes turns is found out
                raise Failed(f"{name}: round-robin would pass as ours: {hits}")
