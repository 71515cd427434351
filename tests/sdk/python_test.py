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

    def test_a_plugin_that_is_gone_is_not_waited_for(self):
        kind = type("Gone", (Check,), {"begin_check": lambda self, query: sys.exit("no more")})
        with FakeHost(kind) as host:
            with self.assertRaisesRegex(CallFailed, "begin: it is gone: SystemExit: no more"):
                host.begin("w")
            with self.assertRaisesRegex(CallFailed, "it is gone: SystemExit: no more"):
                host.begin("w")

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


class Odd(sluice.Plugin):
    """decide() ends in ways in which no answer ends, once; then it answers."""

    name = "odd"
    check_controllers = ["example.com/odd"]
    ends = {"none": lambda: None, "text": lambda: "yes", "exit": lambda: sys.exit(3),
            "updates": lambda: sluice.ready("yes", [{"name": object()}]),
            "nan": lambda: sluice.ready("yes", [{"name": float("nan")}]),
            "number": lambda: sluice.ready(5)}

    def __init__(self, host, config):
        super().__init__(host, config)
        self.asked = set()

    def decide(self, query):
        name = query.attempt.name
        if name in self.asked:
            return sluice.ready("at last")
        self.asked.add(name)
        return self.ends[name]()


class OddAnswers(unittest.TestCase):
    def test_however_decide_ends_the_host_hears_of_it_and_it_is_asked_again(self):
        reasons = {"none": "the answer is None; it must be what pending",
                   "text": "the answer is 'yes'; it must be what pending",
                   "exit": "SystemExit: 3", "updates": "TypeError: Object of type object",
                   "nan": "ValueError: ", "number": "the message is 5; it must be a str"}
        with FakeHost(Odd, simulated=False) as host:
            for name in Odd.ends:
                host.begin(name)
            for name in Odd.ends:
                host.wait_for_report(name, "Ready")
            said = {note["name"]: note["message"] for note in host.notes
                    if note["note"] == "report" and note["state"] == "Pending"}
            for name, reason in reasons.items():
                self.assertIn(reason, said[name])
                self.assertIn("it is tried again in 1 s", said[name])

    def test_in_a_simulation_they_are_faults_of_the_call(self):
        with FakeHost(Odd) as host:
            for name in ("none", "text", "updates"):
                with self.assertRaises(CallFailed):
                    host.begin(name)

    def test_a_pause_is_rounded_up_or_refused(self):
        for seconds, whole in ((754.3, 755), (0.001, 1), (0, 0), (5, 5), (None, None),
                               (2**31 - 1, 2**31 - 1)):
            self.assertEqual(sluice.retry("later", seconds).after_seconds, whole)
        for seconds in (10**18, -1, float("nan"), float("inf"), True, "5"):
            with self.assertRaisesRegex((TypeError, ValueError), "after_seconds is .* must be"):
                sluice.retry("later", seconds)

    def test_what_is_no_list_of_pod_sets_is_refused_where_it_is_said(self):
        for updates in ({"name": "main"}, ["main"], "main"):
            with self.assertRaisesRegex(TypeError, "must be a list of dict"):
                sluice.ready("yes", updates)

    def test_what_a_host_would_end_the_process_for_is_refused_where_it_is_said(self):
        def field(**other):
            return sluice.FieldError(**{"path": "spec", "detail": "no", **other})
        with FakeHost(Check) as host:
            plugin_host = sluice.Host(host._wire)  # pylint: disable=protected-access
            for use, sentence in (
                    (lambda: field(path=5), "the path is 5; it must be a str"),
                    (lambda: field(detail=None), "the detail is None; it must be a str"),
                    (lambda: field(kind="Wrong"), "the kind is 'Wrong'; it must be one of Invalid"),
                    (lambda: sluice.inactive("Why", 5), "the message is 5; it must be a str"),
                    (lambda: plugin_host.requeue(None), "the workload is None; it must be a str"),
                    (lambda: plugin_host.event("v1", "Pod", "a", None, "text"),
                     "the event's reason is None; it must be a str"),
                    (lambda: plugin_host.cancel_timer("a"), "it must be a whole number")):
                with self.assertRaisesRegex((TypeError, ValueError), sentence):
                    use()
        logs = type("Logs", (Check,), {"explain_check": lambda self, query: [
            str(self.host.info(OSError("gone")))]})  # whatever it is, it is a line
        with FakeHost(logs) as host:
            self.assertEqual(host.explain("w"), ["None"])
            self.assertEqual(host.notes[-1], {"note": "log", "level": 1, "text": "gone"})

    def test_metrics_and_timers_are_whole_numbers(self):
        with FakeHost(Check) as host:
            plugin_host = sluice.Host(host._wire)  # pylint: disable=protected-access
            for use in (lambda: plugin_host.count("a", 1.5), lambda: plugin_host.gauge("a", "1"),
                        lambda: plugin_host.set_timer(1, float("nan"))):
                with self.assertRaisesRegex(TypeError, "must be a whole number"):
                    use()


class Names(unittest.TestCase):
    """What a class says of itself is looked at when it is created."""

    def refused(self, sentence, **members):
        kind = type("Names", (sluice.Plugin,), {"name": "names", **members})
        with self.assertRaisesRegex(CallFailed, sentence):
            FakeHost(kind).__enter__()

    def test_a_text_is_no_list(self):
        for field in ("check_controllers", "watched_kinds", "validated_kinds", "told_events"):
            self.refused(f"Names.{field} is 'ConfigMap'; it must be a list of str",
                         **{field: "ConfigMap"})
            self.refused(f"Names.{field} is \\[5\\]; it must be a list of str", **{field: [5]})

    def test_kinds_without_the_method_that_is_asked_about_them(self):
        self.refused("names validated_kinds, but has no validate", validated_kinds=["ConfigMap"],
                     set_defaults=lambda self, write: None)
        self.refused("names watched_kinds, but has no reconcile", watched_kinds=["v1 ConfigMap"])
        self.refused("names told_events, but has no notify", told_events=["Admitted"])

    def test_lines_are_no_text_either(self):
        kind = type("Lines", (Check,), {"explain_check": lambda self, query: "one line"})
        with FakeHost(kind) as host:
            host.begin("w")
            with self.assertRaisesRegex(CallFailed, "must be a list of str"):
                host.explain("w")

    def test_what_a_method_gives_is_looked_at(self):
        no = sluice.FieldError("spec", "no")
        for method, gives, ask, sentence in (
                ("validate", no, lambda host: host.validate(JOB), "a list of FieldError"),
                ("validate", ["no"], lambda host: host.validate(JOB), "a list of FieldError"),
                ("set_defaults", [JOB], lambda host: host.set_defaults(JOB), "must be a dict"),
                ("check_changed", True, lambda host: host.call(
                    "check-controller.check_changed", check="a", checkObject={}),
                 "must be what active")):
            kind = type("Odd", (Everything,), {method: lambda self, *_, gives=gives: gives})
            with FakeHost(kind) as host:
                with self.assertRaisesRegex(CallFailed, sentence):
                    ask(host)

    def test_an_answer_that_json_cannot_write_is_a_fault(self):
        kind = type("Unwritten", (Everything,),
                    {"set_defaults": lambda self, write: {"kind": object()}})
        with FakeHost(kind) as host:
            with self.assertRaisesRegex(CallFailed, "TypeError: Object of type object"):
                host.set_defaults(JOB)


class Everything(sluice.Plugin):
    name = "everything"
    told_events = ["Admitted", "Evicted claimed"]
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
            self.assertEqual(host.points["post-admit/1"],
                             {"events": ["Admitted", "Evicted claimed"]})
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
