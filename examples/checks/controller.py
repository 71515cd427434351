#!/usr/bin/env python3
"""An admission check controller outside of the host: nothing but the API and the standard library.

    controller.py --kubeconfig sluice-data/kubeconfig --controller example.com/hours --hours 8 18

It says Ready between these hours of the day, and otherwise Retry until they begin. A workload says
with the annotation `example.com/any-hour: "true"` that it may start at any time. The shape is that
of any controller: list, watch from there on, answer for each reservation once, start over when the
watch ends.
"""
import argparse
import base64
import datetime
import json
import re
import ssl
import sys
import urllib.error
import urllib.request

GROUP = "/apis/kueue.x-k8s.io/v1beta2"


class Api:
    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as text:
            config = text.read()
        self.server = re.search(r"server: (\S+)", config).group(1)
        self.token = re.search(r"token: (\S+)", config).group(1)
        authority = re.search(r"certificate-authority-data: (\S+)", config).group(1)
        self.tls = ssl.create_default_context(cadata=base64.b64decode(authority).decode())

    def open(self, path, verb="GET", body=None):
        request = urllib.request.Request(self.server + path, method=verb,
                                         data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization", "Bearer " + self.token)
        request.add_header("Content-Type", "application/merge-patch+json")
        return urllib.request.urlopen(request, context=self.tls, timeout=300)

    def get(self, path):
        with self.open(path) as answer:
            return json.load(answer)

    def watch(self, path, version):
        """Objects as they change, until the server ends the watch."""
        with self.open(f"{path}?watch=1&resourceVersion={version}") as answer:
            for line in answer:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    yield event["object"]


def has_quota(workload):
    return any(c["type"] == "QuotaReserved" and c["status"] == "True"
               for c in workload.get("status", {}).get("conditions", []))


def decide(workload, hours, now):
    """State, message and delay: the part that is yours to write."""
    if workload["metadata"].get("annotations", {}).get("example.com/any-hour") == "true":
        return "Ready", "it may start at any hour", None
    begin, end = hours
    if begin <= now.hour < end:
        return "Ready", f"it is {now:%H:%M}", None
    start = now.replace(hour=begin, minute=0, second=0, microsecond=0)
    if start <= now:
        start += datetime.timedelta(days=1)
    return "Retry", f"nothing starts before {begin}:00", int((start - now).total_seconds())


def answer(api, workload, checks, hours):
    """Writes the states of our checks that are still Pending."""
    if not has_quota(workload):
        return
    metadata = workload["metadata"]
    listed = workload["status"].get("admissionChecks", [])
    if not any(c["name"] in checks and c["state"] == "Pending" for c in listed):
        return
    now = datetime.datetime.now()
    state, message, delay = decide(workload, hours, now)
    for check in listed:
        if check["name"] in checks and check["state"] == "Pending":
            check.update(state=state, message=message)
            if delay is not None:
                check["requeueAfterSeconds"] = delay
    body = {"metadata": {"resourceVersion": metadata["resourceVersion"]},
            "status": {"admissionChecks": listed}}
    path = f"{GROUP}/namespaces/{metadata['namespace']}/workloads/{metadata['name']}/status"
    try:
        api.open(path, "PATCH", body).close()
        print(f"{metadata['namespace']}/{metadata['name']}: {state}, {message}", flush=True)
    except urllib.error.HTTPError as error:
        # 409: it changed since we read it; the watch brings the new state. 404: it is gone.
        if error.code not in (404, 409, 422):
            raise
        print(f"{metadata['name']}: {error.read().decode()}", file=sys.stderr)


def ours(api, controller):
    checks = api.get(f"{GROUP}/admissionchecks")["items"]
    return {c["metadata"]["name"] for c in checks if c["spec"]["controllerName"] == controller}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--controller", default="example.com/hours")
    parser.add_argument("--hours", type=int, nargs=2, default=(8, 18), metavar=("FROM", "TO"))
    options = parser.parse_args()
    api = Api(options.kubeconfig)
    while True:
        checks = ours(api, options.controller)
        workloads = api.get(f"{GROUP}/workloads")
        for workload in workloads["items"]:
            answer(api, workload, checks, options.hours)
        for workload in api.watch(f"{GROUP}/workloads", workloads["metadata"]["resourceVersion"]):
            answer(api, workload, checks, options.hours)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
