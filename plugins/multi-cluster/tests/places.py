"""A manager and its workers: live hosts on this machine, for tests of work that goes elsewhere.

    with Places(sluice, workers=2) as places:
        places.submit("a", cpu=1)
        places.wait_for_end("a")

A job appends lines to a file of its own when it starts and when it ends, and `twice` when it runs
already: the witness of how often it ran, whatever became of its objects.
"""
import base64
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

from host import Host, eventually
from rest import Rest

GROUP = "/apis/kueue.x-k8s.io/v1beta2"
JOBS = "/apis/batch/v1/namespaces/team/jobs"
WORKLOADS = f"{GROUP}/namespaces/team/workloads"
MERGE = "application/merge-patch+json"
CHECK = "kueue.x-k8s.io/multikueue"


def is_true(thing, condition):
    return any(each["type"] == condition and each["status"] == "True"
               for each in thing.get("status", {}).get("conditions", []))


def nodes(cpus):
    """The executor of a host whose node has so many CPUs, whatever the machine has."""
    return (f"executor: {{ type: local, nodes: [ {{ name: n, capacity: {{ cpu: {cpus}, "
            f"memory: 64Gi, pods: {cpus + 100} }} }} ] }}\n")


def secret_of(name, kubeconfig):
    """The Secret by which a manager reaches a cluster; kubeconfig: its text."""
    return {"metadata": {"name": name, "namespace": "kueue-system"},
            "data": {"kubeconfig": base64.b64encode(kubeconfig.encode()).decode()}}


