#!/usr/bin/env python3
"""Names of tests are the same in every run: none holds the bytes of a parameter, which are
addresses (F2).

usage: test_names.py BUILD
"""

import re
import subprocess
import sys


def unstable(listing):
    return re.findall(r'.*\b\d+-byte object <.*', listing)


def main(build):
    assert unstable('Test #7: Of/FuzzSeeds.Pass/0  # GetParam() = 16-byte object <87-A6>')
    assert not unstable('Test #7: Of/FuzzSeeds.Pass/0  # GetParam() = elf')
    listing = subprocess.run(['ctest', '--test-dir', build, '-N'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=True).stdout
    if 'Total Tests: 0' in listing or 'Total Tests:' not in listing:
        print('ctest lists no tests')
        return 1
    for name in unstable(listing):
        print(f'{name.strip()}: give the type of the parameter a PrintTo')
    return 1 if unstable(listing) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
