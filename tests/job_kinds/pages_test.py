#!/usr/bin/env python3
"""The pages of packaging/job-kinds: each path stands in the schema that the kind's project
publishes (facts/, made by facts.py), and a sample of the project has the pod sets that it should
have when the program itself reads it.

    pages_test.py --sluice build/dev/bin/sluice --pages packaging/job-kinds
"""
import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

FACTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts")
PATH = re.compile(r"\$?(?:\.[A-Za-z_]\w*|\[(?:\*|-?\d+|'[^']+'|\?\([^)]*\))\])+")
SUM = re.compile(r"sum\(([^,()]+),([^)]*)\)")

# What the sample of the project asks for: (pod set, pods).
POD_SETS = {
    "appwrapper": [("pods-0", 1), ("pods-1", 2)],  # master and worker of the PyTorchJob in it
    "jaxjob": [("worker", 2)],
    "jobset": [("workers", 4), ("driver", 1)],  # parallelism 4, and 1
    "leaderworkerset": [("leader", 3), ("worker", 9)],  # 3 groups of 4, one of them leads
    "mpijob": [("launcher", 1), ("worker", 2)],
    "paddlejob": [("worker", 2)],
    "pytorchjob": [("master", 1), ("worker", 1)],
    "rayjob": [("head", 1), ("tpu-group", 4)],  # one worker on 4 hosts
    "rayservice": [("head", 1), ("small-group", 1)],
    "sparkapplication": [("driver", 1), ("executor", 1)],
    "tfjob": [("chief", 1), ("ps", 1), ("worker", 2)],
    "trainjob": [("node", 3)],
    "xgboostjob": [("master", 1), ("worker", 2)],
}

# What the sample asks for, where the page works it out: CPUs, MiB.
ASKED = {
    "sparkapplication": (2, 2 * (512 + 384)),  # 384 MiB that Spark adds
    "trainjob": (3 * 2, 3 * 4096),
}

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: CPUS},
                                      {name: memory, nominalQuota: MEMORYMi}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: all}
