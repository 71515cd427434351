#!/usr/bin/env python3
"""Each source of the libraries and plugins by itself, as clang++ sees it: one that does not include
what it uses fails here, where no unit is joined and no header precompiled.

usage: alone.py [-j JOBS] BUILD [FILE…]

BUILD holds a compile_commands.json; with FILEs, only those.
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


def check(entry):
    """The compiler's words; empty when it has none."""
    command = re.sub(r' -o \S+', '', entry['command']) + ' -fsyntax-only'
    done = subprocess.run(shlex.split(command), cwd=entry['directory'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout if done.returncode else ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-j', type=int, default=os.cpu_count())
    parser.add_argument('build')
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(options.build, 'compile_commands.json'), encoding='utf-8') as text:
        work = list(chosen(json.load(text), root, set(options.files)))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for said in pool.map(check, [entry for _, entry in work]):
            if said:
                print(said)
                failed += 1
    print(f'{len(work)} sources by themselves with clang++: {failed} failed')
    return 1 if failed or not work else 0


if __name__ == '__main__':
    sys.exit(main())
