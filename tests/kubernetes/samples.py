"""Objects of each kind, good ones and wrong ones: what Sluice's own API and an API server with
Sluice's definitions are both asked to take."""
import copy
import glob
import json
import os

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GROUP = "kueue.x-k8s.io"
AT = "2026-01-01T00:00:00Z"
LONG = "a" * 254
NULL = object()  # in a change: the value null


def resource(name, **more):
    return {"name": name, "nominalQuota": "1", **more}


def flavor(name, *resources):
    return {"name": name, "resources": list(resources) or [resource("cpu")]}


def group(*flavors, covered=("cpu",)):
    return {"coveredResources": list(covered), "flavors": list(flavors)}


def toleration(**fields):
    return {"tolerations": [fields]}


GOOD = {
    "ClusterQueue": {"spec": {"namespaceSelector": {}, "resourceGroups": [group(flavor("a"))]}},
    "Cohort": {"spec": {"resourceGroups": [group(flavor("a"))]}},
    "LocalQueue": {"spec": {"clusterQueue": "a"}},
    "ResourceFlavor": {"spec": {"nodeLabels": {"a": "b"}}},
    "AdmissionCheck": {"spec": {"controllerName": "example.com/a"}},
    "WorkloadPriorityClass": {"value": 1},
    "Workload": {"spec": {"queueName": "a", "podSets": [
        {"name": "main", "count": 1, "template": {"spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i",
                            "resources": {"requests": {"cpu": "1"}}}]}}}]}},
}

