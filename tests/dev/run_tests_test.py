#!/usr/bin/env python3
"""run_tests of ./dev: what passed and failed is counted, whatever happens to a test, and those of
whole programs are tried once more. Each case is a project of a few tests that end as it says."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_tests.sh")
DRIVER = f"""set -euo pipefail
test_count() {{ echo 2; }}
fail() {{ echo "$*"; exit 9; }}
. {SCRIPT}
run_tests here "$@"
echo "in all: $passed $failed"
"""
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(few NONE)
enable_testing()
"""
# Ends well from the second time on.
FLAKY = 'sh -c "test -e ${CMAKE_BINARY_DIR}/@ || { touch ${CMAKE_BINARY_DIR}/@; exit 1; }"'


def test(name, command="true", **properties):
    out = f"add_test(NAME {name} COMMAND {command.replace('@', 'seen-' + name)})\n"
    for key, value in properties.items():
        out += f'set_tests_properties({name} PROPERTIES {key} "{value}")\n'
    return out


class RunTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sluice-dev-")
        self.addCleanup(shutil.rmtree, self.folder)

    def counted(self, *tests, options=()):
        """'PASSED FAILED', and what was said."""
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as out:
            out.write(PROJECT + "".join(tests))
        subprocess.run(["cmake", "-S", ".", "-B", "build/here"], cwd=self.folder, check=True,
                       capture_output=True)
        done = subprocess.run(["bash", "-c", DRIVER, "run_tests", *options], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return re.search(r"^in all: (.*)$", done.stdout, re.M).group(1), done.stdout

    def test_all_pass_and_what_is_skipped_is_neither(self):
        skipped = test("no-network", 'sh -c "exit 77"', SKIP_RETURN_CODE=77)
        counts, said = self.counted(test("one"), test("two"), skipped)
        self.assertEqual(counts, "2 0")
        self.assertIn("here: 2 passed, 0 failed (build/here/tests.log)", said)

    def test_a_unit_test_has_no_second_try(self):
        counts, said = self.counted(test("one"), test("unit", FLAKY))
        self.assertEqual(counts, "1 1")
        self.assertNotIn("second try", said)

    def test_programs_are_tried_again_and_it_is_said(self):
        for label in ("e2e", "kubernetes", "nosanitize"):
            counts, said = self.counted(test("of-" + label, FLAKY, LABELS=label))
            self.assertEqual(counts, "1 0")
            self.assertIn(f"here: passed at the second try, mend it: of-{label}\n", said)

    def test_what_fails_twice_failed(self):
        counts, _ = self.counted(test("bad", "false", LABELS="e2e"), test("one"))
        self.assertEqual(counts, "1 1")

    # What a failed test kept from running is among the failed, and counts once when it recovers.
    def test_of_two_that_depend(self):
        def pair(command):
            return (test("kit", command, FIXTURES_SETUP="kit", LABELS="nosanitize"),
                    test("live", FIXTURES_REQUIRED="kit", LABELS="e2e;nosanitize"))
        self.assertEqual(self.counted(*pair(FLAKY))[0], "2 0")
        self.assertEqual(self.counted(*pair("false"))[0], "0 2")

    def test_of_two_that_depend_the_first_has_no_second_try(self):
        counts, _ = self.counted(test("kit", "false", FIXTURES_SETUP="kit"),
                                 test("live", FIXTURES_REQUIRED="kit", LABELS="e2e"))
        self.assertEqual(counts, "0 2")

    def test_another_failure_before_does_not_count(self):
        self.assertEqual(self.counted(test("bad", "false"))[0], "0 1")
        self.assertEqual(self.counted(test("good"))[0], "1 0")

    def test_options_choose(self):
        counts, _ = self.counted(test("one", LABELS="threads"), test("two"),
                                 options=("-L", "threads"))
        self.assertEqual(counts, "1 0")


if __name__ == "__main__":
    unittest.main()
