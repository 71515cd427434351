"""Ports for programs that have to be told theirs, and perhaps take it a minute later, or once more
after a restart."""
import fcntl
import os
import random
import socket
import tempfile

# Below those that a kernel gives away by itself, to connections and to servers that do not care.
FIRST, LAST = 20000, 30000
HELD = []  # of this process: what is locked is nobody else's while it lives


def own_port():
    """A port of loopback that no other test has, and nobody is given by chance."""
    folder = os.path.join(tempfile.gettempdir(), f"sluice-test-ports-{os.getuid()}")
    os.makedirs(folder, exist_ok=True)
    while True:
        port = random.randrange(FIRST, LAST)
        lock = open(os.path.join(folder, str(port)), "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            lock.close()
            continue
        HELD.append(lock)
        return port
