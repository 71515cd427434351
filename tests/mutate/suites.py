"""What tests the sources: the cases of each test program, how long each takes without a mutation,
and which mutations it comes by. A mutation is tried with those cases only, quick ones first."""
import array
import collections
import concurrent.futures
import contextlib
import hashlib
import itertools
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

# Tests that draw their cases draw few, and always the same.
DRAWN = {"RC_PARAMS": "max_success=8 seed=7", "SLUICE_WAKING_WORLDS": "12",
         "SLUICE_TEST_SHARE": "4"}
AT_ONCE = 2.0  # seconds: cases that take so long together are one process
# Soft ones: some programs set limits of their own.
LIMITS = ["prlimit", "--as=8589934592:", "--core=0:", "--fsize=1073741824:", "--"]


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

    def times(self, runner):
        """{case: seconds} where one process has them all: what only the first one waits for, such
        as the start of the program, is most of the time of a case that is alone."""
        _, output = runner.run([self.path], 600)
        return {name: int(milliseconds) / 1000 for name, milliseconds in
                re.findall(r"^\[ +OK \] (\S+) \((\d+) ms\)$", output, re.M)}

    def command(self, cases):
        return [self.path, "--gtest_brief=1", "--gtest_fail_fast",
                "--gtest_filter=" + ":".join(cases)]


class Decisions:
    """Measured ones, each of which is a case."""

    def __init__(self, script, sluice, paths):
        self.name, self.script, self.path, self.paths = "decisions", script, sluice, paths

    def cases(self):
        return self.paths

    def times(self, _):
        return {}  # each case is a process of its own

    def command(self, cases):
        return [sys.executable, self.script, "--sluice", self.path, *cases]


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

    def __init__(self, suites, runner, numbers, folder, seconds):
        """`numbers`: mutations have smaller ones. `folder`: where it is kept what cases take and
        reach, until the program that has them is another one. `seconds`: how much is run to try a
        mutation."""
        self.runner = runner
        self.numbers = numbers
        self.folder = folder
        self.seconds = seconds
        self.cases = []  # (suite, name, seconds)
        self.reached_by = collections.defaultdict(lambda: array.array("H"))  # by number: cases
        os.makedirs(folder, exist_ok=True)
        for each in suites:
            self.add(each)

    def add(self, suite):
        """All its cases pass as they are, each by itself."""
        with open(suite.path, "rb") as program:
            name = suite.name + "-" + hashlib.sha256(program.read()).hexdigest()
        kept = os.path.join(self.folder, name)
        recorded = {}
        if os.path.exists(kept):
            with open(kept, "rb") as file:
                recorded = pickle.load(file)
        names = list(suite.cases())
        missing = [each for each in names if each not in recorded]
        together = suite.times(self.runner) if missing else {}
        for each, (alone, reached) in zip(missing, self.runner.pool.map(
                self.record, itertools.repeat(suite), missing)):
            recorded[each] = min(alone, together.get(each, alone)), reached
        with open(kept, "wb") as file:
            pickle.dump(recorded, file)
        for each in names:
            took, reached = recorded[each]
            for found in re.finditer(b"\x01", zlib.decompress(reached)):
                self.reached_by[found.start()].append(len(self.cases))
            self.cases.append((suite, each, took))

    def record(self, suite, name):
        """(seconds, a byte for each mutation: 1 where it comes by; compressed)"""
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
            return took, zlib.compress(file.read())

    def steps(self, number, names):
        """What is run to try a mutation, [(seconds it takes, suite, cases)], of the suites with
        these names, of which the first are the nearest: the quick cases of each, then slower ones,
        as long as the time is there."""
        steps, begun, nth = [], {}, collections.Counter()
        for suite, case, took in sorted((self.cases[index] for index in self.reached_by[number]),
                                        key=lambda each: each[2]):
            if suite.name not in names:
                continue
            step = begun.get(suite)
            if step is None or step[0] + took > AT_ONCE:
                nth[suite] += 1
                begun[suite] = step = [0, suite, []]
                steps.append((nth[suite], names.index(suite.name), step))
            step[0] += took
            step[2].append(case)
        steps = [step for _, _, step in sorted(steps, key=lambda each: each[:2])]
        whole = itertools.accumulate(took for took, _, _ in steps)
        return [step for step, after in zip(steps, whole)
                if after <= self.seconds or step is steps[0]]

    def catch(self, number, names):
        """Who notices; "" when nobody does, None when nobody comes by."""
        steps = self.steps(number, names)
        for took, suite, cases in steps:
            limit = 10 + 10 * took
            status, _ = self.runner.run(suite.command(cases), limit, SLUICE_MUTANT=str(number))
            # What fails without the mutation, too, has noticed nothing. A test that fails ends
            # before others that it is asked with: without the mutation these have more time.
            more = limit if status is None else 10 * limit
            if status != 0 and self.runner.run(suite.command(cases), more)[0] == 0:
                return suite.name if status is not None else suite.name + " (too slow)"
        return "" if steps else None
