#!/usr/bin/env python3
"""Runs Kueue's own integration specs against `sluice controller` on a real control plane.

usage: run.py --sluice PROGRAM --programs FOLDER --work FOLDER [--compiled] [--focus RE] SUITE…

A suite is a folder below test/integration/singlecluster of the module sigs.k8s.io/kueue, say
scheduler or controller/jobs/job; the module, of the version that neighbour/go.mod names, has to be
in the cache of Go modules, and PROGRAMS is the folder that build.py fills. It is no test of the
suite: minutes per suite, and what fails is told, not judged.

What the specs run against is API server and etcd, as Kueue has it: no kube-controller-manager and
no scheduler, since specs write statuses themselves. Where a spec starts Kueue's manager this starts
a controller, with the configuration that the spec's setup was to have; where it starts none of
Kueue's schedulers a plugin keeps everybody from being admitted (nobody.c). In WORK are then the
copied module, the compiled specs, for each suite its report, what it printed, and for each
controller its configuration and log. specs.py has what is changed in the copy, framework.go,
util.go and metrics.go what is ours in it, suites.py what suites need beside.

What fails is not all wrong. Specs cannot pass that
- reach into the manager's process: its cache, feature gates after the start, a client that fails;
- complete evictions themselves, which are over at once here for workloads without jobs;
- count Kueue's tries, or read Kueue's queues' status in the instant in which they write;
- are about topologies, devices, finalizers on queues, and writes of statuses that are judged.
docs/kubernetes.md says what was found.
"""
import argparse
import base64
import json
import os
import re
import shutil
import ssl
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import yaml  # noqa: E402

import build  # noqa: E402
import serving  # noqa: E402
import specs  # noqa: E402
import suites  # noqa: E402
from client import Api, eventually  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from controller import Controller, samples_of  # noqa: E402
from objects import DEFINITIONS, established  # noqa: E402
from ports import own_port  # noqa: E402

HOOKS = "/apis/admissionregistration.k8s.io/v1/"
SECRET = "/api/v1/namespaces/sluice-system/secrets/sluice-webhook"
ROOT = os.path.normpath(os.path.join(HERE, *[os.pardir] * 3))
PAGES = os.path.join(ROOT, "packaging", "job-kinds")


