#!/usr/bin/env python3
"""SIGHUP: the configuration of a running host changes, and nobody loses a connection, an object or
an acknowledged write.

    reload_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import unittest

from host import Host, eventually
from wire import Watch, Wire

MAPS = "/api/v1/namespaces/default/configmaps"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
PLUGIN = "plugins: { load: [ { name: flavor-fungibility } ] }\n"
NONE = "plugins: { load: [] }\n"
DONE = "the new configuration is in force"
REFUSED = "the configuration was not reloaded"


def config_map(name, value="v"):
    return {"metadata": {"name": name}, "data": {"key": value}}


def queue(name):
    return {"metadata": {"name": name}, "spec": {
        "namespaceSelector": {},
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
            {"name": "any", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]}}


class Reloading(unittest.TestCase):
    sluice = ""
    memory = False

    def setUp(self):
        self.host = Host(self.sluice, memory=self.memory)
        self.addCleanup(self.host.__exit__)
        self.host.write_config = lambda *_: None  # the file is this test's
        self.configure(NONE)
        self.host.start()

    def configure(self, plugins=NONE, server="", rest=""):
        """Writes the configuration. `server`: more keys of that section."""
        store = "memory" if self.memory else os.path.join(self.host.folder, "data")
        with open(self.host.config, "w", encoding="utf-8") as out:
            out.write("apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
                      f"server:\n  address: '127.0.0.1:0'\n"
                      f"  kubeconfig: {self.host.kubeconfig}\n{server}"
                      f"metrics: {{ address: '127.0.0.1:0' }}\nstore: {{ path: {store} }}\n"
                      + plugins + rest)

    def ended(self):
        log = self.host.log()
        return log.count(DONE), log.count(REFUSED)

    def signal(self):
        """Asks for a reload and waits for its end: whether it was done."""
        done, refused = self.ended()
        self.host.process.send_signal(signal.SIGHUP)
        eventually(lambda: self.ended() != (done, refused) or self.host.process.poll() is not None,
                   "the end of the reload")
        self.assertIsNone(self.host.process.poll(), self.host.log())
        return self.ended()[0] > done

    def reload(self, *args, **more):
        self.configure(*args, **more)
        self.assertTrue(self.signal(), self.host.log())

    def refused(self, *args, **more):
        """The reason in the log."""
        self.configure(*args, **more)
        self.assertFalse(self.signal(), self.host.log())
        return [line for line in self.host.log().splitlines() if REFUSED in line][-1]

    def fungibility(self, wire, name):
        status, _, found = wire.ask("GET", f"{QUEUES}/{name}")
        self.assertEqual(status, 200, found)
        return found["spec"].get("flavorFungibility", {}).get("whenCanBorrow")


class Disk(Reloading):
    def test_plugins_go_and_come_back(self):
        self.reload(PLUGIN)
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("POST", QUEUES, queue("kept"))[0], 201)
            self.assertEqual(self.fungibility(wire, "kept"), "TryNextFlavor")
            self.reload(NONE)
            self.assertIsNone(self.fungibility(wire, "kept"))
            strict = wire.ask("POST", QUEUES + "?fieldValidation=Strict", queue("strict"))
            self.assertEqual(strict[0], 400, strict)
            self.assertIn('unknown field "spec.flavorFungibility"', strict[2]["message"])
            # A write of others in the meantime does not lose what is hidden.
            self.assertEqual(wire.ask("PATCH", f"{QUEUES}/kept", {"spec": {"stopPolicy": "Hold"}},
                                      "application/merge-patch+json")[0], 200)
            self.reload(PLUGIN)
            self.assertEqual(self.fungibility(wire, "kept"), "TryNextFlavor")
            self.assertEqual(wire.ask("GET", f"{QUEUES}/kept")[2]["spec"]["stopPolicy"], "Hold")

    def test_all_keys_that_need_a_restart_are_told_at_once(self):
        self.configure(server="  insecureHttp: '127.0.0.1:0'\n")
        with open(self.host.config, encoding="utf-8") as file:
            text = file.read()
        with open(self.host.config, "w", encoding="utf-8") as file:
            file.write(text.replace("store: {", "store: { limits: { events: 7 },"))
        self.assertFalse(self.signal())
        self.assertIn('store.limits.events ("10000" to "7"), server.insecureHttp ("" to '
                      '"127.0.0.1:0") cannot change on a reload; restart the host',
                      self.host.log())

    def test_a_pipe_does_not_hold_it_up(self):
        os.remove(self.host.config)
        os.mkfifo(self.host.config)
        self.assertFalse(self.signal())
        self.assertIn("is no file; a reload reads the configuration from a file", self.host.log())
        os.remove(self.host.config)
        self.reload(PLUGIN)

    def test_connections_and_watches_live_on(self):
        with Wire(self.host) as idle, Wire(self.host) as watching:
            idle.ask("POST", MAPS, config_map("before"))
            watch = Watch(watching, MAPS + "?allowWatchBookmarks=true")
            self.assertEqual(watch.next()["object"]["metadata"]["name"], "before")
            # Something that is none of this watch's business makes its place an old one.
            idle.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
            idle.ask("POST", "/api/v1/namespaces/other/configmaps", config_map("other"))
            self.reload(PLUGIN)
            place = watch.next()
            self.assertEqual(place["type"], "BOOKMARK")
            self.assertIsNone(watch.next())
            self.assertEqual(idle.ask("POST", MAPS, config_map("after"))[0], 201)
            # On the same connection, from where it ended: nothing is missing, nothing comes twice.
            version = place["object"]["metadata"]["resourceVersion"]
            watch = Watch(watching, f"{MAPS}?resourceVersion={version}")
            event = watch.next()
            self.assertEqual((event["type"], event["object"]["metadata"]["name"]),
                             ("ADDED", "after"))

    def test_no_acknowledged_write_is_lost(self):
        acknowledged, problems, stop = [], [], threading.Event()

        def write(writer):
            with Wire(self.host) as wire:
                number = 0
                while not stop.is_set():
                    name = f"w{writer}-{number}"
                    status, headers, body = wire.ask("POST", MAPS, config_map(name))
                    if status == 201:
                        acknowledged.append(name)
                        number += 1
                    elif status not in (429, 503) or "Retry-After" not in headers:
                        problems.append((name, status, body))
                        return

        def guarded(writer):
            try:
                write(writer)
            except Exception as error:  # pylint: disable=broad-except
                problems.append((writer, repr(error)))

        threads = [threading.Thread(target=guarded, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for turn in range(4):
            count = len(acknowledged)
            self.reload(PLUGIN if turn % 2 == 0 else NONE)
            eventually(lambda count=count: len(acknowledged) > count + 20 or problems,
                       "writes after the reload")
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        with Wire(self.host) as wire:
            found = {item["metadata"]["name"] for item in wire.ask("GET", MAPS)[2]["items"]}
        self.assertEqual(found, set(acknowledged))

    def test_limits_change_for_open_connections(self):
        with Wire(self.host) as wire:
            large = config_map("large", "x" * 5000)
            self.assertEqual(wire.ask("POST", MAPS + "?dryRun=All", large)[0], 201)
            self.reload(server="  limits: { bodyBytes: 4096, watchers: 1, depth: 10 }\n")
            deep = config_map("deep")
            deep["metadata"]["labels"] = eval("[" * 20 + "]" * 20)  # pylint: disable=eval-used
            self.assertEqual(wire.ask("POST", MAPS, deep)[0], 400)
            with Wire(self.host) as first:
                Watch(first, MAPS)
                self.assertEqual(wire.ask("GET", MAPS + "?watch=true")[0], 429)
            self.assertEqual(wire.ask("POST", MAPS + "?dryRun=All", large)[0], 413)
            self.reload(server="  limits: { bodyBytes: 8388608 }\n")
        with Wire(self.host) as wire:
            huge = config_map("huge", "x" * (4 << 20))
            # It is read now; how large an object may be is another matter.
            status, _, body = wire.ask("POST", MAPS + "?dryRun=All", huge)
            self.assertEqual(status, 413)
            self.assertIn('the ConfigMap "huge" would be larger than the limit', str(body))

    def test_a_bad_configuration_changes_nothing(self):
        junk = os.path.join(self.host.folder, "plugins")
        os.mkdir(junk)
        with open(os.path.join(junk, "junk.so"), "w", encoding="utf-8") as out:
            out.write("this is no library")
        tokens = os.path.join(self.host.folder, "tokens")
        with open(tokens, "w", encoding="utf-8") as out:
            out.write("only-a-token\n")
        cases = (
            ({"rest": "surprise: 1\n"}, "surprise: unknown key"),
            ({"rest": "scheduling: [\n"}, "sluice.yaml"),
            ({"rest": "store: { path: /elsewhere }\n"}, "store"),
            ({"server": "  insecureHttp: '127.0.0.1:0'\n"},
             'server.insecureHttp ("" to "127.0.0.1:0") cannot change on a reload'),
            ({"server": f"  tokenFile: {tokens}\n"}, "tokens:1"),
            ({"server": "  tokenFile: /does/not/exist\n"}, "/does/not/exist"),
            ({"server": "  tls: { certFile: /no.crt, keyFile: /no.key }\n"}, "/no.crt"),
            ({"plugins": "plugins: { load: [ { name: no-such-plugin } ] }\n"}, "no-such-plugin"),
            ({"plugins": f"plugins: {{ directory: {junk}, load: [ {{ name: junk }} ] }}\n"},
             "junk"),
            ({"plugins": "plugins: { load: [ { name: flavor-fungibility, sha256: "
              + "0" * 64 + " } ] }\n"}, "sha256"),
        )
        with Wire(self.host) as wire:
            wire.ask("POST", MAPS, config_map("kept"))
            watching = Wire(self.host)
            watch = Watch(watching, MAPS)
            watch.next()
            for change, reason in cases:
                line = self.refused(**change)
                self.assertIn(reason, line)
                self.assertIn(REFUSED, line)
                self.assertEqual(wire.ask("GET", f"{MAPS}/kept")[0], 200)
            # The watch did not even end.
            wire.ask("POST", MAPS, config_map("more"))
            self.assertEqual(watch.next()["object"]["metadata"]["name"], "more")
            watching.connection.close()
        os.remove(self.host.config)
        self.assertFalse(self.signal())
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("GET", f"{MAPS}/kept")[0], 200)

    def test_what_does_not_start_gives_way_to_what_did(self):
        # A node that the store refuses is found out only when the new one starts.
        line = self.refused(rest="executor: { nodes: [ { name: 'Not_A_Name', "
                                 "capacity: { cpu: 1 } } ] }\n")
        self.assertIn("Not_A_Name", line)
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("POST", MAPS, config_map("still"))[0], 201)

    def test_tokens_are_read_again(self):
        tokens = os.path.join(self.host.folder, "tokens")

        def write(text):
            with open(tokens, "w", encoding="utf-8") as out:
                out.write(text)

        def status(token):
            with Wire(self.host, token=token) as wire:
                return wire.ask("GET", "/api")[0]

        write("the-first-token-1,ann,1,system:masters\n")
        self.reload(server=f"  tokenFile: {tokens}\n")
        with Wire(self.host, token="the-first-token-1") as ann:
            self.assertEqual(ann.ask("GET", MAPS)[0], 200)
            write("the-second-token-2,bob,2\n")
            self.assertEqual(ann.ask("GET", MAPS)[0], 200)
            self.reload(server=f"  tokenFile: {tokens}\n")
            self.assertEqual(ann.ask("GET", MAPS)[0], 401)  # on a connection that is open
        self.assertEqual((status("the-first-token-1"), status("the-second-token-2")), (401, 200))

    def certificate(self, name):
        path = os.path.join(self.host.folder, "tls")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                        path + ".key", "-out", path + ".crt"], check=True, capture_output=True)
        return path

    def presented(self):
        port = int(self.host.address.rsplit(":", 1)[1])
        return ssl.get_server_certificate(("127.0.0.1", port))

    def test_certificates_are_read_again(self):
        if shutil.which("openssl") is None:
            self.skipTest("there is no openssl here")
        own = self.presented()
        with Wire(self.host) as wire:
            path = self.certificate("one")
            server = f"  tls: {{ certFile: {path}.crt, keyFile: {path}.key }}\n"
            self.reload(server=server)
            first = self.presented()
            self.certificate("two")
            self.assertEqual(self.presented(), first)
            self.reload(server=server)
            second = self.presented()
            with open(path + ".crt", encoding="utf-8") as text:
                self.assertEqual(second.strip(), text.read().strip())
            self.assertEqual(wire.ask("GET", MAPS)[0], 200)  # since before all of it
            self.assertEqual(len({own, first, second}), 3)
            with open(path + ".key", "w", encoding="utf-8") as out:
                out.write("no key")
            self.refused(server=server)
            self.assertEqual(self.presented(), second)


class Running:
    def job(self, gate):
        script = f"echo begin; while [ ! -e {gate} ]; do sleep 0.05; done; echo end"
        return {"metadata": {"name": "long", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
                "spec": {"suspend": True, "template": {"spec": {
                    "restartPolicy": "Never", "containers": [
                        {"name": "c", "image": "any", "command": ["sh", "-c", script],
                         "resources": {"requests": {"cpu": "1"}}}]}}}}

    def test_a_job_runs_on(self):
        jobs = "/apis/batch/v1/namespaces/default/jobs"
        gate = os.path.join(self.host.folder, "gate")
        with Wire(self.host) as wire:
            flavors = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
            queues = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues"
            plain = queue("cq")
            del plain["spec"]["flavorFungibility"]
            for path, body in ((flavors, {"metadata": {"name": "any"}}), (QUEUES, plain),
                               (queues, {"metadata": {"name": "q"},
                                         "spec": {"clusterQueue": "cq"}}),
                               (jobs, self.job(gate))):
                made = wire.ask("POST", path, body)
                self.assertEqual(made[0], 201, made)

            def pods():
                return [pod for pod in wire.ask("GET", "/api/v1/namespaces/default/pods")[2]
                        ["items"] if pod["status"].get("phase") == "Running"]

            before = eventually(pods, "the pod runs")[0]["metadata"]
            self.reload(PLUGIN)
            self.reload(NONE)
            with open(gate, "w", encoding="utf-8"):
                pass
            eventually(lambda: wire.ask("GET", jobs + "/long")[2]["status"].get("succeeded") == 1,
                       "the job succeeds")
            after = wire.ask("GET", "/api/v1/namespaces/default/pods")[2]["items"]
            self.assertEqual([pod["metadata"]["uid"] for pod in after], [before["uid"]])
            log = wire.ask("GET", f"/api/v1/namespaces/default/pods/{before['name']}/log")[2]
            self.assertEqual(log, b"begin\nend\n")


class DiskRunning(Running, Reloading):
    pass


class MemoryRunning(Running, Reloading):
    memory = True


class Memory(Reloading):
    memory = True

    def test_objects_are_carried_over(self):
        self.reload(PLUGIN)
        with Wire(self.host) as wire:
            self.assertEqual(wire.ask("POST", QUEUES, queue("kept"))[0], 201)
            self.assertEqual(wire.ask("POST", MAPS, config_map("gone"))[0], 201)
            self.assertEqual(wire.ask("POST", MAPS, config_map("kept"))[0], 201)
            self.assertEqual(wire.ask("DELETE", f"{MAPS}/gone")[0], 200)
            before = wire.ask("GET", f"{MAPS}/kept")[2]
            for plugins, expected in ((NONE, None), (NONE, None), (PLUGIN, "TryNextFlavor")):
                self.reload(plugins)
                self.assertEqual(wire.ask("GET", f"{MAPS}/kept")[2], before)
                self.assertEqual(wire.ask("GET", f"{MAPS}/gone")[0], 404)
                self.assertEqual(self.fungibility(wire, "kept"), expected)
            self.assertEqual(wire.ask("POST", MAPS, config_map("later"))[0], 201)
            later = wire.ask("GET", f"{MAPS}/later")[2]
            self.assertGreater(int(later["metadata"]["resourceVersion"]),
                               int(before["metadata"]["resourceVersion"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    Reloading.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
