#!/usr/bin/env python3
"""Python's `kubernetes` client against a live host: typed, custom and dynamic objects, watches.

    python_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import argparse
import os
import sys
import unittest

from host import Host, eventually, skip

try:
    from kubernetes import client, config, dynamic, utils, watch
    from kubernetes.client.exceptions import ApiException
except ImportError:
    # Debian installs it for the system's own interpreter only.
    system = "/usr/bin/python3"
    if os.path.realpath(sys.executable) == os.path.realpath(system) or not os.access(
            system, os.X_OK) or "SLUICE_E2E_AGAIN" in os.environ:
        skip("there is no Python module kubernetes here (Debian: python3-kubernetes)")
    os.environ["SLUICE_E2E_AGAIN"] = "1"
    os.execv(system, [system, *sys.argv])

KUEUE = "kueue.x-k8s.io"


def meta(name=None, **more):
    return client.V1ObjectMeta(name=name, **more)


def config_map(name, value="v", **labels):
    return client.V1ConfigMap(metadata=meta(name, labels=labels), data={"key": value})


def job(name, script, queue="user-queue", cpu="1"):
    container = client.V1Container(
        name="main", image="any", command=["sh", "-c", script],
        resources=client.V1ResourceRequirements(requests={"cpu": cpu, "memory": "100Mi"}))
    template = client.V1PodTemplateSpec(
        spec=client.V1PodSpec(restart_policy="Never", containers=[container]))
    return client.V1Job(
        metadata=meta(generate_name=name, labels={"kueue.x-k8s.io/queue-name": queue}),
        spec=client.V1JobSpec(parallelism=1, completions=1, suspend=True, template=template))


def queue_objects(version):
    cohort = "cohort" if version == "v1beta1" else "cohortName"
    api = f"{KUEUE}/{version}"
    quota = [{"name": "cpu", "nominalQuota": 9}, {"name": "memory", "nominalQuota": "36Gi"}]
    return [
        ("resourceflavors", {"apiVersion": api, "kind": "ResourceFlavor",
                             "metadata": {"name": "default-flavor"}}),
        ("clusterqueues", {
            "apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": "cluster-queue"},
            "spec": {cohort: "all", "namespaceSelector": {}, "resourceGroups": [
                {"coveredResources": ["cpu", "memory"],
                 "flavors": [{"name": "default-flavor", "resources": quota}]}]}}),
        ("localqueues", {"apiVersion": api, "kind": "LocalQueue",
                         "metadata": {"name": "user-queue", "namespace": "default"},
                         "spec": {"clusterQueue": "cluster-queue"}}),
    ]


def setUpModule():  # pylint: disable=invalid-name
    Python.begin()


def tearDownModule():  # pylint: disable=invalid-name
    Python.end()


class Python(unittest.TestCase):
    sluice = ""
    host = None

    @classmethod
    def begin(cls):
        cls.host = Host(cls.sluice).start()
        settings = client.Configuration()
        config.load_kube_config(config_file=cls.host.kubeconfig, client_configuration=settings)
        cls.api = client.ApiClient(settings)
        cls.core, cls.batch = client.CoreV1Api(cls.api), client.BatchV1Api(cls.api)
        cls.custom = client.CustomObjectsApi(cls.api)
        for plural, body in queue_objects("v1beta1"):
            if plural == "localqueues":
                cls.custom.create_namespaced_custom_object(KUEUE, "v1beta1", "default", plural,
                                                           body)
            else:
                cls.custom.create_cluster_custom_object(KUEUE, "v1beta1", plural, body)

    @classmethod
    def end(cls):
        cls.api.close()
        cls.host.__exit__()

    def refused(self, status, call, *args, **more):
        with self.assertRaises(ApiException) as caught:
            call(*args, **more)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception.body


class Typed(Python):
    def test_discovery(self):
        self.assertRegex(client.VersionApi(self.api).get_code().git_version, r"^v1\.33\.")
        groups = [g.name for g in client.ApisApi(self.api).get_api_versions().groups]
        self.assertIn(KUEUE, groups)
        self.assertIn("pods/log", [r.name for r in self.core.get_api_resources().resources])
        self.assertIn("jobs/status", [r.name for r in self.batch.get_api_resources().resources])

    def test_core_objects(self):
        self.core.create_namespace(client.V1Namespace(metadata=meta("typed")))
        self.assertEqual(self.core.read_namespace("typed").status.phase, "Active")
        made = self.core.create_namespaced_config_map("typed", config_map("one", app="a"))
        self.assertEqual(made.data, {"key": "v"})
        self.refused(409, self.core.create_namespaced_config_map, "typed", config_map("one"))
        merged = self.core.patch_namespaced_config_map("one", "typed", {"data": {"key": "w"}})
        self.assertEqual(merged.data, {"key": "w"})
        listed = [{"op": "add", "path": "/data/more", "value": "1"}]
        self.assertEqual(self.core.patch_namespaced_config_map("one", "typed", listed).data,
                         {"key": "w", "more": "1"})
        stale = made
        stale.data = {"key": "too late"}
        self.assertIn("the object has been modified",
                      self.refused(409, self.core.replace_namespaced_config_map, "one", "typed",
                                   stale))
        secret = client.V1Secret(metadata=meta("one"), string_data={"key": "v"})
        self.assertEqual(self.core.create_namespaced_secret("typed", secret).data,
                         {"key": "dg=="})
        for number in range(3):
            self.core.create_namespaced_config_map("typed", config_map(f"n{number}", app="n"))
        self.core.delete_collection_namespaced_config_map("typed", label_selector="app=n")
        self.assertEqual([c.metadata.name for c
                          in self.core.list_namespaced_config_map("typed").items], ["one"])
        self.core.delete_namespace("typed")
        eventually(lambda: "typed" not in [n.metadata.name for n
                                           in self.core.list_namespace().items], "it is gone")
        self.assertEqual(self.core.list_namespaced_config_map("typed").items, [])

    def test_pages(self):
        for number in range(5):
            self.core.create_namespaced_config_map("default", config_map(f"p{number}", page="y"))
        names, token = [], None
        while True:
            page = self.core.list_namespaced_config_map("default", label_selector="page", limit=2,
                                                        _continue=token)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual(names, [f"p{number}" for number in range(5)])

    def test_events(self):
        about = client.V1ObjectReference(kind="ConfigMap", name="seen", namespace="default")
        event = client.CoreV1Event(metadata=meta("seen.1"), involved_object=about, reason="Seen",
                                   message="by a client", type="Normal")
        self.core.create_namespaced_event("default", event)
        found = self.core.list_namespaced_event(
            "default", field_selector="involvedObject.name=seen,reason=Seen").items
        self.assertEqual([e.message for e in found], ["by a client"])

    def test_job_runs(self):
        made = self.batch.create_namespaced_job("default", job("run-", "echo one; echo two"))
        name = made.metadata.name
        seen = []
        for event in watch.Watch().stream(
                self.batch.list_namespaced_job, "default", timeout_seconds=300,
                field_selector=f"metadata.name={name}",
                resource_version=made.metadata.resource_version):
            seen.append(event["object"])
            if event["object"].status.succeeded:
                break
        self.assertFalse(seen[-1].spec.suspend)
        versions = [int(o.metadata.resource_version) for o in seen]
        self.assertEqual(versions, sorted(set(versions)))
        self.assertEqual(self.batch.read_namespaced_job_status(name, "default").status.succeeded,
                         1)
        labels = {"metadata": {"labels": {"a": "b"}}}
        patched = self.batch.patch_namespaced_job(name, "default", labels)
        self.assertEqual(patched.metadata.labels["a"], "b")
        pod, = self.core.list_namespaced_pod("default", label_selector=f"job-name={name}").items
        pod = pod.metadata.name
        read = self.core.read_namespaced_pod_log
        self.assertEqual(read(pod, "default"), "one\ntwo\n")
        self.assertEqual(read(pod, "default", tail_lines=1), "two\n")
        self.assertRegex(read(pod, "default", timestamps=True, tail_lines=1),
                         r"^\d{4}-\d\d-\d\dT\S+Z two\n$")
        self.assertEqual(list(watch.Watch().stream(read, pod, "default")), ["one", "two"])
        def reasons():
            return {e.reason for e in self.core.list_namespaced_event(
                "default", field_selector=f"involvedObject.name={name}").items}
        eventually(lambda: {"CreatedWorkload", "Started"} <= reasons(), "events tell of it")
        self.batch.delete_namespaced_job(name, "default", propagation_policy="Foreground")
        eventually(lambda: name not in [j.metadata.name for j in
                                        self.batch.list_namespaced_job("default").items],
                   "the job is gone")

    def test_from_dict(self):
        utils.create_from_dict(self.api, {
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "dict", "namespace": "default"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "any", "command": ["true"]}]}}}})
        eventually(lambda: self.batch.read_namespaced_job("dict", "default").status.succeeded,
                   "a job without a queue runs at once")

    def test_reviews(self):
        api = client.AuthorizationV1Api(self.api)
        what = client.V1ResourceAttributes(group="batch", resource="jobs", verb="create",
                                           namespace="default")
        mine = client.V1SelfSubjectAccessReviewSpec(resource_attributes=what)
        self.assertTrue(api.create_self_subject_access_review(
            client.V1SelfSubjectAccessReview(spec=mine)).status.allowed)
        other = client.V1SubjectAccessReviewSpec(user="ann", resource_attributes=what)
        self.assertFalse(api.create_subject_access_review(
            client.V1SubjectAccessReview(spec=other)).status.allowed)
        rules = client.V1SelfSubjectRulesReviewSpec(namespace="default")
        self.assertTrue(api.create_self_subject_rules_review(
            client.V1SelfSubjectRulesReview(spec=rules)).status.resource_rules)
        unknown = client.V1TokenReview(spec=client.V1TokenReviewSpec(token="unknown"))
        self.assertFalse(client.AuthenticationV1Api(self.api).create_token_review(unknown)
                         .status.authenticated)


class Custom(Python):
    def test_both_versions(self):
        read = self.custom.get_cluster_custom_object
        self.assertEqual(read(KUEUE, "v1beta1", "clusterqueues", "cluster-queue")["spec"]
                         ["cohort"], "all")
        self.assertEqual(read(KUEUE, "v1beta2", "clusterqueues", "cluster-queue")["spec"]
                         ["cohortName"], "all")
        changed = self.custom.patch_cluster_custom_object(
            KUEUE, "v1beta2", "clusterqueues", "cluster-queue",
            {"metadata": {"labels": {"patched": "yes"}}})
        self.assertEqual(changed["metadata"]["labels"], {"patched": "yes"})
        self.assertEqual(changed["metadata"]["generation"], 1)

    def test_replace_and_status(self):
        read = self.custom.get_cluster_custom_object
        queue = read(KUEUE, "v1beta2", "clusterqueues", "cluster-queue")
        queue["spec"]["queueingStrategy"] = "StrictFIFO"
        done = self.custom.replace_cluster_custom_object(KUEUE, "v1beta2", "clusterqueues",
                                                         "cluster-queue", queue)
        self.assertEqual(done["spec"]["queueingStrategy"], "StrictFIFO")
        self.refused(409, self.custom.replace_cluster_custom_object, KUEUE, "v1beta2",
                     "clusterqueues", "cluster-queue", queue)
        eventually(
            lambda: "flavorsReservation" in self.custom.get_cluster_custom_object_status(
                KUEUE, "v1beta2", "clusterqueues", "cluster-queue").get("status", {}),
            "the queue tells what is reserved")
        local = eventually(
            lambda: self.custom.list_namespaced_custom_object(
                KUEUE, "v1beta2", "default", "localqueues")["items"][0].get("status"),
            "the local queue has a status")
        for field in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads"):
            self.assertIn(field, local)

    def test_workload(self):
        body = {"metadata": {"name": "plain"}, "spec": {"queueName": "no-such-queue", "podSets": [
            {"name": "main", "count": 1, "template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "c", "image": "any"}]}}}]}}
        made = self.custom.create_namespaced_custom_object(KUEUE, "v1beta1", "default",
                                                           "workloads", body)
        self.assertEqual((made["kind"], made["apiVersion"]), ("Workload", f"{KUEUE}/v1beta1"))
        condition = eventually(
            lambda: [c for c in self.custom.get_namespaced_custom_object(
                KUEUE, "v1beta2", "default", "workloads", "plain").get("status", {})
                .get("conditions", []) if c["type"] == "QuotaReserved"], "it is judged")[0]
        self.assertEqual(condition["status"], "False")
        self.assertIn("no-such-queue", condition["message"])
        self.custom.delete_namespaced_custom_object(KUEUE, "v1beta2", "default", "workloads",
                                                    "plain")
        self.refused(404, self.custom.get_namespaced_custom_object, KUEUE, "v1beta2", "default",
                     "workloads", "plain")

    def test_invalid(self):
        body = {"metadata": {"name": "bad"}, "spec": {"queueingStrategy": "Sometimes"}}
        self.assertIn("queueingStrategy", self.refused(
            422, self.custom.create_cluster_custom_object, KUEUE, "v1beta2", "clusterqueues",
            body))


class Watching(Python):
    def events(self, **more):
        return [(e["type"], e["object"].metadata.name) for e in watch.Watch().stream(
            self.core.list_namespaced_config_map, "default", **more)]

    def test_from_a_version(self):
        before = self.core.list_namespaced_config_map("default").metadata.resource_version
        self.core.create_namespaced_config_map("default", config_map("w", watched="yes"))
        self.core.patch_namespaced_config_map("w", "default", {"data": {"key": "2"}})
        self.core.delete_namespaced_config_map("w", "default")
        got = []
        for event in watch.Watch().stream(self.core.list_namespaced_config_map, "default",
                                          resource_version=before, timeout_seconds=300):
            got.append((event["type"], event["object"].metadata.name))
            if event["type"] == "DELETED":
                break
        self.assertEqual(got, [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")])

    def test_ends_in_time(self):
        self.core.create_namespaced_config_map("default", config_map("there", ends="yes"))
        self.assertEqual(self.events(timeout_seconds=1, label_selector="ends=yes"),
                         [("ADDED", "there")])

    def test_too_old(self):
        old = self.core.list_namespaced_config_map("default").metadata.resource_version
        self.core.create_namespaced_config_map("default", config_map("later"))
        # The history of changes begins anew with a host.
        self.host.stop()
        self.host.start()
        with self.assertRaises(ApiException) as caught:
            self.events(resource_version=old, timeout_seconds=5)
        self.assertEqual(caught.exception.status, 410)
        # What it says to do then works: list again and go on from there.
        listed = self.core.list_namespaced_config_map("default")
        self.assertIn("later", [c.metadata.name for c in listed.items])
        self.core.create_namespaced_config_map("default", config_map("latest"))
        self.assertEqual(self.events(resource_version=listed.metadata.resource_version,
                                     timeout_seconds=1), [("ADDED", "latest")])


class Dynamic(Python):
    def test_objects(self):
        dyn = dynamic.DynamicClient(self.api)
        queues = dyn.resources.get(api_version=f"{KUEUE}/v1beta2", kind="ClusterQueue")
        self.assertEqual([q.metadata.name for q in queues.get().items], ["cluster-queue"])
        maps = dyn.resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "dyn", "namespace": "default"}, "data": {"key": "1"}}
        maps.create(body=body, namespace="default")
        done = maps.patch(body={"metadata": {"labels": {"a": "b"}}}, name="dyn",
                          namespace="default", content_type="application/merge-patch+json")
        self.assertEqual(done.metadata.labels.a, "b")
        kinds = {e["type"] for e in maps.watch(namespace="default", timeout=1)}
        self.assertEqual(kinds, {"ADDED"})
        maps.delete(name="dyn", namespace="default")
        jobs = dyn.resources.get(api_version="batch/v1", kind="Job")
        self.assertEqual(jobs.get(namespace="default").kind, "JobList")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--build")
    options, rest = parser.parse_known_args()
    Python.sluice = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
