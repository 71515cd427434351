#!/usr/bin/env python3
"""Each source of the libraries and plugins by itself, as clang++ sees it: one that does not include
what it uses fails here, where no unit is joined and no header precompiled.

usage: alone.py [-j JOBS] [--compiler COMPILER] BUILD [FILE…]

BUILD holds a compile_commands.json, of clang++; with FILEs, only those. COMPILER takes its place.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

PARTS = ('core/', 'api/', 'host/', 'plugins/')


def chosen(entries, root, files):
    for entry in entries:
        path = os.path.relpath(entry['file'], root)
        wanted = path in files if files else path.startswith(PARTS) and '/tests/' not in path
        if wanted and os.path.exists(entry['file']):
            yield path, entry


def check(entry, compiler):
    """The compiler's words; empty when it has none. `compiler` None: that of the build."""
    command = shlex.split(re.sub(r' -(o|Xclang) \S+', '', entry['command'])) + ['-fsyntax-only']
    if compiler and entry['file'].endswith('.cpp'):
        command[0] = compiler
    done = subprocess.run(command, cwd=entry['directory'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout if done.returncode else ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-j', type=int, default=os.cpu_count())
    parser.add_argument('--compiler')
    parser.add_argument('build')
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(options.build, 'compile_commands.json'), encoding='utf-8') as text:
        work = list(chosen(json.load(text), root, set(options.files)))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for said in pool.map(lambda each: check(each[1], options.compiler), work):
            if said:
                print(said)
                failed += 1
    seen_by = options.compiler or 'clang++'
    print(f'{len(work)} sources by themselves with {seen_by}: {failed} failed')
    return 1 if failed or not work else 0


if __name__ == '__main__':
    sys.exit(main())
