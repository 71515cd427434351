#!/usr/bin/env python3
"""A hostile client against a live host over TLS: what is wrong gets the right status and a Status
object, memory stays bounded, and a well-behaved client notices nothing.

    hostile_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import json
import os
import random
import resource
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

from bystander import Bystander
from host import Host, eventually
from wire import Watch, Wire, context, credentials

MAPS = "/api/v1/namespaces/default/configmaps"
CONNECTIONS = 1000
LIMITS = ("  limits: {{ connections: %d, headerTime: {0}, bodyTime: {0}, stallTime: {0}, "
          "watchers: 20, watchersPerUser: 10 }}\n" % CONNECTIONS)
MOST_GROWTH = 512 << 20  # bytes; with sanitizers memory that was freed is kept for a while
PROTOBUF = "application/vnd.kubernetes.protobuf"


def config_map(name, value="v"):
    return {"metadata": {"name": name}, "data": {"key": value}}


def reads_and_writes(wire, number):
    """What a well-behaved client asks, in turn."""
    if number % 2:
        return wire.ask("GET", MAPS + "?limit=1")
    return wire.ask("POST", MAPS + "?dryRun=All", config_map("good"))


class Raw:
    """Bytes over TLS (or without it), as they are."""

    def __init__(self, host, tls=True):
        port = int(host.address.rsplit(":", 1)[1])
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=180)
        if tls:
            self.socket = context(host.kubeconfig).wrap_socket(self.socket,
                                                               server_hostname="127.0.0.1")
        self.ended = False
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """What the other side takes, as long as it does."""
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def more(self):
        try:
            data = self.socket.recv(1 << 16)
        except (ConnectionError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            data = b""
        self.ended = self.ended or not data
        self.left += data
        return data

    def read(self):
        """The next answer: status, head and body. Status 0: the connection ended."""
        while b"\r\n\r\n" not in self.left:
            if not self.more():
                return 0, "", self.left
        head, self.left = self.left.split(b"\r\n\r\n", 1)
        head = head.decode()
        fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip()
                  for line in head.split("\r\n")[1:]}
        length = int(fields.get("content-length", 0))
        while len(self.left) < length and self.more():
            pass
        body, self.left = self.left[:length], self.left[length:]
        return int(head.split()[1]), head, body

    def rest(self):
        """Everything until the other side closes."""
        while self.more():
            pass
        return self.left


class Hostile(unittest.TestCase):
    sluice = ""
    patience = "10s"  # with whoever dawdles: beyond what a good client on a busy machine needs

    @classmethod
    def setUpClass(cls):
        cls.holder = Host(cls.sluice)
        with open(cls.holder.config, encoding="utf-8") as text:
            content = text.read()
        # The short form of the section becomes a long one with limits.
        begin = content.index("server: {")
        end = content.index("\n", begin) + 1
        content = (content[:begin] + "server:\n  address: '127.0.0.1:0'\n"
                   f"  kubeconfig: {cls.holder.kubeconfig}\n"
                   + LIMITS.format(cls.patience) + content[end:])
        with open(cls.holder.config, "w", encoding="utf-8") as out:
            out.write(content)
        cls.holder.write_config = lambda *_: None
        cls.host = cls.holder.start()
        cls.token = credentials(cls.host.kubeconfig)[1]
        with Wire(cls.host) as wire:
            for number in range(20):
                wire.ask("POST", MAPS, config_map(f"map-{number}"))

    @classmethod
    def tearDownClass(cls):
        code = cls.holder.stop()
        cls.holder.__exit__()
        assert code == 0, f"the host ended with {code}"

    def setUp(self):
        self.before = self.memory()

    def tearDown(self):
        self.assertIsNone(self.host.process.poll(), self.host.log()[-3000:])
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("GET", MAPS + "/map-1")[0], 200)
        self.assertLess(self.memory() - self.before, MOST_GROWTH)

    def status_field(self, name):
        with open(f"/proc/{self.host.process.pid}/status", encoding="utf-8") as lines:
            return next(line for line in lines if line.startswith(name + ":")).split()[1]

    def memory(self):
        return int(self.status_field("VmRSS")) * 1024

    def sockets(self):
        folder, count = f"/proc/{self.host.process.pid}/fd", 0
        for entry in os.listdir(folder):
            try:
                count += os.readlink(f"{folder}/{entry}").startswith("socket:")
            except OSError:
                pass
        return count

    def head(self, method, path, *fields):
        lines = [f"{method} {path} HTTP/1.1", "Host: a", f"Authorization: Bearer {self.token}"]
        return ("\r\n".join([*lines, *fields]) + "\r\n\r\n").encode("latin-1")

    def check_status(self, answer, code, what):
        status, _, body = answer
        self.assertEqual(status, code, (what, answer))
        found = body if isinstance(body, dict) else json.loads(body)
        self.assertEqual((found["kind"], found["apiVersion"], found["status"], found["code"]),
                         ("Status", "v1", "Failure", code), what)
        self.assertTrue(found["message"] and found["reason"], what)
        self.assertLess(len(found["message"]), 2000, what)


class Contents(Hostile):
    def test_bodies(self):
        noise = random.Random(4).randbytes
        cases = (
            ("over the limit", b" " * ((3 << 20) + 1), "application/json", 413),
            ("deep lists", b"[" * 100_000, "application/json", 400),
            ("deep objects", b'{"a":' * 100_000, "application/json", 400),
            ("deep and complete", b'{"metadata":{"name":"n"},"x":' + b"[" * 100_000
             + b"]" * 100_000 + b"}", "application/json", 400),
            ("deep YAML", b"[" * 100_000, "application/yaml", 400),
            ("deep YAML by lines", b"".join(b" " * n + b"a:\n" for n in range(1500)),
             "application/yaml", 400),
            ("aliases that multiply", b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
                b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n"
                % ((98 + n, 98 + n) + (97 + n,) * 9) for n in range(9)), "application/yaml", 400),
            ("truncated", b'{"metadata":{"name":"tr', "application/json", 400),
            ("truncated in an escape", b'{"metadata":{"name":"\\u12', "application/json", 400),
            ("half a pair", b'{"metadata":{"name":"\\ud800"}}', "application/json", 400),
            ("no UTF-8", b'{"metadata":{"name":"\xff\xfe"}}', "application/json", 400),
            ("overlong UTF-8", b'{"metadata":{"name":"\xc0\xaf"}}', "application/json", 400),
            ("a NUL", b'{"metadata":{"name":"a"}}\0', "application/json", 400),
            ("no number", b'{"a":1e99999999999}', "application/json", 400),
            ("not a number", b'{"a":NaN}', "application/json", 400),
            ("nothing", b"", "application/json", 400),
            ("null", b"null", "application/json", 400),
            ("two values", b"{}{}", "application/json", 400),
            ("another kind", b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}',
             "application/json", 400),
            ("compressed", noise(200), "application/json", 400),
            ("text", b"{}", "text/plain", 415),
            ("a form", b"a=b", "application/x-www-form-urlencoded", 415),
            ("several parts", b"--a--", "multipart/form-data; boundary=a", 415),
            ("no type", b"{}", "json", 415),
            ("other protobuf", b"\0", "application/x-protobuf", 415),
            ("noise", noise(5000), PROTOBUF, 400),
            ("noise that begins well", b"k8s\0" + noise(5000), PROTOBUF, 400),
            ("a length beyond the end", b"k8s\0\x12\xff\xff\xff\xff\x0f", PROTOBUF, 400),
            ("groups without end", b"k8s\0\x12\xff\x01" + b"\x0b" * 255, PROTOBUF, 400),
        )
        with Bystander(self.host, reads_and_writes) as good:
            for what, body, kind, code in cases:
                with Wire(self.host) as wire:
                    self.check_status(wire.ask("POST", MAPS, body, kind), code, what)
        self.assertEqual(good.problems, [])

    def test_patches(self):
        operations = b",".join([b'{"op":"copy","from":"/data","path":"/data/x"}'] * 60)
        cases = (
            ("merge, a list", b"[]", "application/merge-patch+json", 400),
            ("merge, deep", b'{"a":' * 100_000, "application/merge-patch+json", 400),
            ("json, an object", b"{}", "application/json-patch+json", 400),
            ("json, no operation", b'[{"op":"burn","path":"/"}]', "application/json-patch+json",
             400),
            ("json, nowhere", b'[{"op":"replace","path":"/a/b","value":1}]',
             "application/json-patch+json", 422),
            ("json, doubles itself", b"[" + operations + b"]", "application/json-patch+json", 422),
            ("strategic, deep", b'{"a":' * 100_000, "application/strategic-merge-patch+json", 400),
            ("strategic, a wrong directive", b'{"data":{"$patch":"explode"}}',
             "application/strategic-merge-patch+json", 400),
            ("apply, nothing", b"", "application/apply-patch+yaml", 400),
            ("apply, deep", b"[" * 100_000, "application/apply-patch+yaml", 400),
            ("plain JSON", b"{}", "application/json", 415),
            ("no type", b"{}", "", 415),
        )
        for what, body, kind, code in cases:
            with Wire(self.host) as wire:
                answer = wire.ask("PATCH", MAPS + "/map-1?fieldManager=me", body, kind)
                self.check_status(answer, code, what)

    def test_questions(self):
        cases = (
            ("limit=-1", 400), ("limit=abc", 400), ("limit=99999999999999999999", 400),
            ("resourceVersion=abc", 400), ("resourceVersion=-1", 400),
            ("resourceVersion=99999999999999999999999", 400),
            ("resourceVersion=1&resourceVersionMatch=Sometimes", 400),
            ("resourceVersionMatch=Exact", 422),
            ("resourceVersion=999999999&resourceVersionMatch=NotOlderThan", 504),
            ("continue=garbage", 400), ("continue=%00%ff", 400), ("continue=" + "A" * 4000, 400),
            ("fieldSelector=garbage", 400), ("fieldSelector=a%3D%3D%3Db", 400),
            ("fieldSelector=no.such.field%3D1", 400), ("fieldSelector=%ff%3D1", 400),
            ("labelSelector=a+in+(", 400), ("labelSelector=!!a", 400), ("labelSelector=%00", 400),
            ("labelSelector=" + ",".join(["a"] * 3000), 400),
            ("timeoutSeconds=-5&watch=1", 400), ("timeoutSeconds=x&watch=1", 400),
            ("sendInitialEvents=true&watch=1", 422),
            ("a=%", 400), ("a=%zz", 400), ("&".join(["a=b"] * 300), 400),
        )
        for query, code in cases:
            with Wire(self.host) as wire:
                self.check_status(wire.ask("GET", f"{MAPS}?{query}"), code, query)

    def test_paths_and_methods(self):
        cases = (
            ("GET", "/api/v1/namespaces/default/../../secrets", 400),
            ("GET", "/api/v1/namespaces/%2e%2e/configmaps", 400),
            ("GET", "/api/v1/namespaces/a%2fb/configmaps", 400),
            ("GET", "/api/v1/namespaces/a%00b/configmaps", 400),
            ("GET", "/api/v1/namespaces/%0d%0aX-Evil:%201/configmaps", 400),
            ("GET", "/%", 400), ("GET", "/api/v1/%e0%80", 400),
            ("GET", "//", 404), ("GET", "/apis/no.such.group/v1/things", 404),
            ("GET", MAPS + "/map-1/status/x/y/z", 404), ("GET", "/" + "a/" * 2000, 404),
            ("GET", "/" + "a" * 9000, 414),
            ("BREW", MAPS, 405), ("TRACE", MAPS, 405), ("OPTIONS", MAPS, 405),
            ("CONNECT", MAPS, 405), ("PROPFIND", MAPS, 405), ("get", MAPS, 405),
            ("POST", MAPS + "/map-1", 405), ("PUT", MAPS, 405), ("PATCH", MAPS, 405),
            ("DELETE", "/api/v1", 405), ("POST", "/apis", 405), ("PUT", "/", 405),
            ("X" * 3000, MAPS, 405),
        )
        for method, path, code in cases:
            with Raw(self.host) as raw:
                raw.send(self.head(method, path))
                answer = raw.read()
                self.assertNotIn("X-Evil", answer[1])
                self.check_status(answer, code, (method, path[:80]))

    def test_heads(self):
        many = [f"X-{number}: y" for number in range(10_000)]
        cases = (
            ("a long header", self.head("GET", "/api", "X: " + "y" * 100_000), 431),
            ("many headers", self.head("GET", "/api", *many), 431),
            ("without an end", b"GET /api HTTP/1.1\r\n" + b"X: y\r\n" * 50_000, 431),
            ("a long line", b"GET /" + b"a" * 1_000_000, 431),
            ("a long name", self.head("GET", "/api", "y" * 100_000 + ": x"), 431),
            ("no name", self.head("GET", "/api", ": x"), 400),
            ("a space in a name", self.head("GET", "/api", "a b: x"), 400),
            ("a NUL", self.head("GET", "/api", "a: x\0y"), 400),
            ("a folded line", self.head("GET", "/api", "a: x", "Content-Length: 3", " 4"), 400),
            ("no version", b"GET /api\r\n\r\n", 400),
            ("version 2", b"GET /api HTTP/2.0\r\n\r\n", 400),
            ("version 9", b"GET /api HTTP/1.9\r\n\r\n", 400),
            ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
            ("no method", b" /api HTTP/1.1\r\n\r\n", 400),
            ("noise", bytes(range(128, 256)) + b"\r\n\r\n", 400),
            ("an unknown expectation", self.head("GET", "/api", "Expect: miracles"), 417),
        )
        for what, data, code in cases:
            with Raw(self.host) as raw:
                raw.send(data)
                self.check_status(raw.read(), code, what)

    def test_smuggling(self):
        hidden = self.head("DELETE", MAPS + "/map-2")
        chunk = b"0\r\n\r\n"
        cases = (
            ("two lengths", ("Content-Length: 2", f"Content-Length: {len(hidden)}"), b"{}"),
            ("two equal lengths", ("Content-Length: 2", "Content-Length: 2"), b"{}"),
            ("lengths in a list", ("Content-Length: 2, 2",), b"{}"),
            ("a signed length", ("Content-Length: +2",), b"{}"),
            ("a negative length", ("Content-Length: -2",), b"{}"),
            ("a hexadecimal length", ("Content-Length: 0x2",), b"{}"),
            ("a huge length", ("Content-Length: 99999999999999999999999",), b"{}"),
            ("length and chunks", ("Content-Length: 5", "Transfer-Encoding: chunked"), chunk),
            ("chunks and length", ("Transfer-Encoding: chunked", "Content-Length: 5"), chunk),
            ("an unknown coding", ("Transfer-Encoding: cow",), chunk),
            ("chunks not last", ("Transfer-Encoding: chunked, identity",), chunk),
            ("chunks twice", ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), chunk),
            ("a space before the colon", ("Transfer-Encoding : chunked",), chunk),
            ("a tab before chunked", ("Transfer-Encoding: \x0bchunked",), chunk),
            ("a size that overflows", ("Transfer-Encoding: chunked",),
             b"10000000000000002\r\n{}\r\n" + chunk),
            ("a negative size", ("Transfer-Encoding: chunked",), b"-1\r\n{}\r\n" + chunk),
            ("a size of another base", ("Transfer-Encoding: chunked",), b"0x2\r\n{}\r\n" + chunk),
            ("a chunk longer than its size", ("Transfer-Encoding: chunked",),
             b"1\r\n{}\r\n" + chunk),
        )
        for what, fields, body in cases:
            with Raw(self.host) as raw:
                raw.send(self.head("POST", MAPS, "Content-Type: application/json", *fields)
                         + body + hidden)
                status, head, text = raw.read()
                self.assertIn(status, (400, 413), (what, head))
                self.check_status((status, head, text), status, what)
                self.assertIn("Connection: close", head, what)
                self.assertEqual(raw.rest(), b"", what)  # nobody answered what was hidden
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("GET", MAPS + "/map-2")[0], 200)

    def test_pipelining(self):
        with Raw(self.host) as raw:
            raw.send(b"".join(self.head("GET", f"{MAPS}/map-{number % 20}")
                              for number in range(200)))
            for number in range(200):
                status, _, body = raw.read()
                self.assertEqual((status, json.loads(body)["metadata"]["name"]),
                                 (200, f"map-{number % 20}"))


class Dawdling(Hostile):
    patience = "4s"  # it is waited for

    def drip(self, first, piece, count):
        """`count` clients that send a piece now and then, until each has lost its connection;
        what they were answered."""
        clients = [Raw(self.host) for _ in range(count)]
        answers = []
        end = time.monotonic() + 180
        for raw in clients:
            raw.send(first)
        while clients and time.monotonic() < end:
            for raw in list(clients):
                raw.send(piece)
                if select.select([raw.socket], [], [], 0)[0]:
                    answers.append(raw.rest())
                    raw.socket.close()
                    clients.remove(raw)
            time.sleep(0.1)
        self.assertEqual(clients, [])
        return answers

    def test_heads_that_never_end(self):
        with Bystander(self.host, reads_and_writes) as good:
            for answer in self.drip(b"GET /api HTTP/1.1\r\nX: ", b"y", 50):
                self.assertRegex(answer, rb"(?s)^(HTTP/1.1 408 .*\"reason\":\"Timeout\"|$)")
        self.assertEqual(good.problems, [])
        good.report("dripped heads")

    def test_bodies_that_never_end(self):
        first = self.head("POST", MAPS, "Content-Type: application/json", "Content-Length: 1000")
        with Bystander(self.host, reads_and_writes) as good:
            for answer in self.drip(first, b" ", 50):
                self.assertIn(b"HTTP/1.1 408 ", answer)
                self.assertIn(b'"reason":"Timeout"', answer)
        self.assertEqual(good.problems, [])
        good.report("dripped bodies")

    def test_handshakes_that_never_end(self):
        port = int(self.host.address.rsplit(":", 1)[1])
        # The beginning of a ClientHello, and nothing; or what is no TLS at all.
        starts = (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"", b"\x16\x03\x01\xff\xff",
                  b"\x16\x03\x01\x00\x01\x01")
        with Bystander(self.host, reads_and_writes) as good:
            held = []
            for number in range(200):
                one = socket.create_connection(("127.0.0.1", port), timeout=180)
                one.sendall(starts[number % len(starts)])
                held.append(one)
            for one in held:
                try:
                    self.assertLess(len(one.recv(4096)), 4096)  # an alert at most
                    while one.recv(4096):
                        pass
                except ConnectionError:
                    pass
                one.close()
        self.assertEqual(good.problems, [])
        with Raw(self.host, tls=False) as plain:
            plain.send(b"GET /api HTTP/1.1\r\n\r\n")
            self.assertIn(b"HTTP request to an HTTPS server", plain.rest())

    def test_a_watcher_that_never_reads(self):
        wire = Wire(self.host)
        Watch(wire, MAPS)  # and not a byte more
        count = self.sockets()
        with Bystander(self.host, reads_and_writes) as good, \
                Wire(self.host) as watching, Wire(self.host) as writer:
            watch, seen = Watch(watching, MAPS + "?fieldSelector=metadata.name%3Dbig"), []

            def read():
                while not seen or seen[-1] != "DELETED":
                    seen.append(watch.next()["type"])
            reader = threading.Thread(target=read)
            reader.start()
            value = "x" * 500_000
            self.assertEqual(writer.ask("POST", MAPS, config_map("big"))[0], 201)
            for number in range(60):
                body = {"data": {"key": value, "n": str(number)}}
                done = writer.ask("PATCH", MAPS + "/big", body, "application/merge-patch+json")
                self.assertEqual(done[0], 200)
            self.assertEqual(writer.ask("DELETE", MAPS + "/big")[0], 200)
            reader.join()
            self.assertEqual(seen, ["ADDED"] + ["MODIFIED"] * 60 + ["DELETED"])
        eventually(lambda: self.sockets() < count, "the watcher is given up")
        self.assertEqual(good.problems, [])
        good.report("a watcher that never reads")
        wire.connection.close()

    def test_watchers_that_leave_at_once(self):
        request = self.head("GET", MAPS + "?watch=true")
        for _ in range(200):
            with Raw(self.host) as raw:
                # What the other side sends meets a connection that is no more.
                raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      struct.pack("ii", 1, 0))
                raw.send(request)
        wires = []

        def all_places_are_free():
            while len(wires) < 10:
                wire = Wire(self.host)
                if wire.send("GET", MAPS + "?watch=true").status != 200:
                    wire.connection.close()
                    return False
                wires.append(wire)
            return True
        eventually(all_places_are_free, "ten watches, which is the limit")
        for wire in wires:
            wire.connection.close()

    def test_too_many_watches(self):
        wires = [Wire(self.host) for _ in range(11)]
        for wire in wires[:10]:
            Watch(wire, MAPS)
        answer = wires[10].ask("GET", MAPS + "?watch=true")
        self.check_status(answer, 429, "one watch too many")
        self.assertIn("Retry-After", answer[1])
        for wire in wires:
            wire.connection.close()


class Crowd(Hostile):
    def test_ten_thousand_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 11_000:
            self.skipTest(f"only {hard} files may be open here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 11_000), hard))
        port = int(self.host.address.rsplit(":", 1)[1])
        # One that did ask something before waits in a queue of its own.
        patient = Wire(self.host)
        patient.ask("GET", MAPS)
        crowd = []

        def all_have_an_answer():
            """Who was accepted has a place, or was turned away."""
            return self.sockets() < CONNECTIONS + 100
        with Bystander(self.host, reads_and_writes) as good:
            for number in range(10_000):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
                crowd.append(one)
                if number % 500 == 0:
                    eventually(all_have_an_answer, "no more have a place than may")
                    with Wire(self.host) as wire:  # new ones come in, too
                        self.assertEqual(wire.ask("GET", MAPS + "/map-3")[0], 200)
            eventually(all_have_an_answer, "no more have a place than may")
            self.assertEqual(patient.ask("GET", MAPS)[0], 200)
            waiting = select.poll()
            for one in crowd:
                waiting.register(one, select.POLLIN)
            # Those for whom there is no room lose their connection at once, long before a time
            # is over that would end it; the others when their time to say something is over.
            gone = set()

            def refused(enough):
                for entry, _ in waiting.poll(0):
                    gone.add(entry)
                    waiting.unregister(entry)
                return len(gone) >= enough
            eventually(lambda: refused(10_000 - CONNECTIONS), "those without room are refused")
            eventually(lambda: refused(10_000), "the others are ended")
        self.assertEqual(good.problems, [])
        good.report("10,000 connections")
        print(f"memory grew by {(self.memory() - self.before) >> 20} MiB", file=sys.stderr)
        for one in crowd:
            one.close()
        patient.connection.close()


class Process(unittest.TestCase):
    """What the system does to the process, not who speaks to it (A20)."""

    def test_a20_files_that_may_not_grow_do_not_end_it(self):
        with Host(Hostile.sluice) as host:
            with Wire(host) as wire:
                self.assertEqual(wire.ask("POST", MAPS, config_map("before"))[0], 201)
                # SIGXFSZ ends a process that says nothing about it.
                resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
                self.assertEqual(wire.ask("POST", MAPS, config_map("after"))[0], 503)
                self.assertEqual(wire.ask("GET", MAPS + "/before")[0], 200)
                self.assertEqual(wire.ask("GET", MAPS + "/after")[0], 404)
            self.assertIsNone(host.process.poll())

    def test_a20_the_program_is_marked_for_shadow_stacks(self):
        if not Hostile.hardened:
            self.skipTest("this build is not hardened")
        notes = subprocess.run(["readelf", "--notes", Hostile.sluice], stdout=subprocess.PIPE,
                               text=True, check=True).stdout
        self.assertIn("SHSTK", notes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--hardened", action="store_true")
    options, rest = parser.parse_known_args()
    Hostile.sluice = os.path.abspath(options.sluice)
    Hostile.hardened = options.hardened
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
