#!/usr/bin/env python3
"""LMCache's workers without an engine: what they tell their controller, and what it answers.

    record_lmcache.py record FILE         between LMCache's workers and LMCache's own controller
    record_lmcache.py live PULL REPLY URL the same workers before a gateway at URL, whose look-ups
                                          are held against what the workers hold

Workers, backends, hashes and controller are LMCache's own, with vLLM's hashes; only the engine that
would fill the cache is played. Needs lmcache and vLLM importable, PYTHONHASHSEED a number and
LMCACHE_HASH builtin or sha256_cbor.
"""

import asyncio
import importlib.metadata
import json
import os
import random
import sys
import threading
import time
import urllib.request

import torch
import vllm
import zmq
import zmq.asyncio

from lmcache.v1.cache_controller.controller_manager import LMCacheControllerManager
from lmcache.v1.cache_controller.worker import LMCacheWorker
from lmcache.v1.config import LMCacheEngineConfig
from lmcache.v1.metadata import LMCacheMetadata
from lmcache.v1.storage_backend.local_cpu_backend import LocalCPUBackend
from lmcache.v1.token_database import ChunkedTokenDatabase

CHUNK = 32
SEED = os.environ["PYTHONHASHSEED"]
HASH = os.environ.get("LMCACHE_HASH", "sha256_cbor")
PULL, REPLY, TAP_PULL, TAP_REPLY = 28300, 28400, 28301, 28401


class Engine:
    """What of LMCache's engine its worker asks for."""

    def __init__(self):
        self.storage_manager = self
        self.local_cpu_backend = None
        self.frozen = False

    def freeze(self, on):
        self.frozen = on


class Rank:
    """One tensor-parallel rank of an engine: LMCache's worker and its host memory."""

    def __init__(self, instance, rank, ranks, pull, reply):
        self.config = LMCacheEngineConfig.from_defaults(
            chunk_size=CHUNK,
            local_cpu=True,
            max_local_cpu_size=0.05,
            pre_caching_hash_algorithm=HASH,
            enable_controller=True,
            lmcache_instance_id=instance,
            controller_pull_url=pull,
            controller_reply_url=reply,
            lmcache_worker_ports=[28500 + rank + 10 * (ord(instance[-1]) % 50) for rank in range(ranks)],
            lmcache_worker_heartbeat_delay_time=1,
            lmcache_worker_heartbeat_time=1,
            extra_config={"full_sync_batch_size": 3, "full_sync_startup_delay_s": 0.1,
                          "full_sync_status_poll_interval_s": 0.3},
        )
        self.metadata = LMCacheMetadata(
            model_name="tiny", world_size=ranks, local_world_size=ranks, worker_id=rank,
            local_worker_id=rank, kv_dtype=torch.float32, kv_shape=(2, 2, CHUNK, 2, 8))
        self.engine = Engine()
        self.worker = LMCacheWorker(self.config, self.metadata, self.engine)
        self.backend = LocalCPUBackend(self.config, self.metadata, lmcache_worker=self.worker)
        self.engine.local_cpu_backend = self.backend
        self.tokens = ChunkedTokenDatabase(self.config, self.metadata)

    def keys(self, ids):
        return [key for _, _, key in self.tokens.process_tokens(ids)]

    def store(self, ids):
        for key in self.keys(ids):
            obj = self.backend.allocate(self.metadata.get_shapes(), self.metadata.get_dtypes())
            self.backend.submit_put_task(key, obj)
            obj.ref_count_down()

    def evict(self, ids, chunk):
        self.backend.remove(self.keys(ids)[chunk])

    def run(self, ids):
        """Chunks from the start of the prompt that are there."""
        run = 0
        for key in self.keys(ids):
            if not self.backend.contains(key):
                break
            run += 1
        return run

    def held(self):
        return sorted(key.chunk_hash for key in self.backend.get_keys())

    def close(self):
        self.backend.batched_msg_sender.close()
        time.sleep(0.3)
        self.worker.close()


