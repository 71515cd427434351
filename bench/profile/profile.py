#!/usr/bin/env python3
"""Draws where a program's processor time goes.

usage: profile.py [--of NAME] [--title TEXT] --picture FILE.svg -- COMMAND [ARGUMENT…]

Runs COMMAND under `perf record`, and draws the samples of all processes called NAME (default:
sluice) that it started, as one SVG: the first row is all of them, the second one the threads by
name, and below each function stand those that it called, as wide as they were seen. Functions
are ours; what a library or the system did for one of them is one box with its name. The text
version, everything that is drawn with its share, goes to FILE.txt.

Needs Debian's linux-perf, and the right to use it (kernel.perf_event_paranoid below 2, or root).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import picture  # noqa: E402  (beside this file)

FREQUENCY = 397         # a prime: in step with nothing
STACK_BYTES = 16384     # of each sample; deeper callers are lost
MOST_RUN_SECONDS = 600
HEADER = re.compile(r"^(\S.*?)\s+(\d+)/(\d+)\s*$")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")
LIBRARIES = (
    (re.compile(r"kernel|vdso|^\[k"), "system"),
    (re.compile(r"tbbmalloc|^mallo|malloc"), "allocator"),
    (re.compile(r"libtbb"), "TBB"),
    (re.compile(r"sqlite"), "SQLite"),
    (re.compile(r"libssl|libcrypto"), "OpenSSL"),
    (re.compile(r"boost_json"), "Boost.JSON"),
    (re.compile(r"nghttp2"), "nghttp2"),
    (re.compile(r"libfmt"), "fmt"),
)


def record(command, data):
    done = subprocess.run(
        ["perf", "record", "--quiet", "-F", str(FREQUENCY), "--call-graph",
         f"dwarf,{STACK_BYTES}", "-o", data, "--", *command],
        check=False, timeout=MOST_RUN_SECONDS, stdout=sys.stderr)
    if done.returncode != 0:
        sys.exit(f"error: {command[0]} under perf ended with status {done.returncode}")


def plain(symbol):
    """A function's full name without its result, arguments and parameters of templates."""
    name = re.sub(r"\[abi:[^\]]*\]", "", symbol).replace("(anonymous namespace)::", "")
    name = name.replace("operator()", "call")
    while True:
        fewer = re.sub(r"<[^<>]*>", "", name)
        if fewer == name:
            return name.split("(")[0].split(" ")[-1]
        name = fewer


def short(symbol):
    """The same without the namespace; empty: it is not ours."""
    name = plain(symbol)
    if not name.startswith("sluice::"):
        return ""
    return re.sub(r"^sluice::(?:host::|api::)?", "", name)


def library(symbol, place):
    """Which one a frame that is not ours belongs to; None: it is part of whom called it."""
    for pattern, name in LIBRARIES:
        if pattern.search(place):
            return name
    return "Boost.JSON" if plain(symbol).startswith("boost::json::") else None


def stack_of(frames):
    """From the first caller to what ran: our functions, and at the end a library or the system."""
    leaf = None
    out = []
    for symbol, place in frames:
        name = short(symbol)
        if name and (not out or out[-1] != name):
            out.append(name)
        elif not out:
            leaf = leaf or library(symbol, place)
    return out[::-1] + ([leaf] if leaf else [])


def samples(data, process):
    """(thread, stack) of each."""
    script = subprocess.run(
        ["perf", "script", "-i", data, "--no-inline", "-F", "comm,pid,tid,ip,sym,dso"],
        check=True, capture_output=True, text=True, errors="replace").stdout
    names = {}  # by process: the program that it is, which is its first thread's first name
    found = []
    for block in script.split("\n\n"):
        lines = block.strip("\n").split("\n")
        header = HEADER.match(lines[0])
        if not header:
            continue
        thread, pid, tid = header.groups()
        if pid == tid:
            names.setdefault(pid, set()).add(thread)
        frames = [match.groups() for match in map(FRAME.match, lines[1:]) if match]
        if frames:
            found.append((pid, re.sub(r"[-/ ]?\d+$", "", thread), stack_of(frames)))
    return [(thread, stack) for pid, thread, stack in found if process in names.get(pid, ())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--of", default="sluice", metavar="NAME")
    parser.add_argument("--title", default="")
    parser.add_argument("--picture", required=True, metavar="FILE.svg")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if not shutil.which("perf"):
        sys.exit("error: there is no `perf`; Debian's package is linux-perf")
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        record(options.command, data)
        found = samples(data, options.of)
    if not found:
        sys.exit(f"error: no process called {options.of} was seen at work")
    tree = picture.tree_of(found)
    title = options.title or " ".join(options.command)
    with open(options.picture, "w", encoding="utf-8") as out:
        out.write(picture.svg(tree, title, len(found) / FREQUENCY))
    with open(os.path.splitext(options.picture)[0] + ".txt", "w", encoding="utf-8") as out:
        out.write(picture.text(tree))
    print(f"{options.picture}: {len(found)} samples, {len(found) / FREQUENCY:.1f} s of processor "
          "time")


if __name__ == "__main__":
    main()
