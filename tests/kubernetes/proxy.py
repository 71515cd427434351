"""A line to the API server that can be cut: bytes go both ways until it is."""
import socket
import threading


class Proxy:
    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.sockets = set()
        self.is_cut = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.target)
            except OSError:
                if self.listener.fileno() < 0:
                    return
                client.close()
                continue
            with self.lock:
                if self.is_cut:
                    client.close()
                    server.close()
                    continue
                self.sockets |= {client, server}
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    def copy(self, one, other):
        try:
            while piece := one.recv(65536):
                other.sendall(piece)
        except OSError:
            pass
        self.close(one, other)

    def close(self, *sockets):
        for each in sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()
            with self.lock:
                self.sockets.discard(each)

    def cut(self):
        """Connections break, and new ones do at once, until it is mended."""
        with self.lock:
            self.is_cut = True
            broken = list(self.sockets)
        self.close(*broken)

    def mend(self):
        with self.lock:
            self.is_cut = False

    def stop(self):
        self.cut()
        self.listener.close()
