#!/usr/bin/env python3
"""What `sluice plugin new` writes in C and C++ compiles with every compiler that authors have, as
strictly as their projects may ask: the plugin and its unit test. In Python its test passes,
whatever of Python the plugin is called like.

usage: scaffolds_test.py --sluice build/dev/bin/sluice --include sdk/include

Tried with clang++, and with libc++ where it is installed; says what was not there. By g++ they are
built in kit_test.py. A plugin in C is also one for a project without exceptions.
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

from compilers import compilers, run

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--sluice", required=True)
OPTIONS.add_argument("--include", required=True)
OPTIONS, REST = OPTIONS.parse_known_args()
SLUICE, INCLUDE = os.path.abspath(OPTIONS.sluice), os.path.abspath(OPTIONS.include)
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]
AS_CPP = ["-std=c++20", "-x", "c++", "-fno-exceptions", "-fno-rtti"]


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
        found = compilers(INCLUDE, cls.folder, *STRICT)
        cls.compilers = [each for each in found if each.name != "g++"]
        assert cls.compilers, "there is no clang++"

    def sources(self, pattern):
        found = sorted(glob.glob(os.path.join(self.folder, "*", pattern)))
        self.assertTrue(found, pattern)
        return found

    def test_in_python_no_name_hides_another(self):
        python = os.path.join(INCLUDE, "..", "python")
        for name in ("json", "time", "signal", "class", "import", "none", "exception", "sluice",
                     "sluice-plugin", "fake-host", "office-hours"):
            with self.subTest(name=name):
                folder = os.path.join(self.folder, "python-" + name)
                subprocess.run([SLUICE, "plugin", "new", name, "--lang", "python", "--directory",
                                folder], check=True, stdout=subprocess.DEVNULL)
                ran = subprocess.run(
                    [sys.executable, "-B", "-m", "unittest", "discover", "-p", "*_test.py"],
                    cwd=folder, env={**os.environ, "PYTHONPATH": python}, text=True, check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(ran.returncode, 0, ran.stdout)
                self.assertIn("Ran 2 tests", ran.stdout)

    def test_in_cpp(self):
        for compiler in self.compilers:
            for source in self.sources("*.cpp"):
                header = "testing.hpp" if source.endswith("_test.cpp") else "plugin.hpp"
                with self.subTest(compiler=compiler.name, file=os.path.basename(source)):
                    self.assertEqual(compiler.refuses(source, "sluice/" + header), "")

    def test_in_c(self):
        for name, *flags in (("gcc", "-std=c11", *STRICT), ("clang", "-std=c11", *STRICT),
                             ("g++", *AS_CPP), ("clang++", *AS_CPP)):
            for source in self.sources("*.c"):
                with self.subTest(compiler=name, file=os.path.basename(source)):
                    self.assertEqual(
                        run(name, *flags, "-fsyntax-only", "-I", INCLUDE, source), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST])
