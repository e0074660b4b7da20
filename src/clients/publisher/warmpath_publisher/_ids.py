"""Names for the blocks of an engine that has none: Dynamo's chained hashes. Pure functions, any thread."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

import xxhash

_SEED = 1337
_MASK = (1 << 64) - 1
MOST_TOKENS = 4_194_304
MOST_BLOCK_SIZE = 65_536


def packed(tokens: Iterable[int], block_size: int) -> array[int]:
    """The token ids of whole blocks as 32-bit numbers; ValueError for anything else."""
    if not 1 <= block_size <= MOST_BLOCK_SIZE:
        raise ValueError(f"block_size is {block_size}; it must be 1 to {MOST_BLOCK_SIZE}")
    try:
        out = array("I", tokens)
    except OverflowError as e:
        raise ValueError("a token id must be 0 to 4294967295") from e
    if len(out) == 0 or len(out) % block_size != 0 or len(out) > MOST_TOKENS:
        raise ValueError(
            f"{len(out)} token ids are not 1 or more whole blocks of {block_size}, {MOST_TOKENS} tokens at most"
        )
    return out


def chained(tokens: array[int], block_size: int, parent: int | None, lora: str | None, salt: str | None) -> list[int]:
    seed = _SEED
    if lora:
        seed += xxhash.xxh3_64_intdigest(lora.encode(), 0)
    if salt:
        seed += xxhash.xxh3_64_intdigest(salt.encode(), 1)
    seed &= _MASK
    if sys.byteorder == "big":
        tokens = tokens[:]
        tokens.byteswap()
    raw = memoryview(tokens).cast("B")
    step = block_size * tokens.itemsize
    out: list[int] = []
    previous = parent
    for at in range(0, len(raw), step):
        local = xxhash.xxh3_64_intdigest(raw[at : at + step], seed)
        if previous is not None:
            local = xxhash.xxh3_64_intdigest(previous.to_bytes(8, "little") + local.to_bytes(8, "little"), _SEED)
        out.append(local)
        previous = local
    return out


def block_ids(
    tokens: Iterable[int],
    *,
    block_size: int,
    parent: int | None = None,
    lora: str | None = None,
    salt: str | None = None,
) -> list[int]:
    """
    One name (64 bits, without a sign) for each block, the same in every process for the same tokens, parent, adapter
    and salt.

    tokens: ids of whole blocks, each 0 to 2^32 - 1; 4,194,304 at most
    block_size: tokens of a block, 1 to 65,536
    parent: name of the block before the first one; None at the start of a prompt
    lora, salt: adapter and cache salt of the prompt; None or empty: none

    Raises ``ValueError`` for anything else.
    """
    return chained(packed(tokens, block_size), block_size, checked_parent(parent), lora, salt)


def checked(block_id: int) -> int:
    """A name as 64 bits without a sign. 0 is refused: on the wire it stands for no parent."""
    if not -(1 << 63) <= block_id <= _MASK or block_id == 0:
        raise ValueError(f"{block_id} is no block id; one has 64 bits and is not 0")
    return block_id & _MASK


def checked_parent(parent: int | None) -> int | None:
    return None if parent is None else checked(parent)