class Place:
    """A host with a queue."""

    def __init__(self, sluice, cpus, plugins=None, checks=(), extra=""):
        self.host = Host(sluice, plugins=plugins, extra=extra)
        self.host.start()
        self.rest = Rest(self.host.kubeconfig)
        self.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
        self.create(f"{GROUP}/resourceflavors", {"metadata": {"name": "f"}})
        spec = {"namespaceSelector": {}, "resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [
                {"name": "f", "resources": [{"name": "cpu", "nominalQuota": cpus}]}]}]}
        if checks:
            spec["admissionChecksStrategy"] = {
                "admissionChecks": [{"name": check} for check in checks]}
        self.create(f"{GROUP}/clusterqueues", {"metadata": {"name": "q"}, "spec": spec})
        self.create(f"{GROUP}/namespaces/team/localqueues",
                    {"metadata": {"name": "q"}, "spec": {"clusterQueue": "q"}})

    def create(self, path, body):
        code, answer = self.rest.send("POST", path, body)
        assert code == 201, f"{path}: {code} {answer}"
        return answer

    def patch(self, path, body):
        code, answer = self.rest.send("PATCH", path, body, MERGE)
        assert code == 200, f"{path}: {code} {answer}"
        return answer

    def name_clusters(self, kubeconfigs):
        """It is a manager of these from now on: texts of kubeconfigs, by the clusters' names. Its
        queues are to have the check `clusters`."""
        self.create("/api/v1/namespaces", {"metadata": {"name": "kueue-system"}})
        for name, text in kubeconfigs.items():
            self.create("/api/v1/namespaces/kueue-system/secrets", secret_of(name, text))
            self.create(f"{GROUP}/multikueueclusters", {
                "metadata": {"name": name},
                "spec": {"clusterSource": {"kubeConfig": {"location": name}}}})
        self.create(f"{GROUP}/multikueueconfigs",
                    {"metadata": {"name": "all"}, "spec": {"clusters": list(kubeconfigs)}})
        self.create(f"{GROUP}/admissionchecks", {"metadata": {"name": "clusters"}, "spec": {
            "controllerName": CHECK, "parameters": {
                "apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}}})

    def wait_active(self):
        eventually(lambda: is_true(self.rest.get(f"{GROUP}/clusterqueues/q"), "Active"),
                   "the queue of the manager is active")

    def items(self, path):
        return {each["metadata"]["name"]: each for each in self.rest.get(path)["items"]}

    def jobs(self):
        return self.items(JOBS)

    def workloads(self):
        return self.items(WORKLOADS)

    def used(self):
        """CPUs that its queue counts as taken."""
        status = self.rest.get(f"{GROUP}/clusterqueues/q")["status"]
        return int(status["flavorsReservation"][0]["resources"][0]["total"])

    def quota(self, cpus):
        self.patch(f"{GROUP}/clusterqueues/q", {"spec": {"resourceGroups": [{
            "coveredResources": ["cpu"], "flavors": [
                {"name": "f", "resources": [{"name": "cpu", "nominalQuota": cpus}]}]}]}})

    def metrics_address(self):
        """Of the present process: the last that the log tells of."""
        return re.findall(r"http://127\.0\.0\.1:\d+/metrics", self.host.log())[-1]

    def kill(self):
        self.host.stop(signal.SIGKILL)

    def restart(self):
        self.host.start()

    def backup(self):
        """The path of a copy of its store as it is now."""
        path = os.path.join(self.host.folder, "backup.db")
        subprocess.run([self.host.sluice, "store", "backup", self.host.store, path], check=True,
                       capture_output=True, timeout=300)
        return path

    def go_back_to(self, backup):
        """It is not running. Its store is the backup from now on, as docs/store.md says."""
        subprocess.run([self.host.sluice, "store", "restore", self.host.store, backup], check=True,
                       capture_output=True, timeout=300)

    def disk(self):
        """The path of a copy of its disk. It is not running."""
        path = os.path.join(self.host.folder, "disk")
        shutil.copytree(self.host.store, path)
        return path

    def put_back(self, disk):
        """Its whole disk is that copy from now on, and nobody was told. It is not running; who
        runs its pods may be, and writes how they ended: aside, where it is not looked for."""
        os.rename(self.host.store, self.host.store + "-before")
        os.rename(disk, self.host.store)

    def version(self):
        """Of its last change."""
        return int(self.rest.get(f"{GROUP}/clusterqueues")["metadata"]["resourceVersion"])


class Places:
    def __init__(self, sluice, workers=2, cpus=4, manager_cpus=100, around=None, room=64,
                 beside=(), **config):
        """sluice: the program, or a function from the name of a host to its program. cpus: of each
        worker, or a list; room: of its node; beside: plugins of all hosts; config: of the plugin.
        around(index, worker): the port at which the manager reaches it, else its own."""
        program = sluice if callable(sluice) else lambda name: sluice
        self.around = around or (lambda index, worker: worker.host.port)
        self.folder = tempfile.mkdtemp(prefix="sluice-places-")
        os.chmod(self.folder, 0o711)  # jobs write into files in it
        self.cpus = cpus if isinstance(cpus, list) else [cpus] * workers
        self.config = {"workerLostTimeoutSeconds": 600, "kubeconfigFolder": self.folder} | config
        others = self.others = "".join(f"{{ name: {name} }}, " for name in beside)
        self.workers = [Place(program(f"worker{i + 1}"), each, f"{{ load: [ {others}] }}",
                              extra=nodes(room))
                        for i, each in enumerate(self.cpus)]
        self.manager = self.make_manager(program("manager"), manager_cpus)
        self.name_clusters()

    def make_manager(self, program, cpus, **config):
        text = ", ".join(f"{key}: {value}" for key, value in (self.config | config).items())
        plugins = f"{{ load: [ {self.others}{{ name: multi-cluster, config: {{ {text} }} }} ] }}"
        return Place(program, cpus, plugins, ["clusters"], extra="executor: { type: none }\n")

    def add_manager(self, origin, cpus=100):
        """Another one of the same workers, connected; whoever asks for it ends it."""
        manager = self.make_manager(self.manager.host.sluice, cpus, origin=origin)
        manager.name_clusters({f"worker{i + 1}": self.kubeconfig(each)
                               for i, each in enumerate(self.workers)})
        manager.wait_active()
        return manager

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for place in [self.manager, *self.workers]:
            place.host.__exit__()
        self.end_orphans()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_orphans(self):
        """Pods of a host that was killed and never came back have nobody who ends them."""
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as text:
                    if self.folder.encode() in text.read():
                        os.killpg(pid, signal.SIGKILL)
            except OSError:
                pass  # it has ended, or leads no group

    def kubeconfig(self, worker):
        """By which the manager reaches it."""
        port = self.around(self.workers.index(worker), worker)
        with open(worker.host.kubeconfig, encoding="utf-8") as text:
            return text.read().replace(f":{worker.host.port}", f":{port}")

    def name_clusters(self):
        workers = {f"worker{i + 1}": worker for i, worker in enumerate(self.workers)}
        self.manager.name_clusters({name: self.kubeconfig(each) for name, each in workers.items()})
        self.wait_connected(list(workers))

    def wait_connected(self, names):
        eventually(lambda: all(is_true(self.cluster(name), "Active") for name in names),
                   lambda: f"{names} are connected: {[self.cluster(n) for n in names]}")
        self.manager.wait_active()

    def cluster(self, name):
        return self.manager.rest.get(f"{GROUP}/multikueueclusters/{name}")

    def active(self, name):
        """The condition of a cluster."""
        return next((each for each in self.cluster(name).get("status", {}).get("conditions", [])
                     if each["type"] == "Active"), {})

    # ---- jobs

    def witness(self, name):
        return os.path.join(self.folder, name + ".runs")

    def submit(self, name, cpu=1, then="true", runtime=None, alone=True, **spec):
        """`then`: what it does between start and end; runtime: how long it says that it takes;
        alone: it may never run in two places at a time."""
        file = self.witness(name)
        for each in (file, file + ".lock"):
            with open(each, "a", encoding="utf-8"):
                os.chmod(each, 0o666)  # jobs run as a user of their namespace
        # Whoever has the lock runs, until the last of its processes has ended.
        lock = f"exec 9>> {file}.lock; flock -n 9 || echo twice >> {file}; " if alone else ""
        script = (f'{lock}trap "exit 1" TERM; echo start >> {file}; {then}; echo end >> {file}')
        self.manager.create(JOBS, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"}},
            "spec": {"suspend": True, "backoffLimit": 0, **spec, "template": {
                "metadata": {"annotations": {"sluice.dev/runtime": runtime} if runtime else {}},
                "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                         "containers": [{"name": "main", "image": "none",
                                         "command": ["sh", "-c", script],
                                         "resources": {"requests": {"cpu": str(cpu)}}}]}}}})

    def submit_elastic(self, name, size, go):
        """A job of so many pods that run until there is a file `go`."""
        self.manager.create(JOBS, {
            "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "q"},
                         "annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
            "spec": {"parallelism": size, "template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "main", "image": "none",
                                "command": ["sh", "-c", f"until [ -e {go} ]; do sleep 0.1; done"],
                                "resources": {"requests": {"cpu": "1"}}}]}}}})

    def resize(self, name, size):
        self.manager.patch(f"{JOBS}/{name}", {"spec": {"parallelism": size}})

    @staticmethod
    def slices(place, name):
        """Of the job at the place, by size: how they stand."""
        out = []
        for workload in place.workloads().values():
            owners = workload["metadata"].get("ownerReferences", [{"name": ""}])
            if owners[0]["name"] != name:
                continue
            ends = [each["reason"] for each in workload.get("status", {}).get("conditions", [])
                    if each["type"] == "Finished"]
            how = ends[0] if ends else "Admitted" if is_true(workload, "Admitted") else "waits"
            out.append((how, workload["spec"]["podSets"][0]["count"]))
        return sorted(out, key=lambda each: (each[1], each[0]))

    def worker_of(self, name):
        """At which the job is; None: at none."""
        return next((worker for worker in self.workers if name in worker.jobs()), None)

    def runs(self, name):
        """How often it was started, and how often it came to its end."""
        if not os.path.exists(self.witness(name)):
            return 0, 0
        with open(self.witness(name), encoding="utf-8") as text:
            lines = text.read().split("\n")
        assert "twice" not in lines, f"{name} ran in two places at once: {lines}"
        return lines.count("start"), lines.count("end")

    def wait_started(self, name, times=1):
        eventually(lambda: self.runs(name)[0] >= times,
                   lambda: f"{name} runs {times} times: {self.runs(name)}, {self.workload(name)}, "
                           f"copies {self.copies()}")

    def wait_shown(self, name, pods):
        """The manager shows a job that was started, with so many pods."""
        def shown():
            job = self.manager.jobs()[name]
            return not job["spec"]["suspend"] and job.get("status", {}).get("active") == pods
        eventually(shown, lambda: f"{name} shows {pods} pods: {self.manager.jobs()[name]}")

    def workload(self, name):
        """Of the job, at the manager; {} without one."""
        return next((each for each in self.manager.workloads().values()
                     if any(owner["name"] == name
                            for owner in each["metadata"].get("ownerReferences", []))), {})

    def check(self, name):
        return next(iter(self.workload(name).get("status", {}).get("admissionChecks", [])), {})

    def chosen(self, name):
        return self.workload(name).get("status", {}).get("clusterName")

    def wait_for_end(self, name, condition="Complete"):
        eventually(lambda: is_true(self.manager.jobs()[name], condition),
                   f"{name} is {condition}")
        eventually(lambda: is_true(self.workload(name), "Finished"), f"{name} is finished")

    def metric(self, name, label):
        """The sum of the manager's series of a metric with this label; 0 without any."""
        with urllib.request.urlopen(self.manager.metrics_address(), timeout=180) as answer:
            lines = answer.read().decode().split("\n")
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines
                   if line.startswith(name + "{") and f'"{label}"' in line)

    def copies(self):
        """What there is of jobs and workloads at the workers."""
        return [(i + 1, kind, name) for i, worker in enumerate(self.workers) if worker.host.process
                for kind, all_of in (("job", worker.jobs()), ("workload", worker.workloads()))
                for name in all_of]

    def wait_quiet(self):
        eventually(lambda: not self.copies(), "no copy is left at any worker")
