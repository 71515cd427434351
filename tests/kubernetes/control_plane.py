"""A real control plane for tests: etcd, kube-apiserver, kube-controller-manager and kube-scheduler
as processes on loopback, in a folder of its own.

    with ControlPlane(program) as cluster:
        cluster.api.post("/api/v1/namespaces", {…})
        cluster.api_server.restart()

The program is that of control-plane/ (see build.py). Every request of every user is in the audit
log: cluster.requests_of("observer").
"""
import json
import os
import shutil
import socket
import subprocess
import tempfile

import yaml

from client import Api, eventually
from ports import own_port

# The cluster's own controllers are who they are in any cluster, each with an account of its own.
MANAGER, SCHEDULER = "system:kube-controller-manager", "system:kube-scheduler"
TOKENS = {"admin": ("admin-token", "system:masters"), "observer": ("observer-token", "observers"),
          MANAGER: ("manager-token", ""), SCHEDULER: ("scheduler-token", ""),
          "nobody": ("nobody-token", ""),
          "one": ("one-token", "controllers"), "other": ("other-token", "controllers")}
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
         "rules": [{"level": "None", "userGroups": ["system:masters"]},
                   {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},
                   {"level": "None", "users": [MANAGER, SCHEDULER]}, {"level": "Metadata"}]}


