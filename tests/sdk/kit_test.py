#!/usr/bin/env python3
"""What an author does, done: installs the SDK without Sluice, and builds, unit-tests and validates
each example and each template out of the tree.

usage: kit_test.py --source ROOT --sluice PROGRAM --work FOLDER [NAME…]

WORK is used again by the next run, so that a compiler cache recognizes what was built. With NAMEs
only these projects are built. Prints what failed, exits 1 if anything did.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

KINDS = ('check', 'controller', 'flavor-filter', 'flavor-filter-c', 'preemption-veto', 'validator')


class Failed(Exception):
    """A command that failed, with what it printed."""


def run(*command, cwd=None, **environment):
    """The output of the command."""
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, env=dict(os.environ, **environment))
    if done.returncode:
        raise Failed(f'{" ".join(command)}\nexit status {done.returncode}\n{done.stdout[-4000:]}')
    return done.stdout


def install_sdk(source, work):
    """The SDK alone: its folder is a project that needs no compiler."""
    prefix = os.path.join(work, 'prefix')
    shutil.copytree(os.path.join(source, 'sdk'), os.path.join(work, 'sdk'))
    run('cmake', '-S', os.path.join(work, 'sdk'), '-B', os.path.join(work, 'sdk-build'))
    run('cmake', '--install', os.path.join(work, 'sdk-build'), '--prefix', prefix)
    return prefix


def projects(source, sluice, work):
    """Makes the folders of all projects; {name: folder}."""
    found = {}
    examples = os.path.join(source, 'examples', 'plugins')
    shutil.copytree(examples, os.path.join(work, 'examples'))
    for name in sorted(os.listdir(examples)):
        folder = os.path.join(work, 'examples', name)
        if os.path.exists(os.path.join(folder, 'CMakeLists.txt')):
            found[name] = folder
    for kind in KINDS:
        run(sluice, 'plugin', 'new', f'my-{kind}', '--kind', kind, '--directory',
            os.path.join(work, 'new', kind))
        found[f'new {kind}'] = os.path.join(work, 'new', kind)
    return found


def build(folder, prefix, sluice):
    """Configures, builds and tests one project as its author would."""
    out = os.path.join(folder, 'build')
    options = [f'-DCMAKE_PREFIX_PATH={prefix}', f'-DSLUICE_PROGRAM={sluice}']
    if shutil.which('ninja'):
        options.append('-GNinja')
    if shutil.which('ccache'):
        options += [f'-DCMAKE_{language}_COMPILER_LAUNCHER=ccache' for language in ('C', 'CXX')]
    warnings = '-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror'
    run('cmake', '-S', folder, '-B', out, *options, CFLAGS=warnings, CXXFLAGS=warnings)
    run('cmake', '--build', out)
    tests = run('ctest', '--test-dir', out, '--output-on-failure', '--no-tests=error')
    for kind in ('_test', '_validate'):
        if kind + ' ' not in tests:
            raise Failed(f'{folder} has no test NAME{kind}:\n{tests}')


def build_with_pkg_config(source, prefix, sluice, work):
    """One line for who has no CMake."""
    library = os.path.join(work, 'small-jobs-on-spot.so')
    example = os.path.join(source, 'examples/plugins/flavor-filter-c/small_jobs_on_spot.c')
    pkg = {'PKG_CONFIG_PATH': os.path.join(prefix, 'lib/pkgconfig')}
    flags = [*run('pkg-config', '--cflags', 'sluice-sdk', **pkg).split(),
             *run('pkg-config', '--variable=plugin_flags', 'sluice-sdk', **pkg).split()]
    run('cc', '-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror', *flags, example,
        '-o', library)
    run(sluice, 'plugin', 'validate', library)


def refuses_an_older_sdk(prefix, work):
    """find_package() of another major fails."""
    folder = os.path.join(work, 'newer')
    os.makedirs(folder)
    with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
        file.write('cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES NONE)\n'
                   'find_package(SluiceSDK 2 REQUIRED)\n')
    try:
        run('cmake', '-S', folder, '-B', folder + '/build', f'-DCMAKE_PREFIX_PATH={prefix}')
    except Failed as failed:
        if 'compatible with requested version "2"' in ' '.join(str(failed).split()):
            return
        raise
    raise Failed('find_package(SluiceSDK 2) took this SDK')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--source', required=True)
    parser.add_argument('--sluice', required=True)
    parser.add_argument('--work', required=True)
    parser.add_argument('names', nargs='*', metavar='NAME')
    arguments = parser.parse_args()
    source, sluice, work = (os.path.abspath(path) for path in
                            (arguments.source, arguments.sluice, arguments.work))
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    prefix = install_sdk(source, work)
    tasks = {name: (build, folder, prefix, sluice)
             for name, folder in projects(source, sluice, work).items()}
    tasks['pkg-config'] = (build_with_pkg_config, source, prefix, sluice, work)
    tasks['version'] = (refuses_an_older_sdk, prefix, work)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        running = {name: pool.submit(*task) for name, task in tasks.items()
                   if not arguments.names or name in arguments.names}
        for name, future in running.items():
            try:
                future.result()
                print(f'{name}: fine')
            except Failed as wrong:
                failed += 1
                print(f'{name}: FAILED: {wrong}')
    return 1 if failed or not running else 0


if __name__ == '__main__':
    sys.exit(main())
