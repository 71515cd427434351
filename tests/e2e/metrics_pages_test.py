#!/usr/bin/env python3
"""Names of metrics in the pages are those of a live host, and the other way round (C11).

    metrics_pages_test.py --sluice build/dev/bin/sluice --docs docs --plugins plugins
"""
import argparse
import glob
import os
import re
import sys
import unittest

from host import Host, eventually
from rest import Rest

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
NAME = re.compile(r"`((?:kueue|sluice|process)_[a-z0-9_]*[a-z0-9])(?:\{[^`]*\})?`")
SUFFIX = re.compile(r"`…(_[a-z0-9_]+)`")
OTHERS = {"process_bench", "sluice_plugin"}  # a program, a package of Python

# Seen only after something that does not happen in a few seconds to one job: a failure, a client
# that is too slow, a limit, another kind of queue.
RARE = {
    "kueue_pods_ready_to_evicted_time_seconds", "kueue_preempted_workloads_total",
    "kueue_cluster_queue_weighted_share", "kueue_cohort_weighted_share",
    "kueue_admission_checks_wait_time_seconds", "kueue_unadmitted_workloads",
    "kueue_local_queue_unadmitted_workloads", "kueue_cluster_queue_resource_pending",
    "kueue_admission_cycle_preemption_skips",
    "sluice_api_refused_total", "sluice_connections_refused_total",
    "sluice_connections_timed_out_total", "sluice_streams_given_up_total",
    # Of a plugin that reaches other places: plugins/multi-cluster/tests/live_test.py.
    "sluice_remote_connected",
    # Of a controller: tests/kubernetes/controller_test.py has one.
    "sluice_leader", "sluice_cluster_requests_total", "sluice_cluster_decided_anew_total",
    "sluice_cluster_edits_waiting", "sluice_cluster_writes_total",
    "sluice_cluster_events_dropped_total", "sluice_cluster_decisions_waiting",
}

OBJECTS = (
    (f"{KUEUE}/resourceflavors", {"metadata": {"name": "f"}}),
    (f"{KUEUE}/cohorts", {"metadata": {"name": "all"}}),
    (f"{KUEUE}/clusterqueues", {"metadata": {"name": "cq"}, "spec": {
        "cohortName": "all", "namespaceSelector": {}, "resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{
                "name": "cpu", "nominalQuota": 4, "borrowingLimit": 1, "lendingLimit": 1}]}]}]}}),
    (f"{KUEUE}/namespaces/default/localqueues",
     {"metadata": {"name": "main"}, "spec": {"clusterQueue": "cq"}}),
)

CONFIG = """
executor:
  type: local
  nodes: [{ name: here, capacity: { cpu: 16 } }]
"""


def job(name, script):
    return {"metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "main"}},
            "spec": {"suspend": True, "template": {"spec": {
                "restartPolicy": "Never", "containers": [{
                    "name": "main", "image": "any", "command": ["sh", "-c", script],
                    "resources": {"requests": {"cpu": "1"}}}]}}}}


def live_names(text):
    return set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))


def told_names(text):
    """Those of a page, but for a paragraph that says what is not there."""
    paragraphs = [p for p in text.split("\n\n") if not p.startswith("Not here")]
    return set(NAME.findall("\n\n".join(paragraphs))) - OTHERS


def plugin_names(folder):
    """What the bundled plugins register: one with labels is shown once it has counted something."""
    out = set()
    for plugin in os.listdir(folder):
        for path in glob.glob(os.path.join(folder, plugin, "*.cpp")):
            with open(path, encoding="utf-8") as text:
                names = re.findall(r'(?:counter|gauge)\("(\w+)"', text.read())
            prefix = "sluice_plugin_" + plugin.replace("-", "_") + "_"
            out |= {prefix + name for name in names}
    return out


def read(rest):
    code, text = rest.send("GET", "/metrics")
    assert code == 200, text
    return text if isinstance(text, str) else text.decode()


def live_metrics(sluice):
    """/metrics of a host on which jobs ended, run, and were evicted."""
    with Host(sluice, extra=CONFIG, plugins="{}") as host:
        rest = Rest(host.kubeconfig)
        for path, body in OBJECTS:
            assert rest.send("POST", path, body)[0] == 201, (path, host.log())
        jobs = "/apis/batch/v1/namespaces/default/jobs"
        for name, script in (("done", "true"), ("stopped", "sleep 100"), ("runs", "sleep 100")):
            assert rest.send("POST", jobs, job(name, script))[0] == 201
        eventually(lambda: rest.get(jobs + "/done").get("status", {}).get("succeeded") == 1,
                   "a job ends")
        for name in ("stopped", "runs"):
            eventually(lambda of=name: rest.get(f"{jobs}/{of}").get("status", {})
                       .get("ready") == 1, "others run")
        workloads = f"{KUEUE}/namespaces/default/workloads"
        for each in rest.get(workloads)["items"]:
            if each["metadata"]["name"].startswith("job-stopped"):
                rest.send("PATCH", f"{workloads}/{each['metadata']['name']}",
                          {"spec": {"active": False}}, "application/merge-patch+json")
        # Seen last: whoever is evicted has been counted as everything else.
        last = ("kueue_workload_eviction_latency_seconds", "kueue_finished_workloads_total")

        def counted():
            text = read(rest)
            return all(each in text for each in last) and text
        return eventually(counted, "an eviction and an end are counted")


class Pages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.pages = {}
        for name in sorted(os.listdir(cls.docs)):
            if name.endswith(".md"):
                with open(os.path.join(cls.docs, name), encoding="utf-8") as text:
                    cls.pages[name] = text.read()
        cls.live = live_metrics(cls.sluice)

    def test_what_the_pages_name_is_there(self):
        there = live_names(self.live) | plugin_names(self.plugins) | RARE
        missing = {page: told_names(text) - there
                   for page, text in self.pages.items()}
        self.assertEqual({page: names for page, names in missing.items() if names}, {},
                         "/metrics does not have them")

    def test_what_is_there_is_on_a_page(self):
        told = set().union(*(told_names(text) for text in self.pages.values()))
        suffixes = tuple(SUFFIX.findall(self.pages["metrics.md"]))
        lost = {name for name in live_names(self.live) - told
                if name.startswith(("kueue_", "sluice_")) and not name.endswith(suffixes)
                and name.replace("kueue_local_queue_", "kueue_") not in told}
        self.assertEqual(lost, set(), "no page has these")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--docs", required=True)
    parser.add_argument("--plugins", required=True)
    options, rest = parser.parse_known_args()
    Pages.sluice = os.path.abspath(options.sluice)
    Pages.docs = os.path.abspath(options.docs)
    Pages.plugins = os.path.abspath(options.plugins)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
