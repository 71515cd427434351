#!/usr/bin/env python3
"""Kueue's own performance runner against `sluice controller` on a real control plane, everything on
this machine: how long a load takes, and what the controller costs.

    cluster_bench.py --sluice build/release/bin/sluice --programs build/kubernetes \\
        --runner RUNNER --load …/configs/baseline/generator.yaml

The control plane is that of `./dev test kubernetes`; RUNNER is test/performance/scheduler/runner of
Kueue, built unchanged (bench/README.md says how). `--held N` measures instead how long N Jobs that
a stopped queue holds take from its resume until all are let go; `--memory WORKLOADS PODS` what the
controller holds with so many, of which as many workloads as there are pods are admitted.
"""
import argparse
import collections
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "kubernetes"))

import build  # noqa: E402
from client import eventually  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from controller import JOBS, Controller, samples_of  # noqa: E402
from objects import GROUP, Kueue, install  # noqa: E402

NAMESPACED = "/apis/batch/v1/namespaces/default/jobs"
WORKLOADS = GROUP + "v1beta2/namespaces/default/workloads"
PODS = "/api/v1/namespaces/default/pods"
CREATORS = 4  # connections that create objects


class Cost:
    """What a process has used so far."""

    def __init__(self, pid):
        self.pid = pid

    def seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as text:
            fields = text.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def mib(self, which):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as text:
            return next(int(line.split()[1]) >> 10 for line in text if line.startswith(which))

    def peak_mib(self):
        return self.mib("VmHWM")

    def held_mib(self):
        return self.mib("VmRSS")


def play(options, cluster, cost):
    """Kueue's load, by its runner."""
    with tempfile.TemporaryDirectory() as folder:
        began, used = time.monotonic(), cost.seconds()
        done = subprocess.run(
            [options.runner, "--o", folder, "--generatorConfig", options.load, "--qps",
             str(options.qps), "--burst", str(2 * options.qps), "--timeout", "30m"],
            cwd=folder, capture_output=True, text=True, check=False,
            env=os.environ | {"KUBECONFIG": cluster.kubeconfig("admin"), "PROJECT_DIR": folder})
        print(f"runner: exit {done.returncode} after {time.monotonic() - began:.1f} s; "
              f"controller {cost.seconds() - used:.1f} s of processor time, "
              f"{cost.peak_mib()} MiB at most; " + ", ".join(
                  f"{each.name} {Cost(each.process.pid).seconds():.1f} s"
                  for each in (cluster.api_server, cluster.etcd)), flush=True)
        if done.returncode != 0:
            sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
        with open(os.path.join(folder, "summary.yaml"), encoding="utf-8") as text:
            print(text.read())