class Run:
    """A suite: its control plane, and the controller that decides at the moment."""
    root = specs.SUITES  # the folder of the suites, in the module
    # Of what a cluster is given: the controllers are processes here.
    left_out = ("Deployment", "Service", "APIService")

    def __init__(self, options, suite):
        self.options, self.suite = options, suite
        self.folder = os.path.join(options.work, suite.replace("/", "+"))
        os.makedirs(self.folder, exist_ok=True)
        self.cluster = self.running = None
        self.started = 0
        self.port = own_port()

    def init(self, body):
        arguments = ["--disable-admission-plugins=ServiceAccount"]
        for flag, key in (("feature-gates", "gates"), ("runtime-config", "runtime"),
                          ("enable-admission-plugins", "plugins")):
            if body[key]:
                arguments.append(f"--{flag}=" + ",".join(body[key]))
        self.cluster = ControlPlane(build.find(self.options.programs, "control-plane"),
                                    controllers=False, api_arguments=arguments)
        self.cluster.start()
        self.define(body["definitions"])
        return {"kubeconfig": self.cluster.kubeconfig("admin")}

    def define(self, paths):
        """Gives the cluster the definitions of others, Sluice's, and Kueue's that it has not."""
        api = self.cluster.api
        for path in suites.definitions(paths, self.options.kueue):
            with open(path, encoding="utf-8") as text:
                for each in yaml.safe_load_all(text):
                    if each and each["kind"] == "CustomResourceDefinition":
                        each.pop("status", None)
                        api.send("POST", DEFINITIONS, each)
        pages = [os.path.join(PAGES, each + ".yaml")
                 for each in suites.SUITES.get(self.suite, {}).get("kinds", [])]
        objects = self.manifests(pages)
        for path in pages:
            with open(path, encoding="utf-8") as text:
                objects += [each for each in yaml.safe_load_all(text) if each]
        definitions = [each for each in objects if each["kind"] == "CustomResourceDefinition"]
        self.give(definitions)
        known = {each["metadata"]["name"] for each in definitions}
        bases = os.path.join(self.options.kueue, "config/components/crd/bases")
        for name in sorted(os.listdir(bases)):
            with open(os.path.join(bases, name), encoding="utf-8") as text:
                definition = yaml.safe_load(text)
            if definition["metadata"]["name"] not in known:
                api.post(DEFINITIONS, definition)
        eventually(lambda: all(established(each) for each in api.items(DEFINITIONS)),
                   "the definitions are established")
        # API servers ask a controller that is not there yet, so pages come before that.
        hooks = [each for each in objects if each["kind"].endswith("WebhookConfiguration")]
        self.give([each for each in objects if each not in definitions and each not in hooks])
        self.give(hooks)

    def rights(self):
        """The path of a configuration with which more may be done: jobs may be deleted."""
        path = os.path.join(self.folder, "rights.yaml")
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump({
                "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
                "objectRetentionPolicies": {"workloads": {"afterDeactivatedByKueue": "1h"}}}, out)
        return path

    def manifests(self, pages):
        """What a cluster is given."""
        more = ["--job-kinds", *pages] if pages else []
        kept = []
        for each in self.printed("--webhook-url", f"https://127.0.0.1:{self.port}", *more):
            if each["kind"] in self.left_out:
                continue
            if each["kind"].endswith("Binding"):
                each["subjects"].append({"apiGroup": "rbac.authorization.k8s.io",
                                         "kind": "Group", "name": "controllers"})
            kept.append(each)
        return kept

    def printed(self, *arguments):
        """What `sluice manifests` prints."""
        text = subprocess.run(
            [self.options.sluice, "manifests", "--config", self.rights(), "--plugins",
             ",".join(suites.plugins(self.suite)), *arguments],
            capture_output=True, text=True, check=True).stdout
        return list(yaml.safe_load_all(text))

    def give(self, objects):
        if objects:
            done = subprocess.run(
                ["kubectl", "--kubeconfig", self.cluster.kubeconfig("admin"), "apply", "-f", "-"],
                input=yaml.safe_dump_all(objects), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise AssertionError(done.stdout + done.stderr)

    def start(self, asked):
        """Starts a controller as the suite's setup would have started a manager."""
        names = suites.plugins(self.suite, asked)
        made = suites.configuration(self.suite, asked)
        path = os.path.join(self.folder, f"{self.started + 1}.yaml")
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump(made, out)
            out.write(f"# {json.dumps(asked)}\n# {names}\n")
        is_kueue = made["apiVersion"].startswith("config.kueue")
        loaded = ["--plugins", ",".join(names)] if is_kueue else []
        return self.decide(path, *loaded, "--webhook-address", f"127.0.0.1:{self.port}")

    def decide(self, configuration, *arguments):
        """Starts a controller, in place of the one before."""
        self.stop(None)
        self.started += 1
        self.running = Controller(self.options.sluice, self.cluster, "one", *arguments,
                                  "--config", configuration, "--log-level", "debug")
        self.running.log_path = os.path.join(self.folder, f"{self.started}.log")
        self.running.start()
        eventually(self.believed, "API servers believe the webhook")
        return {}

    def believed(self):
        """The authority of the Secret is wherever API servers look for it."""
        api = self.cluster.api
        code, secret = api.send("GET", SECRET)
        if code != 200:
            return False
        told = [each["clientConfig"].get("caBundle")
                for kind in ("mutating", "validating")
                for each in api.get(HOOKS + f"{kind}webhookconfigurations/sluice-controller")
                ["webhooks"]]
        for each in api.items(DEFINITIONS):
            if each["spec"]["conversion"]["strategy"] == "Webhook":
                told.append(each["spec"]["conversion"]["webhook"]["clientConfig"].get("caBundle"))
        return set(told) == {secret["data"]["ca.crt"]} and \
            all(api.send("GET", f"/apis/kueue.x-k8s.io/v1beta1/{each}")[0] == 200
                for each in ("workloads", "localqueues", "clusterqueues", "cohorts")) and \
            api.send("POST", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors?dryRun=All",
                     {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
                      "metadata": {"name": "tried"}, "spec": {}})[0] == 201

    def stop(self, _):
        if self.running is not None:
            self.running.stop()
        self.running = None
        return {}

    def end(self, _):
        self.stop(None)
        if self.cluster is not None:
            shutil.copy(self.cluster.path("audit.log"), os.path.join(self.folder, "audit.log"))
            self.cluster.stop()
        self.cluster = None
        return {}

    def page(self):
        """The controller's page of metrics."""
        with open(self.running.kubeconfig, encoding="utf-8") as text:
            told = yaml.safe_load(text)
        cluster, user = told["clusters"][0]["cluster"], told["users"][0]["user"]
        api = Api(cluster["server"], token=user["token"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        api.tls = ssl.create_default_context(cadata=authority)
        return api.get("/metrics")

    def metric(self, asks):
        """The value of the controller's sample of this name and these labels; else 0."""
        page = self.page()
        name = asks[0][1]
        wanted = {key: value for key, value in asks[1:] if key != "replica_role"}
        for sample, value in samples_of(page, name).items():
            found = re.fullmatch(r"([^{]+)(?:\{(.*)\})?", sample)
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(2) or ""))
            labels.pop("replica_role", None)
            if found.group(1) == name and labels == wanted:
                return value
        return 0

    def arguments(self):
        """Of the compiled specs, before those that the user gives."""
        return []

    def surroundings(self):
        """What is there before the specs begin, as their environment says it."""
        return {}

    def place(self):
        """The folder in which the specs run."""
        return self.folder

    def play(self):
        """Compiles and runs the suite; its report."""
        program = os.path.join(self.options.work, "bin", self.suite.replace("/", "+"))
        os.makedirs(os.path.dirname(program), exist_ok=True)
        if not self.options.compiled or not os.path.exists(program):
            specs.compile_suite(self.options.kueue, f"{self.root}/{self.suite}", program)
        server = serving.serve(self)
        report = os.path.join(self.folder, "report.json")
        command = [program, "--ginkgo.no-color", f"--ginkgo.json-report={report}",
                   "--ginkgo.timeout=3h", "--ginkgo.v", *self.arguments(), *self.options.more]
        for flag in ("focus", "skip"):
            if getattr(self.options, flag):
                command.append(f"--ginkgo.{flag}={getattr(self.options, flag)}")
        environment = os.environ | {
            "PROJECT_DIR": os.path.join(self.options.kueue, "x"), "ARTIFACTS": self.folder,
            "SUITES_SERVER": f"http://127.0.0.1:{server.server_port}"}
        try:
            environment |= self.surroundings()
            with open(os.path.join(self.folder, "output"), "w", encoding="utf-8") as out:
                subprocess.run(command, cwd=self.place(), env=environment, stdout=out,
                               stderr=out, check=False)
        finally:
            self.end(None)
            server.shutdown()
        with open(report, encoding="utf-8") as text:
            return json.load(text)


def with_nobody(sluice, work):
    """A copy of the program with its plugins, to which nobody.c is added; its path."""
    prefix = os.path.dirname(os.path.dirname(sluice))
    plugins = os.path.join(work, "kit", "lib", "sluice", "plugins")
    os.makedirs(os.path.join(work, "kit", "bin"), exist_ok=True)
    shutil.copy2(sluice, os.path.join(work, "kit", "bin", "sluice"))
    shutil.copytree(os.path.join(prefix, "lib", "sluice", "plugins"), plugins, dirs_exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", os.path.join(ROOT, "sdk", "include"),
                    os.path.join(HERE, "nobody.c"), "-o", os.path.join(plugins, "nobody.so")],
                   check=True)
    return os.path.join(work, "kit", "bin", "sluice")


