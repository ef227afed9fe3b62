"""A stream that hashes what is written to it."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from io import RawIOBase
from typing import Any, BinaryIO


class Hashing(RawIOBase):
    """Passes bytes on and computes their SHA-256.

    In the background the hash of one piece is computed while the next piece is made: what is
    written must not change afterwards.
    """

    def __init__(self, stream: BinaryIO, *, in_background: bool) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self._pool = ThreadPoolExecutor(1) if in_background else None
        self._pending: Future[None] | None = None
        self.size = 0

    def write(self, data: Any) -> int:
        """Write a piece."""
        self._wait()
        if self._pool:
            self._pending = self._pool.submit(self._digest.update, data)
        else:
            self._digest.update(data)
        self.size += len(data)
        return self._stream.write(data)

    def hexdigest(self) -> str:
        """Return the hash of everything so far."""
        self._wait()
        return self._digest.hexdigest()

    def close(self) -> None:
        """End the thread; the stream stays open."""
        if self._pool:
            self._pool.shutdown()
        super().close()

    def _wait(self) -> None:
        if self._pending:
            self._pending.result()
            self._pending = None
