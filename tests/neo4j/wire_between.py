"""A wire between the driver and the server: it counts round trips, and loses what it is told to lose."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_CHUNK = 1 << 16


class Wire:
    """Passes bytes both ways. A round trip begins when the client speaks after the server did.

    `lose(n)` breaks the connection at the nth round trip from now: before the server hears of it, or, with `heard`, after the
    server has done its part and before the client is answered.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.trips = 0
        self._left: int | None = None
        self._heard = False
        self.lost = 0
        self._guard = threading.Lock()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self, number: int, *, heard: bool = False) -> None:
        """Break the connection once, at that round trip."""
        with self._guard:
            self._left, self._heard, self.lost = number, heard, 0

    def _due(self) -> bool:
        """One more round trip begins; whether it is the one to be lost."""
        with self._guard:
            self.trips += 1
            if self._left is None:
                return False
            self._left -= 1
            if self._left:
                return False
            self._left = None
            self.lost += 1
            return True

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._address) as server, suppress(OSError, ValueError):
            self._open.append(client)
            silent = losing = False  # whether the server spoke last; whether its answer is to be lost
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if client in ready:
                    data = client.recv(_CHUNK)
                    if not data:
                        return
                    if silent and self._due():
                        if not self._heard:
                            return
                        losing = True
                    silent = False
                    server.sendall(data)
                if server in ready:
                    data = server.recv(_CHUNK)
                    if not data or losing:
                        return
                    silent = True
                    client.sendall(data)

    def close(self) -> None:
        """Cut what there is, and take no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in self._open:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire(uri: str) -> Iterator[tuple[Wire, str]]:
    """A wire to the server at `uri`, and the address at its near end."""
    parts = urlsplit(uri)
    assert parts.hostname is not None
    between = Wire((parts.hostname, parts.port or 7687))
    try:
        yield between, f"bolt://127.0.0.1:{between.port}"
    finally:
        between.close()
