#!/usr/bin/env python3
"""The live quick start: a host on this machine, two teams, real jobs.

usage: quickstart.py --sluice BINARY --folder FOLDER [--exit]

Starts `sluice serve` with a fresh store in FOLDER, applies the queues and the jobs of the examples,
shows how the jobs are queued, admitted, stopped and finished, and keeps serving until Ctrl-C.
--exit ends it when the jobs are finished, with an error when one of them failed.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TEAMS = ("team-a", "team-b")
TIMEOUT_S = 180


def fail(text):
    sys.exit(f"error: {text}")


class Host:
    """The process, and kubectl pointed at it."""

    def __init__(self, sluice, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder = folder
        config = (HERE / "sluice.yaml").read_text()
        for port in ("6443", "9464"):
            config = config.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port(int(port))}")
        (folder / "sluice.yaml").write_text(config)
        self.log = (folder / "sluice.log").open("w")
        self.process = subprocess.Popen(
            [str(sluice), "serve", "--config", "sluice.yaml"], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=self.log, start_new_session=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            self.process.wait()
            fail("the host did not start:\n" + (folder / "sluice.log").read_text())
        self.address = line.split()[1]
        self.kubeconfig = folder / line.split()[3]
        self.env = dict(os.environ, KUBECONFIG=str(self.kubeconfig))

    def kubectl(self, *args, quiet=False):
        done = subprocess.run(
            ["kubectl", f"--cache-dir={self.folder / 'kubectl-cache'}", *args], env=self.env,
            text=True, capture_output=True)
        if done.returncode != 0 and not quiet:
            fail(f"kubectl {' '.join(args)}: {done.stderr.strip()}\n"
                 f"the host's log is {self.folder / 'sluice.log'}")
        return done.stdout

    def list(self, what):
        return json.loads(self.kubectl("get", what, "--all-namespaces", "-o", "json"))["items"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            fail("the host did not end within 30 s")


def free_port(wanted):
    """`wanted`, or another one when somebody has it."""
    import socket
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return probe.getsockname()[1]
            except OSError:
                continue
    fail("no port is free on 127.0.0.1")


def condition(item, kind):
    for entry in item.get("status", {}).get("conditions", []):
        if entry["type"] == kind:
            return entry
    return {"status": "Unknown"}


def state_of(job, workload):
    if condition(job, "Complete")["status"] == "True":
        return "Finished", ""
    if condition(job, "Failed")["status"] == "True":
        return "Failed", condition(job, "Failed").get("message", "")
    if workload is None:
        return "Submitted", ""
    if condition(workload, "Admitted")["status"] == "True":
        status = job.get("status", {})
        pods = f"{status.get('active', 0)} running, {status.get('succeeded', 0)} done"
        flavors = workload["status"]["admission"]["podSetAssignments"][0]["flavors"]
        return "Admitted", f"{pods}, on {flavors['cpu']}"
    again = "Evicted, waits" if condition(workload, "Evicted")["status"] == "True" else "Waits"
    return again, condition(workload, "QuotaReserved").get("message", "")


def table(host):
    workloads = {}
    for workload in host.list("workloads.kueue.x-k8s.io"):
        for owner in workload["metadata"].get("ownerReferences", []):
            workloads[owner["uid"]] = workload
    rows, states = [], []
    for job in host.list("jobs.batch"):
        meta = job["metadata"]
        state, detail = state_of(job, workloads.get(meta["uid"]))
        states.append(state)
        rows.append(f"{meta['namespace'] + '/' + meta['name']:<20} {state:<15} {detail[:90]}")
    return rows, states


def watch(host):
    """Shows the table until all jobs have ended; whether all succeeded."""
    live, shown, began = sys.stdout.isatty(), [], time.monotonic()
    while True:
        rows, states = table(host)
        if rows != shown:
            if live and shown:
                print(f"\x1b[{len(shown)}F\x1b[J", end="")
            elif shown:
                print()
            print("\n".join(rows), flush=True)
            shown = rows
        if states and all(state in ("Finished", "Failed") for state in states):
            return all(state == "Finished" for state in states)
        if time.monotonic() - began > TIMEOUT_S:
            fail(f"the jobs did not end within {TIMEOUT_S} s")
        time.sleep(0.3)


def main():
    parser = argparse.ArgumentParser(description="The live quick start")
    parser.add_argument("--sluice", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--exit", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    host = Host(options.sluice.resolve(), options.folder.resolve())
    try:
        print(f"the host answers at {host.address}; its log is {host.folder}/sluice.log\n")
        queues = HERE.parent / "quickstart"
        host.kubectl("apply", "-f", str(queues / "1-capacity.yaml"), "-f",
                     str(queues / "2-teams.yaml"))
        host.kubectl("create", "-f", str(HERE / "team-a.yaml"))
        while condition(admitted_train(host), "Admitted")["status"] != "True":
            time.sleep(0.1)
        host.kubectl("create", "-f", str(HERE / "team-b.yaml"))
        succeeded = watch(host)
        print("\nwhat one of them wrote (kubectl logs -n team-b job/hotfix):")
        print(host.kubectl("logs", "-n", "team-b", "job/hotfix"), end="")
        if options.exit:
            return 0 if succeeded else 1
        go_on(host)
        return 0
    except KeyboardInterrupt:
        return 0
    finally:
        host.stop()


def admitted_train(host):
    for workload in host.list("workloads.kueue.x-k8s.io"):
        if workload["metadata"]["name"].startswith("job-train-"):
            return workload
    return {}


def go_on(host):
    print(f"""
It goes on serving until Ctrl-C. In another terminal:
  export KUBECONFIG={host.kubeconfig}
  kubectl get clusterqueues,localqueues,jobs,workloads -A
  kubectl describe workloads -n team-a
  kubectl create -f {HERE / 'team-a.yaml'} --dry-run=server
  kubectl explain clusterqueue.spec.preemption""")
    host.process.wait()


if __name__ == "__main__":
    sys.exit(main())
