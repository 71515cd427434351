#!/usr/bin/env python3
"""HTTP/2 against a live host: curl as a client that is well behaved, and the library h2 as one that
is not. Skipped where neither curl with HTTP/2 nor h2 is there.

    http2_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import unittest

from host import Host, skip
from wire import Wire, context, credentials

try:
    import h2.config
    import h2.connection
    import h2.errors
    import h2.events
    import h2.exceptions
    import h2.settings
except ImportError:
    h2 = None

MAPS = "/api/v1/namespaces/default/configmaps"
MOST_GROWTH = 128 << 20  # bytes


def config_map(name, value="v"):
    return {"metadata": {"name": name}, "data": {"key": value}}


class Peer:
    """A connection of h2's, which does what a test wants."""

    def __init__(self, host, window=None, opens_windows=True):
        tls = context(host.kubeconfig)
        tls.set_alpn_protocols(["h2"])
        port = int(host.address.rsplit(":", 1)[1])
        self.socket = tls.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=180),
                                      server_hostname="127.0.0.1")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.token = credentials(host.kubeconfig)[1]
        self.opens_windows = opens_windows
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(1 << 28)
        self.status, self.bodies, self.ended, self.resets = {}, {}, set(), {}
        self.goaway = None
        self.closed = False
        if window is not None:
            code = h2.settings.SettingCodes.INITIAL_WINDOW_SIZE
            self.h2.update_settings({code: window})
            self.until(lambda: self.h2.local_settings[code] == window)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        data = self.h2.data_to_send()
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True

    def begin(self, method, path, body=None):
        stream = self.h2.get_next_available_stream_id()
        fields = [(":method", method), (":scheme", "https"), (":authority", "a"), (":path", path),
                  ("authorization", f"Bearer {self.token}")]
        if body is not None:
            fields.append(("content-type", "application/json"))
        self.h2.send_headers(stream, fields, end_stream=body is None)
        if body is not None:
            self.h2.send_data(stream, json.dumps(body).encode(), end_stream=True)
        return stream

    def more(self):
        """Takes what comes next."""
        self.flush()
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            self.closed = True
            return
        for event in self.h2.receive_data(data):
            stream = getattr(event, "stream_id", None)
            if isinstance(event, h2.events.ResponseReceived):
                self.status[stream] = int(dict(event.headers)[b":status"])
            elif isinstance(event, h2.events.DataReceived):
                self.bodies[stream] = self.bodies.get(stream, b"") + event.data
                if self.opens_windows and event.flow_controlled_length:
                    try:
                        self.h2.increment_flow_control_window(event.flow_controlled_length, stream)
                    except h2.exceptions.StreamClosedError:
                        pass  # it ended with this data
            elif isinstance(event, h2.events.StreamEnded):
                self.ended.add(stream)
            elif isinstance(event, h2.events.StreamReset):
                self.resets[stream] = event.error_code
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.goaway = event.error_code

    def until(self, condition):
        while not condition() and not self.closed and self.goaway is None:
            self.more()
        return condition()

    def ask(self, method, path, body=None):
        stream = self.begin(method, path, body)
        self.until(lambda: stream in self.ended or stream in self.resets)
        return self.status.get(stream), json.loads(self.bodies.get(stream) or "null")


