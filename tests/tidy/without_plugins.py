#!/usr/bin/env python3
"""The project configures with all plugins deleted: nothing outside of plugins/ names one.

usage: without_plugins.py ROOT [CMAKE OPTION…]
"""

import os
import shutil
import subprocess
import sys
import tempfile


def main(root, options):
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(root):
            if name not in ('build', '.git', 'plugins'):
                os.symlink(os.path.join(root, name), os.path.join(folder, name))
        os.mkdir(os.path.join(folder, 'plugins'))
        shutil.copy(os.path.join(root, 'plugins', 'CMakeLists.txt'),
                    os.path.join(folder, 'plugins'))
        run = subprocess.run(['cmake', '-S', folder, '-B', os.path.join(folder, 'out'), *options],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             check=False)
        if run.returncode:
            print(run.stdout)
        return run.returncode


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
