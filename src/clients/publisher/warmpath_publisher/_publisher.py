"""The publisher: events from the engine's threads, sockets on a thread of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType

import zmq

from warmpath_publisher import _ids, _wire
from warmpath_publisher._log import BatchLog
from warmpath_publisher._wire import Tier

_MOST_BLOCKS = 1_048_576
_END = (1 << 64) - 1
_LEAST_WATERMARK = 1000
_TICK_MILLIS = 1000
_RETRY_MILLIS = 5
_MOST_ASKED = 1024


@dataclass(frozen=True)
class Stats:
    """
    Counts of one publisher, for the engine's own metrics.

    events: taken since the beginning
    batches: numbered since the beginning, the next one's sequence
    dropped_batches: not sent, as the sending thread was too far behind; a router asks for them again
    kept_batches, kept_bytes: what a replay can give now
    replays: requests of routers that were answered to their end
    replayed_batches: sent again for them
    """

    events: int
    batches: int
    dropped_batches: int
    kept_batches: int
    kept_bytes: int
    replays: int
    replayed_batches: int


@dataclass
class _Replay:
    router: bytes
    next: int
    until: int


class Publisher:
    """
    Tells routers which blocks this engine process (one data-parallel rank) holds.

    Any thread may call anything. No call waits for the network or for a router: an event costs its encoding into
    memory. Memory is bounded by ``replay_bytes`` and by libzmq's queue of ``queue_batches`` for each router.
    A router that misses batches sees a gap in the numbers and asks ``replay_endpoint`` for them.

    Not to be used in a child after ``fork()``.
    """

    def __init__(
        self,
        endpoint: str = "tcp://*:5557",
        replay_endpoint: str | None = "tcp://*:5558",
        *,
        topic: str = "",
        dp_rank: int = 0,
        queue_batches: int = 10_000,
        replay_batches: int = 10_000,
        replay_bytes: int = 256 << 20,
        batch_events: int = 64,
    ) -> None:
        """
        Binds both sockets and starts the thread. Raises ``zmq.ZMQError`` when an endpoint cannot be had, ``ValueError``
        for a number outside its range.

        endpoint: ``tcp://HOST:PORT`` or ``ipc://PATH`` for the events; HOST ``*`` is every address, PORT ``*`` any free
            port. The attribute ``endpoint`` has the port that was taken
        replay_endpoint: the same for requests to send batches again; None: no replay
        topic: the first frame of each batch, 4,096 bytes as UTF-8 at most
        dp_rank: data-parallel rank of this process, 0 to 2^31 - 1
        queue_batches: batches that wait for each router, 1 to 2^20
        replay_batches: newest batches that are kept for replay, 1 to 2^20
        replay_bytes: bytes that these may take, 1 to 2^48; the newest batch is kept whatever its size
        batch_events: events in a batch at most, 1 to 65,536
        """
        for name, value, least, most in (
            ("dp_rank", dp_rank, 0, (1 << 31) - 1),
            ("queue_batches", queue_batches, 1, 1 << 20),
            ("replay_batches", replay_batches, 1, 1 << 20),
            ("replay_bytes", replay_bytes, 1, 1 << 48),
            ("batch_events", batch_events, 1, 65_536),
        ):
            if not least <= value <= most:
                raise ValueError(f"{name} is {value}; it must be {least} to {most}")
        self._topic = (_wire.text("topic", topic) or "").encode()
        self._queue = queue_batches
        self._lock = threading.Lock()
        self._log = BatchLog(replay_batches, replay_bytes, batch_events, dp_rank, time.time)
        self._rung = False
        self._stopping = False
        self._deadline = 0.0
        self._next = 0
        self._dropped = 0
        self._replays = 0
        self._replayed = 0
        self._asked: deque[_Replay] = deque()

        # A context of its own: ending it must not wait for somebody else's sockets.
        self._context = zmq.Context()
        self._live = self._context.socket(zmq.PUB)
        self._router: zmq.Socket[bytes] | None = None
        self._bell, self._clapper = socket.socketpair()
        try:
            self._bell.setblocking(False)
            self._clapper.setblocking(False)
            self._live.set_hwm(max(queue_batches, _LEAST_WATERMARK))
            self._live.bind(endpoint)
            if replay_endpoint is not None:
                self._router = self._context.socket(zmq.ROUTER)
                # A router that reads too slowly makes its answer wait, not grow; one that is gone ends it.
                self._router.setsockopt(zmq.ROUTER_MANDATORY, 1)
                self._router.bind(replay_endpoint)
            self.endpoint = self._live.getsockopt_string(zmq.LAST_ENDPOINT)
            self.replay_endpoint = self._router.getsockopt_string(zmq.LAST_ENDPOINT) if self._router else None
        except BaseException:
            self._close_sockets(0)
            raise
        self._thread = threading.Thread(target=self._run, name="kv-publisher", daemon=True)
        self._thread.start()

    def stored(
        self,
        tokens: Iterable[int],
        *,
        block_size: int,
        ids: Iterable[int] | None = None,
        parent: int | None = None,
        tier: Tier = Tier.GPU,
        lora: str | None = None,
        salt: str | None = None,
    ) -> list[int]:
        """
        Consecutive blocks came into a tier. Gives their names: ``ids``, or those of ``block_ids``.

        Blocks that move to a slower tier: first ``stored`` there, then ``removed`` from the faster one.

        tokens: ids of whole blocks, each 0 to 2^32 - 1; 4,194,304 tokens and 1,048,576 blocks at most
        block_size: tokens of a block, 1 to 65,536
        ids: a name for each block, 64 bits with or without a sign, not 0; None: made from the tokens
        parent: name of the block before the first one; None at the start of a prompt
        tier: where the blocks lie now
        lora, salt: adapter and cache salt of the prompt, 4,096 bytes as UTF-8 at most; None or empty: none

        Raises ``ValueError`` for anything else, and nothing is told then; ``RuntimeError`` after ``close``.
        """
        packed = _ids.packed(tokens, block_size)
        count = len(packed) // block_size
        parent = _ids.checked_parent(parent)
        lora = _wire.text("lora", lora)
        salt = _wire.text("salt", salt)
        names = (
            _ids.chained(packed, block_size, parent, lora, salt) if ids is None else [_ids.checked(i) for i in ids]
        )
        if len(names) != count or count > _MOST_BLOCKS:
            raise ValueError(f"{len(names)} ids for {count} blocks; {_MOST_BLOCKS} at most")
        self._append(_wire.stored(names, parent, packed.tolist(), block_size, Tier(tier), lora, salt))
        return names

    def removed(self, ids: Iterable[int], *, tier: Tier = Tier.GPU) -> None:
        """
        These blocks left a tier.

        ids: their names, 1 to 1,048,576
        tier: the one they left; they stay where else they are

        Raises ``ValueError`` for anything else, ``RuntimeError`` after ``close``.
        """
        names = [_ids.checked(i) for i in ids]
        if not 1 <= len(names) <= _MOST_BLOCKS:
            raise ValueError(f"{len(names)} ids; 1 to {_MOST_BLOCKS}")
        self._append(_wire.removed(names, Tier(tier)))

    def cleared(self) -> None:
        """Every block of every tier is gone. Raises ``RuntimeError`` after ``close``."""
        self._append(_wire.cleared())

    def stats(self) -> Stats:
        """What was counted so far; also after ``close``."""
        with self._lock:
            return Stats(
                self._log.events,
                self._log.end,
                self._dropped,
                len(self._log),
                self._log.kept_bytes,
                self._replays,
                self._replayed,
            )

    def close(self, linger: float = 2.0) -> None:
        """Sends what is left for at most ``linger`` seconds, and ends. Again: nothing."""
        with self._lock:
            self._deadline = time.monotonic() + linger
            self._stopping = True
        self._ring()
        self._thread.join()

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _append(self, event: bytes) -> None:
        with self._lock:
            if self._stopping:
                raise RuntimeError("the publisher is closed")
            self._log.append(event)
            if self._rung:
                return
            self._rung = True
        self._ring()

    def _ring(self) -> None:
        try:
            self._clapper.send(b"!")
        except OSError:
            pass  # it is full of rings, or the thread has ended: nobody has to be woken

    # From here on: the publisher's thread.

    def _run(self) -> None:
        poller = zmq.Poller()
        poller.register(self._bell, zmq.POLLIN)
        if self._router is not None:
            poller.register(self._router, zmq.POLLIN)
        wait = _TICK_MILLIS
        try:
            while True:
                poller.poll(wait)
                self._still_bell()
                with self._lock:
                    self._rung = False
                    self._log.seal()
                    stopping = self._stopping
                self._send_live()
                self._take_requests()
                waiting = not self._answer()
                if stopping and (not waiting or time.monotonic() >= self._deadline):
                    return
                wait = _RETRY_MILLIS if waiting else _TICK_MILLIS
        finally:
            with self._lock:
                self._stopping = True
            self._close_sockets(max(0, int((self._deadline - time.monotonic()) * 1000)))

    def _still_bell(self) -> None:
        try:
            while self._bell.recv(4096):
                pass
        except BlockingIOError:
            return

    def _send_live(self) -> None:
        while True:
            with self._lock:
                first = max(self._next, self._log.oldest, self._log.end - self._queue)
                self._dropped += first - self._next
                self._next = first
                if first == self._log.end:
                    return
                payload = self._log.at(first)
                self._next += 1
            # A PUB socket does not wait: a subscriber whose queue is full goes without, and sees the gap.
            self._live.send_multipart([self._topic, first.to_bytes(8, "big"), payload])

    def _take_requests(self) -> None:
        while self._router is not None:
            try:
                frames = self._router.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            # [who, empty, first number]; anything else gets no answer, as from the engines.
            if len(frames) == 3 and not frames[1] and len(self._asked) < _MOST_ASKED:
                with self._lock:
                    self._asked.append(_Replay(frames[0], int.from_bytes(frames[2], "big"), self._log.end))

    def _answer(self) -> bool:
        """False when a router cannot take more yet."""
        while self._asked and self._router is not None:
            current = self._asked[0]
            with self._lock:
                current.next = max(current.next, self._log.oldest)
                payload = self._log.at(current.next) if current.next < current.until else b""
            sequence = current.next if payload else _END
            topic = self._topic if payload else b""
            try:
                self._router.send_multipart(
                    [current.router, b"", topic, sequence.to_bytes(8, "big"), payload], zmq.NOBLOCK
                )
            except zmq.Again:
                self._asked.rotate(-1)
                return False
            except zmq.ZMQError:
                self._asked.popleft()  # it has gone
                continue
            with self._lock:
                if payload:
                    self._replayed += 1
                    current.next += 1
                else:
                    self._replays += 1
            if not payload:
                self._asked.popleft()
        return True

    def _close_sockets(self, linger_millis: int) -> None:
        self._live.close(linger_millis)
        if self._router is not None:
            self._router.close(linger_millis)
        self._bell.close()
        self._clapper.close()
        # Waits for what lingers.
        self._context.term()
