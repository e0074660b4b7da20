"""Numbers batches and keeps the newest for replay. Not locked: its owner is."""

from __future__ import annotations

from collections.abc import Callable

from warmpath_publisher import _wire

_MOST_OPEN_BYTES = 1 << 20


class BatchLog:
    """Events wait in an open batch until somebody looks, or it is full; then it gets the next number."""

    def __init__(self, batches: int, size: int, events: int, rank: int, clock: Callable[[], float]) -> None:
        self._most_batches = batches
        self._most_bytes = size
        self._most_events = events
        self._rank = rank
        self._clock = clock
        self._open: list[bytes] = []
        self._open_bytes = 0
        self._kept: dict[int, bytes] = {}
        self.kept_bytes = 0
        self.oldest = 0
        self.end = 0
        self.events = 0

    def append(self, event: bytes) -> None:
        self._open.append(event)
        self._open_bytes += len(event)
        self.events += 1
        if len(self._open) >= self._most_events or self._open_bytes >= _MOST_OPEN_BYTES:
            self.seal()

    def seal(self) -> None:
        """What was added so far can be read."""
        if not self._open:
            return
        payload = _wire.batch(self._clock(), self._open, self._rank)
        self._open = []
        self._open_bytes = 0
        self._kept[self.end] = payload
        self.kept_bytes += len(payload)
        self.end += 1
        while len(self._kept) > self._most_batches or (self.kept_bytes > self._most_bytes and len(self._kept) > 1):
            self.kept_bytes -= len(self._kept.pop(self.oldest))
            self.oldest += 1

    def at(self, sequence: int) -> bytes:
        """A kept batch: from ``oldest`` on, below ``end``."""
        return self._kept[sequence]

    def __len__(self) -> int:
        return len(self._kept)