"""


def steps(path):
    """`.a['b'][0]` as .a, .b, [*]."""
    for step in re.findall(r"\.\w+|\[[^\]]+\]", path):
        if step.startswith("['"):
            yield "." + step[2:-2]
        else:
            yield "[*]" if step.startswith("[") else step


def leads_somewhere(path, places):
    """Whether a path of a page stands in the schema; a map has any name, and an open place takes
    any path."""
    at = {""}
    for step in steps(path):
        if any(place + "!" in places for place in at):
            return True
        ways = (step,) if step != "[*]" else ("[*]", ".*")
        at = {place + way for place in at for way in ways + (".*",) if place + way in places}
    return bool(at)


def paths_in(page):
    """Every path that a page reads, from the root of the object."""
    out = []

    def of_expression(text, before=""):
        text = str(text)
        for over, each in SUM.findall(text):
            for path in PATH.findall(each):
                out.append(before + over.strip() + path)
        for path in PATH.findall(SUM.sub(r" \1 ", text)):
            out.append(path[1:] if path.startswith("$") else before + path)

    for each in page["podSets"]:
        outer = each.get("forEach", "")
        before = outer + each.get("each", "")
        out += [path for path in (outer, before) if path]
        if "template" in each:
            out.append(before + each["template"] + "#")
        for key in ("count", "minCount", "total"):
            of_expression(each.get(key, ""), before)
        if "reports" in each:
            out.append(each["reports"])
            of_expression(each["finished"].replace("@.", "$" + each["reports"] + "."), before)
        for key in ("name", "templateAt", "requestsFrom"):
            if each.get(key, "").startswith("."):
                out.append(before + each[key])
        if "unless" in each:
            out.append(outer + each["unless"])
        if "start" in each:
            out.append(outer + each["start"] + "#")
        if "pod" in each:
            out += [outer + each["pod"] + field for field in (".nodeSelector", ".tolerations")]
        for request in each.get("requests", []):
            of_expression(request["amount"], before)
            if request["resource"].startswith("."):
                out.append(before + request["resource"])
    for key in ("ready", "active", "succeeded", "failed", "unfit", "unfitOnHost"):
        for test in page.get(key, []):
            if "condition" in test:
                out += [".status.conditions[*].type", ".status.conditions[*].status"]
            of_expression(test.get("path", test.get("holds", "")))
            out += [each["path"] for each in test.get("also", [])]
    for key in ("suspend", "message", "priorityClass"):
        if key in page:
            out.append(page[key])
    out += [each["path"] for each in page.get("columns", [])]
    return [path for path in out if not path.startswith(".metadata")]


def with_pods(value):
    """Fills the empty templates."""
    if value == {}:
        return {"metadata": {"annotations": {"sluice.dev/runtime": "1m"}},
                "spec": {"containers": [{"name": "c", "image": "i",
                                         "resources": {"requests": {"cpu": "1"}}}]}}
    if isinstance(value, dict):
        return {key: with_pods(inner) for key, inner in value.items()}
    return [with_pods(each) for each in value] if isinstance(value, list) else value


class Pages(unittest.TestCase):
    sluice = pages = ""

    def page(self, name):
        with open(os.path.join(self.pages, name + ".yaml"), encoding="utf-8") as file:
            return yaml.safe_load(file)

    def facts(self, name):
        with open(os.path.join(FACTS, name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def test_each_page_is_tried(self):
        self.assertEqual(sorted(POD_SETS), sorted(each[:-5] for each in os.listdir(self.pages)))

    def test_each_path_stands_in_the_schema(self):
        for name in POD_SETS:
            facts = self.facts(name)
            spec = self.page(name)["spec"]
            self.assertEqual((spec["kind"], spec["versions"][0]), (facts["kind"], facts["served"]))
            templates = {place for place in facts["fields"] if place.endswith("#")}
            places = set(facts["fields"]) | {each.rstrip("#!") for each in facts["fields"]}
            for path in paths_in(spec):
                with self.subTest(page=name, path=path):
                    wanted = templates | places if path.endswith("#") else places
                    last = path.rstrip("#")
                    self.assertTrue(leads_somewhere(last, wanted),
                                    f"{path} in {facts['definition']}")
                    if path.endswith("#") and not leads_into_the_open(last, places):
                        ends = {each[:-1] for each in templates}
                        self.assertTrue(leads_somewhere(last, places) and any(
                            leads_to(last, each) for each in ends), f"{last} is no pod template")

    def simulated(self, name, cpus, mib):
        """What happens to the sample of a kind in a queue of that size."""
        sample = with_pods(copy.deepcopy(self.facts(name)["object"]))
        if name == "rayjob":  # one that leaves its cluster behind is held back
            sample["spec"]["shutdownAfterJobFinishes"] = True
        sample["metadata"] = {"name": "sample", "namespace": "default",
                              "annotations": {"sluice.dev/runtime": "1m"},
                              "labels": {"kueue.x-k8s.io/queue-name": "main"}}
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "all.yaml"), "w", encoding="utf-8") as file:
                file.write(QUEUES.replace("CPUS", str(cpus)).replace("MEMORY", str(mib)) +
                           "---\n" + yaml.safe_dump(sample))
            run = subprocess.run(
                [self.sluice, "simulate", "--plugins", "none", "--log", "-", folder,
                 os.path.join(self.pages, name + ".yaml")],
                capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return [json.loads(line) for line in run.stdout.splitlines()]

    def test_what_a_page_works_out_is_what_is_held(self):
        for name, (cpus, mib) in ASKED.items():
            for less in ((cpus - 1, mib), (cpus, mib - 1)):
                with self.subTest(page=name, quota=less):
                    kinds = [each["type"] for each in self.simulated(name, *less)]
                    self.assertNotIn("QuotaReserved", kinds)

    def test_samples_have_their_pod_sets(self):
        for name, wanted in POD_SETS.items():
            with self.subTest(page=name):
                log = self.simulated(name, *ASKED.get(name, (100, 102400)))
                got = next(each for each in log if each["type"] == "QuotaReserved")
                self.assertEqual([(s["name"], s["count"]) for s in got["podSets"]], wanted)
                self.assertRegex(got["workload"], f"^default/{name}-sample-[0-9a-f]{{5}}$")
                self.assertEqual([each["type"] for each in log][-2:], ["Finished", "Summary"])


def leads_into_the_open(path, places):
    """Whether what is there is anybody's."""
    return leads_somewhere(path + ".inNoSchema", places)


def leads_to(path, place):
    """Whether the path leads to that very place."""
    own, theirs = list(steps(path)), re.findall(r"\.\w+|\.\*|\[\*\]", place)
    return len(own) == len(theirs) and all(
        a == b or b == ".*" for a, b in zip(own, theirs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--pages", required=True)
    args, rest = parser.parse_known_args()
    Pages.sluice, Pages.pages = os.path.abspath(args.sluice), os.path.abspath(args.pages)
    unittest.main(argv=[sys.argv[0], *rest])
