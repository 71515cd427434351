#!/usr/bin/env python3
"""The Python package: what a plugin says through it, against the fake host.

usage: python_test.py SDK_FOLDER
"""
import datetime
import decimal
import sys
import threading
import unittest

sys.path.insert(0, sys.argv.pop(1))

# pylint: disable=wrong-import-position
import sluice_plugin as sluice
from sluice_plugin.testing import CallFailed, FakeHost

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "a"}}


class Check(sluice.Plugin):
    name = "check"
    check_controllers = ["example.com/check"]

    def begin_check(self, query):
        wanted = query.labels.get("answer")
        if wanted == "raise":
            raise ValueError("no answer")
        return {"ready": sluice.ready("yes", [{"name": "main", "labels": {"a": "b"}}]),
                "retry": sluice.retry("later", after_seconds=5),
                "rejected": sluice.rejected("never"),
                "preempt": sluice.pending("too many", preemption_required=True)}.get(wanted)

    def explain_check(self, query):
        return [f"attempt {query.attempt.number} of {query.attempt.name}", "it is the second"]

    def check_changed(self, name, check):
        if check is not None and "parameters" in check["spec"]:
            return sluice.inactive("BadParametersRef", f"{name} takes none")
        return None


class Checks(unittest.TestCase):
    def test_answers(self):
        for wanted, state in (("ready", "Ready"), ("retry", "Retry"), ("rejected", "Rejected"),
                              ("preempt", "Pending")):
            with FakeHost(Check) as host:
                host.begin("w", metadata={"labels": {"answer": wanted}})
                self.assertEqual(host.reports["w"].state, state)
                self.assertEqual(host.reports["w"].preemption_required, wanted == "preempt")
                self.assertEqual(host.reports["w"].after_seconds, 5 if wanted == "retry" else None)

    def test_it_says_more_where_it_can(self):
        with FakeHost(Check) as host:
            self.assertTrue(host.points["check-controller/1"]["explains"])
            host.begin("w")
            host.begin("w")
            self.assertEqual(host.explain("w"), ["attempt 2 of w", "it is the second"])

    def test_no_answer_is_none(self):
        with FakeHost(Check) as host:
            host.begin("w")
            self.assertEqual(host.reports, {})

    def test_what_raises_is_a_fault(self):
        with FakeHost(Check) as host:
            with self.assertRaisesRegex(CallFailed, "ValueError: no answer"):
                host.begin("w", metadata={"labels": {"answer": "raise"}})
            host.begin("w", metadata={"labels": {"answer": "ready"}})
            self.assertEqual(host.reports["w"].state, "Ready")

    def test_activity(self):
        with FakeHost(Check) as host:
            changed = lambda spec: host.call("check-controller.check_changed", check="c",
                                             checkObject=spec and {"spec": spec})
            self.assertNotIn("active", changed({"controllerName": "x"}))
            self.assertNotIn("active", changed(None))
            self.assertEqual(changed({"parameters": {}})["reason"], "BadParametersRef")

    def test_what_it_provides(self):
        with FakeHost(Check) as host:
            self.assertEqual(host.points,
                             {"check-controller/1": {"controllers": ["example.com/check"],
                                                   "explains": True}})
            self.assertEqual(host.hello["protocol"], 1)


class Slow(sluice.Plugin):
    name = "slow"
    check_controllers = ["example.com/slow"]
    go_on = threading.Event()

    def decide(self, query):
        if query.attempt.name == "waits":
            self.go_on.wait(10)
        return sluice.ready(query.attempt.name)


class Deciding(unittest.TestCase):
    def test_a_thread_decides_and_nobody_waits(self):
        Slow.go_on.clear()
        with FakeHost(Slow, simulated=False) as host:
            host.begin("waits")
            host.begin("quick")
            host.wait_for_report("quick", "Ready")
            self.assertNotIn("waits", host.reports)
            Slow.go_on.set()
            host.wait_for_report("waits", "Ready")

    def test_in_a_simulation_it_decides_within_the_call(self):
        with FakeHost(Slow) as host:
            host.begin("quick")
            self.assertEqual(host.reports["quick"].state, "Ready")

    def test_what_is_cancelled_is_not_reported(self):
        Slow.go_on.clear()
        with FakeHost(Slow, simulated=False) as host:
            host.begin("waits")
            host.cancel("waits")
            Slow.go_on.set()
            host.begin("quick")
            host.wait_for_report("quick", "Ready")
            self.assertNotIn("waits", host.reports)


class Everything(sluice.Plugin):
    name = "everything"
    watched_kinds = ["batch/v1 Job"]
    validated_kinds = ["batch/Job"]
    config_schema = {"type": "object"}

    def __init__(self, host, config):
        super().__init__(host, config)
        if config.get("refuse"):
            raise sluice.Refused("not so")

    def validate(self, write):
        if "labels" not in write.object["metadata"]:
            return [sluice.FieldError("metadata.labels", "jobs have labels", kind="Required")]
        return []

    def set_defaults(self, write):
        if "spec" in write.object:
            return None
        return {**write.object, "spec": {}}

    def reconcile(self, what):
        job = self.host.objects.find(what.api_version, what.kind, what.name, what.namespace)
        if job is None:
            return None
        self.host.objects.patch(what.api_version, what.kind, what.name,
                                {"metadata": {"annotations": {"seen": "yes"}}}, what.namespace)
        self.host.state.set("last", what.name)
        self.host.count("seen", kind=what.kind)
        return 2.5

    def notify(self, told):
        if told.event == "Admitted":
            raise sluice.TellMeAgain()
        self.host.set_timer_in(7, 60)

    def timer(self, number):
        self.host.info(f"timer {number} at {self.host.now_utc():%H:%M}")
        self.host.requeue("a/b")


