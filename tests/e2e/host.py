"""A live host for end-to-end tests: started on a free port in a folder of its own, and ended.

    with Host(sluice) as host:
        host.kubectl("get", "ns")

Environment variables of the caller that name another cluster are not passed on.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77  # CTest: this test was skipped


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


class Host:
    def __init__(self, sluice, memory=False, extra="", plugins=None, tokens=None):
        """extra: more sections of the configuration. plugins: the text of its section plugins.
        tokens: {user: token} of further users."""
        self.sluice = sluice
        self.folder = tempfile.mkdtemp(prefix="sluice-e2e-")
        os.chmod(self.folder, 0o711)  # jobs run as other users, and look for files in it
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        self.config = os.path.join(self.folder, "sluice.yaml")
        store = "memory" if memory else os.path.join(self.folder, "data")
        self.port = self.asked = 0
        self.plugins = plugins or "{ load: [] }"
        self.tokens = ""
        if tokens:
            self.tokens = os.path.join(self.folder, "tokens")
            with open(os.open(self.tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                      encoding="utf-8") as out:
                out.writelines(f"{token},{user},{user}\n" for user, token in tokens.items())
        self.write_config(store, extra)
        self.process = None
        self.program = "kubectl"

    def write_config(self, store, extra, port=None):
        self.store, self.extra = store, extra
        port = self.port if port is None else port
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(
                "apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n"
                f"server: {{ address: '127.0.0.1:{port}', kubeconfig: {self.kubeconfig}"
                + (f", tokenFile: {self.tokens}" if self.tokens else "") + " }\n"
                "metrics: { address: '127.0.0.1:0' }\n"
                f"store: {{ path: {store} }}\nplugins: {self.plugins}\n" + extra)

    def reload(self, plugins):
        """The same host with other plugins; whether the configuration was taken."""
        self.plugins = plugins
        self.write_config(self.store, self.extra, self.asked)
        ends = ("the new configuration is in force", "the configuration was not reloaded")
        before = [self.log().count(each) for each in ends]
        self.process.send_signal(signal.SIGHUP)
        eventually(lambda: [self.log().count(each) for each in ends] != before, "a reload")
        self.write_config(self.store, self.extra)
        return self.log().count(ends[0]) > before[0]

    def launch(self):
        """The first line that it says: that it is ready, or nothing."""
        log = open(os.path.join(self.folder, "log"), "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [self.sluice, "serve", "--config", self.config],
            stdout=subprocess.PIPE, stderr=log, text=True, cwd=self.folder)
        log.close()
        return self.process.stdout.readline()

    def start(self):
        line = self.launch()
        # The free port that its metrics got may be the one at which it was before a restart.
        if not line and "Address already in use" in self.log().split("host: starting")[-1]:
            self.process.wait(timeout=180)
            line = self.launch()
        if not line.startswith("ready https://"):
            raise RuntimeError("the host did not start:\n" + self.log())
        self.address = line.split()[1]
        self.asked = self.port  # which a reload cannot change
        # A restart comes back at the same address: clients go on.
        self.port = int(self.address.rsplit(":", 1)[1])
        self.write_config(self.store, self.extra)
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return None
        self.process.send_signal(how)
        code = self.process.wait(timeout=180)
        self.process.stdout.close()
        self.process = None
        return code

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as text:
            return text.read()

    def environment(self, **more):
        keep = {key: value for key, value in os.environ.items() if not key.startswith("KUBE")}
        return keep | {"KUBECONFIG": self.kubeconfig, "HOME": self.folder} | more

    def command(self, *args):
        return [self.program, "--cache-dir", os.path.join(self.folder, "cache"), *args]

    def run(self, *args, stdin=None, **environment):
        """The finished process."""
        return subprocess.run(self.command(*args), input=stdin, capture_output=True, text=True,
                              timeout=300, env=self.environment(**environment), check=False)

    def kubectl(self, *args, stdin=None, **environment):
        """Standard output; an error of kubectl is an error here."""
        done = self.run(*args, stdin=stdin, **environment)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(args)}: {done.returncode}\n{done.stdout}"
                                 f"{done.stderr}\nhost:\n{self.log()[-2000:]}")
        return done.stdout

    def json(self, *args):
        return json.loads(self.kubectl(*args, "-o", "json"))

    def background(self, *args):
        """A kubectl that goes on; its standard output is a pipe."""
        return subprocess.Popen(self.command(*args), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment())


def eventually(condition, what, seconds=180):
    """Waits for something that happens by itself. A limit is there to end a test that fails, and
    costs nothing where it passes: it is far beyond what a slow and busy machine needs.
    what: a text, or what tells it when the time is over: how things stand then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"did not happen within {seconds} s: {what() if callable(what) else what}")
