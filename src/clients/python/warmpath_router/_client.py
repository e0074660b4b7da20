"""The client and the shapes of what it sends and gets.

One client may be used by many tasks of one event loop.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypedDict, cast
from urllib.parse import quote

import httpx


class RouterConfigOverride(TypedDict, total=False):
    """How the worker is chosen for one request."""

    overlap_score_credit: float
    prefill_load_scale: float
    overlap_score_weight: float
    shared_cache_multiplier: float
    router_temperature: float
    assume_kv_reuse: bool
    track_prefill_tokens: bool


class StopConditions(TypedDict, total=False):
    max_tokens: int
    min_tokens: int
    stop: str | list[str]
    stop_token_ids: list[int]
    ignore_eos: bool


class SamplingOptions(TypedDict, total=False):
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    seed: int
    frequency_penalty: float
    presence_penalty: float
    repetition_penalty: float


class _Rank(TypedDict):
    worker_id: int
    worker: str
    dp_rank: int
    block_size: int


class _Tiers(TypedDict):
    """Blocks that each tier adds to those before it; `external` has a shared pool's, too."""

    gpu_blocks: int
    host_blocks: int
    disk_blocks: int
    external_blocks: int
    cached_tokens: int


class BestWorker(_Rank, _Tiers):
    model: str
    prompt_tokens: int | None
    overlap_blocks: int
    cost: float
    mode: str
    reason: str


class PotentialLoad(_Rank):
    potential_prefill_tokens: int
    potential_decode_blocks: float
    active_prefill_tokens: int
    active_blocks: float
    active_requests: int


class OverlapScore(_Rank, _Tiers):
    prompt_blocks: int
    shared_blocks: int


class Frame(TypedDict, total=False):
    """A piece of an answer; `token_ids` is always there."""

    token_ids: list[int]
    finish_reason: str
    stop_reason: str | int
    usage: dict[str, Any]