class Http2(unittest.TestCase):
    sluice = ""

    @classmethod
    def setUpClass(cls):
        cls.holder = Host(cls.sluice, memory=True)
        cls.host = cls.holder.start()

    @classmethod
    def tearDownClass(cls):
        code = cls.holder.stop()
        cls.holder.__exit__()
        assert code == 0, f"the host ended with {code}"

    def memory(self):
        with open(f"/proc/{self.host.process.pid}/status", encoding="utf-8") as lines:
            return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) << 10

    def curl(self, *args):
        authority, token = credentials(self.host.kubeconfig)
        path = os.path.join(self.host.folder, "ca.crt")
        with open(path, "w", encoding="utf-8") as out:
            out.write(authority)
        done = subprocess.run(
            ["curl", "-sS", "--http2", "--cacert", path, "-H", f"Authorization: Bearer {token}",
             *args], capture_output=True, text=True, timeout=180, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_curl_reads_writes_and_watches(self):
        where = self.host.address + MAPS
        self.assertEqual(self.curl("-o", os.devnull, "-w", "%{http_version}", where), "2")
        made = json.loads(self.curl("-H", "Content-Type: application/json", "-d",
                                    json.dumps(config_map("curl")), where))
        self.assertEqual(made["metadata"]["name"], "curl")
        lines = self.curl(where + "?watch=true&timeoutSeconds=1").splitlines()
        self.assertEqual([json.loads(line)["object"]["metadata"]["name"] for line in lines
                          if json.loads(line)["type"] == "ADDED"].count("curl"), 1)
        gone = json.loads(self.curl("-X", "DELETE", where + "/curl"))
        self.assertEqual(gone["status"], "Success")
        # Many at a time over one connection.
        names = [f"many-{number}" for number in range(50)]
        answers = self.curl("--parallel", "--parallel-immediate", "-w", "%{http_code}\n",
                            *[item for name in names for item in
                              (f"{where}/{name}", "-o", os.devnull)])
        self.assertEqual(answers.split(), ["404"] * 50)

    def check_alive(self, before):
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("GET", MAPS)[0], 200)
        self.assertLess(self.memory() - before, MOST_GROWTH)

    @unittest.skipIf(h2 is None, "there is no python3-h2")
    def test_rapid_reset(self):
        before = self.memory()
        for _ in range(5):
            with Peer(self.host) as peer:
                for _ in range(4_000):
                    stream = peer.begin("GET", MAPS)
                    peer.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
                peer.until(lambda: False)
                self.assertTrue(peer.goaway not in (None, 0) or peer.closed)
        self.check_alive(before)

    @unittest.skipIf(h2 is None, "there is no python3-h2")
    def test_floods(self):
        before = self.memory()
        for flood in (lambda peer: peer.h2.ping(b"12345678"),
                      lambda peer: peer.h2.prioritize(1, weight=16),
                      lambda peer: peer.h2.increment_flow_control_window(1)):
            with Peer(self.host) as peer:
                peer.until(lambda: peer.h2.remote_settings.max_concurrent_streams == 250)
                for _ in range(50_000):
                    flood(peer)
                peer.until(lambda: False)
                self.assertTrue(peer.goaway not in (None, 0) or peer.closed)
        self.check_alive(before)

    @unittest.skipIf(h2 is None, "there is no python3-h2")
    def test_watches_that_nobody_reads(self):
        before = self.memory()
        peers = [Peer(self.host, window=0, opens_windows=False) for _ in range(4)]
        for peer in peers:
            streams = [peer.begin("GET", MAPS + "?watch=true") for _ in range(200)]
            peer.until(lambda peer=peer, streams=streams:
                       all(peer.status.get(stream) == 200 for stream in streams))
            self.assertEqual(peer.status[streams[-1]], 200)
        with Peer(self.host) as good:
            watch = good.begin("GET", MAPS + "?watch=true")
            for number in range(200):  # 2 MB for each of 800 watches
                status, body = good.ask("POST", MAPS, config_map(f"w-{number}", "x" * 10_000))
                self.assertEqual(status, 201, body)
            self.assertTrue(good.until(lambda: good.bodies.get(watch, b"").count(b"\n") >= 200))
        # A connection that stalls streams still answers.
        peer = peers[0]
        stream = peer.begin("GET", MAPS + "/w-1")
        peer.h2.increment_flow_control_window(1 << 20, stream)
        self.assertTrue(peer.until(lambda: stream in peer.ended))
        self.check_alive(before)
        for peer in peers:
            peer.socket.close()

    @unittest.skipIf(h2 is None, "there is no python3-h2")
    def test_hundreds_write_at_a_time(self):
        problems = []

        def write(number):
            with Peer(self.host) as peer:
                streams = [peer.begin("POST", MAPS, config_map(f"c-{number}-{one}"))
                           for one in range(200)]
                peer.until(lambda: all(stream in peer.ended or stream in peer.resets
                                       for stream in streams))
                problems.extend((peer.status.get(stream), peer.bodies.get(stream))
                                for stream in streams if peer.status.get(stream) != 201)
        threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])

    @unittest.skipIf(h2 is None, "there is no python3-h2")
    def test_ends_in_order(self):
        host = Host(self.sluice, memory=True)
        try:
            peer = Peer(host.start())
            watch = peer.begin("GET", MAPS + "?watch=true")
            self.assertTrue(peer.until(lambda: peer.status.get(watch) == 200))
            stopping = threading.Thread(target=host.stop)
            stopping.start()
            try:
                peer.until(lambda: False)
            except h2.exceptions.ProtocolError:
                pass  # this library takes no data after GOAWAY
            self.assertTrue(peer.goaway in (0, None))
            peer.socket.close()
            stopping.join()
        finally:
            host.__exit__()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    version = subprocess.run(["curl", "-V"], capture_output=True, text=True, check=False)
    if "HTTP2" not in version.stdout:
        skip("there is no curl that speaks HTTP/2")
    Http2.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
