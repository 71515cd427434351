"""What tests the sources: the cases of each test program, how long each takes without a mutation,
and which mutations it comes by. A mutation is tried with those cases only, quick ones first."""
import array
import collections
import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Tests that draw their cases draw few, and always the same.
DRAWN = {"RC_PARAMS": "max_success=8 seed=7", "SLUICE_WAKING_WORLDS": "12",
         "SLUICE_TEST_SHARE": "4"}
SLOW = 1.0  # seconds: such a case has a process of its own, after the quick ones
LIMITS = ["prlimit", "--as=8589934592", "--core=0", "--fsize=1073741824", "--"]


class Program:
    """Of GoogleTest cases."""

    def __init__(self, path):
        self.name, self.path = os.path.basename(path), path

    def cases(self):
        listed = subprocess.run([self.path, "--gtest_list_tests"], check=True, capture_output=True,
                                text=True).stdout
        suite = ""
        for line in listed.splitlines():
            word = line.split("#")[0].strip()
            if not line.startswith(" "):
                suite = word if word.endswith(".") else suite
            elif "DISABLED_" not in suite + word:
                yield suite + word

    def command(self, cases):
        return [self.path, "--gtest_brief=1", "--gtest_fail_fast",
                "--gtest_filter=" + ":".join(cases)]


class Decisions:
    """Measured ones, each of which is a case."""

    def __init__(self, script, sluice, paths):
        self.name, self.script, self.sluice, self.paths = "decisions", script, sluice, paths

    def cases(self):
        return self.paths

    def command(self, cases):
        return [sys.executable, self.script, "--sluice", self.sluice, *cases]


class Runner:
    """Runs commands, each in an environment and with a folder for temporary files of its own."""

    def __init__(self, jobs):
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.temporary = tempfile.mkdtemp(prefix="mutate-", dir=memory)

    def close(self):
        self.pool.shutdown(cancel_futures=True)
        shutil.rmtree(self.temporary, ignore_errors=True)

    def run(self, command, seconds, **environment):
        """(status, output); status None: it took too long."""
        place = tempfile.mkdtemp(dir=self.temporary)
        log = os.path.join(place, "output")
        with open(log, "wb") as output:  # no pipe: whom it left behind would keep that open
            started = subprocess.Popen(
                [*LIMITS, *command], cwd=place, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, **DRAWN, "TMPDIR": place, **environment})
        try:
            status = started.wait(seconds)
            with open(log, encoding="utf-8", errors="replace") as output:
                return status, output.read()
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            shutil.rmtree(place, ignore_errors=True)


class Tests:
    """All cases of some suites."""

    def __init__(self, suites, runner, numbers):
        """`numbers`: mutations have smaller ones."""
        self.runner = runner
        self.numbers = numbers
        self.cases = [(suite, case) for suite in suites for case in suite.cases()]
        self.took = []
        self.reached_by = collections.defaultdict(lambda: array.array("H"))  # by number: cases

    def record(self):
        """All pass as they are. From now on it is known what they take and what they come by."""
        for index, (took, reached) in enumerate(self.runner.pool.map(self.record_one, self.cases)):
            self.took.append(took)
            for number in reached:
                self.reached_by[number].append(index)

    def record_one(self, case):
        suite, name = case
        with tempfile.NamedTemporaryFile(dir=self.runner.temporary) as file:
            file.write(bytes(self.numbers))
            file.flush()
            began = time.monotonic()
            status, output = self.runner.run(suite.command([name]), 600,
                                             SLUICE_MUTANTS_REACHED=file.name)
            took = time.monotonic() - began
            if status != 0:
                sys.exit(f"{suite.name} {name} fails without any change:\n{output[-3000:]}")
            file.seek(0)
            return took, [found.start() for found in re.finditer(b"\x01", file.read())]

    def steps(self, number, names):
        """What is run to try a mutation, [(seconds it takes, suite, cases)], of the suites with
        these names."""
        quick, out = collections.defaultdict(list), []
        for index in self.reached_by[number]:
            suite, name = self.cases[index]
            if suite.name not in names:
                continue
            if self.took[index] < SLOW:
                quick[suite].append(index)
            else:
                out.append((self.took[index], suite, [name]))
        out += [(sum(self.took[each] for each in indices), suite,
                 [self.cases[each][1] for each in indices]) for suite, indices in quick.items()]
        return sorted(out, key=lambda step: step[0])

    def catch(self, number, names):
        """Who notices; "" when nobody does, None when nobody comes by."""
        steps = self.steps(number, names)
        for took, suite, cases in steps:
            limit = 10 + 10 * took
            status, _ = self.runner.run(suite.command(cases), limit, SLUICE_MUTANT=str(number))
            # What fails without the mutation, too, has noticed nothing.
            if status != 0 and self.runner.run(suite.command(cases), limit)[0] == 0:
                return suite.name if status is not None else suite.name + " (too slow)"
        return "" if steps else None