class RouterError(Exception):
    """The router or the engine refused, or the answer broke."""

    def __init__(self, status: int, message: str, code: str | None, param: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param

    @classmethod
    def of(cls, status: int, body: bytes) -> RouterError:
        try:
            error = json.loads(body)["error"]
            return cls(status, str(error["message"]), error.get("code"), error.get("param"))
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls(status, body.decode("utf-8", "replace") or f"status {status}", None, None)


class TokenStream:
    """The frames of one answer. Closing it before its end stops the engine."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._frames = self._read()

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self._frames

    async def __aenter__(self) -> TokenStream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _read(self) -> AsyncIterator[Frame]:
        try:
            async for line in self._response.aiter_lines():
                if not line.startswith("data:"):
                    continue
                data = line[5:].strip()
                if data == "[DONE]":
                    return
                frame = json.loads(data)
                if "error" in frame:
                    raise RouterError.of(self._response.status_code, data.encode())
                yield cast(Frame, frame)
            raise RouterError(self._response.status_code, "the answer ended early", None, None)
        finally:
            await self._response.aclose()


class Reservation:
    """Load that is booked until `release`, or until nothing was heard of it for its time to live.

    As a context manager it releases itself.
    """

    def __init__(self, client: KvRouterClient, reservation_id: str, chosen: BestWorker) -> None:
        self._client = client
        self.id = reservation_id
        self.chosen = chosen

    async def prefill_complete(self) -> None:
        await self._client._call("POST", self._path("/prefill_complete"))

    async def output_block(self, *, decay_fraction: float | None = None) -> None:
        """`decay_fraction`: what the blocks that only this request uses count from now on."""
        await self._client._call(
            "POST", self._path("/output_block"), _given({"decay_fraction": decay_fraction}) or None
        )

    async def release(self) -> None:
        await self._client._call("DELETE", self._path(""))

    async def __aenter__(self) -> Reservation:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.release()

    def _path(self, action: str) -> str:
        return f"/router/reservations/{quote(self.id, safe='')}{action}"


class KvRouterClient:
    """Asks a Warmpath gateway. A prompt is token ids, a text, or a list of chat messages."""

    def __init__(
        self,
        base_url: str,
        *,
        http: httpx.AsyncClient | None = None,
        timeout: float | None = 600,
    ) -> None:
        """`http`: used instead of a client of its own, and left open."""
        self._own = http is None
        self._http = http or httpx.AsyncClient(timeout=httpx.Timeout(timeout, connect=10))
        self._base = base_url.rstrip("/")

    async def __aenter__(self) -> KvRouterClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._own:
            await self._http.aclose()

    async def best_worker(self, prompt: Prompt, **options: Any) -> BestWorker:
        """Where a request would go now; nothing is booked. `options` are members of the body."""
        return cast(BestWorker, _numbered(await self._ask("best_worker", prompt, options)))

    async def best_worker_id(self, prompt: Prompt, **options: Any) -> tuple[int, int]:
        """The worker, and the blocks of the prompt on its device."""
        best = await self.best_worker(prompt, **options)
        return best["worker_id"], best["overlap_blocks"]

    async def get_potential_loads(self, prompt: Prompt, **options: Any) -> list[PotentialLoad]:
        """What every rank would have to do with this prompt."""
        answer = await self._ask("potential_loads", prompt, options)
        return [cast(PotentialLoad, _numbered(load)) for load in answer["loads"]]

    async def overlap_scores(self, prompt: Prompt, **options: Any) -> list[OverlapScore]:
        """What of the prompt every rank holds."""
        answer = await self._ask("overlap_scores", prompt, options)
        return [cast(OverlapScore, _numbered(score)) for score in answer["scores"]]

    async def explain(self, prompt: Prompt, **options: Any) -> dict[str, Any]:
        """The whole decision of a dry run."""
        return await self._ask("explain", prompt, options)

    async def reserve(
        self,
        prompt: Prompt,
        *,
        reservation_id: str | None = None,
        ttl_seconds: float | None = None,
        wait: bool | None = None,
        **options: Any,
    ) -> Reservation:
        """Chooses a worker and books it, for a request that the caller sends itself.

        It waits in the gateway's queue as a request does; with ``wait=False`` it is refused (529)
        when it would have to.
        """
        options.update(reservation_id=reservation_id, ttl_seconds=ttl_seconds, wait=wait)
        answer = await self._ask("reservations", prompt, options)
        return Reservation(
            self, answer["reservation_id"], cast(BestWorker, _numbered(answer))
        )

    async def generate(
        self,
        token_ids: Sequence[int],
        *,
        model: str | None = None,
        worker_id: int | None = None,
        dp_rank: int | None = None,
        stop_conditions: StopConditions | None = None,
        sampling_options: SamplingOptions | None = None,
        router_config_override: RouterConfigOverride | None = None,
        cache_salt: str | None = None,
        expected_output_tokens: int | None = None,
    ) -> TokenStream:
        """Sends the request; returns when its answer begins."""
        body = {
            "token_ids": list(token_ids),
            "model": model,
            "worker_id": worker_id,
            "dp_rank": dp_rank,
            "stop_conditions": stop_conditions,
            "sampling_options": sampling_options,
            "router_config_override": router_config_override,
            "cache_salt": cache_salt,
            "expected_output_tokens": expected_output_tokens,
        }
        request = self._http.build_request("POST", f"{self._base}/router/generate", json=_given(body))
        response = await self._http.send(request, stream=True)
        if response.status_code != 200:
            try:
                raise RouterError.of(response.status_code, await response.aread())
            finally:
                await response.aclose()
        return TokenStream(response)

    async def _ask(self, path: str, prompt: Prompt, options: Mapping[str, Any]) -> dict[str, Any]:
        body = _given(options)
        body.update(_prompt(prompt))
        return await self._call("POST", f"/router/{path}", body)

    async def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        response = await self._http.request(method, self._base + path, json=body)
        if response.status_code >= 300:
            raise RouterError.of(response.status_code, response.content)
        return cast("dict[str, Any]", response.json()) if response.content else {}


Prompt = str | Sequence[int] | Sequence[Mapping[str, Any]]


def _prompt(prompt: Prompt) -> dict[str, Any]:
    if isinstance(prompt, str):
        return {"text": prompt}
    items: list[Any] = list(cast("Iterable[Any]", prompt))
    return {"messages" if items and isinstance(items[0], Mapping) else "token_ids": items}


def _given(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _numbered(answer: dict[str, Any]) -> dict[str, Any]:
    """JSON has the id as text, since not every language's numbers hold 64 bits; Python's do."""
    return {**answer, "worker_id": int(answer["worker_id"])}
