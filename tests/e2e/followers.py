"""Processes that follow a host as if it were a cluster: `sluice observe`, `sluice controller`."""
import os
import select
import signal
import subprocess
import time

CONFIGURATION = """apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
metrics: { address: '127.0.0.1:0' }
plugins: { load: [] }
"""


class Follower:
    """`command`: observe or controller. `extra`: more sections of its configuration."""

    def __init__(self, host, command, extra=""):
        self.name, self.host, self.process = command, host, None
        self.config = os.path.join(host.folder, f"{command}.yaml")
        self.kubeconfig = os.path.join(host.folder, f"{command}.kubeconfig")
        self.command = [host.sluice, command, "--config", self.config, "--kubeconfig",
                        host.kubeconfig, "--address", "127.0.0.1:0", "--write-kubeconfig",
                        self.kubeconfig]
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION + extra)

    def start(self):
        with open(self.log_path, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log,
                                            cwd=self.host.folder)
        said, end = b"", time.monotonic() + 180
        while b"ready" not in said:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise AssertionError(f"{self.name} was not ready in time:\n{self.log()}")
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                raise AssertionError(f"{self.name} ended:\n{self.log()}")
            said += piece
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=180)
            self.process.stdout.close()
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    @property
    def log_path(self):
        return os.path.join(self.host.folder, f"{self.name}.log")

    def log(self):
        with open(self.log_path, encoding="utf-8") as text:
            return text.read()

    def sluice(self, *arguments, stdin=None):
        """The finished process of a client of it."""
        return subprocess.run([self.host.sluice, *arguments], input=stdin, capture_output=True,
                              text=True, timeout=180, check=False,
                              env=self.host.environment(KUBECONFIG=self.kubeconfig))
