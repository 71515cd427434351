#!/usr/bin/env python3
"""Kueue's own performance runner against `sluice controller` on a real control plane, everything on
this machine: how long a load takes, and what the controller costs.

    cluster_bench.py --sluice build/release/bin/sluice --programs build/kubernetes \\
        --runner RUNNER --load …/configs/baseline/generator.yaml

The control plane is that of `./dev test kubernetes`; RUNNER is test/performance/scheduler/runner of
Kueue, built unchanged (bench/README.md says how). `--held N` measures instead how long N Jobs that
a stopped queue holds take from its resume until all are let go.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "kubernetes"))

import build  # noqa: E402
from client import eventually  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from controller import JOBS, Controller, samples_of  # noqa: E402
from objects import GROUP, Kueue, install  # noqa: E402

NAMESPACED = "/apis/batch/v1/namespaces/default/jobs"


class Cost:
    """What a process has used so far."""

    def __init__(self, pid):
        self.pid = pid

    def seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as text:
            fields = text.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as text:
            return next(int(line.split()[1]) >> 10 for line in text if line.startswith("VmHWM"))


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
    options = parser.parse_args()
    if not options.held and not (options.runner and options.load):
        parser.error("give --held N, or --runner and --load")
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
            else:
                play(options, cluster, cost)
            tell_requests(controller, cluster.api)
        finally:
            controller.stop()


if __name__ == "__main__":
    main()
