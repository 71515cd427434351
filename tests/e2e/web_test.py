#!/usr/bin/env python3
"""The web page in a real browser: Debian's chromium, driven by puppeteer-core as
web/package-lock.json says. One host with data and one without; web/*.test.mjs look at them and
leave pictures in BUILD/web-pictures. An observer of the first host serves the page, too.

    web_test.py --sluice build/dev/bin/sluice --build build/dev [--test-name-pattern …]
"""
import argparse
import json
import os
import subprocess
import sys

from followers import Follower
from host import Host, eventually
from npm import browser_tests
from rest import Rest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "web")
TOKENS = {"admin": "the-token-of-the-operator", "ann": "the-token-of-user-ann"}
WAITING = 150  # in one queue: more than a page of a list, and than may be elements
NODES = """executor:
  type: local
  nodes:
  - name: stable
    labels: {capacity: on-demand}
    capacity: {cpu: "40", memory: 160Gi}
  - name: cheap
    labels: {capacity: spot}
    capacity: {cpu: "8", memory: 32Gi}
"""
NO_HISTORY = "history: { enabled: false }\n"
PLUGINS = ("{ load: [{ name: flavor-fungibility }, { name: concurrent-admission },"
           " { name: elastic-jobs }, { name: multi-cluster }] }")
WRITES = "echo 'epoch 1 <b>done</b>'; sleep 600"


def job(ns, name, queue, pods, priority=None):
    labels = {"kueue.x-k8s.io/queue-name": queue}
    if priority:
        labels["kueue.x-k8s.io/priority-class"] = priority
    container = {"name": "main", "image": "none", "command": ["sh", "-c", WRITES],
                 "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": ns, "labels": labels},
            "spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}}}


def elastic(of):
    of["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    of["spec"]["completions"] = 100  # no fewer than it may grow to
    return of


def waiting(i):
    container = {"name": "main", "image": "none",
                 "resources": {"requests": {"cpu": "5", "memory": "1Gi"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
            "metadata": {"name": f"render-{i:03}", "namespace": "bob"},
            "spec": {"queueName": "crowded", "priority": 0,
                     "podSets": [{"name": "main", "count": 3, "template": template}]}}


def create(host, *objects):
    host.kubectl("create", "-f", "-", stdin=json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def fill(host):
    host.kubectl("apply", "-f", os.path.join(HERE, "objects.yaml"))
    # Ann borrows everything that her cohort has; then those whose it is take some of it back.
    create(host, job("ann", "train-resnet", "main", 10), job("ann", "notebook", "main", 6),
           job("ann", "sweep", "main", 4))
    eventually(lambda: host.kubectl("get", "workloads", "-n", "ann").count("True") == 3,
               "ann's jobs start")
    # One after the other: who asks first decides who is evicted, and for whom.
    create(host, job("bob", "hotfix", "main", 6, "production"))
    eventually(lambda: "Preempted" in host.kubectl(
        "get", "workloads", "-n", "ann", "-o", "jsonpath={..conditions[*].type}"),
        "ann gives some of it back")
    create(host, job("bob", "tokenise", "main", 2),
           *(job("bob", f"evaluate-{i}", "main", 3) for i in range(4)),
           job("bob", "books", "audited", 2), job("bob", "explore", "racing", 2),
           elastic(job("bob", "crawl", "growing", 3)))
    eventually(lambda: "3/3" in host.kubectl("get", "job", "-n", "bob", "crawl", "-o",
                                             "jsonpath={.status.ready}/{.spec.parallelism}"),
               "a job runs that then grows")
    host.kubectl("scale", "--replicas=5", "-n", "bob", "job/crawl")
    create(host, *map(waiting, range(WAITING)))


def send_abroad(host, worker):
    """A queue's work is offered to a cluster that has not got its namespace, and to one that nobody
    can reach."""
    with open(worker.kubeconfig, encoding="utf-8") as text:
        kubeconfig = text.read()
    create(host, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
           {"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "east", "namespace": "kueue-system"},
            "stringData": {"kubeconfig": kubeconfig}})
    host.kubectl("apply", "-f", os.path.join(HERE, "clusters.yaml"))
    create(host, job("bob", "far", "abroad", 1))
    eventually(lambda: "cannot be copied" in host.kubectl(
        "get", "workloads", "-n", "bob", "-o", "jsonpath={..admissionChecks[*].message}"),
        "a cluster refuses it")


def make_host(sluice, extra="", plugins=None):
    host = Host(sluice, memory=True, extra=extra, plugins=plugins)
    tokens = os.path.join(host.folder, "tokens")
    with open(tokens, "w", encoding="utf-8") as out:
        out.write(f"{TOKENS['admin']},olga,1,system:masters\n{TOKENS['ann']},ann,2\n")
    with open(host.config, encoding="utf-8") as text:
        content = text.read()
    with open(host.config, "w", encoding="utf-8") as out:
        out.write(content.replace("server: { ", f"server: {{ tokenFile: {tokens}, "))
    return host


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build", required=True)
    options, rest = parser.parse_known_args()
    in_browser, folder = browser_tests(HERE, options.build, "THE WEB PAGE WAS NOT TESTED")
    sluice = os.path.abspath(options.sluice)
    with make_host(sluice, NODES, PLUGINS) as host, make_host(
            sluice, NO_HISTORY) as empty, Follower(host, "observe") as observer:
        fill(host)
        send_abroad(host, empty)
        followed = Rest(observer.kubeconfig)
        done = subprocess.run(
            ["node", "--test", "--test-concurrency=1", "--test-reporter=spec", *rest,
             "whatif.test.mjs", "curves.test.mjs", "reach.test.mjs", "heard.test.mjs",
             "far.test.mjs", "page.test.mjs"],
            cwd=folder, timeout=900, check=False, env=host.environment(
                **in_browser, WEB_HOST=host.address, WEB_EMPTY=empty.address,
                WEB_OBSERVER=followed.server, WEB_OBSERVER_TOKEN=followed.token,
                WEB_TOKENS=json.dumps(TOKENS), WEB_WAITING=str(WAITING)))
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
