#!/usr/bin/env python3
"""End to end with the Python client of the direct API: its examples, and what they do not show.

  router_client.py --gateway http://127.0.0.1:8000 --examples src/clients/python/examples

Each check is a promise; it prints one line. Exit code 0 only when all hold.
"""
import argparse
import asyncio
import os
import random
import re
import subprocess
import sys
import traceback

from warmpath_router import KvRouterClient, RouterError


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def example(gateway, folder, name):
    ran = subprocess.run(
        [sys.executable, "-B", os.path.join(folder, name), gateway],
        capture_output=True,
        text=True,
        timeout=60,
    )
    check(ran.returncode == 0, f"{name} ended with {ran.returncode}: {ran.stderr}")
    return ran.stdout


async def the_example_with_overrides_gets_its_tokens(gateway, folder):
    out = example(gateway, folder, "override.py")
    ids = re.search(r"Generated 20 tokens: \[([\d, ]+)\]", out)
    check(ids and len(ids.group(1).split(",")) == 20, out)


async def the_example_that_minimises_ttft_chooses_and_gets_its_tokens(gateway, folder):
    out = example(gateway, folder, "minimize_ttft.py")
    check(re.search(r"Chosen: \S+ with \d+ tokens to prefill", out), out)
    check(re.search(r"Tokens: \[\d+\]", out), out)


def prompt():
    return [random.randrange(1000, 50_000) for _ in range(320)]


async def read(stream):
    frames = [frame async for frame in stream]
    return [i for f in frames for i in f["token_ids"]], frames


async def a_prompt_is_found_where_it_was_sent(gateway, folder):
    ids = prompt()
    async with KvRouterClient(gateway) as router:
        loads = await router.get_potential_loads(ids)
        target = loads[-1]["worker_id"]
        stream = await router.generate(ids, worker_id=target, stop_conditions={"max_tokens": 3})
        _, frames = await read(stream)
        check(any(f.get("finish_reason") == "length" for f in frames), frames)
        check(any(f.get("usage", {}).get("prompt_tokens") == len(ids) for f in frames), frames)
        for _ in range(200):  # until the engine's event has come
            worker, overlap = await router.best_worker_id(ids)
            if overlap > 0:
                break
            await asyncio.sleep(0.02)
        check((worker, overlap) == (target, len(ids) // loads[-1]["block_size"]), (worker, overlap))
        scores = await router.overlap_scores(ids)
        held = [s["worker_id"] for s in scores if s["gpu_blocks"] > 0]
        check(held == [target], scores)


async def a_reservation_is_load_until_it_is_released(gateway, folder):
    ids = prompt()
    async with KvRouterClient(gateway) as router:
        async with await router.reserve(ids) as mine:
            worker = mine.chosen["worker_id"]

            async def load():
                loads = await router.get_potential_loads([1])
                return next(x for x in loads if x["worker_id"] == worker)

            booked = await load()
            check(booked["active_prefill_tokens"] >= len(ids), booked)
            await mine.prefill_complete()
            await mine.output_block()
            await mine.output_block(decay_fraction=0.5)
            decoding = await load()
            check(decoding["active_prefill_tokens"] == 0, decoding)
            check(decoding["active_requests"] == 1, decoding)
        after = await load()
        check(after["active_requests"] == 0, after)
        try:
            await mine.release()
            raise AssertionError("released twice")
        except RouterError as e:
            check((e.status, e.code) == (404, "reservation_not_found"), e)


async def a_stream_that_is_closed_stops_its_engine(gateway, folder):
    async with KvRouterClient(gateway) as router:
        stream = await router.generate(
            prompt(), stop_conditions={"max_tokens": 5000, "ignore_eos": True}
        )
        async with stream:
            async for _ in stream:
                break
        for _ in range(200):
            loads = await router.get_potential_loads([1])
            if all(x["active_requests"] == 0 for x in loads):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"still running: {loads}")


async def a_mistake_is_told_with_its_place(gateway, folder):
    async with KvRouterClient(gateway) as router:
        try:
            await router.best_worker([1], worker_idd=3)
            raise AssertionError("a misspelt member passed")
        except RouterError as e:
            check((e.status, e.param) == (400, "worker_idd"), (e.status, e.param))


CHECKS = [
    the_example_with_overrides_gets_its_tokens,
    the_example_that_minimises_ttft_chooses_and_gets_its_tokens,
    a_prompt_is_found_where_it_was_sent,
    a_reservation_is_load_until_it_is_released,
    a_stream_that_is_closed_stops_its_engine,
    a_mistake_is_told_with_its_place,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--examples", required=True)
    args = parser.parse_args()
    seed = random.randrange(1 << 32)
    random.seed(seed)
    failed = 0
    for promise in CHECKS:
        try:
            asyncio.run(promise(args.gateway, args.examples))
            print(f"ok    {promise.__name__}")
        except Exception:  # every check is tried
            failed += 1
            print(f"FAIL  {promise.__name__} (seed {seed})")
            traceback.print_exc()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