class AllPoints(unittest.TestCase):
    def test_writes(self):
        with FakeHost(Everything) as host:
            self.assertEqual(host.validate(JOB), [
                {"kind": "Required", "path": "metadata.labels", "detail": "jobs have labels"}])
            labelled = {**JOB, "metadata": {**JOB["metadata"], "labels": {}}}
            self.assertEqual(host.validate(labelled), [])
            self.assertEqual(host.set_defaults(JOB)["spec"], {})
            self.assertTrue(host.points["validator/1"]["setsDefaults"])

    def test_objects(self):
        with FakeHost(Everything) as host:
            self.assertIsNone(host.reconcile("batch/v1", "Job", "j", "a"))
            host.objects["batch/v1", "Job", "a", "j"] = JOB
            self.assertEqual(host.reconcile("batch/v1", "Job", "j", "a"), 2.5)
            seen = host.objects["batch/v1", "Job", "a", "j"]["metadata"]["annotations"]
            self.assertEqual((seen, host.state), ({"seen": "yes"}, {"last": "j"}))
            metric = [note for note in host.notes if note["note"] == "metric"][0]
            self.assertEqual((metric["labels"], metric["values"], metric["add"]),
                             (["kind"], ["Job"], 1))

    def test_objects_are_for_calls_only(self):
        with FakeHost(Everything) as host:
            plugin_host = sluice.Host(host._wire)  # pylint: disable=protected-access
            with self.assertRaisesRegex(sluice.ObjectError, "NotNow"):
                plugin_host.objects.get("v1", "Namespace", "a")

    def test_notifications_and_timers(self):
        told = {"sequence": 1, "workload": {}, "reason": "", "others": []}
        with FakeHost(Everything) as host:
            self.assertTrue(host.call("post-admit.notify", event="Admitted", **told)["retry"])
            host.call("post-admit.notify", event="Evicted", **told)
            self.assertEqual(list(host.timers), [7])
            host.time = int(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
                            .timestamp()) * 10**9
            host.timers[7] = host.time + 60 * 10**9
            host.advance(61)
            self.assertEqual([note.get("text") or note["workload"] for note in host.notes[-2:]],
                             ["timer 7 at 00:01", "a/b"])

    def test_a_configuration_may_be_refused(self):
        with self.assertRaisesRegex(CallFailed, "not so"):
            FakeHost(Everything, {"refuse": True}).__enter__()


class Helpers(unittest.TestCase):
    def test_times(self):
        noon = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.timezone.utc)
        for text in ("2026-01-01T12:00:00Z", "2026-01-01T14:00:00.000+02:00",
                     "2026-01-01t12:00:00z"):
            self.assertEqual(sluice.parse_time(text), noon)
        self.assertEqual(sluice.time_text(noon), "2026-01-01T12:00:00Z")
        self.assertEqual(sluice.from_nanoseconds(int(noon.timestamp()) * 10**9), noon)
        for text in ("2026-01-01", "2026-01-01T12:00:00", "2026-02-30T00:00:00Z", ""):
            with self.assertRaises(ValueError):
                sluice.parse_time(text)

    def test_amounts(self):
        for text, amount in (("2", "2"), ("500m", "0.5"), ("1.5", "1.5"), ("2Gi", "2147483648"),
                             ("1k", "1000"), ("1e3", "1000"), ("1E", "1000000000000000000"),
                             (3, "3"), ("-1", "-1")):
            self.assertEqual(sluice.parse_quantity(text), decimal.Decimal(amount), text)
        for text in ("", "m", "1K", "1 Gi", "1.2.3"):
            with self.assertRaisesRegex(ValueError, "is no amount"):
                sluice.parse_quantity(text)

    def test_conditions(self):
        made, now = {}, sluice.parse_time("2026-01-01T00:00:00Z")
        later = now + datetime.timedelta(hours=1)
        self.assertTrue(sluice.set_condition(made, "Ready", "True", "R", "a", now))
        self.assertFalse(sluice.set_condition(made, "Ready", "True", "R", "a", later))
        self.assertTrue(sluice.set_condition(made, "Ready", "True", "R", "b", later))
        self.assertEqual(sluice.true_since(made, "Ready"), now)
        self.assertTrue(sluice.set_condition(made, "Ready", "False", "R", "b", later))
        self.assertIsNone(sluice.true_since(made, "Ready"))
        self.assertEqual(len(made["status"]["conditions"]), 1)

    def test_owners(self):
        owner = sluice.owner_reference({**JOB, "metadata": {**JOB["metadata"], "uid": "u"}})
        self.assertEqual(owner["uid"], "u")
        self.assertEqual(sluice.controller_of({"metadata": {"ownerReferences": [owner]}}), owner)
        self.assertIsNone(sluice.controller_of(JOB))


if __name__ == "__main__":
    unittest.main()