# What replaces a part of the good object of the kind: a merge patch, but lists as a whole.
CHANGES = {
    "ClusterQueue": [
        # good ones
        {"spec": {"cohortName": "a.b"}}, {"spec": {"stopPolicy": "HoldAndDrain"}},
        {"spec": {"fairSharing": {"weight": 2}}}, {"spec": {"fairSharing": {"weight": "0.5"}}},
        {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}},
        {"spec": {"preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {
            "policy": "LowerPriority", "maxPriorityThreshold": 5}}}},
        {"spec": {"cohortName": "c", "resourceGroups": [group(flavor("a", resource(
            "cpu", borrowingLimit="1", lendingLimit="1")))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu"), resource("memory")),
                                           covered=("cpu", "memory"))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", nominalQuota=3)))]}},
        {"spec": {"namespaceSelector": {"matchExpressions": [
            {"key": "a", "operator": "In", "values": ["b"]}]}}},
        {"spec": {"admissionChecksStrategy": {"admissionChecks": [
            {"name": "a", "onFlavors": ["a"]}]}}},
        # wrong ones
        {"spec": {"cohortName": "A_b"}}, {"spec": {"cohortName": LONG}},
        {"spec": {"queueingStrategy": "Random"}}, {"spec": {"stopPolicy": ""}},
        {"spec": {"fairSharing": {"weight": "much"}}}, {"spec": {"fairSharing": {"weight": {}}}},
        {"spec": {"preemption": {"withinClusterQueue": "Any"}}},
        {"spec": {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}}},
        {"spec": {"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": 3000000000}}}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", borrowingLimit="1")))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", lendingLimit="1")))]}},
        {"spec": {"resourceGroups": [group(flavor("a"), flavor("a"))]}},
        {"spec": {"resourceGroups": [group(flavor("a"), covered=("cpu", "memory"))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu"), resource("cpu")),
                                           covered=("cpu", "memory"))]}},
        {"spec": {"resourceGroups": [{"coveredResources": ["cpu"]}]}},
        {"spec": {"resourceGroups": [{"coveredResources": [], "flavors": []}]}},
        {"spec": {"resourceGroups": [group(flavor("a", {"name": "cpu"}))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", nominalQuota="x")))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", nominalQuota=True)))]}},
        {"spec": {"resourceGroups": [group(flavor("-a"))]}},
        {"spec": {"resourceGroups": [group(flavor("f" + str(i))) for i in range(17)]}},
        {"spec": {"resourceGroups": {}}}, {"spec": {"resourceGroups": "none"}},
        {"spec": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}},
        {"spec": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}},
        {"spec": {"namespaceSelector": {"matchExpressions": [
            {"key": "a", "operator": "Exists", "values": ["b"]}]}}},
        {"spec": {"namespaceSelector": {"matchLabels": {"a": 1}}}},
        {"spec": {"admissionChecksStrategy": {}}},
        {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": ""}]}}},
        {"spec": {"admissionChecksStrategy": {"admissionChecks": [
            {"name": "a"}, {"name": "a"}]}}},
        {"spec": {"admissionScope": {}}}, {"spec": {"unheardOf": 1}}, {"spec": []},
        {"spec": {"flavorFungibility": {"whenCanBorrow": "Perhaps"}}},
        {"spec": {"concurrentAdmission": {"onSuccess": "RemoveOther"},
                  "concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}}}},
        {"metadata": {"name": "A"}}, {"metadata": {"name": LONG}},
        {"metadata": {"labels": {"-": "a"}}}, {"metadata": {"labels": {"a": "b c"}}},
    ],
    "Cohort": [
        {"spec": {"parentName": "p"}},
        {"spec": {"parentName": "p", "resourceGroups": [group(flavor("a", resource(
            "cpu", lendingLimit="1")))]}},
        {"spec": {"parentName": "Not A Name"}}, {"spec": {"fairSharing": {"weight": []}}},
        {"spec": {"resourceGroups": [group(covered=("cpu",))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", lendingLimit="1")))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", borrowingLimit="1")))]}},
    ],
    "LocalQueue": [
        {"spec": {"stopPolicy": "Hold"}}, {"spec": {"clusterQueue": "a.b-c"}},
        {"spec": {"fairSharing": NULL}}, {"spec": {"stopPolicy": NULL, "clusterQueue": NULL}},
        {"spec": {"clusterQueue": "a_b"}}, {"spec": {"clusterQueue": 5}},
        {"spec": {"stopPolicy": "Stop"}}, {"metadata": {"name": "-"}},
    ],
    "ResourceFlavor": [
        {"spec": {"nodeTaints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}},
        {"spec": {"topologyName": "t"}}, {"spec": toleration(operator="Exists")},
        {"spec": toleration(key="a", operator="Equal", value="b", effect="NoSchedule")},
        {"spec": {"nodeTaints": [{"key": "a"}]}},
        {"spec": {"nodeTaints": [{"key": "a", "effect": "Sometimes"}]}},
        {"spec": {"nodeTaints": [{"key": f"k{i}", "effect": "NoSchedule"} for i in range(9)]}},
        {"spec": {"nodeLabels": {f"k{i}": "v" for i in range(9)}}},
        {"spec": {"nodeLabels": {"a": 5}}}, {"spec": {"nodeLabels": None, "topologyName": "t"}},
        {"spec": toleration(operator="Like", key="a")}, {"spec": toleration(value="b")},
        {"spec": toleration(key="a", effect="Never")},
        {"spec": toleration(key="a", operator="Exists", value="b")},
        {"spec": toleration(key="a", tolerationSeconds=1)},
        {"spec": toleration(key="a", tolerationSeconds="1", effect="NoExecute")},
    ],
    "AdmissionCheck": [
        {"spec": {"parameters": {"apiGroup": "a.b", "kind": "Kind", "name": "n"}}},
        {"spec": {"preemptionPolicy": "AfterCheckPassedOrOnDemand"}},
        {"spec": {"controllerName": ""}}, {"spec": {"controllerName": None}},
        {"spec": {"parameters": {"apiGroup": "a.b", "kind": "Kind"}}},
        {"spec": {"parameters": {"apiGroup": "a.b", "kind": "9", "name": "n"}}},
        {"spec": {"parameters": {"apiGroup": "a.b", "kind": "Kind", "name": "n.n"}}},
        {"spec": {"preemptionPolicy": "Never"}}, {"spec": {"controllerName": LONG}},
    ],
    "WorkloadPriorityClass": [
        {"description": "for all"}, {"value": -5}, {"value": None}, {"value": "high"},
        {"value": 3000000000}, {"value": 1.5}, {"description": "x" * 2049},
    ],
    "Workload": [
        {"spec": {"active": False}}, {"spec": {"maximumExecutionTimeSeconds": 1}},
        {"spec": {"priority": 5, "priorityClassRef": {
            "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "a"}}},
        {"spec": {"admissionConstraints": {"allowedResourceFlavors": ["a"]}}},
        {"spec": {"active": "no"}}, {"spec": {"maximumExecutionTimeSeconds": 0}},
        {"spec": {"queueName": "Not A Name"}}, {"spec": {"podSets": []}},
        {"spec": {"podSets": [{"name": "main", "count": 1}]}},
        {"spec": {"podSets": [{"name": "Main", "template": {}}]}},
        {"spec": {"podSets": [{"template": {}}, {"template": {}}]}},
        {"spec": {"podSets": [{"count": -1, "template": {}}]}},
        {"spec": {"podSets": [{"count": 2, "minCount": 3, "template": {}}]}},
        {"spec": {"podSets": [{"count": 2, "minCount": 0, "template": {}}]}},
        {"spec": {"podSets": [{"count": "two", "template": {}}]}},
        {"spec": {"podSets": [{"name": "a", "count": 2, "minCount": 1, "template": {}},
                              {"name": "b", "count": 2, "minCount": 1, "template": {}}]}},
        {"spec": {"podSets": [{"name": f"p{i}", "template": {}} for i in range(19)]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": "none"}}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": [{"image": "i"}]}}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"unheardOf": 1, "containers": []}}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": [
            {"name": "c", "resources": {"requests": {"cpu": "much"}}}]}}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": [], "nodeSelector": []}}}]}},
        {"spec": {"priorityClassRef": {
            "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "a"}}},
        {"spec": {"priority": 1, "priorityClassRef": {
            "group": "kueue.x-k8s.io", "kind": "PriorityClass", "name": "a"}}},
        {"spec": {"priority": 1, "priorityClassRef": {
            "group": "batch", "kind": "PriorityClass", "name": "a"}}},
        {"spec": {"priority": 1, "priorityClassRef": {
            "group": "scheduling.k8s.io", "kind": "PriorityClass"}}},
        {"spec": {"priority": 3000000000}}, {"spec": {"preemptionGates": [{"name": ""}]}},
        {"spec": {"admissionConstraints": {"allowedResourceFlavors": ["a", "a"]}}},
    ],
}

# Refused by Sluice, taken by an API server: what its rules cannot say, or Sluice asks plugins.
ONLY_SLUICE = {
    "ClusterQueue": [
        # amounts are compared by a program
        {"spec": {"cohortName": "c", "resourceGroups": [group(flavor("a", resource(
            "cpu", lendingLimit="2")))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("cpu", nominalQuota="-1")))]}},
        {"spec": {"fairSharing": {"weight": "-1"}}},
        # names in one place and in another one
        {"spec": {"resourceGroups": [group(flavor("a")), group(flavor("b"))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("memory")))]}},
        {"spec": {"resourceGroups": [group(flavor("a", resource("a/b/c")), covered=("a/b/c",))]}},
        {"spec": {"admissionChecksStrategy": {"admissionChecks": [
            {"name": "a", "onFlavors": ["other"]}]}}},
        # a plugin's own judgement
        {"spec": {"concurrentAdmission": {"onSuccess": "RemoveBelowTarget"}}},
    ],
    "LocalQueue": [{"spec": {"fairSharing": {"weight": "-1"}}}],
    "ResourceFlavor": [
        # keys and values of labels that are data
        {"spec": {"nodeLabels": {"a": "b c"}}}, {"spec": {"nodeLabels": {"-": "b"}}},
        {"spec": {"nodeTaints": [{"key": "a b", "effect": "NoSchedule"}]}},
        {"spec": {"nodeTaints": [{"key": "a", "effect": "NoSchedule"},
                                 {"key": "a", "effect": "NoSchedule"}]}},
    ],
    "Workload": [
        {"spec": {"podSets": [{"template": {"spec": {"containers": [
            {"name": "c", "resources": {"requests": {"cpu": "-1"}}}]}}}]}},
    ],
}

