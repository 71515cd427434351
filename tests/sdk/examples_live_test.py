#!/usr/bin/env python3
"""The examples of the kit in a live host, each beside the service that it asks: the budget check of
KEP-993's second story with a Prometheus, the HTTP check with a web service.

    examples_live_test.py --sluice build/dev/bin/sluice --e2e tests/e2e --kit build/dev/tests/kit
"""
import argparse
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--e2e", required=True, help="the folder of host.py")
OPTIONS.add_argument("--kit", required=True, help="where kit_test.py built the examples")
OPTIONS, REST = OPTIONS.parse_known_args()
OPTIONS.sluice = os.path.abspath(OPTIONS.sluice)
sys.path.insert(0, OPTIONS.e2e)

# pylint: disable=wrong-import-position
from host import eventually
from two_stages import GROUP, World

GROUP_VERSION = "kueue.x-k8s.io/v1beta2"
BUDGETS = "/apis/budgets.example.com/v1/namespaces/team/budgets"


class Service:
    """A web service: `answer(path, body)` gives the code and the JSON of each answer."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                length = int(self.headers.get("Content-Length", 0))
                code, body = answer(self.path, self.rfile.read(length).decode())
                text = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def end(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Live(unittest.TestCase):
    plugin = ""  # its folder among the examples
    controller = ""

    def start(self, answer, **config):
        """A host with the plugin; the service gives its URL to the key `url` names in config."""
        self.service = Service(answer)
        self.addCleanup(self.service.end)
        folder = tempfile.mkdtemp(prefix="sluice-examples-")
        self.addCleanup(shutil.rmtree, folder)
        built = os.path.join(OPTIONS.kit, "examples", self.plugin, "build")
        library, = glob.glob(f"{built}/**/{self.plugin}.so", recursive=True)
        shutil.copy(library, folder)
        config = {key: self.service.url + value[1:] if str(value).startswith("@") else value
                  for key, value in config.items()}
        entry = json.dumps({"name": self.plugin, "config": config})
        self.world = World(OPTIONS.sluice, f"{{ directory: {folder}, load: [ {entry} ] }}")
        self.addCleanup(self.world.end)
        self.world.flavor("f")
        self.world.create(f"{GROUP}/admissionchecks", {
            "metadata": {"name": "ask"}, "spec": {"controllerName": self.controller}})
        self.world.queue("q", ["ask"], {"f": 4})

    def says(self, workload, text):
        def message():
            listed = self.world.get(workload).get("status", {}).get("admissionChecks", [])
            return listed and text in listed[0].get("message", "")
        eventually(message, f"{text!r} about {workload}, not "
                   f"{self.world.get(workload).get('status')}")


class MinimumRuntime(unittest.TestCase):
    """In virtual time: who preempts waits until his victim has run long enough, and is told why."""

    def test_a_victim_runs_for_a_while(self):
        built = os.path.abspath(f"{OPTIONS.kit}/examples/minimum-runtime/build")
        with tempfile.TemporaryDirectory(prefix="sluice-examples-") as folder:
            with open(f"{folder}/sluice.yaml", "w", encoding="utf-8") as file:
                json.dump({"apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
                           "plugins": {"directory": built, "load": [
                               {"name": "minimum-runtime", "config": {"seconds": 600}}]}}, file)
            with open(f"{folder}/state.yaml", "w", encoding="utf-8") as file:
                json.dump({"apiVersion": "v1", "kind": "List", "items": self.objects()}, file)
            done = subprocess.run(
                [OPTIONS.sluice, "simulate", "--config", f"{folder}/sluice.yaml", "--log",
                 f"{folder}/log", f"{folder}/state.yaml"], check=True, stdout=subprocess.PIPE)
            self.assertIn(b'"type":"Summary"', done.stdout)
            with open(f"{folder}/log", encoding="utf-8") as file:
                log = [json.loads(line) for line in file]
        told = {(each["t"], each["type"]): each for each in log
                if each["workload"] == "team/urgent" or each["type"] == "Evicted"}
        self.assertIn("protected: they run for less than 600 s", told[60, "Pending"]["message"])
        # low was admitted at 0 s, so its 600 s are over at 600 s.
        self.assertEqual(told[600, "Evicted"]["workload"], "team/low")
        self.assertIn((600, "Admitted"), told)

    @staticmethod
    def objects():
        def workload(name, priority):
            return {"apiVersion": GROUP_VERSION, "kind": "Workload",
                    "metadata": {"namespace": "team", "name": name},
                    "spec": {"queueName": "q", "priority": priority, "podSets": [{
                        "name": "main", "count": 1, "template": {"spec": {
                            "restartPolicy": "Never", "containers": [{
                                "name": "c", "image": "i",
                                "resources": {"requests": {"cpu": "4"}}}]}}}]}}

        return [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
            {"apiVersion": GROUP_VERSION, "kind": "ResourceFlavor", "metadata": {"name": "f"}},
            {"apiVersion": GROUP_VERSION, "kind": "ClusterQueue", "metadata": {"name": "cq"},
             "spec": {"namespaceSelector": {},
                      "preemption": {"withinClusterQueue": "LowerPriority"},
                      "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                          {"name": "f", "resources": [{"name": "cpu", "nominalQuota": 4}]}]}]}},
            {"apiVersion": GROUP_VERSION, "kind": "LocalQueue",
             "metadata": {"namespace": "team", "name": "q"}, "spec": {"clusterQueue": "cq"}},
            workload("low", 0),
            {"apiVersion": "sluice.dev/v1alpha1", "kind": "Timeline", "events": [
                {"at": "60s", "apply": workload("urgent", 9)}]}]


class Approval(Live):
    plugin = "approval"
    controller = "example.com/approval"

    def test_somebody_else_approves_with_a_reason(self):
        self.start(lambda *_: (404, {}))
        world = self.world
        world.workload("train", "q", cpu="100m")
        world.workload("bad", "q", cpu="100m")
        self.says("train", "it waits for an Approval")
        approvals = "/apis/approvals.example.com/v1/namespaces/team/approvals"
        made = {"metadata": {"name": "ok"}, "spec": {"workload": "train", "by": "the director",
                                                     "reason": "budget agreed"}}
        # Who submitted it does not approve it.
        code, refused = world.rest.send("POST", approvals, made)
        self.assertEqual((code, "does not approve it" in refused["message"]), (422, True), refused)
        self.approve(made)
        world.becomes("train", "admitted")
        self.says("train", "approved by ann: budget agreed")
        self.approve({"metadata": {"name": "no"}, "spec": {"workload": "bad", "verdict": "Reject",
                                                           "reason": "no data"}})
        world.becomes("bad", "inactive")
        changed = world.patch(f"{approvals}/ok", {"spec": {"by": "bob"}}, expect=422)
        self.assertIn("is not changed", changed["message"])
        # What runs goes on without its approval, also when the host was killed.
        world.rest.send("DELETE", f"{approvals}/ok")
        world.crash()
        self.assertEqual(world.state("train"), "admitted")

    def approve(self, approval):
        """As ann, whom the administrator stands in for."""
        code, answer = self.world.rest.send(
            "POST", "/apis/approvals.example.com/v1/namespaces/team/approvals", approval,
            Impersonate_User="ann", Impersonate_Group="system:masters")
        self.assertEqual((code, answer.get("spec", {}).get("by")), (201, "ann"), answer)


class Budget(Live):
    plugin = "budget-check"
    controller = "example.com/budget"

    def test_holds_releases_and_stops(self):
        used, away = {"team": 100}, []

        def prometheus(path, _):
            if away:
                return 503, {}
            assert path.startswith("/api/v1/query?query=sum%20by%20%28namespace%29"), path
            return 200, {"status": "success", "data": {"resultType": "vector", "result": [
                {"metric": {"namespace": name}, "value": [0, str(value)]}
                for name, value in used.items()]}}

        self.start(prometheus, prometheus="@", intervalSeconds=1)
        world = self.world
        name = world.job("train", "q")
        world.becomes(name, "reserved")
        self.says(name, "namespace team has no Budget")
        world.create(BUDGETS, {"metadata": {"name": "weekly"}, "spec": {"weekly": 100}})
        self.says(name, "100 of 100 used this week, waiting for more budget")
        self.assertEqual(world.state(name), "reserved")
        budget = lambda: world.rest.get(f"{BUDGETS}/weekly").get("status")
        eventually(lambda: budget() == {"used": 100, "state": "Exhausted"}, "it is shown")
        # Somebody raises the budget.
        world.patch(f"{BUDGETS}/weekly", {"spec": {"weekly": 200}})
        world.becomes(name, "admitted")
        self.says(name, "100 of 200 used this week")
        job = lambda: world.rest.get("/apis/batch/v1/namespaces/team/jobs/train")
        eventually(lambda: job()["status"].get("active") == 1, "the job runs")
        shown = lambda: [line.split()[:4] for line in world.host.kubectl(
            "get", "budgets", "-n", "team").splitlines()]
        eventually(lambda: shown() == [["NAME", "WEEKLY", "USED", "STATE"],
                                       ["weekly", "200", "100", "Open"]], "it is open")
        # Prometheus is away, and the host is killed meanwhile: nobody is stopped.
        away.append(True)
        eventually(lambda: "what was used is not known" in world.host.log(), "it is logged")
        world.crash()
        self.assertEqual(world.state(name), "admitted")
        away.clear()
        # Too much was used: what runs is stopped, what wants to start waits.
        used["team"] = 250
        eventually(lambda: job()["spec"]["suspend"], "the job is stopped")
        self.says(name, "250 of 200 used this week, waiting for more budget")
        self.assertIn("stopped: 250 of 200", world.condition(name, "Evicted")["message"])
        # Monday.
        used.clear()
        world.becomes(name, "admitted")
        eventually(lambda: job()["status"].get("active") == 1, "the job runs again")


class Http(Live):
    plugin = "http-check"
    controller = "example.com/http"

    def test_a_web_service_decides(self):
        says, asked = {}, []

        def service(path, body):
            question = json.loads(body)
            name = question["workload"]["metadata"]["name"]
            asked.append((path, question["check"], name, question["attempt"]))
            return says.get(name, (500, {}))

        says["good"] = (200, {"state": "Ready", "message": "go", "podSetUpdates": [
            {"name": "main", "labels": {"by": "service"}}]})
        says["later"] = (200, {"state": "Retry", "message": "not now", "requeueAfterSeconds": 600})
        says["never"] = (200, {"state": "Rejected", "message": "no"})
        says["slow"] = (200, {"state": "Pending", "message": "thinking"})
        self.start(service, url="@/check", timeoutSeconds=60, askAgainSeconds=1)
        world = self.world
        for name, state in (("good", "admitted"), ("later", "pending"), ("never", "inactive"),
                            ("slow", "reserved"), ("broken", "reserved")):
            world.workload(name, "q", cpu="100m")
            world.becomes(name, state)
        self.says("slow", "thinking")
        self.assertEqual(world.get("good")["status"]["admissionChecks"][0]["podSetUpdates"],
                         [{"name": "main", "labels": {"by": "service"}}])
        self.assertIn('"ask" (not now)', world.condition("later", "Evicted")["message"])
        self.assertEqual(asked[0], ("/check", "ask", "good", 1))
        # It is asked again until it knows, also after it was away and after the host was killed.
        world.crash()
        says["slow"] = says["broken"] = (200, {"state": "Ready", "message": "go"})
        world.becomes("slow", "admitted")
        world.becomes("broken", "admitted")
        self.assertEqual({each[3] for each in asked}, {1})  # one attempt each, asked often


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)
