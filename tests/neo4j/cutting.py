"""A TCP proxy on loopback that cuts every connection after so many bytes, in either direction."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


class Cutting:
    """Forwards to a server; `after` bytes from now all connections end, once. None: never."""

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._server = (parts.hostname, parts.port)
        self._left: int | None = None
        self.cuts = 0
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, after: int | None) -> None:
        """End all connections when so many more bytes have passed."""
        with self._guard:
            self._left = after

    def close(self) -> None:
        """No more connections, and none that stays."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes who waits for the next connection
        self._listening.close()
        self._drop()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here = self._listening.accept()[0]
                there = socket.create_connection(self._server)  # type: ignore[arg-type]
                with self._guard:
                    self._open |= {here, there}
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                with self._guard:
                    passing, is_cut = len(data), self._left is not None and self._left < len(data)
                    if is_cut:
                        passing, self._left = self._left or 0, None
                        self.cuts += 1
                    elif self._left is not None:
                        self._left -= len(data)
                target.sendall(data[:passing])
                if is_cut:
                    self._drop()
        for end in (source, target):
            end.close()

    def _drop(self) -> None:
        with self._guard:
            ends, self._open = self._open, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting(uri: str) -> Iterator[Cutting]:
    """Such a proxy before the server of this address."""
    proxy = Cutting(uri)
    try:
        yield proxy
    finally:
        proxy.close()
