"""What user code says of its run while that goes on: progress, and partial results.

Messages go to Node over the control connection, ahead of the answer. The newest of a kind counts. A
burst goes at once. Above that each message replaces the one that waits, and a thread that lives
for as long as something waits sends it a moment later: a caller in a loop neither waits nor takes
memory, and what it has said last arrives also when nothing follows.
"""

from __future__ import annotations

import json
import os
import time
from _thread import allocate_lock

from . import wire
from .failure import Failure
from .outcome import encode_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Thread
    from typing import Any

MESSAGE_LIMIT = 500
"""Of the text that goes with a fraction, in UTF-16 units: the rest is cut off."""
CHECKPOINT_LIMIT = 1 << 20
"""Bytes of JSON text (`progress-frames.ts`)."""
_BURST = 10
_INTERVAL = 0.1
"""Seconds between messages above the burst: Node reads so many without a pause."""
_CLOSING = 10.0
"""Seconds that the answer waits for a message that is being written."""


class Reporter:
    """Sends what one run says of itself. Safe in threads and in signal handlers."""

    __slots__ = ("_connection", "_lock", "_owner", "_spent", "_thread", "_waiting")

    def __init__(self, connection: int) -> None:
        self._connection: int | None = connection
        self._owner = os.getpid()
        self._lock = allocate_lock()
        self._waiting: dict[int, bytes] = {}
        self._thread: Thread | None = None
        # The time at which all of the burst is there again.
        self._spent = 0.0

    def is_open(self) -> bool:
        """Whether this is the process of the run, and it has not answered."""
        return self._connection is not None and os.getpid() == self._owner

    def report(self, fraction: float, message: str) -> None:
        """Both were checked by the caller."""
        units = message.encode("utf-16-le", "replace")[: 2 * MESSAGE_LIMIT]
        text = units.decode("utf-16-le", "ignore")
        payload = json.dumps({"fraction": fraction, "message": text}, separators=(",", ":"))
        self._submit(wire.PROGRESS, payload.encode("ascii"))

    def checkpoint(self, value: Any) -> None:
        """Raises ValueError for what is not JSON, too large or too deep."""
        try:
            payload = encode_checkpoint(value, CHECKPOINT_LIMIT)
        except Failure as failure:
            raise ValueError(failure.detail) from None
        self._submit(wire.CHECKPOINT, payload)

    def send(self, kind: int, payload: bytes) -> None:
        """At once, in its turn. Raises OSError where Node has hung up."""
        with self._lock:
            if self._connection is None:
                raise OSError("the run has answered, or Node has hung up")
            wire.write(self._connection, wire.encode_frame(kind, payload))

    def close(self) -> None:
        """Sends what waits; nothing is sent afterwards."""
        if not self.is_open():
            return
        is_held = self._lock.acquire(timeout=_CLOSING)
        try:
            self._send()
        finally:
            self._connection = None
            if is_held:
                self._lock.release()

    def _submit(self, kind: int, payload: bytes) -> None:
        self._waiting[kind] = wire.encode_frame(kind, payload)
        # Who holds the lock looks again when it has released it: here nothing waits for it.
        while self._waiting and self._lock.acquire(blocking=False):
            try:
                if not self._may_send() and self._ensure_thread():
                    return
                self._send()
            finally:
                self._lock.release()

    def _may_send(self) -> bool:
        now = time.monotonic()
        if self._spent - now > _BURST * _INTERVAL:
            return False
        self._spent = max(self._spent, now) + _INTERVAL
        return True

    def _ensure_thread(self) -> bool:
        """False: the run may have no further thread."""
        if self._thread is not None and self._thread.is_alive():
            return True
        import threading

        self._thread = threading.Thread(target=self._send_later, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._thread = None
        return self._thread is not None

    def _send_later(self) -> None:
        while True:
            time.sleep(_INTERVAL)
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                self._spent += _INTERVAL
                self._send()

    def _send(self) -> None:
        """Call it with the lock."""
        while self._waiting:
            _, frame = self._waiting.popitem()
            if self._connection is None:
                continue
            try:
                wire.write(self._connection, frame)
            except OSError:
                self._connection = None  # Node has hung up


_current: Reporter | None = None


def open_reporter(connection: int) -> Reporter:
    """For the run of this process."""
    global _current
    _current = Reporter(connection)
    return _current


def get_reporter() -> Reporter | None:
    """That of the run; None outside one, and in processes that it has started."""
    return _current if _current is not None and _current.is_open() else None
