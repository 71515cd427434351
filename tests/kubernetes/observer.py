"""`sluice observe`, run once or as a process that goes on."""
import json
import os
import signal
import subprocess


def observe(sluice, kubeconfig, *arguments):
    """The finished process."""
    return subprocess.run([sluice, "observe", "--kubeconfig", kubeconfig, *arguments],
                          capture_output=True, text=True, timeout=300, check=False)


def compare(sluice, kubeconfig, *arguments):
    """The document, with the workloads by their key; and the exit status."""
    done = observe(sluice, kubeconfig, "--compare", "-o", "json", *arguments)
    if done.returncode not in (0, 3):
        raise AssertionError(f"observe --compare: {done.returncode}\n{done.stderr}")
    document = json.loads(done.stdout)
    document["workloads"] = {f"{each['namespace']}/{each['name']}": each
                             for each in document["workloads"]}
    return document, done.returncode


class Observer:
    """A running observer, and what clients see of it."""

    def __init__(self, sluice, kubeconfig, folder):
        self.folder = folder
        self.kubeconfig = os.path.join(folder, "observer.kubeconfig")
        self.log_path = os.path.join(folder, "observer.log")
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sluice, "observe", "--kubeconfig", kubeconfig, "--address", "127.0.0.1:0",
                 "--write-kubeconfig", self.kubeconfig],
                stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready https://"):
            raise AssertionError("no observer:\n" + self.log())

    def log(self):
        with open(self.log_path, encoding="utf-8") as text:
            return text.read()

    def kubectl(self, *arguments):
        """The finished process."""
        return subprocess.run(
            ["kubectl", "--kubeconfig", self.kubeconfig, "--cache-dir",
             os.path.join(self.folder, "cache"), *arguments],
            capture_output=True, text=True, timeout=180, check=False)

    def names(self, plural):
        """Of all objects of the kind, as the observer has them now."""
        done = self.kubectl("get", plural, "-A", "-o", "jsonpath={.items[*].metadata.name}")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return set(done.stdout.split())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.code = self.process.wait(timeout=180)
        self.process.stdout.close()
