"""Kueue's released manager beside a control plane, without its webhooks.

    with Neighbour(cluster, program) as kueue:
        kueue.pause()
        …
        kueue.go_on()
"""
import signal
import subprocess

import yaml

from client import eventually
from control_plane import Process
from objects import GROUP
from ports import own_port

# Without certificates of its own making it looks for those of its metrics in one place of the
# system, which so becomes a folder of the test's, for this process alone.
START = 'mount --bind "$1" /etc && shift && exec "$@"'


NEEDS = "Kueue's manager needs a mount namespace of its own, which is not allowed here"


def may_run():
    return subprocess.run(["unshare", "--map-root-user", "--mount", "true"], check=False,
                          capture_output=True).returncode == 0


class Neighbour:
    def __init__(self, cluster, program, frameworks=("batch/job",), gates=()):
        self.cluster = cluster
        self.health = own_port()
        config = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"port": own_port(), "host": "127.0.0.1", "certDir": self.certificates()},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "clientConnection": {"qps": 500, "burst": 1000},
            "integrations": {"frameworks": list(frameworks)}}
        path = cluster.path("kueue.yaml")
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump(config, out)
        self.process = Process(
            cluster.folder, "kueue",
            ["unshare", "--map-root-user", "--mount", "sh", "-c", START, "sh",
             cluster.path("etc"), program, "--config", path,
             "--feature-gates=" + ",".join(["VisibilityOnDemand=false",
                                            *(f"{gate}=true" for gate in gates)])],
            KUBECONFIG=cluster.kubeconfig("admin"), POD_NAMESPACE="kueue-system")

    def certificates(self):
        """The folder of the webhooks' key pair; the one of the metrics is the same."""
        return self.cluster.key_pair_in(self.cluster.path("etc/kueue/metrics/certs"))

    def __enter__(self):
        self.process.start()
        eventually(self.works, "Kueue gives queues a status")
        return self

    def works(self):
        if self.process.process.poll() is not None:
            raise AssertionError("Kueue ended:\n" + self.process.log()[-3000:])
        queues = self.cluster.api.items(GROUP + "v1beta2/clusterqueues")
        return queues and all(each.get("status", {}).get("conditions") for each in queues)

    def is_healthy(self):
        return self.process.is_ready(self.health)

    def __exit__(self, *_):
        self.go_on()
        self.process.stop(kill=True)

    def pause(self):
        self.process.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.process.send_signal(signal.SIGCONT)
