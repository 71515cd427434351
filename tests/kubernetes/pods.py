"""What tests of pods without a job share: pods and queues of a control plane on which
`sluice controller` holds pods and lets them go, and who watches over it."""
from asked import Case as Asked
from client import eventually
from controller import WORKLOADS, holds, is_true
from history import History
from kubelet import NODE, PODS as ALL_PODS, now
from objects import GROUP

PODS = "/api/v1/namespaces/default/pods"
MINE = GROUP + "v1beta2/namespaces/default/workloads"
DOMAIN = "kueue.x-k8s.io/"
GATE = DOMAIN + "admission"
POOL = {"pool": "spot"}


def is_gated(pod):
    return any(each["name"] == GATE for each in pod["spec"].get("schedulingGates") or [])


class Case(Asked):
    plugins = ("--plugins", "flavor-fungibility,pod-groups")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api.merge("/api/v1/nodes/" + NODE, {"metadata": {"labels": POOL}})

    def setUp(self):
        self.running = self.controller()
        self.api.send("POST", GROUP + "v1beta2/resourceflavors", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
            "metadata": {"name": "spot"}, "spec": {"nodeLabels": POOL}})

    def queue(self, name, cpu, **more):
        self.kueue.cluster_queue(name, {"spot": str(cpu)}, **more)
        self.kueue.local_queue(name, name)

    def make_pod(self, name, queue, cpu="1", group=None, total=None, ns="default", labels=None,
                 owners=(), ends_in=None, **annotations):
        """Code and answer. Annotations without their domain, with _ for -; ends_in: as in
        kubelet.py."""
        metadata = {"name": name, "labels": dict(labels or {}), "annotations": {
            DOMAIN + key.replace("_", "-"): value for key, value in annotations.items()}}
        if queue:
            metadata["labels"][DOMAIN + "queue-name"] = queue
        if group:
            metadata["labels"][DOMAIN + "pod-group-name"] = group
            metadata["annotations"][DOMAIN + "pod-group-total-count"] = str(total)
        if ends_in:
            metadata["annotations"]["test/ends-in"] = ends_in
        if owners:
            metadata["ownerReferences"] = owners
        container = {"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}
        return self.api.send("POST", f"/api/v1/namespaces/{ns}/pods", {
            "metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}})

    def pod(self, name, *arguments, **more):
        """As it is stored; it runs until the test ends."""
        code, made = self.make_pod(name, *arguments, **more)
        self.assertEqual(code, 201, made)
        return made

    def stored(self, name):
        """None: it is not there."""
        code, answer = self.api.send("GET", f"{PODS}/{name}")
        return answer if code == 200 else None

    def runs(self, *names):
        for name in names:
            eventually(lambda pod=name: (self.stored(pod) or {}).get("status", {}).get("phase")
                       == "Running", f"{name} runs")

    def workload_of(self, pod):
        """The workload of a pod that is in no group."""
        uid = pod["metadata"]["uid"]
        return next((each for each in self.api.items(MINE) if uid in
                     [owner["uid"] for owner in each["metadata"].get("ownerReferences") or []]),
                    None)

    def workload(self, name):
        code, answer = self.api.send("GET", f"{MINE}/{name}")
        return answer if code == 200 else {}

    def ends(self, *names, phase="Succeeded"):
        """Their containers have ended."""
        for name in names:
            status = self.stored(name)["status"]["containerStatuses"][0]
            done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now()}}
            self.api.merge(f"{PODS}/{name}/status", {"status": {
                "phase": phase, "containerStatuses": [status | {"state": done, "ready": False}]}})

    def delete(self, *names):
        for name in names:
            self.api.send("DELETE", f"{PODS}/{name}")
        eventually(lambda: not [name for name in names if self.stored(name)],
                   f"{names} are gone")


class PodHistory:
    """Each version of the pods and workloads of a cluster from now on, in the order of the store,
    while pods ask for whole cpus of one queue."""

    def __init__(self, api, quota, besides=()):
        """`besides`: pods of another queue."""
        self.quota, self.besides = quota, besides
        eventually(lambda: api.send("GET", WORKLOADS)[0] == 200, "workloads are served")
        self.history = History(api, WORKLOADS, ALL_PODS)
        self.told_to_end = set()

    def some_came(self, number, is_over):
        wanted = len(self.history.seen) + number
        eventually(lambda: len(self.history.seen) >= wanted or is_over(), f"{number} more versions")

    def of_the_queue(self):
        for version, thing, gone in self.history.until_now():
            metadata = thing["metadata"]
            owners = [each["name"] for each in metadata.get("ownerReferences") or []]
            if not set([metadata["name"], *owners]) & set(self.besides):
                yield version, thing, gone

    def judge(self):
        """What was wrong at which version: a pod let go whose workload was not admitted; more
        granted than there is, with what runs on and was not even deleted."""
        workloads, running, gated, wrong = {}, {}, set(), []
        for version, thing, gone in self.of_the_queue():
            name, uid = thing["metadata"]["name"], thing["metadata"]["uid"]
            if "podSets" in thing["spec"]:
                workloads.pop(uid, None)
                if not gone:
                    workloads[uid] = thing
            else:
                self.see_pod(thing, gone, gated, running, workloads, wrong, version)
            held = {each["metadata"]["uid"]: each for each in workloads.values() if holds(each)}
            used = sum(granted(each) for each in held.values())
            used += sum(cpu for pod, (of, cpu) in running.items() if of not in held)
            if used > self.quota:
                wrong.append(f"at {version} ({name}) {used} cpu are used of {self.quota}")
        return wrong

    def judge_ends(self):
        """The same, with what runs until it has ended: a pod that is deleted, too, uses its cpus
        until its containers have ended, or nobody keeps it any more."""
        workloads, running, wrong = {}, {}, []
        for version, thing, gone in self.of_the_queue():
            metadata = thing["metadata"]
            uid = metadata["uid"]
            if "podSets" in thing["spec"]:
                workloads.pop(uid, None)
                if holds(thing) and not gone:
                    workloads[uid] = granted(thing)
            else:
                running.pop(uid, None)
                over = gone or thing["status"].get("phase") in ("Succeeded", "Failed") or \
                    metadata.get("deletionGracePeriodSeconds") == 0
                if thing["spec"].get("nodeName") and not over:
                    request = thing["spec"]["containers"][0]["resources"]["requests"]["cpu"]
                    running[uid] = ({owner["uid"] for owner in metadata.get(
                        "ownerReferences") or []}, int(request), metadata["name"])
            used = sum(cpu for _, cpu, _ in running.values())
            if used > self.quota:
                wrong.append(f"at {version} {[name for _, _, name in running.values()]} run on "
                             f"{used} cpu of {self.quota}")
            if sum(workloads.values()) > self.quota:
                wrong.append(f"at {version} {sum(workloads.values())} cpu of {self.quota} are held")
        return wrong

    def see_pod(self, pod, gone, gated, running, workloads, wrong, version):
        metadata, uid = pod["metadata"], pod["metadata"]["uid"]
        if any(each["type"] == "TerminationTarget" for each in pod["status"].get("conditions", [])):
            self.told_to_end.add(metadata["name"])
        if is_gated(pod):
            gated.add(uid)
            return
        over = gone or "deletionTimestamp" in metadata or \
            pod["status"].get("phase") in ("Succeeded", "Failed")
        if uid in gated and not over:
            mine = [each for each in workloads.values() if uid in
                    [owner["uid"] for owner in each["metadata"].get("ownerReferences") or []]]
            if not any(is_true(each, "Admitted") for each in mine):
                wrong.append(f"at {version} {metadata['name']} was let go without an admission")
            cpu = int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            running[uid] = (mine[0]["metadata"]["uid"] if mine else None, cpu)
        gated.discard(uid)
        if over:
            running.pop(uid, None)


def granted(workload):
    return sum(int(each["resourceUsage"].get("cpu", "0"))
               for each in workload["status"]["admission"]["podSetAssignments"])