def play(pull, reply, settled):
    """Stores, evictions, a full sync; settled(ranks, prompts) is called where all has been told."""
    rng = random.Random(36)
    ranks = [Rank("engine-a", 0, 2, pull, reply), Rank("engine-a", 1, 2, pull, reply),
             Rank("engine-b", 0, 1, pull, reply)]
    of = {"engine-a": ranks[:2], "engine-b": ranks[2:]}
    head = [rng.randrange(151936) for _ in range(3 * CHUNK)]
    prompts = [(head if i % 2 else []) + [rng.randrange(151936) for _ in range(rng.randrange(1, 6 * CHUNK))]
               for i in range(12)]
    prompts.append([0, 1, 23, 24, 255, 256, 65535, 65536, 4294967295 >> 1] * CHUNK)
    prompts = [p[: len(p) // CHUNK * CHUNK] for p in prompts]
    prompts = [p for p in prompts if p]
    time.sleep(1)
    for i, prompt in enumerate(prompts):
        for rank in of["engine-b" if i % 3 == 2 else "engine-a"]:
            rank.store(prompt)
    settled(ranks, prompts)
    for _ in range(8):
        rank, prompt = rng.choice(ranks), rng.choice(prompts)
        chunk = rng.randrange(len(prompt) // CHUNK)
        if rank.backend.contains(rank.keys(prompt)[chunk]):
            rank.evict(prompt, chunk)
        rng.choice(ranks).store(rng.choice(prompts))
    settled(ranks, prompts)
    time.sleep(4)  # heartbeats, and the full sync that they bring
    for rank in of["engine-b"]:
        rank.store(prompts[0])
    settled(ranks, prompts)
    for rank in of["engine-b"]:
        rank.close()
    settled(of["engine-a"], prompts)
    for rank in of["engine-a"]:
        rank.close()
    time.sleep(1)


class Tap:
    """Stands between workers and controller, hands everything on and writes it down."""

    def __init__(self, out):
        self.out = out
        self.lock = threading.Lock()
        self.last = time.monotonic()
        threading.Thread(target=self.run, daemon=True).start()

    def write(self, line):
        with self.lock:
            self.out.write(json.dumps(line, separators=(",", ":")) + "\n")
            self.last = time.monotonic()

    def run(self):
        context = zmq.Context()
        pull, push = context.socket(zmq.PULL), context.socket(zmq.PUSH)
        router = context.socket(zmq.ROUTER)
        pull.bind(f"tcp://127.0.0.1:{TAP_PULL}")
        router.bind(f"tcp://127.0.0.1:{TAP_REPLY}")
        push.connect(f"tcp://127.0.0.1:{PULL}")
        poller = zmq.Poller()
        poller.register(pull, zmq.POLLIN)
        poller.register(router, zmq.POLLIN)
        while True:
            for socket, _ in poller.poll():
                frames = socket.recv_multipart()
                if socket is pull:
                    push.send_multipart(frames)
                    self.write({"pushed": [f.hex() for f in frames]})
                    continue
                # One question at a time: the controller answers at once.
                dealer = context.socket(zmq.DEALER)
                dealer.connect(f"tcp://127.0.0.1:{REPLY}")
                dealer.send_multipart(frames[1:])
                answer = dealer.recv_multipart()
                dealer.close()
                router.send_multipart([frames[0], *answer])
                self.write({"asked": [f.hex() for f in frames[1:]], "answer": [f.hex() for f in answer]})

    def quiet(self):
        while time.monotonic() - self.last < 0.5:
            time.sleep(0.1)


def record(path):
    made = threading.Event()
    controller = []

    async def serve():
        manager = LMCacheControllerManager(
            {"pull": f"127.0.0.1:{PULL}", "reply": f"127.0.0.1:{REPLY}", "heartbeat": None}, 0, 0)
        manager.controller_urls["heartbeat"] = f"127.0.0.1:{TAP_REPLY}"
        controller.append(manager)
        made.set()
        await manager.start_all()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    made.wait()
    with open(path, "w", encoding="utf-8") as out:
        tap = Tap(out)
        tap.write({"lmcache": importlib.metadata.version("lmcache"), "vllm": vllm.__version__,
                   "python": sys.version.split()[0], "hash_algorithm": HASH, "hash_seed": SEED,
                   "chunk_size": CHUNK, "heartbeat_url": f"127.0.0.1:{TAP_REPLY}"})

        def settled(ranks, prompts):
            time.sleep(0.3)
            tap.quiet()
            registry = controller[0].kv_controller.registry
            state = []
            for rank in ranks:
                instance, number = rank.config.lmcache_instance_id, rank.metadata.worker_id
                told = sorted(registry.get_worker_kv_keys(instance, number, "LocalCPUBackend"))
                state.append({"instance": instance, "worker": number,
                              "held": [str(k & (2**64 - 1)) for k in rank.held()],
                              "controller": [str(k & (2**64 - 1)) for k in told]})
            line = {"state": state, "prompts": []}
            for ids in prompts:
                runs = {}
                for rank in ranks:
                    name = rank.config.lmcache_instance_id
                    runs[name] = min(runs.get(name, len(ids)), rank.run(ids))
                line["prompts"].append({
                    "ids": ids, "runs": runs,
                    "hashes": [str(k.chunk_hash & (2**64 - 1)) for k in ranks[0].keys(ids)]})
            tap.write(line)

        play(f"127.0.0.1:{TAP_PULL}", f"127.0.0.1:{TAP_REPLY}", settled)
        tap.quiet()


def live(pull, reply, url):
    def ask(ids):
        request = urllib.request.Request(
            url + "/router/explain", json.dumps({"token_ids": ids}).encode(),
            {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            said = json.load(answer)
        said = said.get("decision", said)
        found = {}
        for pool in said.get("shared_cache", []):
            found[pool["pool"]] = pool.get("hit_blocks", -1) * pool.get("page_size", 1)
        return found

    equal = [0]

    def settled(ranks, prompts):
        for ids in prompts:
            expected = {}
            for rank in ranks:
                name = rank.config.lmcache_instance_id
                expected[name] = min(expected.get(name, len(ids)), rank.run(ids) * CHUNK)
            until = time.monotonic() + 15
            while True:
                found = ask(ids + [7])
                found = {name: found.get(name) for name in expected}
                if found == expected:
                    equal[0] += 1
                    break
                if time.monotonic() > until:
                    sys.exit(f"{len(ids)} tokens: the gateway says {found}, LMCache holds {expected}")
                time.sleep(0.2)

    play(pull, reply, settled)
    print(f"{equal[0]} look-ups as LMCache's own")


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"] and len(sys.argv) == 3:
        record(sys.argv[2])
    elif sys.argv[1:2] == ["live"] and len(sys.argv) == 5:
        live(*sys.argv[2:])
    else:
        sys.exit(__doc__)
    os._exit(0)  # LMCache's threads do not end by themselves
