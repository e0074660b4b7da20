"""The client and the shapes of what it sends and gets.

One client may be used by many tasks of one event loop, and by no other thread.
Ranges are checked by the gateway: outside of them a call raises `RouterError` 400 with `param`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypedDict, cast
from urllib.parse import quote

import httpx


class RouterConfigOverride(TypedDict, total=False):
    """How the worker is chosen for one request. Numbers have no unit and are 0 to 1,000,000.

    With a weight, or with one of the two switches false, the cost in blocks decides.

    overlap_score_credit: worth of a cached block
    prefill_load_scale: weight of blocks to prefill against blocks in decode
    overlap_score_weight: the older name of prefill_load_scale; the newer one wins
    shared_cache_multiplier: 0 to 1, what a block of a shared pool is worth
    router_temperature: 0 takes the cheapest worker; above, the lot prefers cheap ones
    assume_kv_reuse: false counts blocks that requests share for each of them
    track_prefill_tokens: false lets prompts cost and book no prefill
    """

    overlap_score_credit: float
    prefill_load_scale: float
    overlap_score_weight: float
    shared_cache_multiplier: float
    router_temperature: float
    assume_kv_reuse: bool
    track_prefill_tokens: bool


class StopConditions(TypedDict, total=False):
    """When an answer ends; what is absent is the engine's default.

    max_tokens, min_tokens: tokens of the answer
    stop: a text, or texts, that end it
    stop_token_ids: tokens that end it
    ignore_eos: true goes on behind the model's own end, up to max_tokens
    """

    max_tokens: int
    min_tokens: int
    stop: str | list[str]
    stop_token_ids: list[int]
    ignore_eos: bool


class SamplingOptions(TypedDict, total=False):
    """How tokens are drawn; names, ranges and defaults are those of the engine behind the gateway."""

    temperature: float
    top_p: float
    top_k: int
    min_p: float
    seed: int
    frequency_penalty: float
    presence_penalty: float
    repetition_penalty: float


class _Rank(TypedDict):
    """A worker's data-parallel rank.

    worker_id, worker: id and name of the worker
    dp_rank: from 0
    block_size: tokens of a block there
    """

    worker_id: int
    worker: str
    dp_rank: int
    block_size: int


class _Tiers(TypedDict):
    """What the tiers of a rank hold of the prompt.

    gpu_blocks, host_blocks, disk_blocks, external_blocks: blocks that the tier adds to those before it; the external
        ones have a shared pool's, too
    cached_tokens: tokens in the blocks of all tiers
    """

    gpu_blocks: int
    host_blocks: int
    disk_blocks: int
    external_blocks: int
    cached_tokens: int


class BestWorker(_Rank, _Tiers):
    """Where a request would go.

    prompt_tokens: None where the tokens are not known; load decides then
    overlap_blocks: blocks of the prompt on the device, each of `block_size` tokens
    cost: in milliseconds or in blocks, as the gateway compares; smaller is better
    mode: how the gateway chooses
    reason: why it chose this one, as a text for people
    """

    model: str
    prompt_tokens: int | None
    overlap_blocks: int
    cost: float
    mode: str
    reason: str


class PotentialLoad(_Rank):
    """What a rank would have to do with this prompt (`potential_`), and has to do now (`active_`).

    potential_prefill_tokens, active_prefill_tokens: tokens; one in a slower tier counts by its worth
    potential_decode_blocks, active_blocks: blocks; in a fleet of mixed sizes `potential` ones are of the smallest
    active_requests: requests and reservations
    """

    potential_prefill_tokens: int
    potential_decode_blocks: float
    active_prefill_tokens: int
    active_blocks: float
    active_requests: int


class OverlapScore(_Rank, _Tiers):
    """What a rank holds of the prompt.

    prompt_blocks: whole blocks of the prompt, each of `block_size` tokens
    shared_blocks: those that a shared pool holds
    """

    prompt_blocks: int
    shared_blocks: int


class Frame(TypedDict, total=False):
    """A piece of an answer; `token_ids` is always there.

    finish_reason: why the answer ended, such as "stop" or "length"; in the last frame with tokens
    stop_reason: the text or the token id that ended it
    usage: `prompt_tokens`, `completion_tokens` and more; with or after `finish_reason`
    """

    token_ids: list[int]
    finish_reason: str
    stop_reason: str | int
    usage: dict[str, Any]


class RouterError(Exception):
    """The router or the engine refused, or the answer broke.

    status: of HTTP; 200 when the answer broke after it had begun
    code: what went wrong, for programs, such as "reservation_not_found"; None when the answer has none
    param: path of the member that is wrong, such as "token_ids[3]"; None when it is not one member

    A connection that fails raises `httpx.HTTPError` instead.
    """

    def __init__(self, status: int, message: str, code: str | None, param: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param

    @classmethod
    def of(cls, status: int, body: bytes) -> RouterError:
        """From the body of an answer; one that is not the gateway's JSON becomes the message."""
        try:
            error = json.loads(body)["error"]
            return cls(status, str(error["message"]), error.get("code"), error.get("param"))
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls(status, body.decode("utf-8", "replace") or f"status {status}", None, None)


