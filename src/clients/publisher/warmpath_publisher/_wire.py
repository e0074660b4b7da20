"""Cache events as MessagePack, byte for byte as SGLang 0.5.23 writes them. Pure functions, any thread."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

MOST_TEXT = 4096


class Tier(Enum):
    """Where blocks lie; the value is its name on the wire."""

    GPU = "GPU"
    HOST = "CPU_PINNED"
    DISK = "DISK"
    EXTERNAL = "EXTERNAL"


class BlockStored(msgspec.Struct, tag=True, omit_defaults=True):
    block_hashes: list[int]
    parent_block_hash: int | None
    token_ids: list[int]
    block_size: int
    lora_id: int | None
    medium: str | None = None
    cache_salt: str | None = None
    session_id: str | None = None
    lora_name: str | None = None


class BlockRemoved(msgspec.Struct, tag=True, omit_defaults=True):
    block_hashes: list[int]
    medium: str | None = None


class AllBlocksCleared(msgspec.Struct, tag=True):
    pass


class EventBatch(msgspec.Struct, array_like=True):
    ts: float
    events: list[msgspec.Raw]
    attn_dp_rank: int


def signed(block_id: int) -> int:
    """As SGLang writes its ids; readers take the 64 bits."""
    return block_id - (1 << 64) if block_id >> 63 else block_id


def text(what: str, value: str | None) -> str | None:
    """None for an empty one; ValueError when it is too long or not Unicode."""
    if not value:
        return None
    try:
        size = len(value.encode())
    except UnicodeEncodeError as e:
        raise ValueError(f"{what} is not Unicode: {e}") from e
    if size > MOST_TEXT:
        raise ValueError(f"{what} has {size} bytes; {MOST_TEXT} at most")
    return value


def stored(
    ids: Sequence[int],
    parent: int | None,
    tokens: list[int],
    block_size: int,
    tier: Tier,
    lora: str | None,
    salt: str | None,
) -> bytes:
    return msgspec.msgpack.encode(
        BlockStored(
            [signed(i) for i in ids],
            None if parent is None else signed(parent),
            tokens,
            block_size,
            None,
            tier.value,
            cache_salt=salt,
            lora_name=lora,
        )
    )


def removed(ids: Sequence[int], tier: Tier) -> bytes:
    return msgspec.msgpack.encode(BlockRemoved([signed(i) for i in ids], tier.value))


def cleared() -> bytes:
    return msgspec.msgpack.encode(AllBlocksCleared())


def batch(seconds: float, events: Sequence[bytes], rank: int) -> bytes:
    return msgspec.msgpack.encode(EventBatch(seconds, [msgspec.Raw(e) for e in events], rank))
