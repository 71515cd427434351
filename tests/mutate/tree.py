"""A copy of the checkout with all mutations in its sources, and its build."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

from sources import ROOT, Source, same
from switches import Switched

COPIED = ("api", "cmake", "core", "host", "packaging", "plugins", "sdk", "tests", "web", "bench",
          "docs", "examples", "CMakeLists.txt", "CMakePresets.json", "LICENSE",
          "THIRD_PARTY_NOTICES.md", "README.md")
# What a mutation makes of the code is worth no warning; and where it was a constant that is put
# into something narrower, it is none any more.
FLAGS = "-w -Wno-c++11-narrowing -ferror-limit=0"
MOST_BUILDS = 20
MESSAGE = re.compile(r"^/\S*?/tree/(\S+\.cpp):(\d+):(\d+): (?:fatal )?(error|note):", re.M)


class Tree:
    def __init__(self, folder, jobs):
        self.folder = os.path.abspath(folder)
        self.root = os.path.join(self.folder, "tree")
        self.build_folder = os.path.join(self.root, "build", "quick")
        self.found = os.path.join(self.folder, "found")
        self.jobs = jobs
        for each in (self.root, self.found):
            os.makedirs(each, exist_ok=True)

    def copy(self, sources):
        """Only what differs is written, so that only that is built anew; and of what is changed
        later, only what is new."""
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *COPIED],
            cwd=ROOT, check=True, capture_output=True)
        names = listed.stdout.decode().split("\0")
        changed = {each.name for each in sources}
        for name in filter(None, names):
            if name in changed and os.path.exists(os.path.join(self.root, name)):
                continue
            with open(os.path.join(ROOT, name), "rb") as source:
                self.write(name, source.read())

    def write(self, name, content):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            with open(path, "rb") as there:
                if there.read() == content:
                    return
        with open(path, "wb") as out:
            out.write(content)

    def run(self, *command):
        done = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False, errors="replace")
        return done.returncode, done.stdout

    def must(self, *command):
        status, output = self.run(*command)
        if status != 0:
            sys.exit(output)

    def ninja(self, targets):
        return ["ninja", "-C", self.build_folder, "-k", "0", "-j", str(self.jobs), *targets]

    def find(self, sources):
        """The sources with all their mutations, found by several processes."""
        self.must("cmake", "--preset", "quick", f"-DCMAKE_CXX_FLAGS={FLAGS}")
        arguments = self.arguments()
        with concurrent.futures.ProcessPoolExecutor(self.jobs) as pool:
            return list(pool.map(Source.find, sources, [self.found] * len(sources),
                                 [os.path.join(self.root, each.name) for each in sources],
                                 [arguments[each.name] for each in sources]))

    def arguments(self):
        """{name of a source: what clang is given for it}, with the precompiled headers built. The
        build compiles many sources as one, which includes them."""
        with open(os.path.join(self.build_folder, "compile_commands.json"),
                  encoding="utf-8") as file:
            commands = json.load(file)
        found, headers = {}, set()
        for each in commands:
            words = shlex.split(each["command"])[1:]
            if "-include-pch" not in words or not each["file"].endswith((".cxx", ".cpp")):
                continue
            words = words[:words.index("-o")]
            headers.update(word for word in words if word.endswith(".pch"))
            found[os.path.relpath(each["file"], self.root)] = words
            if os.path.exists(each["file"]):
                with open(each["file"], encoding="utf-8") as unit:
                    for path in re.findall(r'^#include "(/.+\.cpp)"', unit.read(), re.M):
                        found[os.path.relpath(path, self.root)] = words
        self.must(*self.ninja(os.path.relpath(each, self.build_folder) for each in sorted(headers)))
        return found

    def build(self, sources, targets):
        """Puts all mutations in and builds; what does not compile is left out, and remembered."""
        remembered = os.path.join(self.folder, "left_out.json")
        left_out = set()
        if os.path.exists(remembered):
            with open(remembered, encoding="utf-8") as file:
                left_out = {tuple(each) for each in json.load(file)}
        for _ in range(MOST_BUILDS):
            for each in sources:
                each.keep(lambda change: same(change) not in left_out)
            switched = {each.name: Switched(each.text, each.mutations) for each in sources}
            for name, each in switched.items():
                self.write(name, each.text.encode("latin-1"))
            status, output = self.run(*self.ninja(targets))
            if status == 0:
                return
            blamed = blamed_in(output, switched)
            if not blamed:
                sys.exit(output[-10000:])
            print(f"{len(blamed)} do not compile", flush=True)
            left_out |= {same(each.change(number)) for each in sources for number in each.mutations
                         if number in blamed}
            with open(remembered, "w", encoding="utf-8") as file:
                json.dump(sorted(left_out), file, indent=0)
        sys.exit(f"it does not compile after {MOST_BUILDS} builds")

    def program(self, *name):
        return os.path.join(self.build_folder, *name)


def blamed_in(output, switched):
    """The numbers of the mutations that the compiler's messages are about. A note counts where its
    error stands nowhere near a mutation."""
    blamed, found = set(), True
    for name, line, column, kind in MESSAGE.findall(output):
        if kind == "note" and found:
            continue
        numbers = switched[name].blamed(int(line), int(column)) if name in switched else []
        found = bool(numbers)
        blamed.update(numbers)
    return blamed
