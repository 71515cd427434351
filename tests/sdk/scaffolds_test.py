#!/usr/bin/env python3
"""What `sluice plugin new` writes in C and C++ compiles with every compiler that authors have, as
strictly as their projects may ask: the plugin and its unit test.

usage: scaffolds_test.py --sluice build/dev/bin/sluice --include sdk/include

Tried with g++ and clang++, and with libc++ where it is installed; says what was not there. A plugin
in C is also one for a project without exceptions.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--include", required=True)
OPTIONS, REST = OPTIONS.parse_known_args()
SLUICE, INCLUDE = os.path.abspath(OPTIONS.sluice), os.path.abspath(OPTIONS.include)
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]


def compiles(command, source, *flags):
    """What was printed; empty: it compiles."""
    done = subprocess.run([*command, "-fsyntax-only", "-I", INCLUDE, *flags, source], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout if done.returncode else ""


def compilers():
    """For C++."""
    found = [[name] for name in ("g++", "clang++") if shutil.which(name)]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as text:
        text.write("#include <vector>\n")
        text.flush()
        library = ["clang++", "-stdlib=libc++"]
        if shutil.which("clang++") and not compiles(library, text.name, "-std=c++20"):
            return found + [library]
    print("not tried: libc++ is not installed", flush=True)
    return found


class Scaffolds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="sluice-scaffolds-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        shown = subprocess.run([SLUICE, "plugin", "new", "--help"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        kinds = re.search(r"--kind TEXT:\{([^}]*)\}", shown)[1].split(",")
        for kind in kinds:
            subprocess.run([SLUICE, "plugin", "new", "p-" + kind, "--kind", kind], check=True,
                           cwd=cls.folder, stdout=subprocess.DEVNULL)
        cls.compilers = compilers()
        assert cls.compilers, "there is no compiler for C++"

    def sources(self, pattern):
        found = sorted(glob.glob(os.path.join(self.folder, "*", pattern)))
        self.assertTrue(found, pattern)
        return found

    def test_in_cpp(self):
        for command in self.compilers:
            for source in self.sources("*.cpp"):
                with self.subTest(compiler=command, file=os.path.basename(source)):
                    self.assertEqual(compiles(command, source, "-std=c++20", *STRICT), "")

    def test_in_c(self):
        for command in filter(shutil.which, ("gcc", "clang")):
            for source in self.sources("*.c"):
                with self.subTest(compiler=command, file=os.path.basename(source)):
                    self.assertEqual(compiles([command], source, "-std=c11", *STRICT), "")

    def test_in_c_as_cpp_without_exceptions(self):
        for command in self.compilers:
            for source in self.sources("*.c"):
                with self.subTest(compiler=command, file=os.path.basename(source)):
                    self.assertEqual(compiles([*command, "-x", "c++"], source, "-std=c++20",
                                              "-fno-exceptions", "-fno-rtti"), "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST])
