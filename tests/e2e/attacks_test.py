#!/usr/bin/env python3
"""One user attacks with requests that once cost far more than their size; another one writes.

    attacks_test.py --sluice build/dev/bin/sluice            every write of the other one succeeds
    attacks_test.py --sluice build/release/bin/sluice --bench   how long they take: p50, p99, worst
                                            (with parts of names: of these attacks alone)

The test judges no time: the writes of the other user go on and succeed, the host is never refused
memory (its peak stays under 512 MB), and each request of the attack gets an answer.
"""
import argparse
import http.client
import json
import socket
import sys
import threading
import time
import unittest

from bystander import Bystander
from host import Host, eventually
from wire import Wire, context

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues"
JSON, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
ATTACKER = {"Impersonate-User": "mallory"}
MOST_MEMORY = 512 << 20
THREADS = 4


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def pod_spec(**more):
    return {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]} | more


def tolerations(count):
    return [{"key": f"k{number}", "operator": "Exists"} for number in range(count)]


class Attack:
    """name, what stands there before, and a request that is made again and again."""

    def __init__(self, name, request, before=()):
        self.name, self.request, self.before = name, request, before


def keys(count, value="v"):
    return {f"key{number}": value for number in range(count)}


def configmap(name, **more):
    return ("POST", MAPS, {"metadata": {"name": name}} | more, "application/json")


def circle(wire):
    """Objects that own each other, deleted with those they own first."""
    names = [f"circle-{number}" for number in range(3)]
    uids = [wire.ask("POST", MAPS, {"metadata": {"name": name}}, headers=ATTACKER)[2]["metadata"]
            ["uid"] for name in names]
    for number, name in enumerate(names):
        owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": names[other],
                   "uid": uids[other]} for other in (number, (number + 1) % 3)]
        wire.ask("PATCH", f"{MAPS}/{name}", {"metadata": {"ownerReferences": owners}}, MERGE,
                 ATTACKER)
    return wire.ask("DELETE", f"{MAPS}/{names[0]}?propagationPolicy=Foreground",
                    headers=ATTACKER)[0]


def diamonds(wire):
    """24 levels of two, each owned by both above: 2^24 ways, 94 references."""
    above, first = [], None
    for level in range(24):
        made = []
        for side in "ab":
            owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
                      for name, uid in above]
            name = f"level-{level}-{side}"
            answer = wire.ask("POST", MAPS, {"metadata": {"name": name, "ownerReferences": owners}},
                              headers=ATTACKER)[2]
            made.append((name, answer["metadata"].get("uid", "none")))
            first = first or name
        above = made
    for side in "ab":
        wire.ask("DELETE", f"{MAPS}/level-0-{side}?propagationPolicy=Foreground", headers=ATTACKER)
    return 200


def plain(method, path, body, kind):
    text = compact(body)
    return lambda wire: wire.ask(method, path, text, kind, ATTACKER)[0]


