#!/usr/bin/env python3
"""Guards the binary interface of the SDK with libabigail.

usage: abi.py check [--include FOLDER] [--golden FILE]    compares the headers with the golden dump
       abi.py update [--include FOLDER] [--golden FILE]   writes the dump anew

A library that uses every struct, constant and id of the C headers is made from the headers
themselves and compared. Further structs, constants and ids may come; whatever else differs is
printed, and the exit status is 1. Without abidw and abidiff (Debian: abigail-tools) nothing can be
compared: the exit status is 77. sdk/abi/HISTORY.md says when the dump may be written anew.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
TYPE = re.compile(r'^\}\s*(sluice_\w+_t);', re.MULTILINE)
CONSTANT = re.compile(r'\b(SLUICE_\w+)\s*=\s*(\d+)')
DEFINE = re.compile(r'^#define (SLUICE_(?:EXT|SVC|STATE)\w*) "?([^"\n]+)"?$', re.MULTILINE)


def headers(include):
    """The C headers, as they are included, in order."""
    for folder, folders, names in os.walk(os.path.join(include, 'sluice')):
        folders.sort()
        for name in sorted(names):
            if name.endswith('.h'):
                yield os.path.relpath(os.path.join(folder, name), include)


def source(include):
    """A C file with a function per struct, per constant and per id."""
    lines, types, values = [], set(), set()
    for header in headers(include):
        with open(os.path.join(include, header), encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
        lines.append(f'#include <{header}>')
        types.update(TYPE.findall(text))
        values.update(CONSTANT.findall(text) + DEFINE.findall(text))
    lines += [f'void use_{name}(const {name}* p);\nvoid use_{name}(const {name}* p) {{ (void)p; }}'
              for name in sorted(types)]
    # A value is part of a function's name: another value, and the function is gone.
    for name, value in sorted(values):
        function = f'{name}_is_' + re.sub(r'\W', '_', value)
        lines.append(f'void {function}(void);\nvoid {function}(void) {{}}')
    if len(types) < 30 or len(values) < 30:
        sys.exit(f'only {len(types)} types and {len(values)} values in {include}?')
    return '\n'.join(lines) + '\n'


def dump(include, work):
    """Compiles the library; the file of its dump."""
    code, library, out = (os.path.join(work, name) for name in ('abi.c', 'abi.so', 'abi.xml'))
    with open(code, 'w', encoding='utf-8') as file:
        file.write(source(include))
    subprocess.run(['cc', '-std=c11', '-g', '-O0', '-fPIC', '-shared', '-I', include, 'abi.c',
                    '-o', library], check=True, cwd=work)
    # Without places and addresses, so that the dump changes only when the interface does.
    subprocess.run(['abidw', '--no-show-locs', '--no-corpus-path', '--no-comp-dir-path',
                    '--no-elf-needed', '--out-file', out, library], check=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=('check', 'update'))
    parser.add_argument('--include', default=os.path.join(HERE, '..', 'include'))
    parser.add_argument('--golden', default=os.path.join(HERE, 'sluice-sdk-1.abi'))
    arguments = parser.parse_args()
    if not (shutil.which('abidw') and shutil.which('abidiff')):
        print('skipped: abidw and abidiff are not here; Debian has them in abigail-tools')
        return SKIPPED
    if platform.machine() != 'x86_64':
        print(f'skipped: the dump is of x86_64, this machine is {platform.machine()}')
        return SKIPPED
    with tempfile.TemporaryDirectory() as work:
        now = dump(os.path.abspath(arguments.include), work)
        if arguments.what == 'update':
            shutil.copy(now, arguments.golden)
            return 0
        # What is new may come; what was there stays as it was.
        done = subprocess.run(['abidiff', '--no-added-syms', arguments.golden, now], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        print(done.stdout)
        print('The binary interface changed. Where members were added at the end of a struct only: '
              'sdk/abi/abi.py update, and a line in sdk/abi/HISTORY.md. Anything else breaks '
              'plugins that exist: make it a new revision of that header instead.')
    return 1 if done.returncode else 0


if __name__ == '__main__':
    sys.exit(main())