# Taken by Sluice, refused by an API server.
ONLY_CLUSTER = {
    # a quantity is an integer or a text there
    "ClusterQueue": [{"spec": {"fairSharing": {"weight": 0.5}}}],
    # entries of lists are told apart in pods, too
    "Workload": [
        {"spec": {"podSets": [{"template": {"spec": {"containers": [
            {"name": "c", "image": "i"}, {"name": "c", "image": "j"}]}}}]}},
        {"spec": {"podSets": [{"template": {"spec": {"containers": [
            {"name": "c", "env": [{"value": "v"}]}]}}}]}},
    ],
}


def merged(base, change):
    if change is NULL:
        return None
    if not isinstance(base, dict) or not isinstance(change, dict):
        return copy.deepcopy(change)
    out = copy.deepcopy(base)
    for key, value in change.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def sample(kind, change):
    base = {"apiVersion": GROUP + "/v1beta2", "kind": kind, "metadata": {"name": "sample"}}
    return merged(base | GOOD[kind], change)


def changed(table):
    """(label, object) of each change in a table."""
    return [(f"{kind} {json.dumps(change, default=str)[:300]}", sample(kind, change))
            for kind, changes in table.items() for change in changes]


def stored():
    """(label, object) of the objects of Kueue's group in the examples, and in samples of Kueue."""
    paths = glob.glob(os.path.join(ROOT, "examples", "**", "*.yaml"), recursive=True)
    paths += glob.glob(os.path.join(ROOT, "tests", "e2e", "kueue_samples", "**", "*.yaml"),
                       recursive=True)
    for path in sorted(paths):
        with open(path, encoding="utf-8") as text:
            for document in yaml.safe_load_all(text):
                for each in (document or {}).get("items", [document]):
                    if each and each.get("apiVersion", "").startswith(GROUP + "/"):
                        yield f"{os.path.relpath(path, ROOT)} {each['kind']} " \
                            f"{each['metadata'].get('name')}", each
