#!/usr/bin/env python3
"""The webhooks of `sluice controller` on a real control plane: what is stored of what users create,
what is refused and in which words, versions, and what happens while nobody answers."""
import yaml

import build
from asked import JOBS, QUEUES, SECRET, WRONG, Case
from client import eventually
from host import Host
from objects import GROUP, Kueue


class Webhooks(Case):
    def test_all_that_is_promised(self):
        """One cluster for all of it: a control plane takes longer to start than this."""
        controller = self.controller()
        self.kueue.flavor("default")
        self.kueue.cluster_queue("q", {"default": "2"})
        self.kueue.local_queue("q", "q")
        self.held_and_admitted()
        self.refused_in_the_words_of_a_host()
        self.read_in_both_versions()
        self.guarded()
        self.give(self.manifests())  # again: whom API servers trust stays
        self.assertTrue(self.believed())
        status, told = self.doctor()
        self.assertEqual(status, 0, told)
        self.assertIn("API servers are answered", told)
        self.away(controller)

    def held_and_admitted(self):
        code, made = self.job("train", "q")
        self.assertEqual((code, made["spec"]["suspend"]), (201, True), made)
        self.assertEqual(made["metadata"]["annotations"]["sluice.dev/created-by"], "admin")
        eventually(lambda: self.stored("train").get("status", {}).get("succeeded") == 1,
                   "it was admitted, and ran")
        code, made = self.job("large", "q", cpu="9")
        self.assertEqual((code, made["spec"]["suspend"]), (201, True))
        code, free = self.job("free")
        self.assertEqual((code, free["spec"]["suspend"]), (201, False))
        self.assertNotIn("sluice.dev/created-by", free["metadata"].get("annotations") or {})

    def refused_in_the_words_of_a_host(self):
        code, answer = self.api.send("POST", QUEUES, WRONG)
        with Host(self.sluice, memory=True, extra="executor: { type: none }\n",
                  plugins="{ load: [] }") as host:
            told = host.run("create", "-f", "-", stdin=yaml.safe_dump(WRONG)).stderr
        self.assertEqual(code, 422, answer)
        said = answer["message"].split("denied the request: ", 1)[1].split("is invalid: ", 1)[1]
        self.assertIn("must be greater than or equal to 0", said)
        self.assertIn(said, told)
        code, answer = self.job("soon", "q", backoffLimit=-1)
        self.assertEqual(code, 422, answer)

    def read_in_both_versions(self):
        old = Kueue(self.api, "v1beta1")
        made = old.cluster_queue("older", {"default": "3"}, cohort="c")
        self.assertEqual((made["apiVersion"], made["spec"]["cohort"]),
                         ("kueue.x-k8s.io/v1beta1", "c"))
        path = GROUP + "{}/clusterqueues/older"
        self.assertEqual(self.api.get(path.format("v1beta2"))["spec"]["cohortName"], "c")
        self.assertEqual(self.api.get(path.format("v1beta1"))["spec"]["cohort"], "c")
        names = [each["metadata"]["name"] for each in
                 self.api.items(GROUP + "v1beta1/clusterqueues")]
        self.assertEqual(names, ["older", "q"])
        changed = self.api.merge(path.format("v1beta1"), {"spec": {"cohort": "d"}})
        self.assertEqual(changed["spec"]["cohort"], "d")
        self.assertEqual(self.api.get(path.format("v1beta2"))["spec"]["cohortName"], "d")
        # Judged in the stored version, told in the words for it.
        code, answer = self.api.send(
            "PATCH", path.format("v1beta1"),
            {"spec": {"resourceGroups": WRONG["spec"]["resourceGroups"]}},
            "application/merge-patch+json")
        self.assertEqual(code, 422, answer)

    def guarded(self):
        """What the controller notes in a job is not for others to write."""
        note = {"metadata": {"annotations": {"sluice.dev/started-with": "{}"}}}
        self.assertNotIn("sluice.dev/started-with",
                         self.api.merge(f"{JOBS}/large", note)["metadata"]["annotations"])

    def away(self, controller):
        """Nobody answers: nothing begins that should wait. And another replica goes on."""
        controller.kill()
        code, answer = self.job("meanwhile", "q")
        self.assertEqual(code, 500, answer)
        self.assertIn("failed calling webhook \"jobs.sluice.dev\"", answer["message"])
        status, told = self.doctor()
        self.assertEqual(status, 3, told)
        self.assertIn("→ no controller is ready: kubectl -n sluice-system get pods", told)
        before = self.api.get(SECRET)["data"]
        self.controller("other")
        self.assertEqual(self.api.get(SECRET)["data"], before)
        code, made = self.job("meanwhile", "q")
        self.assertEqual((code, made["spec"]["suspend"]), (201, True), made)
        eventually(lambda: self.stored("meanwhile").get("status", {}).get("succeeded") == 1,
                   "it was admitted, and ran")


class WithPlugins(Case):
    """Pods that have no quota yet: made by Kubernetes' own controllers, held by a plugin's gate."""
    plugins = ("--plugins", "elastic-jobs")
    pods_path = "/api/v1/namespaces/default/pods"

    def gated(self):
        return [each["metadata"]["name"] for each in self.api.items(self.pods_path)
                if each["spec"].get("schedulingGates")]

    def running(self):
        return [each for each in self.api.items(self.pods_path)
                if each["status"].get("phase") == "Running"]

    def test_pods_wait_for_quota_behind_a_gate(self):
        self.controller()
        self.kueue.flavor("default")
        self.kueue.cluster_queue("q", {"default": "4"})
        self.kueue.local_queue("q", "q")
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": "1"}}}
        self.api.post(JOBS, {
            "metadata": {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "q"},
                         "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
            "spec": {"parallelism": 2, "completions": 100, "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}})
        eventually(lambda: len(self.running()) == 2, "two pods run")
        self.assertEqual(self.gated(), [])
        self.api.merge(f"{JOBS}/train", {"spec": {"parallelism": 6}})
        eventually(lambda: len(self.gated()) == 4, "four more wait")
        code, answer = self.api.send("PATCH", f"{self.pods_path}/{self.gated()[0]}",
                                     {"spec": {"schedulingGates": None}},
                                     "application/merge-patch+json")
        self.assertEqual(code, 422, answer)
        self.assertIn("is lifted by the system", answer["message"])
        self.api.merge(f"{JOBS}/train", {"spec": {"parallelism": 4}})
        eventually(lambda: len(self.running()) == 4, "four run")
        self.api.merge(f"{JOBS}/train", {"spec": {"parallelism": 6}})
        eventually(lambda: len(self.gated()) == 2, "two more wait")
        groups = [{"coveredResources": ["cpu"], "flavors": [
            {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "6"}]}]}]
        self.api.merge(f"{QUEUES}/q", {"spec": {"resourceGroups": groups}})
        eventually(lambda: len(self.running()) == 6, "all six run")
        self.assertEqual(self.gated(), [])


if __name__ == "__main__":
    build.run_tests(Case)