def hold(options, api):
    """Jobs that a stopped queue holds, from its resume until all are let go."""
    kueue = Kueue(api)
    kueue.flavor("default")
    kueue.cluster_queue("q", {"default": str(options.held)}, stopPolicy="Hold")
    kueue.local_queue("q", "q")
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    for number in range(options.held):
        api.post(NAMESPACED, {
            "metadata": {"name": f"held-{number}", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
            "spec": {"suspend": True, "template": {"spec": {
                "restartPolicy": "Never", "containers": [container]}}}})
    eventually(lambda: len(api.items(GROUP + "v1beta2/workloads")) == options.held,
               "each has its workload", 120)
    began = time.monotonic()
    api.merge(GROUP + "v1beta2/clusterqueues/q", {"spec": {"stopPolicy": "None"}})
    eventually(lambda: not any(each["spec"]["suspend"] for each in api.items(JOBS)),
               "all are let go", 120)
    print(f"{options.held} held Jobs: all let go {time.monotonic() - began:.1f} s after the "
          "resume (asked for by listing them)", flush=True)


def create(api, path, count, make):
    """`count` objects, make(i) each, over a few connections that are kept."""
    address = urllib.parse.urlsplit(api.server)
    headers = {"Authorization": f"Bearer {api.token}", "Content-Type": "application/json"}
    refused = []

    def send(first):
        connection = http.client.HTTPSConnection(address.hostname, address.port, context=api.tls)
        for number in range(first, count, CREATORS):
            connection.request("POST", path, json.dumps(make(number)), headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 201:
                refused.append(text)
                return

    threads = [threading.Thread(target=send, args=(first,)) for first in range(CREATORS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if refused:
        sys.exit(f"{path}: {refused[0].decode()}")


def remember(options, api, cost):
    """What the controller holds when so many workloads and pods are there."""
    workloads, pods = options.memory
    container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    kueue = Kueue(api)
    kueue.flavor("default")
    kueue.cluster_queue("q", {"default": str(pods)})
    kueue.local_queue("q", "q")
    api.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    print(f"empty: {cost.held_mib()} MiB", flush=True)
    create(api, PODS, pods, lambda number: {
        "metadata": {"name": f"pod-{number}"}, "spec": spec | {"nodeName": "node"}})
    print(f"{pods} pods: {cost.held_mib()} MiB", flush=True)
    create(api, WORKLOADS, workloads, lambda number: {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": f"workload-{number}"},
        "spec": {"queueName": "q", "podSets": [
            {"name": "main", "count": 1, "template": {"spec": spec}}]}})

    def all_are_counted():
        status = api.get(GROUP + "v1beta2/clusterqueues/q")["status"]
        return (status["admittedWorkloads"], status["pendingWorkloads"]) == (
            pods, workloads - pods)
    eventually(all_are_counted, "all are queued or admitted", 600)
    print(f"{workloads} workloads, {pods} of them admitted, and {pods} pods: "
          f"{cost.held_mib()} MiB, {cost.peak_mib()} MiB at most", flush=True)


def labels_of(sample):
    return dict(re.findall(r'(\w+)="([^"]*)"', sample))


def tell_requests(controller, api):
    """What the controller wrote, by kind; and what everybody did."""
    for name in ("stored", "refused", "unsure"):
        number = controller.metric("sluice_cluster_requests_total"
                                   f'{{replica_role="leader",result="{name}"')
        print(f"requests {name}: {number:.0f}")
    for sample, number in sorted(controller.metrics("sluice_cluster_writes_total").items()):
        labels = labels_of(sample)
        print(f"    {labels['kind']} {labels['write']}: {number:.0f}")
    dropped = controller.metric("sluice_cluster_events_dropped_total")
    print(f"events dropped: {dropped:.0f}")
    everybody = collections.Counter()
    page = api.send("GET", "/metrics")[1]
    for sample, number in samples_of(page, "apiserver_request_total{").items():
        labels = labels_of(sample)
        if labels["verb"] in ("POST", "PUT", "PATCH", "APPLY", "DELETE", "LIST"):
            what = "/".join(filter(None, (labels["resource"], labels["subresource"])))
            everybody[f"{labels['verb']} {what} {labels['code']}"] += number
    print("the API server answered:")
    for what, number in everybody.most_common(12):
        print(f"    {what}: {number:.0f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--runner")
    parser.add_argument("--load")
    parser.add_argument("--qps", type=int, default=1000)
    parser.add_argument("--held", type=int, default=0)
    parser.add_argument("--memory", type=int, nargs=2, metavar=("WORKLOADS", "PODS"))
    options = parser.parse_args()
    if not (options.held or options.memory or (options.runner and options.load)):
        parser.error("give --held N, --memory WORKLOADS PODS, or --runner and --load")
    options.runner = options.runner and os.path.abspath(options.runner)
    options.load = options.load and os.path.abspath(options.load)
    # The log of requests is not part of what is measured; Jobs' pods are nobody's here.
    with ControlPlane(build.find(options.programs, "control-plane"), controllers=False,
                      api_arguments=["--audit-log-mode=batch"]) as cluster:
        cluster.api.post("/api/v1/namespaces", {"metadata": {"name": "sluice-system"}})
        install(cluster, build.find(options.programs, "crds"))
        controller = Controller(os.path.abspath(options.sluice), cluster, "admin", "--plugins",
                                "none")
        try:
            controller.start()
            cost = Cost(controller.process.pid)
            if options.held:
                hold(options, cluster.api)
            elif options.memory:
                remember(options, cluster.api, cost)
            else:
                play(options, cluster, cost)
            tell_requests(controller, cluster.api)
        finally:
            controller.stop()


if __name__ == "__main__":
    main()