def raw(framing):
    """A body in chunks whose framing never ends."""
    def run(wire):
        host, port = wire.connection.host, wire.connection.port
        with context(wire.kubeconfig).wrap_socket(
                socket.create_connection((host, port), timeout=180), server_hostname=host) as tls:
            tls.sendall((f"POST {MAPS} HTTP/1.1\r\nHost: a\r\n"
                         f"Authorization: Bearer {wire.token}\r\n"
                         "Impersonate-User: mallory\r\nContent-Type: application/json\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n").encode())
            try:
                for _ in range(400):
                    tls.sendall(framing * (1 + (64 << 10) // len(framing)))
            except OSError:
                pass  # refused, and closed
            try:
                return int((tls.recv(4096) or b"HTTP/1.1 413").split()[1])
            except OSError:
                return 413
    return run


def attacks():
    n = 20_000
    text = "x" * 2_500_000
    copies = [{"op": "add", "path": "/data/a", "value": text}] + [
        {"op": "copy", "from": "/data/a", "path": f"/data/c{number}"} for number in range(2000)]
    moves = [{"op": "move", "from": "/data" if number % 2 == 0 else "/other",
              "path": "/other" if number % 2 == 0 else "/data"} for number in range(9_999)]
    environment = [{"name": f"e{number}", "value": "v"} for number in range(8_000)]
    big = {"metadata": {"name": "big"}, "data": keys(n)}
    many = {"metadata": {"name": "many"}, "spec": pod_spec(tolerations=tolerations(n))}
    same = [{"name": "c", "env": [{"name": "e0", "value": "w"}]} for _ in range(n)]
    env_job = {"metadata": {"name": "env"}, "spec": {"suspend": True, "template": {"spec": pod_spec(
        containers=[{"name": "c", "image": "i", "env": environment}])}}}
    yield Attack("A4 copies of a text", plain("PATCH", f"{MAPS}/small?dryRun=All", copies, JSON),
                 [configmap("small", data={"a": "b"})])
    yield Attack("A5 a large object", plain("POST", MAPS, {
        "metadata": {"name": "large", "annotations": {"a": text}}}, "application/json"))
    yield Attack("A6 a circle of owners", circle)
    yield Attack("A6 diamonds of owners", diamonds)
    yield Attack("A7 retained keys", plain("PATCH", f"{MAPS}/big?dryRun=All", {
        "data": {"$retainKeys": list(keys(n))}}, STRATEGIC), [("POST", MAPS, big, "")])
    yield Attack("A7 unknown fields", plain("POST", QUEUES + "?dryRun=All", {
        "metadata": {"name": "q"}, "spec": {"clusterQueue": "c"} | keys(150_000, 1)},
        "application/json"))
    yield Attack("A7 node selectors", plain("POST", JOBS + "?dryRun=All", {
        "metadata": {"name": "j"}, "spec": {"template": {"spec": pod_spec(
            nodeSelector=keys(80_000))}}}, "application/json"))
    yield Attack("A7 node selectors, kept", kept)
    yield Attack("A7 one operation, many tolerations", plain("PATCH", f"{PODS}/many?dryRun=All", [
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}], JSON),
        [("POST", PODS, many, "")])
    yield Attack("A7 moves of a list", plain("PATCH", f"{MAPS}/big?dryRun=All", moves, JSON),
                 [("POST", MAPS, big, "")])
    yield Attack("A7 one container, many times", plain("PATCH", f"{JOBS}/env?dryRun=All", {
        "spec": {"template": {"spec": {"containers": same}}}}, STRATEGIC),
        [("POST", JOBS, env_job, "")])
    yield Attack("A7 apply of an environment", plain(
        "PATCH", f"{JOBS}/applied?fieldManager=m&force=true&dryRun=All",
        {"apiVersion": "batch/v1", "kind": "Job"} | env_job | {"metadata": {"name": "applied"}},
        APPLY))
    yield Attack("A7 managers of the same keys", managers)
    yield Attack("A7 many mistakes", plain("POST", PODS, {
        "metadata": {"name": "p"}, "spec": pod_spec(tolerations=[{}] * 200_000)},
        "application/json"))
    yield Attack("A7 many empty values", plain("POST", MAPS, {
        "metadata": {"name": "p"}, "data": [[]] * 900_000}, "application/json"))
    yield Attack("A8 an extension of a chunk", raw(b"1;" + b"a" * 60_000))
    yield Attack("A8 extensions of chunks", raw(b"1;" + b"a" * 1_000 + b"\r\nx\r\n"))


COUNT = [0]


def kept(wire):
    """A Job of its own each time, and the pods that are made of it."""
    COUNT[0] += 1
    return wire.ask("POST", JOBS, compact({"metadata": {"generateName": "kept-"}, "spec": {
        "template": {"spec": pod_spec(nodeSelector=keys(60_000, str(COUNT[0])))}}}),
        "application/json", ATTACKER)[0]


def managers(wire):
    COUNT[0] += 1
    return wire.ask("PATCH", f"{MAPS}/owned?fieldManager=m{COUNT[0] % 50}&force=true", compact({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned"},
        "data": keys(10_000, str(COUNT[0]))}), APPLY, ATTACKER)[0]


def write_of_another(wire, number):
    """Another user's write, which is kept."""
    name = f"victim-{number % 10}"
    return wire.ask("PATCH", f"{MAPS}/{name}?fieldManager=victim&force=true",
                    compact({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                             "data": {"n": str(number)}}), APPLY)


class Attacking:
    """So many threads that attack, until told to stop or each has made so many requests."""

    def __init__(self, host, attack, each=None):
        self.host, self.attack, self.each = host, attack, each
        self.stop = threading.Event()
        self.statuses, self.problems = {}, []
        self.threads = [threading.Thread(target=self.run) for _ in range(THREADS)]

    def run(self):
        made = 0
        try:
            with Wire(self.host, timeout=180) as wire:
                wire.kubeconfig = self.host.kubeconfig
                while not self.stop.is_set() and (self.each is None or made < self.each):
                    made += 1
                    try:
                        status = self.attack.request(wire)
                    except (http.client.HTTPException, OSError, KeyError):
                        status = 0  # its connection was closed, or others undid what it made
                        wire.connection.close()
                        wire.connection.connect()
                    self.statuses[status] = self.statuses.get(status, 0) + 1
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(repr(error))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join()


def prepare(host, attack):
    with Wire(host) as wire:
        for method, path, body, kind in attack.before:
            status, _, answer = wire.ask(method, path, body, kind or "application/json")
            if status not in (201, 409):
                raise AssertionError(f"{attack.name}: {status} {str(answer)[:500]}")


def admit_attacker(host):
    """Mallory may write what is his to write."""
    with Wire(host) as wire:
        status, _, answer = wire.ask(
            "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            {"metadata": {"name": "mallory"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                         "name": "cluster-admin"},
             "subjects": [{"kind": "User", "name": "mallory",
                           "apiGroup": "rbac.authorization.k8s.io"}]})
        if status != 201:
            raise AssertionError(answer)

    def known():
        with Wire(host) as wire:
            return wire.ask("GET", MAPS, headers=ATTACKER)[0] == 200
    eventually(known, "the rights of the attacker")


