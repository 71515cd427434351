#!/usr/bin/env python3
"""What real shells make of `sluice completion`, and man of `sluice manual`.

    shells_test.py --sluice build/dev/bin/sluice [TestClass.test_name …]

bash is asked through its own variables, fish by `complete -C`, zsh in a terminal with the tab key.
A shell that is not there is skipped, in words.
"""
import argparse
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SLUICE = ""
SECONDS = 180  # a shell that starts on a busy machine

# A line that is typed, and words that are offered for its end.
OFFERED = [
    ("sluice ", {"serve", "simulate", "plugin", "store", "explain", "submit", "top"}),
    ("sluice sim", {"simulate"}),
    ("sluice plugin ", {"inspect", "validate", "new", "list"}),
    ("sluice plugin new --ki", {"--kind"}),
    ("sluice plugin new --kind c", {"check", "controller"}),
    ("sluice explain -o ", {"table", "text", "json", "yaml"}),
    ("sluice top --sort ", {"queue", "waiting", "use", "priority"}),
    ("sluice completion ", {"bash", "zsh", "fish"}),
]
BASH = r"""
source <(sluice completion bash)
COMP_LINE=$1
read -ra COMP_WORDS <<<"$COMP_LINE"
if [[ "$COMP_LINE" == *" " ]]; then COMP_WORDS+=(""); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sluice
printf '%s\n' "${COMPREPLY[@]}"
"""


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment())


def environment():
    return os.environ | {"PATH": f"{os.path.dirname(SLUICE)}:{os.environ['PATH']}",
                         "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "200"}


class Completion(unittest.TestCase):
    def test_bash(self):
        for line, words in OFFERED:
            with self.subTest(line=line):
                done = run("bash", "-c", BASH, "bash", line)
                self.assertEqual(done.stderr, "")
                self.assertLessEqual(words, set(done.stdout.split()))

    def test_bash_offers_nothing_that_the_line_does_not_allow(self):
        for line, words in [("sluice sim", ["simulate"]), ("sluice version x", []),
                            ("sluice submit -- exp", []), ("sluice simulate --config ", [])]:
            with self.subTest(line=line):
                self.assertEqual(run("bash", "-c", BASH, "bash", line).stdout.split(), words)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        for line, words in OFFERED:
            with self.subTest(line=line):
                done = run("fish", "-c", f"sluice completion fish | source; complete -C '{line}'")
                self.assertEqual(done.stderr, "")
                offered = {each.split("\t")[0] for each in done.stdout.splitlines()}
                self.assertLessEqual(words, offered)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        for line, words in OFFERED:
            if len(words) == 1:
                continue  # completed at once, nothing is listed
            with self.subTest(line=line):
                self.assertEqual(words - self.listed_by_zsh(line, words), set())

    def listed_by_zsh(self, line, words):
        """Those of the words that a zsh lists when tab is pressed twice behind the line."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe("zsh", ["zsh", "-f"], environment())
        try:
            os.write(terminal, b"autoload -U compinit; compinit -u -D; "
                               b"source <(sluice completion zsh); print rea''dy\n")
            self.assertIn("ready", self.read_until(terminal, {"ready"}))
            os.write(terminal, line.encode() + b"\t\t")
            text = self.read_until(terminal, words)
            return {word for word in words if word in text}
        finally:
            os.close(terminal)
            os.waitpid(child, 0)

    @staticmethod
    def read_until(terminal, words):
        text, end = "", time.monotonic() + SECONDS
        while not all(word in text for word in words) and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")
        return text

    def test_another_shell_is_refused(self):
        done = run("sluice", "completion", "tcsh")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("bash", done.stderr)


class Manual(unittest.TestCase):
    def test_every_command_has_a_page_that_man_shows(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("sluice", "manual", f"{folder}/man1").returncode, 0)
            pages = sorted(os.listdir(f"{folder}/man1"))
            for name in ("sluice.1", "sluice-serve.1", "sluice-top.1", "sluice-plugin-new.1"):
                self.assertIn(name, pages)
            if not shutil.which("man"):
                self.skipTest("man is not installed")
            for page in pages:
                done = run("man", "--warnings=all", "-l", f"{folder}/man1/{page}")
                self.assertEqual((done.returncode, done.stderr), (0, ""), page)
                self.assertIn("SYNOPSIS", done.stdout, page)
            explain = run("man", "-l", f"{folder}/man1/sluice-explain.1").stdout
            self.assertIn("-n, --namespace NAME", explain)
            self.assertIn("sluice explain -n team-a job/train", explain)

    def test_a_folder_that_cannot_be_written_is_named(self):
        done = run("sluice", "manual", "/proc/man1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: /proc/man1", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    options, rest = parser.parse_known_args()
    SLUICE = os.path.abspath(options.sluice)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
