"""Requests through the real `openai` client, each with what the gateway predicted and what the engine reported."""

import dataclasses
import random
import time

import openai

from fleet import NAME, Failed

# Text that looks like text, from the demo model's words, so that each conversation has its own.
WORDS = (
    "account access address answer archive balance basket branch budget calendar camera carrier channel chapter choice circle client"
    " clock cloud column committee company corner country course customer damage degree delivery detail device dinner"
    " distance document driver effect energy engine entry error example exchange factor family feature figure finger"
).split()


@dataclasses.dataclass
class Answer:
    """`cached`: tokens that the engine says it had; `predicted`: what the gateway said before; None: not said.
    Of a stream, `at`: when it was asked for, by the monotonic clock, and `first`: seconds until its first text. `scores`: each token with its log
    probability, where these were asked for."""

    text: str
    prompt: int
    cached: int
    predicted: int | None
    worker: str
    reason: str
    headers: object
    finish: str = ""
    at: float = 0
    first: float | None = None
    scores: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return f"{self.worker}: prompt {self.prompt}, predicted {self.predicted}, reported {self.cached} ({self.reason})"


def client(gateway, timeout=120):
    return openai.OpenAI(base_url=gateway.url + "/v1", api_key="none", timeout=timeout, max_retries=0)


def words(seed, count):
    drawn = random.Random(seed)
    return " ".join(drawn.choice(WORDS) for _ in range(count))


def cached_of(usage):
    details = getattr(usage, "prompt_tokens_details", None)
    return (getattr(details, "cached_tokens", 0) or 0) if details else 0


def scores_of(choice):
    """Of a chat's choice or a completion's."""
    given = choice.logprobs
    if given is None:
        return []
    if hasattr(given, "tokens"):
        return list(zip(given.tokens, given.token_logprobs))
    return [(each.token, each.logprob) for each in given.content or []]


def answer_of(raw, text, usage, finish="", at=0, first=None, scores=()):
    headers = raw.headers
    predicted = headers.get("x-warmpath-predicted-cached-tokens")
    return Answer(
        text, usage.prompt_tokens if usage else 0, cached_of(usage), None if predicted is None else int(predicted),
        headers.get("x-warmpath-worker", ""), headers.get("x-warmpath-reason", ""), headers, finish or "", at, first, list(scores))


def chat(api, messages, tokens=16, stream=False, watch=None, explain=True, **more):
    """One chat; the model ends no answer by itself, so that it has `tokens` tokens.

    `watch(worker, chunks)` is told of each chunk of a stream. `explain`: the gateway is asked what it predicts.
    """
    common = {"model": NAME, "messages": messages, "max_tokens": tokens, "temperature": 0, **more}
    headers = {**({"x-warmpath-explain": "1"} if explain else {}), **common.pop("headers", {})}
    create = api.chat.completions.with_raw_response.create
    if stream:
        return streamed(create, common, headers, lambda choice: choice.delta.content, watch)
    raw = create(**common, extra_headers=headers)
    parsed = raw.parse()
    return answer_of(raw, parsed.choices[0].message.content or "", parsed.usage, parsed.choices[0].finish_reason, scores=scores_of(parsed.choices[0]))


def complete(api, prompt, tokens=16, stream=False, **more):
    """One completion of a text or of token ids."""
    common = {"model": NAME, "prompt": prompt, "max_tokens": tokens, "temperature": 0, **more}
    headers = {"x-warmpath-explain": "1"}
    create = api.completions.with_raw_response.create
    if stream:
        return streamed(create, common, headers, lambda choice: choice.text)
    raw = create(**common, extra_headers=headers)
    parsed = raw.parse()
    return answer_of(raw, parsed.choices[0].text, parsed.usage, parsed.choices[0].finish_reason, scores=scores_of(parsed.choices[0]))


def streamed(create, asked, headers, text_of, watch=None):
    began = time.monotonic()
    raw = create(**asked, stream=True, stream_options={"include_usage": True}, extra_headers=headers)
    text, usage, finish, first, scores = "", None, "", None, []
    for count, chunk in enumerate(raw.parse()):
        if watch:
            watch(raw.headers.get("x-warmpath-worker", ""), count)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            piece = text_of(choice) or ""
            if piece and first is None:
                first = time.monotonic() - began
            text += piece
            scores += scores_of(choice)
            finish = choice.finish_reason or finish
    return answer_of(raw, text, usage, finish, began, first, scores)


def expect_exact(answer, what):
    """The prediction is what the engine reports; or it was not made, and the answer says why."""
    if answer.predicted is None:
        if "x-warmpath-not-predicted" not in answer.headers and "x-warmpath-prompt-tokens" in answer.headers:
            raise Failed(f"{what}: nothing predicted, and no reason: {dict(answer.headers)}")
        return
    if answer.predicted != answer.cached:
        raise Failed(f"{what}: {answer}")