def own_address():
    """An address of this machine that endpoints may have; None: it is alone in the world."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it chooses a way
            found = probe.getsockname()[0]
        except OSError:
            return None
    return None if found.startswith("127.") else found


class Process:
    """A process of the cluster: its log is in the cluster's folder."""

    def __init__(self, folder, name, command, **environment):
        self.folder, self.name, self.command = folder, name, command
        self.environment = environment
        self.process = None

    def start(self):
        with open(os.path.join(self.folder, self.name + ".log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, cwd=self.folder,
                env=os.environ | {"GOMAXPROCS": "2"} | self.environment)
        return self

    def is_ready(self, port):
        """Whether it says so itself, at its port for health."""
        if self.process.poll() is not None:
            raise AssertionError(f"{self.name} ended:\n" + self.log()[-3000:])
        try:
            return Api(f"http://127.0.0.1:{port}").send("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def stop(self, kill=False):
        if self.process is None:
            return
        (self.process.kill if kill else self.process.terminate)()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def log(self):
        with open(os.path.join(self.folder, self.name + ".log"), encoding="utf-8") as text:
            return text.read()


class ControlPlane:
    def __init__(self, program, controllers=True, api_arguments=()):
        """controllers: with kube-controller-manager and kube-scheduler."""
        self.folder = tempfile.mkdtemp(prefix="sluice-kube-")
        self.program = os.path.abspath(program)
        self.ports = {name: own_port()
                      for name in ("etcd", "peer", "api", "manager", "scheduler")}
        self.server = f"https://127.0.0.1:{self.ports['api']}"
        self.make_certificates()
        self.make_files()
        self.etcd = self.of("etcd", self.etcd_arguments())
        self.api_server = self.of("kube-apiserver", self.api_arguments() + list(api_arguments))
        self.others = []
        if controllers:
            self.others = [self.of("kube-controller-manager", self.manager_arguments()),
                           self.of("kube-scheduler", self.scheduler_arguments())]
        self.api = Api(self.server, self.path("ca.crt"), "admin-token")

    def path(self, name):
        return os.path.join(self.folder, name)

    def of(self, name, arguments):
        """The process of this name: the program looks at what it is called by."""
        link = self.path(name)
        os.symlink(self.program, link)
        return Process(self.folder, name, [link, *arguments])

    def make_certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.folder, check=True,
                           capture_output=True)

        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        for authority in ("ca", "proxy-ca"):
            openssl("req", "-x509", *key, "-keyout", authority + ".key", "-out",
                    authority + ".crt", "-days", "30", "-subj", "/CN=test-" + authority)
        client = "extendedKeyUsage=clientAuth"
        self.issue(openssl, key, "server", "/CN=kube-apiserver",
                   "subjectAltName=IP:127.0.0.1,DNS:localhost")
        self.issue(openssl, key, "admin", "/O=system:masters/CN=admin", client)
        # With what the API server passes requests on; one that it does not; and one by its name.
        self.issue(openssl, key, "front-proxy", "/CN=front-proxy", client, "proxy-ca")
        self.issue(openssl, key, "no-proxy", "/CN=no-proxy", client, "proxy-ca")
        self.issue(openssl, key, "impostor", "/CN=front-proxy", client)
        openssl("genrsa", "-out", "accounts.key", "2048")

    @staticmethod
    def issue(openssl, key, name, subject, extension, authority="ca"):
        openssl("req", "-new", *key, "-keyout", name + ".key", "-out", name + ".csr",
                "-subj", subject, "-addext", extension)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", authority + ".crt", "-CAkey",
                authority + ".key", "-CAcreateserial", "-out", name + ".crt", "-days", "30",
                "-copy_extensions", "copy")

    def key_pair_in(self, folder):
        """For servers of others on loopback: the folder, with the names that they look for."""
        os.makedirs(folder)
        for name in ("crt", "key"):
            os.symlink(self.path("server." + name), os.path.join(folder, "tls." + name))
        return folder

    def make_files(self):
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as out:
            for name, (token, group) in TOKENS.items():
                out.write(f"{token},{name},{name}" + (f',"{group}"\n' if group else "\n"))
        with open(self.path("audit.yaml"), "w", encoding="utf-8") as out:
            json.dump(AUDIT, out)
        self.kubeconfig("admin")

    def kubeconfig(self, user, server=None, **more):
        """The path of a kubeconfig of this user; more: of the user's entry, in place of his
        token."""
        name = self.path(f"{user}-{len(os.listdir(self.folder))}.kubeconfig")
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            "clusters": [{"name": "test", "cluster": {
                "server": server or self.server, "certificate-authority": "ca.crt"}}],
            "users": [{"name": user, "user": more or {"token": TOKENS[user][0]}}]}
        with open(name, "w", encoding="utf-8") as out:
            yaml.safe_dump(config, out)
        return name

    def etcd_arguments(self):
        client = f"http://127.0.0.1:{self.ports['etcd']}"
        peer = f"http://127.0.0.1:{self.ports['peer']}"
        return ["--data-dir", self.path("etcd-data"), "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer]

    def api_arguments(self):
        return [f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
                "--service-cluster-ip-range=10.0.0.0/24", f"--secure-port={self.ports['api']}",
                "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                "--endpoint-reconciler-type=none", "--cert-dir=" + self.folder,
                "--tls-cert-file=" + self.path("server.crt"),
                "--tls-private-key-file=" + self.path("server.key"),
                "--client-ca-file=" + self.path("ca.crt"),
                "--service-account-key-file=" + self.path("accounts.key"),
                "--service-account-signing-key-file=" + self.path("accounts.key"),
                "--service-account-issuer=https://kubernetes.default.svc",
                "--token-auth-file=" + self.path("tokens.csv"), "--authorization-mode=RBAC",
                "--audit-policy-file=" + self.path("audit.yaml"),
                "--audit-log-path=" + self.path("audit.log"), "--audit-log-mode=blocking",
                "--requestheader-client-ca-file=" + self.path("proxy-ca.crt"),
                "--requestheader-allowed-names=front-proxy",
                "--requestheader-username-headers=X-Remote-User",
                "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                "--proxy-client-cert-file=" + self.path("front-proxy.crt"),
                "--proxy-client-key-file=" + self.path("front-proxy.key"),
                "--enable-aggregator-routing", "--profiling=false"]

    def manager_arguments(self):
        return ["--kubeconfig=" + self.kubeconfig(MANAGER), "--leader-elect=false",
                "--use-service-account-credentials=true",
                f"--secure-port={self.ports['manager']}", "--bind-address=127.0.0.1",
                "--cert-dir=" + self.folder, "--controllers=*,-nodelifecycle",
                "--service-account-private-key-file=" + self.path("accounts.key")]

    def scheduler_arguments(self):
        return ["--kubeconfig=" + self.kubeconfig(SCHEDULER), "--leader-elect=false",
                f"--secure-port={self.ports['scheduler']}", "--bind-address=127.0.0.1",
                "--cert-dir=" + self.folder]

    def start(self):
        self.etcd.start()
        self.start_api_server()
        for each in self.others:
            each.start()
        return self

    def start_api_server(self):
        self.api_server.start()
        eventually(self.ready, "the API server is ready")

    def ready(self):
        if self.api_server.process.poll() is not None:
            raise AssertionError("kube-apiserver ended:\n" + self.api_server.log()[-3000:])
        try:  # it makes this namespace itself, somewhat later
            return all(self.api.send("GET", path)[0] == 200
                       for path in ("/readyz", "/api/v1/namespaces/default"))
        except OSError:
            return False

    def restart_api_server(self):
        self.api_server.stop(kill=True)
        self.start_api_server()

    def compact(self):
        """Forgets the history up to now, as etcd does every five minutes."""
        base = f"http://127.0.0.1:{self.ports['etcd']}"
        put = Api(base).post("/v3/kv/put", {"key": "Y29tcGFjdA==", "value": ""})
        Api(base).post("/v3/kv/compaction",
                       {"revision": put["header"]["revision"], "physical": True})

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for each in [*self.others, self.api_server, self.etcd]:
            each.stop(kill=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def requests_of(self, user):
        """(verb, resource, code) of each request of the user, as the API server logged them."""
        with open(self.path("audit.log"), encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines if line.endswith("\n")]
        return [(each["verb"], each.get("objectRef", {}).get("resource", ""),
                 each.get("responseStatus", {}).get("code"))
                for each in events if each["user"].get("username") == user]

    def let_observe(self):
        """The user observer may read, and nothing else."""
        self.api.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
            "metadata": {"name": "observer"},
            "rules": [{"apiGroups": ["*"], "resources": ["*"],
                       "verbs": ["get", "list", "watch"]}]})
        self.api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "observer"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "observer"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                          "name": "observers"}]})
