"""An API server that has a bad day: between it and a client, some writes are refused before they
are carried out (429, 500, 503), some are carried out and said to have failed, or never answered,
and watches break off.

    with FaultyServer(cluster, random.Random(7), one_in=10) as faulty:
        kubeconfig = cluster.kubeconfig("one", server=faulty.address)
"""
import collections
import http.client
import http.server
import ssl
import threading

HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}
BEFORE = {"too many": 429, "broken": 500, "away": 503}
AFTER = ("said to have failed", "never answered")


class FaultyServer:
    def __init__(self, cluster, drawn, one_in):
        self.target = ("127.0.0.1", cluster.ports["api"])
        self.drawn, self.one_in = drawn, one_in
        self.lock = threading.Lock()
        self.done = collections.Counter()  # what happened, how often
        self.trust = ssl.create_default_context(cafile=cluster.path("ca.crt"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own.load_cert_chain(cluster.path("server.crt"), cluster.path("server.key"))
        self.server.socket = own.wrap_socket(self.server.socket, server_side=True,
                                             do_handshake_on_connect=False)
        self.address = f"https://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def fault(self, kinds):
        """What happens to this request: one of them, or None."""
        with self.lock:
            if self.drawn.randrange(self.one_in):
                return None
            kind = self.drawn.choice(kinds)
            self.done[kind] += 1
            return kind

    def handler(self):
        faulty = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                """Says nothing."""

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                writes = self.command != "GET" and "/leases" not in self.path
                kind = faulty.fault([*BEFORE, *AFTER]) if writes else None
                if kind in BEFORE:
                    return self.refuse(BEFORE[kind])
                line = http.client.HTTPSConnection(*faulty.target, context=faulty.trust)
                try:
                    line.request(self.command, self.path, body or None, dict(self.headers))
                    answer = line.getresponse()
                    if kind == "said to have failed":
                        answer.read()
                        return self.refuse(500)
                    if kind == "never answered":
                        answer.read()
                        self.close_connection = True
                        return None
                    return self.hand_back(answer)
                except (OSError, http.client.HTTPException):
                    self.close_connection = True  # one of both ends went
                    return None
                finally:
                    line.close()

            def refuse(self, code):
                text = b'{"kind":"Status","status":"Failure","message":"a bad day"}'
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                if code == 429:
                    self.send_header("Retry-After", "1")
                self.end_headers()
                self.wfile.write(text)

            def hand_back(self, answer):
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                watches = "watch=" in self.path
                while piece := answer.read1(65536):
                    if watches and faulty.fault(["watch broke off"]):
                        self.close_connection = True
                        return
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

        return Handler
