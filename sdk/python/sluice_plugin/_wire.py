"""Frames of JSON over a socket (sdk/protocol/sluice-plugin.md)."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any, Dict, Optional

Message = Dict[str, Any]

PROTOCOL = 1
REVISION = 1
"""The latest that this package speaks; a host that names an earlier one does not know what came
after it, and refuses that."""
MOST_BYTES = 16 << 20


def encode(message: Message) -> bytes:
    """The body of a frame. TypeError and ValueError say what cannot be written."""
    body = json.dumps(message, separators=(",", ":"), ensure_ascii=False,
                      allow_nan=False).encode("utf-8", "replace")
    if len(body) > MOST_BYTES:
        raise ValueError(f"a message of {len(body)} bytes; at most {MOST_BYTES} are allowed")
    return body


class Wire:
    """One end of the connection. send() by any thread, receive() by one."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._sending = threading.Lock()

    def send(self, message: Message) -> None:
        self.send_body(encode(message))

    def send_body(self, body: bytes) -> None:
        with self._sending:
            self._socket.sendall(len(body).to_bytes(4, "little") + body)

    def _exactly(self, size: int) -> Optional[bytes]:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                return None
            data += more
        return data

    def receive(self) -> Optional[Message]:
        """None: the other side hung up."""
        head = self._exactly(4)
        if head is None:
            return None
        size = int.from_bytes(head, "little")
        if not 0 < size <= MOST_BYTES:
            raise ValueError(f"a frame of {size} bytes; 1 to {MOST_BYTES} are allowed")
        body = self._exactly(size)
        return None if body is None else json.loads(body)

    def close(self) -> None:
        self._socket.close()
