#!/usr/bin/env python3
"""docs/configuration.md lists the keys that the program takes, all of them and no other (C14).

usage: configuration_test.py --sluice PROGRAM PAGE

The program names the keys of a section when it meets one that it does not know, so the sections are
walked by asking each for a key that none has.
"""

import argparse
import re
import subprocess
import sys
import tempfile

PROBE = 'noSuchKey'
HEAD = 'apiVersion: config.sluice.dev/v1alpha1\nkind: Configuration\n'


def text_of(path):
    """YAML in one line with the probe at the path, whose parts may end with []."""
    inner = f'{PROBE}: 1'
    for part in reversed(path):
        name = part.removesuffix('[]')
        inner = f'{name}: [{{{inner}}}]' if part != name else f'{name}: {{{inner}}}'
    return HEAD + inner + '\n'


def keys_at(sluice, path):
    """The keys of the section; None when there is no section at this path."""
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write(text_of(path))
        file.flush()
        said = subprocess.run([sluice, 'plugin', 'list', '--config', file.name], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    where = '.'.join([*path, PROBE]).replace('[]', '[0]')
    found = re.search(rf': {re.escape(where)}: unknown key; allowed: (.*)', said)
    return found.group(1).split(', ') if found else None


def walk(sluice, path=()):
    """Every key below a section that has no keys of its own, and every list of maps."""
    for key in keys_at(sluice, path):
        below = (*path, key)
        if keys_at(sluice, below) is not None:
            yield from walk(sluice, below)
            continue
        yield '.'.join(below)
        if keys_at(sluice, (*path, key + '[]')) is not None:
            yield from walk(sluice, (*path, key + '[]'))


def rows(page):
    """key → (default, effect)"""
    out = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if line.startswith('| `') and len(cells) == 3:
            out[cells[0].strip('`')] = (cells[1], cells[2])
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--sluice', required=True)
    parser.add_argument('page')
    options = parser.parse_args()
    taken = set(walk(options.sluice))
    with open(options.page, encoding='utf-8') as page:
        told = rows(page.read())
    wrong = [f'{key}: the program takes it, the page does not have it'
             for key in sorted(taken - set(told))]
    wrong += [f'{key}: the page has it, the program does not take it'
              for key in sorted(set(told) - taken)]
    wrong += [f'{key}: tell its default and its effect'
              for key, cells in told.items() if not all(cells)]
    print('\n'.join(wrong) or f'{len(taken)} keys')
    return 1 if wrong or len(taken) < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
