"""An admission check: a workload starts when the licence server has seats for it.

A workload says in annotations what it needs: `licences.kueue.x-k8s.io/FEATURE: "2"`; a Job's
annotations of that domain come to its Workload. The server is asked for JSON, {"features":
{FEATURE: {"total": 10, "used": 7}}}. While there are too few seats the workload holds no quota:
others may run meanwhile.
"""
import json
import threading
import urllib.request

import sluice_plugin as sluice

DOMAIN = "licences.kueue.x-k8s.io/"


class LicenceServer(sluice.Plugin):
    name = "licence-server"
    version = "1.0.0"
    description = "Starts workloads when the licence server has seats for them"
    check_controllers = ["example.com/licences"]
    config_schema = {"type": "object", "required": ["url"], "properties": {
        "url": {"type": "string", "minLength": 8},
        "askAgainSeconds": {"type": "integer", "minimum": 1, "default": 30},
        "settleSeconds": {"type": "integer", "minimum": 0, "default": 60}}}

    def __init__(self, host, config):
        super().__init__(host, config)
        self.lock = threading.Lock()
        self.given = {}  # attempt: (until when the server may not know, seats by feature)

    def decide(self, query):
        """On a thread: it may wait for the server. What it raises is shown, then it is asked again.
        """
        needed = seats_of(query.annotations)
        if not needed:
            return sluice.ready("it needs no licence")
        if self.host.simulated:
            return sluice.ready("in a simulation there are seats")
        features = self.ask()
        with self.lock:
            now = self.host.now()
            self.given = {attempt: each for attempt, each in self.given.items() if each[0] > now}
            lacking = [text for feature, seats in sorted(needed.items())
                       if (text := self.lack(feature, seats, features))]
            if lacking:
                return sluice.retry("; ".join(lacking),
                                    after_seconds=self.config["askAgainSeconds"])
            settled = now + self.config["settleSeconds"] * 1_000_000_000
            self.given[query.attempt] = (settled, needed)
        return sluice.ready("seats: " + ", ".join(f"{seats} {feature}"
                                                  for feature, seats in sorted(needed.items())))

    def cancel_check(self, cancel):
        with self.lock:
            self.given.pop(cancel.attempt, None)

    def lack(self, feature, seats, features):
        """Why there are too few; None: there are enough. Seats that were given a moment ago are not
        yet among those that the server counts as used."""
        if feature not in features:
            return f"the licence server has no {feature}"
        known = features[feature]
        pending = sum(each.get(feature, 0) for _, each in self.given.values())
        free = known["total"] - known["used"] - pending
        if free >= seats:
            return None
        return f"{feature}: {max(free, 0)} of {known['total']} seats are free, it needs {seats}"

    def ask(self):
        with urllib.request.urlopen(self.config["url"], timeout=10) as answer:
            return json.load(answer)["features"]


def seats_of(annotations):
    """By feature. What is no number is no wish: the job is told."""
    needed = {}
    for key, value in annotations.items():
        if not key.startswith(DOMAIN):
            continue
        if not value.isdigit():
            raise sluice.Failed(f"{key}: {value!r} is no number of seats")
        if int(value) > 0:
            needed[key[len(DOMAIN):]] = int(value)
    return needed


if __name__ == "__main__":
    sluice.main(LicenceServer)
