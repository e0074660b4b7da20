"""Generates with routing weights of its own: caches count twice, the choice is drawn.

python override.py http://localhost:8000 [MODEL]
"""

import asyncio
import sys

from warmpath_router import KvRouterClient


async def main(base_url: str, model: str | None) -> None:
    token_ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    async with KvRouterClient(base_url) as router:
        stream = await router.generate(
            token_ids,
            model=model,
            stop_conditions={"max_tokens": 20, "ignore_eos": True},
            sampling_options={"temperature": 0.7, "top_p": 0.9},
            router_config_override={"overlap_score_weight": 2.0, "router_temperature": 0.5},
        )
        generated: list[int] = []
        async for frame in stream:
            generated.extend(frame["token_ids"])
    print(f"Generated {len(generated)} tokens: {generated}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
