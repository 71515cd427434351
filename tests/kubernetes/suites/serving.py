"""What compiled specs ask the program that runs them, over HTTP on loopback: see framework.go,
util.go and metrics.go for who asks."""
import http.server
import json
import threading
import urllib.parse


def serve(run):
    """A server that does what the methods of `run` do, one after the other."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(run))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def handler(run):
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.give(getattr(run, self.path.strip("/")), body)

        def do_GET(self):
            asked = urllib.parse.urlparse(self.path).query
            self.give(run.metric, urllib.parse.parse_qsl(asked, keep_blank_values=True))

        def give(self, what, body):
            try:
                with lock:
                    code, text = 200, json.dumps(what(body))
            except Exception as error:  # pylint: disable=broad-except
                code, text = 500, f"{type(error).__name__}: {error}"
            self.send_response(code)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    return Handler
