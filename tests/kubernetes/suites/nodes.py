"""Nodes on which pods do what the images of Kueue's end-to-end specs do: agnhost, by its commands.

    with Nodes(cluster.api, cpu="64") as nodes:
        nodes.exit("namespace", "pod", 0)

entrypoint-tester ends at once with 0; the others run until they are deleted, or somebody has them
exit. Then netexec and pause end with 0, and test-webserver, which hears no signal, is killed. What
always restarts is not seen to end before it is deleted.
"""
import time

from kubelet import Kubelet

FAST = "entrypoint-tester"
DEAF = "test-webserver"
TAKES = 1  # seconds, until what ends by itself has ended
KILLED = 137


class Nodes(Kubelet):
    nodes = {"kind-worker": {"instance-type": "on-demand", "kubernetes.io/hostname": "kind-worker"},
             "kind-worker2": {"instance-type": "spot", "kubernetes.io/hostname": "kind-worker2"}}

    def __init__(self, api, cpu):
        super().__init__(api, cpu)
        self.addresses = 0
        self.ends = {}  # when the containers of a pod end, by its uid, and with which code

    def exit(self, namespace, name, code):
        """Has the containers of a pod end."""
        pod = self.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
        self.ends[pod["metadata"]["uid"]] = (time.monotonic(), code)

    def keep(self, pod):
        metadata, phase = pod["metadata"], pod["status"].get("phase", "Pending")
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        if phase in ("Succeeded", "Failed"):
            if metadata.get("deletionGracePeriodSeconds"):  # 0: it is for others to let it go
                self.api.send("DELETE", path, {"gracePeriodSeconds": 0})
            return
        begun = time.monotonic()
        if "deletionTimestamp" in metadata:
            deaf = DEAF in words_of(pod)
            takes = min(TAKES, metadata["deletionGracePeriodSeconds"]) if deaf else 0
            self.ends.setdefault(metadata["uid"], (begun + takes, KILLED if deaf else 0))
        elif phase == "Pending":
            self.addresses += 1
            address = f"10.1.{self.addresses // 250}.{self.addresses % 250 + 1}"
            if FAST in words_of(pod) and pod["spec"].get("restartPolicy") != "Always":
                self.ends[metadata["uid"]] = (begun + TAKES, 0)
            self.tell(path, pod, "Running", podIP=address, podIPs=[{"ip": address}])
            return
        ends, code = self.ends.get(metadata["uid"], (float("inf"), 0))
        if begun >= ends:
            self.tell(path, pod, "Failed" if code else "Succeeded", code)


def words_of(pod):
    """What the first container of a pod runs."""
    container = pod["spec"]["containers"][0]
    return [*(container.get("command") or []), *(container.get("args") or [])]
