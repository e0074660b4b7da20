"""Chooses the worker with the least to prefill, which answers first, and sends the request there.

python minimize_ttft.py http://localhost:8000 [MODEL]
"""

import asyncio
import sys

from warmpath_router import KvRouterClient


async def main(base_url: str, model: str | None) -> None:
    token_ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    async with KvRouterClient(base_url) as router:
        loads = await router.get_potential_loads(token_ids, model=model)
        best = min(loads, key=lambda load: load["potential_prefill_tokens"])
        print(f"Chosen: {best['worker']} with {best['potential_prefill_tokens']} tokens to prefill")
        stream = await router.generate(
            token_ids,
            model=model,
            worker_id=best["worker_id"],
            dp_rank=best["dp_rank"],
            stop_conditions={"max_tokens": 20},
        )
        async for frame in stream:
            print(f"Tokens: {frame['token_ids']}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
