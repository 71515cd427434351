#!/usr/bin/env python3
"""The binary interface of the SDK is that of its golden dump, and what would break it is noticed.

usage: abi_test.py SDK_FOLDER
"""

import os
import shutil
import subprocess
import sys
import tempfile

#          what is done to the headers, how, and whether it is an accident
CHANGES = [
    ('a further struct', 'ext/timers.h', 'typedef struct sluice_timers {',
     'typedef struct sluice_more { int more; } sluice_more_t;\n'
     'typedef struct sluice_timers {', False),
    ('a further constant', 'ext/validator.h',
     'SLUICE_WRITE_DELETE = 2', 'SLUICE_WRITE_DELETE = 2, SLUICE_WRITE_MORE = 3', False),
    ('a member at the end of a struct, of which the history should tell', 'ext/queue_watch.h',
     'sluice_str_t json;', 'sluice_str_t json; uint64_t more;', True),
    ('another id', 'svc/log.h', '"log/1"', '"log/2"', True),
    ('a member in the middle of a struct', 'ext/queue_watch.h',
     'uint32_t id;', 'uint64_t more; uint32_t id;', True),
    ('a member of another type', 'ext/timers.h', 'int64_t now', 'int32_t now', True),
    ('a constant with another number', 'ext/validator.h',
     'SLUICE_WRITE_DELETE = 2', 'SLUICE_WRITE_DELETE = 4', True),
    ('a struct that is gone', 'svc/log.h', '} sluice_log_t;', '} sluice_logging_t;', True),
]


def check(sdk, include):
    return subprocess.run([sys.executable, os.path.join(sdk, 'abi', 'abi.py'), 'check',
                           '--include', include], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)


def main(sdk):
    include = os.path.join(sdk, 'include')
    done = check(sdk, include)
    print(done.stdout, end='')
    if done.returncode:
        return done.returncode
    failed = 0
    for what, header, before, after, is_accident in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, 'include')
            shutil.copytree(include, copy)
            path = os.path.join(copy, 'sluice', header)
            with open(path, encoding='utf-8') as file:
                text = file.read()
            assert before in text, f'{header} has no {before}'
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text.replace(before, after))
            noticed = check(sdk, copy).returncode == 1
        if noticed != is_accident:
            print(f'{what}: {"taken for a break" if noticed else "not noticed"}')
            failed += 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
