#!/usr/bin/env python3
"""Real kubectl against a live host: jobs and their pods, from their creation to their end.

    kubectl_jobs_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]
"""
import json
import os

from host import eventually
from kubectl_live import JOB, Kubectl, main


class Jobs(Kubectl):
    def test_server_side_apply_of_a_job_that_was_applied(self):
        """What the host put into it is nobody's to take away."""
        job = JOB.format(name="migrated", script="sleep 100", cpu="1")
        job = job.replace("  suspend: true\n", "")  # which the host changes meanwhile
        self.kubectl("apply", "-f", "-", stdin=job)
        for _ in range(2):
            done = self.host.run("apply", "--server-side", "-f", "-", stdin=job)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(self.host.json("get", "job", "migrated")["spec"]["selector"])
        self.kubectl("delete", "job", "migrated")

    def test_a_job_runs(self):
        job = JOB.format(name="hello", script="echo one; echo two; echo three", cpu="1")
        self.kubectl("apply", "-f", "-", stdin=job)
        self.kubectl("wait", "--for=condition=complete", "job/hello", "--timeout=180s")
        self.assertRegex(self.kubectl("get", "job", "hello"), r"hello +Complete +1/1")
        self.assertEqual(self.kubectl("logs", "job/hello"), "one\ntwo\nthree\n")
        self.assertEqual(self.kubectl("logs", "job/hello", "--tail=1"), "three\n")
        self.assertEqual(self.kubectl("logs", "job/hello", "--limit-bytes=5"), "one\nt")
        self.assertEqual(self.kubectl("logs", "job/hello", "-f"), "one\ntwo\nthree\n")
        self.assertEqual(self.kubectl("logs", "job/hello", "--since=1h"), "one\ntwo\nthree\n")
        self.assertRegex(self.kubectl("logs", "job/hello", "--timestamps", "--tail=1"),
                         r"^\d{4}-\d\d-\d\dT\S+Z three\n$")
        pods = self.host.json("get", "pods", "-l", "job-name=hello")["items"]
        self.assertEqual(len(pods), 1)
        self.assertEqual(pods[0]["status"]["phase"], "Succeeded")
        self.assertEqual(self.kubectl("logs", "job/hello", "-c", "main", "--tail=2"),
                         "two\nthree\n")
        self.assertEqual(self.kubectl("logs", "-l", "job-name=hello", "--tail=1"), "three\n")
        self.assertIn("container nothing is not valid",
                      self.refused("logs", "job/hello", "-c", "nothing"))
        described = self.says(r"Normal +Completed ", "describe", "job", "hello")
        self.assertRegex(described, r"Pods Statuses: +0 .* / 1 Succeeded / 0 Failed")
        for reason in ("CreatedWorkload", "Started", "SuccessfulCreate"):
            self.assertRegex(described, r"Normal +" + reason + " ")
        described = self.says(r"Normal +Scheduled .*Successfully assigned default/hello-",
                              "describe", "pod", "-l", "job-name=hello")
        self.assertRegex(described, r"Controlled By: +Job/hello")
        self.assertRegex(described, r"Exit Code: +0")
        workload = self.host.json("get", "workloads", "-l",
                                  "kueue.x-k8s.io/job-uid=" + self.uid("job", "hello"))["items"][0]
        name = workload["metadata"]["name"]
        self.assertTrue(name.startswith("job-hello-"))
        self.kubectl("wait", "--for=condition=Finished", f"workload/{name}", "--timeout=180s")
        described = self.says(r"Normal +QuotaReserved ", "describe", "workload", name)
        self.assertRegex(described, r"Memory: +100Mi")
        self.assertIn("Pod Set Assignments", described)
        self.assertRegex(self.kubectl("get", "workload", name, "-o", "wide"),
                         name + r" +user-queue +cluster-queue +True +True .*Succeeded")
        listed = self.says(r"job/hello +Created Workload: default/" + name, "get", "events",
                           "--sort-by=.metadata.creationTimestamp")
        self.assertRegex(listed, r"LAST SEEN +TYPE +REASON +OBJECT +MESSAGE")
        self.assertIn("Admitted", self.kubectl("get", "events", "--field-selector",
                                               f"involvedObject.name={name},reason=Admitted"))
        if self.minor >= 26:
            self.assertIn("Admitted", self.kubectl("events", "--for", f"workload/{name}"))
        self.kubectl("delete", "job", "hello")
        eventually(lambda: not self.kubectl("get", "pods,workloads", "-o", "name").strip()
                   or f"workload.kueue.x-k8s.io/{name}"
                   not in self.kubectl("get", "workloads", "-o", "name"), "its workload is gone")

    def test_describe_queues(self):
        described = self.says(r"Message: +Can admit new workloads", "describe", "cq",
                              "cluster-queue")
        self.assertRegex(described, r"Nominal Quota: +9")
        self.assertRegex(described, r"Pending Workloads: +\d")
        self.says(r"Message: +Can submit new workloads to localQueue", "describe", "lq",
                  "user-queue")
        self.assertRegex(self.kubectl("describe", "ns", "default"), r"Status: +Active")
        self.assertRegex(self.kubectl("describe", "rf"), r"Name: +default-flavor")

    def test_a_job_is_seen_to_end(self):
        watch = self.host.background("get", "jobs", "-l", "seen=yes", "-w", "--no-headers")
        try:
            text = JOB.format(name="seen", script="true", cpu="1").replace(
                "labels: {", "labels: { seen: 'yes',")
            self.kubectl("apply", "-f", "-", stdin=text)
            for line in watch.stdout:
                self.assertTrue(line.startswith("seen "), line)
                if " Complete " in line:
                    break
            else:
                self.fail("the watch ended")
        finally:
            watch.kill()
            watch.communicate()
        self.kubectl("delete", "job", "seen")

    def test_a_pod_without_a_job(self):
        self.kubectl("run", "alone", "--image=any", "--restart=Never", "--command", "--", "echo",
                     "hi")
        eventually(lambda: self.host.json("get", "pod", "alone")["status"]["phase"] == "Succeeded",
                   "the pod ends")
        self.assertEqual(self.kubectl("logs", "alone"), "hi\n")
        self.assertIn("alone", self.kubectl("get", "pods", "--field-selector",
                                            "status.phase=Succeeded"))
        self.kubectl("delete", "pod", "alone")

    def test_a_job_that_fails(self):
        text = JOB.format(name="fails", script="echo no; exit 3", cpu="1").replace(
            "parallelism: 1", "parallelism: 1\n  backoffLimit: 0")
        self.kubectl("apply", "-f", "-", stdin=text)
        self.kubectl("wait", "--for=condition=failed", "job/fails", "--timeout=180s")
        self.assertRegex(self.kubectl("get", "job", "fails"), r"fails +Failed +0/1")
        described = self.kubectl("describe", "pod", "-l", "job-name=fails")
        self.assertRegex(described, r"Exit Code: +3")
        self.assertIn("BackoffLimitExceeded", self.kubectl("describe", "job", "fails"))
        self.assertEqual(self.kubectl("logs", "-l", "job-name=fails"), "no\n")
        self.kubectl("delete", "job", "fails")

    def test_deletion_of_what_belongs_to_a_job(self):
        for how in ("background", "foreground", "orphan"):
            name = "del-" + how
            self.kubectl("apply", "-f", "-", stdin=JOB.format(name=name, script="true", cpu="1"))
        for how in ("background", "foreground", "orphan"):
            name = "del-" + how
            pods = ["pods", "-l", f"job-name={name}"]
            self.kubectl("wait", "--for=condition=complete", f"job/{name}", "--timeout=180s")
            pod = self.kubectl("get", *pods, "-o", "name").strip()
            self.kubectl("delete", "job", name, f"--cascade={how}")
            self.assertIn("NotFound", self.refused("get", "job", name))
            if how == "orphan":
                left = self.host.json("get", pod)
                self.assertEqual(left["metadata"].get("ownerReferences", []), [])
                self.kubectl("delete", pod)
            self.gone(pod)

    def uid(self, kind, name):
        return self.host.json("get", kind, name)["metadata"]["uid"]

    def test_logs_are_followed(self):
        gate = os.path.join(self.host.folder, "gate")
        script = f"echo begin; while [ ! -e {gate} ]; do sleep 0.05; done; echo end"
        self.kubectl("apply", "-f", "-", stdin=JOB.format(name="follow", script=script, cpu="1"))
        eventually(lambda: "Running" in self.kubectl("get", "pods", "-l", "job-name=follow"),
                   "the pod runs")
        logs = self.host.background("logs", "-f", "job/follow")
        try:
            self.assertEqual(logs.stdout.readline(), "begin\n")
            with open(gate, "w", encoding="utf-8"):
                pass
            self.assertEqual(logs.stdout.readline(), "end\n")
            self.assertEqual(logs.wait(timeout=180), 0)
        finally:
            logs.kill()
            logs.communicate()
        self.kubectl("delete", "job", "follow")

    def test_a_large_job_waits(self):
        self.kubectl("apply", "-f", "-", stdin=JOB.format(name="large", script="true", cpu="100"))
        condition = eventually(
            lambda: [c for w in self.host.json("get", "workloads")["items"]
                     for c in w.get("status", {}).get("conditions", [])
                     if w["metadata"]["name"].startswith("job-large-")
                     and c["type"] == "QuotaReserved"], "its workload is judged")[0]
        self.assertEqual(condition["status"], "False")
        self.assertIn("insufficient", condition["message"])
        pending = json.loads(self.kubectl(
            "get", "--raw", "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cluster-queue"
            "/pendingworkloads"))
        self.assertTrue(any(item["metadata"]["name"].startswith("job-large-")
                            for item in pending["items"]), pending)
        self.kubectl("delete", "job", "large")


if __name__ == "__main__":
    main()