def peak(host):
    """Bytes that the process ever had in memory."""
    with open(f"/proc/{host.process.pid}/status", encoding="utf-8") as text:
        for line in text:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


class Attacks(unittest.TestCase):
    def test_others_go_on(self):
        with Host(OPTIONS.sluice) as host:
            admit_attacker(host)
            for attack in attacks():
                with self.subTest(attack.name):
                    prepare(host, attack)
                    with Bystander(host, write_of_another) as victim:
                        eventually(lambda: len(victim.times) > 3, "writes before the attack")
                        attacking = Attacking(host, attack, each=2)
                        with attacking:
                            begun = len(victim.times)
                            attacking.join()
                            eventually(lambda: len(victim.times) >= begun + 20,
                                       "twenty writes of the other user")
                    self.assertEqual(victim.problems, [])
                    self.assertEqual(attacking.problems, [])
                    allowed = {0, 200, 201, 400, 404, 409, 413, 422, 429, 431, 503, 504}
                    self.assertLessEqual(set(attacking.statuses), allowed)
                    self.assertLess(peak(host), MOST_MEMORY)
            self.assertEqual(host.stop(), 0)


def bench():
    print(f"{'attack':38} {'requests':>8} {'answers':24} {'writes':>7} {'p50':>8} {'p99':>8} "
          f"{'worst':>8} {'peak':>7}")
    for attack in [Attack("none", lambda wire: time.sleep(0.1) or 200)] + list(attacks()):
        if OPTIONS.tests and not any(part in attack.name for part in OPTIONS.tests):
            continue
        with Host(OPTIONS.sluice) as host:
            admit_attacker(host)
            prepare(host, attack)
            with Attacking(host, attack) as attacking:
                time.sleep(1)
                with Bystander(host, write_of_another) as victim:
                    time.sleep(OPTIONS.seconds)
            times = sorted(victim.times)
            at = lambda share: f"{times[int(share * (len(times) - 1))] * 1e3:.1f}"
            answers = " ".join(f"{code}:{count}" for code, count in
                               sorted(attacking.statuses.items()))
            print(f"{attack.name:38} {sum(attacking.statuses.values()):8} {answers:24} "
                  f"{len(times):7} {at(.5):>8} {at(.99):>8} {at(1):>8} {peak(host) >> 20:5} MB"
                  + ("" if not victim.problems else f" {victim.problems[:2]}"), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("tests", nargs="*")
    OPTIONS = parser.parse_args()
    if OPTIONS.bench:
        bench()
    else:
        unittest.main(argv=[sys.argv[0], *OPTIONS.tests])