class TokenStream:
    """The frames of one answer, to be read once: `async for frame in stream`.

    Raises `RouterError` when the answer tells an error or ends early, `httpx.HTTPError` when the connection fails.
    Closing it before its end stops the engine; as a context manager it closes itself.
    """

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
        """Ends the answer; the engine stops. Again: nothing."""
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

    As a context manager it releases itself. Each call raises `RouterError` 404 (`reservation_not_found`) when
    the reservation is no longer open.

    id: names it in the gateway
    chosen: the worker that it is booked on
    """

    def __init__(self, client: KvRouterClient, reservation_id: str, chosen: BestWorker) -> None:
        self._client = client
        self.id = reservation_id
        self.chosen = chosen

    async def prefill_complete(self) -> None:
        """The first token has come: the prompt's tokens are no load any more."""
        await self._client._call("POST", self._path("/prefill_complete"))

    async def output_block(self, *, decay_fraction: float | None = None) -> None:
        """The answer has grown by a block.

        decay_fraction: 0 to 1, what the blocks that only this request uses count from now on
        """
        await self._client._call(
            "POST", self._path("/output_block"), _given({"decay_fraction": decay_fraction}) or None
        )

    async def release(self) -> None:
        """The request has ended: nothing is booked any more."""
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
    """Asks a Warmpath gateway.

    A prompt is token ids (0 to 2^32 - 1), a text, or a list of chat messages. `options` are further members of the
    body, such as `model`, `worker_ids`, `cache_salt`, `router_config_override` (src/docs/reference/direct-api.md lists them);
    None is left out, and one that the gateway does not know is a 400.

    Every call raises `RouterError` when the gateway refuses (400 wrong, 401 no key, 404 no such model or reservation,
    409 open already, 429 too many, 503 no worker, 529 all busy), `httpx.HTTPError` when it cannot be reached in time.
    """

    def __init__(
        self,
        base_url: str,
        *,
        http: httpx.AsyncClient | None = None,
        timeout: float | None = 600,
    ) -> None:
        """
        base_url: such as "http://localhost:8000"
        http: used instead of a client of its own, with its headers and timeouts, and left open
        timeout: seconds without a byte until a call fails, None for ever; a connection has 10 s. Not for `http`
        """
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
        """Closes the connections, unless they are those of `http`."""
        if self._own:
            await self._http.aclose()

    async def best_worker(self, prompt: Prompt, **options: Any) -> BestWorker:
        """Where a request would go now; nothing is booked."""
        return cast(BestWorker, _numbered(await self._ask("best_worker", prompt, options)))

    async def best_worker_id(self, prompt: Prompt, **options: Any) -> tuple[int, int]:
        """The worker's id, and how many blocks of the prompt its device holds."""
        best = await self.best_worker(prompt, **options)
        return best["worker_id"], best["overlap_blocks"]

    async def get_potential_loads(self, prompt: Prompt, **options: Any) -> list[PotentialLoad]:
        """What every rank would have to do with this prompt; `RouterError` 400 where its tokens are not known."""
        answer = await self._ask("potential_loads", prompt, options)
        return [cast(PotentialLoad, _numbered(load)) for load in answer["loads"]]

    async def overlap_scores(self, prompt: Prompt, **options: Any) -> list[OverlapScore]:
        """What of the prompt every rank holds; `RouterError` 400 where its tokens are not known."""
        answer = await self._ask("overlap_scores", prompt, options)
        return [cast(OverlapScore, _numbered(score)) for score in answer["scores"]]

    async def explain(self, prompt: Prompt, **options: Any) -> dict[str, Any]:
        """The whole decision of a dry run, as JSON: candidates, terms, costs and the rule that chose."""
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

        reservation_id: a name of the caller's; 409 while another open one has it; None: the gateway makes one
        ttl_seconds: released when nothing is heard of it for so long; up to 3600, None: 300
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
        """Sends the request; returns when its answer begins. Read the stream to its end, or close it.

        model: may be left out while one is served
        worker_id, dp_rank: this worker, this rank of it (from 0); None: the gateway chooses
        cache_salt: prompts of another salt share no cached block
        expected_output_tokens: from 0, how long the answer will be, for the load that is booked
        """
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
