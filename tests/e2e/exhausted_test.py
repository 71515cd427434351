#!/usr/bin/env python3
"""A live host that runs out of what the system gives it: descriptors, memory. Who was there goes
on, or the host ends; what it acknowledged is there afterwards.

    exhausted_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import http.client
import os
import resource
import ssl
import sys
import unittest

from host import Host, eventually
from wire import Wire

MAPS = "/api/v1/namespaces/default/configmaps"
BROKEN = (OSError, ssl.SSLError, http.client.HTTPException)


def config_map(name, size=10):
    return {"metadata": {"name": name}, "data": {"key": "v" * size}}


class Exhausted(unittest.TestCase):
    sluice = ""

    def setUp(self):
        self.host = Host(self.sluice, extra="executor: { type: none }\n")
        self.addCleanup(self.host.__exit__)
        self.host.start()

    def test_without_descriptors_who_is_there_goes_on(self):
        with Wire(self.host) as there:
            pid = self.host.process.pid
            limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            self.assertEqual(there.ask("POST", MAPS, config_map("before"))[0], 201)
            most = len(os.listdir(f"/proc/{pid}/fd")) + 10
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, limit[1]))
            waiting = []
            for _ in range(40):  # beyond ten, those make room that have asked for nothing yet
                try:
                    waiting.append(Wire(self.host, timeout=10))
                except BROKEN:
                    pass
            eventually(lambda: "could not be accepted" in self.host.log(), "a line in the log")
            for i in range(50):
                self.assertEqual(there.ask("POST", MAPS, config_map(f"m-{i}"))[0], 201)
            for wire in waiting:
                wire.connection.close()
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
            with Wire(self.host) as fresh:
                self.assertEqual(len(fresh.ask("GET", MAPS)[2]["items"]), 51)
        self.assertEqual(self.host.stop(), 0)

    def test_without_memory_nothing_acknowledged_is_lost(self):
        pid = self.host.process.pid
        with open(f"/proc/{pid}/statm", encoding="ascii") as text:
            size = int(text.read().split()[0]) * resource.getpagesize()
        most = size + (96 << 20)
        resource.prlimit(pid, resource.RLIMIT_AS, (most, most))
        acknowledged, refused = [], 0
        try:
            with Wire(self.host) as wire:
                for i in range(400):  # 400 MB of text, several times that of memory
                    status, headers, _ = wire.ask("POST", MAPS, config_map(f"m-{i}", 1_000_000))
                    if status == 201:
                        acknowledged.append(f"m-{i}")
                    else:
                        refused += 1
                    if headers.get("Connection") == "close" or refused > 20:
                        break
        except BROKEN:
            refused += 1
        self.assertGreater(refused, 0, "there was memory for all of it")
        self.host.stop(9)
        self.host.start()
        with Wire(self.host) as wire:
            there = {item["metadata"]["name"] for item in wire.ask(
                "GET", MAPS + "?limit=500")[2]["items"]}
        self.assertEqual(set(acknowledged) - there, set())
        self.assertGreater(len(acknowledged), 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Exhausted.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
