"""The work of a story of handovers.py: what users do, drawn, one thing after the other. What is
refused (somebody else wrote, or it is gone) did not happen."""
import concurrent.futures

from asked import JOBS
from controller import WORKLOADS, is_true
from handover_world import CHECK, CLASSES, PROBE
from kubelet import PODS as ALL_PODS
from pods import DOMAIN, GATE, MINE, PODS

APPS = "/apis/apps/v1/namespaces/default/"
MERGE = "application/merge-patch+json"
MANAGED = DOMAIN + "managed"


class Work:
    def __init__(self, api, drawn, world):
        self.api, self.drawn, self.world = api, drawn, world
        self.number = 0
        self.jobs, self.sets, self.groups = [], [], {}  # names; the groups' with how many pods
        self.disturbed = set()  # uids of what a user did something to that may stop it
        self.unasked = set()  # uids of jobs that were made to run at once
        self.done = []  # (resource version before, text)

    # ---- what is made

    def name(self, prefix):
        self.number += 1
        return f"{prefix}{self.number}"

    def labels(self, queue=None):
        labels = {DOMAIN + "queue-name": queue or self.drawn.choice(list(self.world.local))}
        if self.drawn.random() < 0.4:
            labels[DOMAIN + "priority-class"] = self.drawn.choice(list(CLASSES))
        return labels

    def shape(self, queue):
        """cpu of a pod, and how many."""
        cpu = self.drawn.randint(1, min(3, self.world.most(queue)))
        return cpu, self.drawn.randint(1, max(1, self.world.most(queue) // cpu))

    def template(self, cpu, **metadata):
        metadata.setdefault("annotations", {})["test/runs-for"] = \
            str(round(self.drawn.uniform(0.5, 6), 1))
        if self.drawn.random() < 0.2:
            metadata["annotations"]["test/ends-in"] = "1"
        return {"metadata": metadata, "spec": {
            "restartPolicy": "Never", "terminationGracePeriodSeconds": 2, "containers": [
                {"name": "c", "image": "none", "resources": {"requests": {"cpu": str(cpu)}}}]}}

    def gated(self, template, cpu, **annotations):
        """As Kueue's webhooks leave a template."""
        template["metadata"]["annotations"] |= {
            DOMAIN + key.replace("_", "-"): value for key, value in annotations.items()}
        template["metadata"]["annotations"].setdefault(DOMAIN + "role-hash", f"{cpu:08x}")
        template["spec"]["schedulingGates"] = [{"name": GATE}]
        return template

    def draw_job(self, name=None):
        drawn, labels = self.drawn, self.labels()
        cpu, pods = self.shape(labels[DOMAIN + "queue-name"])
        annotations = {}
        if pods > 1 and drawn.random() < 0.4:
            annotations[DOMAIN + "job-min-parallelism"] = str(drawn.randint(1, pods - 1))
        if drawn.random() < 0.06:
            labels[DOMAIN + "max-exec-time-seconds"] = "2"
        return {"metadata": {"name": name or self.name("job-"), "labels": labels,
                             "annotations": annotations},
                "spec": {"suspend": drawn.random() > 0.08, "parallelism": pods, "backoffLimit": 99,
                         "completions": pods * drawn.choice([1, 1, 2]),
                         "template": self.template(cpu)}}

    def put(self, job):
        code, answer = self.api.send("POST", JOBS, job)
        if code == 201 and job["metadata"]["name"] not in self.jobs:
            self.jobs.append(job["metadata"]["name"])
        if code == 201 and not job["spec"]["suspend"]:
            self.unasked.add(answer["metadata"]["uid"])
        return f"{code} job {job['metadata']['name']} {answer.get('message', '')}"

    def make_job(self):
        return self.put(self.draw_job())

    def burst(self):
        jobs = [self.draw_job() for _ in range(self.drawn.randint(4, 8))]
        if self.drawn.random() < 0.5:  # others have to go
            for each in jobs:
                each["metadata"]["labels"][DOMAIN + "priority-class"] = "high"
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self.put, jobs))
        return f"{len(jobs)} jobs {[each['metadata']['name'] for each in jobs]}"

    def probe(self):
        """A job that can be let in at once: its name."""
        name = self.name("probe-")
        template = self.template(1)
        template["metadata"]["annotations"]["test/runs-for"] = "0.2"
        self.put({"metadata": {"name": name, "labels": {DOMAIN + "queue-name": PROBE}},
                  "spec": {"suspend": True, "template": template}})
        return name

    def put_pod(self, name, cpu, labels, **annotations):
        pod = self.gated(self.template(cpu), cpu, **annotations)
        pod["metadata"] |= {"name": name, "finalizers": [MANAGED],
                            "labels": labels | {MANAGED: "true"}}
        return self.api.send("POST", PODS, pod)[0]

    def make_pod(self):
        labels, name = self.labels(), self.name("pod-")
        cpu = self.drawn.randint(1, min(3, self.world.most(labels[DOMAIN + "queue-name"])))
        return f"{self.put_pod(name, cpu, labels)} pod {name}"

    def make_group(self):
        labels, name = self.labels(), self.name("group-")
        most = self.world.most(labels[DOMAIN + "queue-name"])
        pods = self.drawn.randint(2, max(2, min(3, most)))
        if pods > most:
            return "no group fits"
        self.groups[name] = (pods, labels)
        codes = [self.put_in_group(name, f"{name}-{i}") for i in range(pods)]
        return f"{codes} group {name}"

    def put_in_group(self, group, name):
        pods, labels = self.groups[group]
        return self.put_pod(name, 1, labels, pod_group_name=group,
                            pod_group_total_count=str(pods))

    def make_set(self):
        kind = self.drawn.choice(["StatefulSet", "Deployment"])
        labels, name = self.labels(), self.name(kind.lower() + "-")
        replicas = self.drawn.randint(1, 2)
        template = self.gated(self.template(1, labels={"app": name}), 1,
                              pod_suspending_parent=kind.lower())
        del template["metadata"]["annotations"]["test/runs-for"]  # it runs until it is deleted
        template["spec"]["restartPolicy"] = "Always"
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                "template": template}
        if kind == "StatefulSet":
            spec["serviceName"] = name
        else:
            template["metadata"]["labels"] |= labels | {MANAGED: "true"}
        plural = kind.lower() + "s"
        code, _ = self.api.send("POST", APPS + plural, {
            "metadata": {"name": name, "labels": labels}, "spec": spec})
        self.sets.append(f"{plural}/{name}")
        return f"{code} {kind} {name} of {replicas}"

    # ---- what becomes of it

    def one_of(self, path):
        """Not a probe, nor what belongs to one."""
        return self.drawn.choice([each for each in self.api.items(path) if not each["metadata"][
            "name"].removeprefix("job-").startswith(PROBE)] or [None])

    def delete_job(self, again=False):
        job = self.one_of(JOBS)
        if not job:
            return "no job to delete"
        name = job["metadata"]["name"]
        policy = "Background" if again else self.drawn.choice(["Background", "Foreground"])
        code, _ = self.api.send("DELETE", f"{JOBS}/{name}", {"propagationPolicy": policy})
        if again:
            return f"{code} job {name} deleted, then " + self.put(self.draw_job(name))
        return f"{code} job {name} deleted, {policy}"

    def delete_set(self):
        if not self.sets:
            return "no set to delete"
        path = self.sets.pop(self.drawn.randrange(len(self.sets)))
        self.disturb_set(path)
        code, _ = self.api.send("DELETE", APPS + path, {"propagationPolicy": "Background"})
        return f"{code} {path} deleted"

    def scale_set(self):
        if not self.sets:
            return "no set to scale"
        path = self.drawn.choice(self.sets)
        replicas = self.drawn.randint(0, 2)
        if path.startswith("statefulsets"):  # through 0, as its webhook demands
            code, found = self.api.send("GET", APPS + path)
            if code != 200 or (replicas and found["status"].get("replicas")):
                replicas = 0
        self.disturb_set(path)
        code, _ = self.api.send("PATCH", APPS + path, {"spec": {"replicas": replicas}}, MERGE)
        return f"{code} {path} scaled to {replicas}"

    def disturb_set(self, path):
        self.disturbed.add(path.split("/")[1])

    def change_job(self):
        """Its number of pods, its class or its queue."""
        job = self.one_of(JOBS)
        if not job:
            return "no job to change"
        what = self.drawn.choice(["parallelism", "priority-class", "queue-name"])
        waits = job["spec"].get("suspend")
        partial = DOMAIN + "job-min-parallelism" in job["metadata"].get("annotations", {})
        if what == "parallelism" and not partial:
            most = max(1, job["spec"]["parallelism"])
            change = {"spec": {what: self.drawn.randint(1, most)}}
        elif what == "queue-name" and waits:
            queue = self.drawn.choice([each for each in self.world.local if self.world.most(each)
                                       >= self.world.most(job["metadata"]["labels"][
                                           DOMAIN + what])])
            change = {"metadata": {"labels": {DOMAIN + what: queue}}}
        else:
            change = {"metadata": {"labels": {DOMAIN + "priority-class":
                                              self.drawn.choice(list(CLASSES))}}}
        if "priority-class" not in str(change):
            self.disturbed.add(job["metadata"]["uid"])
        code, _ = self.api.send("PATCH", f"{JOBS}/{job['metadata']['name']}", change, MERGE)
        return f"{code} job {job['metadata']['name']} changed: {change}"

    def activate(self):
        """Or deactivate a workload."""
        workload = self.one_of(MINE)
        if not workload or is_true(workload, "Finished"):
            return "no workload to deactivate"
        name, active = workload["metadata"]["name"], workload["spec"].get("active", True)
        code, _ = self.api.send("PATCH", f"{MINE}/{name}", {"spec": {"active": not active}}, MERGE)
        return f"{code} workload {name} active: {not active}"

    def activate_all(self):
        for each in self.api.items(WORKLOADS):
            if not each["spec"].get("active", True) and not is_true(each, "Finished"):
                self.api.send("PATCH", f"{MINE}/{each['metadata']['name']}",
                              {"spec": {"active": True}}, MERGE)

    def delete_workload(self):
        workload = self.one_of(MINE)
        if not workload:
            return "no workload to delete"
        name = workload["metadata"]["name"]
        self.disturbed |= {each["uid"]
                           for each in workload["metadata"].get("ownerReferences") or []}
        code, _ = self.api.send("DELETE", f"{MINE}/{name}")
        return f"{code} workload {name} deleted"

    def delete_pod(self):
        found = [each for each in self.api.items(PODS) if MANAGED in each["metadata"].get(
            "finalizers", []) and "deletionTimestamp" not in each["metadata"]]
        if not found:
            return "no pod to delete"
        name = self.drawn.choice(found)["metadata"]["name"]
        self.disturbed.add(name)
        return f"{self.api.send('DELETE', f'{PODS}/{name}')[0]} pod {name} deleted"

    def replace(self):
        """Pods of groups that were stopped."""
        found, made = self.api.items(PODS), []
        over = {each["metadata"]["name"] for each in self.api.items(MINE)
                if is_true(each, "Finished")}
        for group, (number, _) in self.groups.items():
            if group in over:
                continue
            lasting = [each for each in found if each["metadata"].get("annotations", {}).get(
                DOMAIN + "pod-group-name") == group and "deletionTimestamp" not in each["metadata"]
                and each["status"].get("phase") != "Failed"]
            for _ in range(number - len(lasting) if 0 < len(lasting) or self.was(group, found)
                           else 0):
                name = self.name(group + "-r")
                made.append((self.put_in_group(group, name), name))
        return f"pods are replaced: {made}"

    @staticmethod
    def was(group, found):
        return any(each["metadata"].get("annotations", {}).get(DOMAIN + "pod-group-name") == group
                   for each in found)

    def answer_checks(self):
        """Who looks after the checks; now and then it wants another try."""
        for each in self.api.items(WORKLOADS) if self.world.has_check else []:
            states = each.get("status", {}).get("admissionChecks") or []
            if states and states[0]["state"] == "Pending" and is_true(each, "QuotaReserved") \
                    and self.drawn.random() < 0.6:
                state = "Retry" if self.drawn.random() < 0.1 else "Ready"
                self.api.send("PATCH", f"{MINE}/{each['metadata']['name']}/status", {
                    "metadata": {"resourceVersion": each["metadata"]["resourceVersion"]},
                    "status": {"admissionChecks": [
                        {**states[0], "name": CHECK, "state": state, "message": "by the test"}]}},
                              MERGE)

    # ---- all of it

    KINDS = (("make_job", 30), ("burst", 6), ("make_pod", 8), ("make_group", 6), ("make_set", 4),
             ("delete_job", 5), ("recreate", 3), ("delete_set", 2), ("scale_set", 4),
             ("change_job", 7), ("activate", 6), ("delete_workload", 2), ("delete_pod", 3),
             ("replace", 4), ("stop", 4), ("resume", 6), ("lower", 3), ("restore", 4))

    def act(self, at_most):
        """One of what may happen; nothing new comes while so many jobs are not done."""
        kind = self.drawn.choices([each for each, _ in self.KINDS],
                                  [weight for _, weight in self.KINDS])[0]
        if kind in ("make_job", "burst", "make_pod", "make_group") and self.open() > at_most:
            return
        version = self.version()
        if kind in ("stop", "resume", "lower", "restore"):
            told = getattr(self.world, kind)(self.api)
        else:
            told = self.delete_job(again=True) if kind == "recreate" else getattr(self, kind)()
        self.done.append((version, told))

    def version(self):
        """Of the store."""
        return int(self.api.get(ALL_PODS + "?limit=1")["metadata"]["resourceVersion"])

    def open(self):
        return sum(not is_true(each, "Finished") for each in self.api.items(WORKLOADS))
