"""The compilers that authors of plugins use, with a header of the SDK compiled once for each.

    for compiler in compilers(include, folder, "-Wall"):
        said = compiler.refuses("plugin.cpp", "sluice/plugin.hpp")   # "": it compiles

Most of what a compiler does with a plugin is reading that header; a source includes it first of
all.
"""
import os
import shutil
import subprocess


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.returncode, done.stdout


class Compiler:
    """A command with its flags; `folder`, which it may fill, is its own."""

    def __init__(self, command, include, folder, *flags):
        self.name = " ".join(command)
        self.folder = folder
        self.command = [*command, "-std=c++20", *flags, "-I", include]

    def precompiled(self, header):
        """The flags with which `header` is not read again."""
        path = os.path.join(self.folder, header.replace("/", "-"))
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as text:
                text.write(f"#include <{header}>\n")
            code, said = run(*self.command, "-x", "c++-header", path, "-o", path + ".gch")
            if code:
                raise AssertionError(f"{self.name}: {header}: {said}")
        return ["-include", path]

    def refuses(self, source, header=None, *flags):
        """What is wrong with the source; empty: it compiles."""
        again = self.precompiled(header) if header else []
        code, said = run(*self.command, *again, *flags, "-fsyntax-only", source)
        return said or f"exit status {code}" if code else ""


def compilers(include, folder, *flags):
    """g++ and clang++, and clang++ with libc++, which are here; says what is not."""
    found = []
    for command in (["g++"], ["clang++"], ["clang++", "-stdlib=libc++"]):
        if shutil.which(command[0]) is None:
            continue
        compiler = Compiler(command, include, os.path.join(folder, "-".join(command)), *flags)
        os.makedirs(compiler.folder, exist_ok=True)
        probe = os.path.join(compiler.folder, "probe.cpp")
        with open(probe, "w", encoding="utf-8") as text:
            text.write("#include <vector>\n")
        if compiler.refuses(probe):
            print("not tried: " + compiler.name, flush=True)
        else:
            found.append(compiler)
    return found