def told(report):
    """Figures of a report, and what failed in it."""
    states, failed = {}, []
    for suite in report:
        for each in suite["SpecReports"] or []:
            if each["LeafNodeType"] != "It" and each["State"] == "passed":
                continue
            states[each["State"]] = states.get(each["State"], 0) + 1
            if each["State"] not in ("passed", "skipped", "pending"):
                failed.append((" ".join([*(each["ContainerHierarchyTexts"] or []),
                                         each["LeafNodeText"]]), each.get("Failure", {})))
    return states, failed


def main(kind=Run):
    parser = argparse.ArgumentParser()
    for name in ("--sluice", "--programs", "--work"):
        parser.add_argument(name, required=True)
    parser.add_argument("--focus")
    parser.add_argument("--skip")
    parser.add_argument("--compiled", action="store_true", help="what is compiled is new enough")
    parser.add_argument("suites", nargs="+")
    options, options.more = parser.parse_known_args()
    options.work = os.path.abspath(options.work)
    options.sluice = with_nobody(os.path.abspath(options.sluice), options.work)
    options.kueue = os.path.join(options.work, "kueue")
    version = build.version_of("neighbour", build.KUEUE)
    cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True,
                           check=True).stdout.strip()
    specs.copy(f"{cache}/{build.KUEUE}@{version}", options.kueue)
    for suite in options.suites:
        states, failed = told(kind(options, suite).play())
        for name, failure in failed:
            where = failure.get("Location", {})
            print(f"--- {name}\n    {where.get('FileName', '')}:{where.get('LineNumber', '')}\n"
                  f"    {failure.get('Message', '')[:600]}")
        print(suite, states, flush=True)


if __name__ == "__main__":
    main()
