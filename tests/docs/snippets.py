#!/usr/bin/env python3
"""Runs what a page tells its reader to run, in the order of the page.

usage: snippets.py --source ROOT --build BUILD PAGE…

A fenced block of a page takes part when its opening line says so:
    ```sh run               its lines are commands; they run with `bash -euo pipefail`
    ```cpp file=a/b.cpp     its text becomes that file
    ```text shown           its lines stand in what the commands of the page print
The first two happen in one scratch folder that looks like a fresh checkout that was built: the
source tree is there by links, and build/release is BUILD. A page without any `run` block is an
error, and so is a link to a file of the tree that does not exist.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile

FENCE = re.compile(r'^```(\w+)((?: [^\n]*)?)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\((?!https?:|mailto:|#)([^)#\s]+)')


def steps(text):
    """('run', commands), ('file', path, contents), ('shown', lines): in the order of the page."""
    for match in FENCE.finditer(text):
        words = match.group(2).split()
        if 'run' in words:
            yield ('run', match.group(3))
        if 'shown' in words:
            yield ('shown', match.group(3).splitlines())
        for word in words:
            if word.startswith('file='):
                yield ('file', word.removeprefix('file='), match.group(3))


def dead_links(root, page, text):
    folder = os.path.dirname(os.path.join(root, page))
    return [link for link in LINK.findall(text) if not os.path.exists(os.path.join(folder, link))]


def prepare(scratch, source, build):
    for name in os.listdir(source):
        if name not in ('build', '.git'):
            os.symlink(os.path.join(source, name), os.path.join(scratch, name))
    os.mkdir(os.path.join(scratch, 'build'))
    os.symlink(build, os.path.join(scratch, 'build', 'release'))


def run_page(source, build, page):
    """What is wrong with the page, as a text, or None."""
    with open(os.path.join(source, page), encoding='utf-8') as file:
        text = file.read()
    dead = dead_links(source, page, text)
    if dead:
        return f'links to {", ".join(dead)}, which does not exist'
    with tempfile.TemporaryDirectory() as scratch:
        prepare(scratch, source, build)
        script = ['set -euo pipefail']
        shown = []
        for step in steps(text):
            if step[0] == 'run':
                script.append(step[1])
            elif step[0] == 'shown':
                shown += step[1]
            else:
                path = os.path.join(scratch, step[1])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(step[2])
        if len(script) == 1:
            return 'has no block to run'
        # Hosts that a page starts belong to its session, and end with it whatever happens.
        with subprocess.Popen(['bash', '-xc', '\n'.join(script)], cwd=scratch, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as run:
            output = run.stdout.read()
            run.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
        if run.returncode:
            return f'a command failed with status {run.returncode}:\n{output[-4000:]}'
    printed = set(output.splitlines())
    missing = [line for line in shown if line and line not in printed]
    if missing:
        return 'no command prints\n' + '\n'.join(missing) + f'\nbut\n{output[-4000:]}'
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--source', required=True)
    parser.add_argument('--build', required=True)
    parser.add_argument('pages', nargs='+', metavar='PAGE')
    arguments = parser.parse_args()
    failed = 0
    for page in arguments.pages:
        wrong = run_page(os.path.abspath(arguments.source), os.path.abspath(arguments.build), page)
        failed += wrong is not None
        print(f'{page}: {wrong or "all blocks ran"}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
