"""python3 -m unittest, with sluice_plugin installed or its folder in PYTHONPATH."""
import unittest

from maintenance_window import MaintenanceWindow
from sluice_plugin.testing import CallFailed, FakeHost

HOUR = 3600 * 1_000_000_000
CONFIG = {"assumeSeconds": 3600,
          "windows": [{"from": "1970-01-01T12:00:00Z", "to": "1970-01-01T14:00:00Z"}]}


class Windows(unittest.TestCase):
    def answer(self, at, **spec):
        with FakeHost(MaintenanceWindow, CONFIG) as host:
            host.time = int(at * HOUR)
            host.begin("train", spec=spec)
            return host.reports["train"]

    def test_what_is_done_before_it_starts(self):
        self.assertEqual(self.answer(10.5).state, "Ready")
        self.assertEqual(self.answer(11.5, maximumExecutionTimeSeconds=60).state, "Ready")

    def test_what_would_run_into_it_waits_for_its_end(self):
        answer = self.answer(11.5)
        self.assertEqual((answer.state, answer.after_seconds), ("Retry", 9001))  # 2.5 h + 1 s
        self.assertEqual(self.answer(13).state, "Retry")

    def test_afterwards_all_start(self):
        self.assertEqual(self.answer(14).state, "Ready")

    def test_a_wrong_moment_is_refused(self):
        wrong = {"assumeSeconds": 0, "windows": [{"from": "tomorrow, at noon, say", "to": ""}]}
        with self.assertRaisesRegex(CallFailed, "'tomorrow, at noon, say' is no time"):
            FakeHost(MaintenanceWindow, wrong).__enter__()


if __name__ == "__main__":
    unittest.main()
