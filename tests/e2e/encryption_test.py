#!/usr/bin/env python3
"""Secrets on the disk of a live host with keys: nothing that it writes shows them, a host without
the key does not start, and a new key takes over while clients go on.

    encryption_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import base64
import os
import signal
import subprocess
import sys
import unittest

from host import Host, eventually
from wire import Wire

SECRETS = "/api/v1/namespaces/default/secrets"
PODS = "/api/v1/namespaces/default/pods"
TEXT = "what-nobody-may-read"
KEEPS = "kubectl.kubernetes.io/last-applied-configuration"


def key(name, byte):
    return f"{name}:{base64.b64encode(byte * 32).decode()}\n"


OLD, NEW = key("old", b"a"), key("new", b"b")


class Encryption(unittest.TestCase):
    sluice = ""

    def setUp(self):
        self.host = Host(self.sluice)
        self.addCleanup(self.host.__exit__)
        self.data = os.path.join(self.host.folder, "data")
        self.keys = os.path.join(self.host.folder, "keys")
        self.host.write_config = lambda *_: None  # the file is this test's
        self.configure(OLD)
        self.host.start()

    def configure(self, keys):
        """Empty: without encryption."""
        with open(self.keys, "w", encoding="utf-8") as out:
            os.chmod(self.keys, 0o600)
            out.write(keys)
        encryption = f", encryption: {{ keyFile: {self.keys} }}" if keys else ""
        with open(self.host.config, "w", encoding="utf-8") as out:
            out.write("apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
                      "server: { address: '127.0.0.1:0' }\nmetrics: { address: '127.0.0.1:0' }\n"
                      f"store: {{ path: {self.data}{encryption} }}\nplugins: {{ load: [] }}\n")
        self.host.kubeconfig = os.path.join(self.data, "kubeconfig")

    def files_with(self, text):
        """Files of the host in which the text stands, in plain or as an object has it."""
        wanted = (text.encode(), base64.b64encode(text.encode()))
        found = []
        for folder, _, names in os.walk(self.data):
            for name in names:
                with open(os.path.join(folder, name), "rb") as content:
                    read = content.read()
                if any(each in read for each in wanted):
                    found.append(name)
        return found

    def secret(self, name="hidden"):
        text = base64.b64encode(TEXT.encode()).decode()
        return {"metadata": {"name": name, "annotations": {KEEPS: f'{{"data":{{"p":"{text}"}}}}'}},
                "data": {"p": text}}

    def check(self, *args):
        done = subprocess.run([self.sluice, "store", "check", self.data, *args],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, keys):
        """Why the host does not start with these keys."""
        self.configure(keys)
        done = subprocess.run([self.sluice, "serve", "--config", self.host.config],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_nothing_that_is_written_shows_it_not_even_of_a_pod_that_has_it(self):
        pod = {"metadata": {"name": "user"}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "any", "command": ["sh", "-c", "test \"$P\" = \"$0\"", "$(P)"],
             "env": [{"name": "P", "valueFrom": {
                 "secretKeyRef": {"name": "hidden", "key": "p"}}}]}]}}
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("POST", SECRETS, self.secret())[0], 201)
            self.assertEqual(wire.ask("POST", PODS, pod)[0], 201)
            eventually(lambda: wire.ask("GET", PODS + "/user")[2].get("status", {}).get("phase")
                       == "Succeeded", "the pod had the Secret")
        self.assertEqual(self.files_with(TEXT), [])
        self.assertNotIn(TEXT, self.host.log())
        self.assertIn('1 Secrets are encrypted with the key "old": not judged', self.check())
        self.assertIn('with the key "old"\n', self.check("--key-file", self.keys))

    def test_without_the_key_no_host_starts(self):
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("POST", SECRETS, self.secret())[0], 201)
        self.host.stop(signal.SIGKILL)
        which = 'store.encryption: Secret default/hidden is encrypted with the key "old", '
        self.assertIn(which + "and no file of keys is named", self.refused(""))
        self.assertIn(which + f"which {self.keys} does not hold", self.refused(NEW))
        self.assertIn(which + "and not with the one of that name", self.refused(key("old", b"x")))
        self.assertIn("holds no key", self.refused("# none\n"))
        self.configure(OLD)
        self.host.start()
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("GET", SECRETS + "/hidden")[2]["data"],
                             self.secret()["data"])

    def test_a_new_key_takes_over_in_a_host_that_runs(self):
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("POST", SECRETS, self.secret("first"))[0], 201)
            self.configure(NEW + OLD)
            self.host.process.send_signal(signal.SIGHUP)
            eventually(lambda: "the new configuration is in force" in self.host.log(), "a reload")
            self.assertEqual(wire.ask("POST", SECRETS, self.secret("second"))[0], 201)
            self.assertIn('2 Secrets are encrypted with the key "new"', self.check())
            # Keys that do not fit refuse the reload, and those in force stay.
            self.configure(OLD)
            self.host.process.send_signal(signal.SIGHUP)
            eventually(lambda: "the configuration was not reloaded: store.encryption" in
                       self.host.log(), "a refusal")
            self.assertEqual(wire.ask("POST", SECRETS, self.secret("third"))[0], 201)
            self.assertEqual(len(wire.ask("GET", SECRETS)[2]["items"]), 3)
        self.assertEqual(self.host.stop(), 0)
        self.configure(NEW)
        self.host.start()
        with Wire(self.host) as wire:
            self.assertEqual(len(wire.ask("GET", SECRETS)[2]["items"]), 3)
        self.assertEqual(self.files_with(TEXT), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Encryption.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
