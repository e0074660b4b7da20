#!/usr/bin/env python3
"""Records what vLLM's own cache manager says of random prompts and writes as events, without a model: kinds of caches that no tiny model has, and more evictions.

    managers.py windows|states|mixed|wide OUT.jsonl      with the Python of vLLM's environment

A recording like those of record.py, for `./warmpath capture`. The manager, its groups and its events are vLLM's; the order of a request's steps is that of its scheduler.
"""
import json
import random
import sys

import msgspec
import torch
from vllm import SamplingParams
from vllm.distributed.kv_events import KVEventBatch
from vllm.utils.hashing import sha256_cbor
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec, MambaSpec, SlidingWindowSpec
from vllm.v1.request import Request

BLOCK = 4
CHUNK = 24  # tokens of a prompt that are computed at once
RETAIN = {"windows": 0, "states": 0, "mixed": None, "wide": 8}
REQUESTS = {"windows": 80, "states": 80, "mixed": 50, "wide": 80}


def attention(block=BLOCK):
    return FullAttentionSpec(block_size=block, num_kv_heads=1, head_size=8, dtype=torch.float32)


def window(tokens, block=BLOCK):
    return SlidingWindowSpec(block_size=block, num_kv_heads=1, head_size=8, dtype=torch.float32, sliding_window=tokens)


def state():
    return MambaSpec(block_size=BLOCK, shapes=((2, 32),), dtypes=(torch.float32,), mamba_cache_mode="align")


GROUPS = {
    "windows": [window(11), window(11), attention()],
    "states": [attention(), state(), state()],
    "mixed": [window(9), attention(), state(), window(18)],
    "wide": [attention(), window(17, 2 * BLOCK)],
}


def main(what, out):
    init_none_hash(sha256_cbor)
    hasher = get_request_block_hasher(BLOCK, sha256_cbor)
    groups = [KVCacheGroupSpec([f"layer{i}"], spec) for i, spec in enumerate(GROUPS[what])]
    unit = max(g.kv_cache_spec.block_size for g in groups)
    manager = KVCacheManager(
        KVCacheConfig(num_blocks=70, kv_cache_tensors=[], kv_cache_groups=groups, prefix_cache_retention_interval=RETAIN[what]), max_model_len=1024,
        scheduler_block_size=unit, hash_block_size=BLOCK, max_in_flight_tokens=CHUNK, enable_kv_cache_events=True)
    aligned = any(isinstance(g.kv_cache_spec, MambaSpec) for g in groups)
    drawn, clock, sequence, encoder = random.Random(3), 0.0, 0, msgspec.msgpack.Encoder()

    def line(k, **fields):
        nonlocal clock
        clock += 0.01
        out.write(json.dumps({"t": round(clock, 2), "k": k, **fields}, separators=(",", ":")) + "\n")

    def tell():
        nonlocal sequence
        events = manager.take_events()
        if events:
            payload = encoder.encode(KVEventBatch(ts=clock, events=events, data_parallel_rank=0))
            line("event", src=0, frames=["6b76", sequence.to_bytes(8, "big").hex(), payload.hex()])
            sequence += 1

    def compute(request, end, **more):
        manager.new_step_starts()
        slots = manager.allocate_slots(request, end - request.num_computed_tokens - more.get("num_new_computed_tokens", 0), **more)
        if slots is not None:
            request.num_computed_tokens = end
        tell()
        return slots is not None

    line("meta", engine="vllm 0.32.0", kind="vllm", block_size=BLOCK, model="none", note=f"cache manager alone: {what}")
    known, found, short = [], 0, 0
    for i in range(REQUESTS[what]):
        step = drawn.choice(["new", "again", "cut", "longer", "longer"]) if known else "new"
        ids = drawn.choice(known[-8:]) if known else []
        if step == "new":
            ids = [drawn.randrange(9) for _ in range(drawn.randrange(5, 90))]
        elif step == "longer":
            ids = ids + [drawn.randrange(9) for _ in range(drawn.randrange(1, 30))]
        elif step == "cut":
            ids = ids[:drawn.randrange(1, len(ids) + 1)]
        known.append(ids)
        name = f"r{i:04}"
        request = Request(name, list(ids), SamplingParams(max_tokens=64), None, block_hasher=hasher)
        line("request", id=name, step=step, path="/v1/completions", body={"model": "none"}, prompt_ids=ids)
        blocks, cached, request.shared_prefix_boundary = manager.get_computed_blocks(request)
        found += cached > 0
        start, fits, first = cached, True, dict(num_new_computed_tokens=cached, new_computed_blocks=blocks)
        while fits and start < len(ids):
            end = min(len(ids), start + CHUNK)
            if aligned:  # states are kept at ends of blocks alone, and the last of them before the prompt's end is one
                last = (len(ids) - 1) // BLOCK * BLOCK
                end = end if end == len(ids) else end // BLOCK * BLOCK
                junction = request.shared_prefix_boundary // BLOCK * BLOCK
                end = min([e for e in (last, junction) if start < e < end], default=end)
            fits = compute(request, end, **first)
            start, first = end, {}
        said = drawn.choice([1, 1, 9])
        for _ in range(said if fits else 0):
            request.append_output_token_ids([drawn.randrange(9)])
            fits = fits and compute(request, request.num_tokens)
        short += not fits
        manager.free(request)
        tell()
        line("response", id=name, status=200, prompt_tokens=len(ids), completion_tokens=said, cached_tokens=cached, output_ids=request.output_token_ids[:],
             prompt_ids=ids)
        if i == 60:
            manager.reset_prefix_cache()
            tell()
    print(f"{out.name}: {sequence} batches, {found} of {REQUESTS[what]} found something, {short} did not fit")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in GROUPS:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="ascii") as file:
        main(sys.argv[1], file)
