#!/usr/bin/env python3
"""The house rules that a machine can check.

usage: tidy.py [--no-format] ROOT

Prints `PATH:LINE: what is wrong` for each breach and exits 1 if there is any. The rules and their
reasons are in CONTRIBUTING.md.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

import cpp_scan

MAX_LINES = 800
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100
MAX_PUBLIC_FUNCTIONS = 40
SKIPPED_FOLDERS = {'.git', 'build', 'sluice-data', 'target', '__pycache__'}
CPP = ('.cpp', '.hpp', '.c', '.h')
CODE = CPP + ('.py', '.cmake', '.sh')

# A feature lives in its plugin only: these words may not appear in what every user runs.
FEATURE_FREE = ('core/', 'api/', 'host/', 'sdk/')
FEATURE_WORDS = re.compile(
    # awsElasticBlockStore is a volume of Kubernetes.
    r'(?<!aws)elastic|workload[ _-]?slic|admission[ _-]?option|fungib'
    r'|provisioning[ _-]?(request|check)'
    r'|concurrent[ _-]?admission|when[ _]?can[ _]?(borrow|preempt)|may[ _]?stop[ _]?search'
    r'|try[ _]?next[ _]?flavor|(borrowing|preemption)[ _]?over[ _]?(borrowing|preemption)'
    r'|(allowed|target)[ _]?resource[ _]?flavor|explicit[ _]?options|admission[ _]?constraints'
    r'|remove[ _]?(other|lower|below[ _]?target)|multi[ _]?kueue[ _]?(config|cluster)'
    r'|multi[ _-]cluster|worker[ _-]?lost'
    r'|pod[ _-]groups?|plain[ -]pods?|role[ _-]hash|retriable[ _-]in'
    r'|half[ _-]?life|entry[ _-]?penalt|usage[ _-]?based(?!AdmissionFairSharing)',
    re.IGNORECASE,
)
UNFINISHED = re.compile(r'\b(TODO|FIXME|XXX|HACK)\b')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
STANDARD = re.compile(r'^[a-z_0-9]+(\.h)?$')


def files(root):
    """Paths of all files below root, relative to it, with / between the parts."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, '/')


def is_code(path):
    return path.endswith(CODE) or path.endswith('CMakeLists.txt') or path in ('dev', '.ci/run')


def check_size(path, text):
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        yield MAX_LINES + 1, f'{len(lines)} lines; a file has at most {MAX_LINES}'
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f'{len(line)} columns; a line has at most {MAX_COLUMNS}'
    if path.endswith(CPP):
        for line, length, name in cpp_scan.functions(text):
            if length > MAX_FUNCTION_LINES:
                yield line, f'{name} has {length} lines; a function has at most ' \
                    f'{MAX_FUNCTION_LINES}'
        for line, name, count in cpp_scan.public_functions(text):
            if count > MAX_PUBLIC_FUNCTIONS and '/tests/' not in path:
                yield line, f'{name} has {count} public functions; a class has at most ' \
                    f'{MAX_PUBLIC_FUNCTIONS}'


def check_header(path, text):
    """A header opens with a paragraph that says what it is, and is safe to include twice."""
    if not path.endswith(('.hpp', '.h')):
        return
    opening = re.match(r'(//[^\n]*\n){2,}|/\*.*?\n.*?\*/', text, re.DOTALL)
    if not opening:
        yield 1, 'a header opens with a comment of two lines or more: what it is, its invariant, ' \
            'who may call it'
    if path.endswith('.h'):
        guard = re.search(r'^#ifndef (SLUICE_\w+)\n#define (SLUICE_\w+)\n', text, re.MULTILINE)
        if not guard or guard.group(1) != guard.group(2):
            yield 1, 'a C header has an include guard SLUICE_…'
    elif '#pragma once\n' not in text:
        yield 1, '#pragma once is missing'


# The house from the bottom up: a folder includes only what stands before it (and itself). So no
# include runs up and no two folders include each other. Sub-folders belong to their folder.
RANKS = {folder: rank for rank, folder in enumerate('''
    core/base core/types core/hooks core/quota core/reasons core/queueing core/model
    core/preemption core/scheduling core/engine
    api/json api/jobs api/schema api/builtin api/scheme api/codec
    host/base host/objects host/manifests host/store host/config host/access host/plugins
    host/rest host/kernel host/writes host/controllers host/machine host/executor host/apiserver
    host/client host/kube host/outbox host/remotes host/explain host/metrics host/simulate
    host/whatif host/history host/serve
    host/webhook host/aggregation host/observe host/decide host/cluster host/top host/cli host/main
    '''.split())}


def rank_of(path):
    return RANKS.get('/'.join(path.split('/')[:2]))


def runs_up(path, target):
    """Why an include breaks the order of RANKS; None when it keeps it."""
    if not path.startswith(('core/', 'api/', 'host/')):
        return None
    own, other = rank_of(path), rank_of(target)
    if own is None:
        return f'{"/".join(path.split("/")[:2])} has no place in RANKS (tests/tidy/tidy.py)'
    if other is not None and other > own:
        return f'{target} stands above {"/".join(path.split("/")[:2])}; no include runs up'
    return None


def allowed_include(path, quoted, target):
    """Which way the parts may depend on each other."""
    part = path.split('/')[0]
    ours = target.split('/')[0] if '/' in target else ''
    if part == 'core':
        return target.startswith('core/') if quoted else bool(
            STANDARD.match(target) or re.match(r'(oneapi/)?tbb/', target))
    if part == 'api':
        return ours in ('core', 'api') if quoted else bool(
            STANDARD.match(target) or target.startswith('boost/json'))
    if part == 'sdk':
        if path.startswith('sdk/include/'):
            return target.startswith('sluice/') or bool(STANDARD.match(target))
        return ours not in ('core', 'api', 'host', 'tests', 'plugins')
    if part == 'host':
        return ours not in ('tests', 'plugins', 'bench')
    if part == 'plugins' and '/tests/' not in path:
        own = '/'.join(path.split('/')[:2]) + '/'
        return '..' not in target and (
            ours not in ('core', 'api', 'host', 'tests', 'plugins') or target.startswith(own))
    return True


def check_includes(path, text):
    if not path.endswith(CPP):
        return
    for match in INCLUDE.finditer(text):
        line = text.count('\n', 0, match.start(2)) + 1
        if not allowed_include(path, match.group(1) == '"', match.group(2)):
            yield line, f'{path.split("/")[0]} may not include {match.group(2)}'
        elif why := runs_up(path, match.group(2)):
            yield line, why


def check_words(path, text):
    if path.startswith('tests/tidy/'):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if is_code(path) and UNFINISHED.search(line):
            yield number, f'"{UNFINISHED.search(line).group()}": finish it, or open an issue'
        if path.startswith(FEATURE_FREE) and FEATURE_WORDS.search(line):
            yield number, f'"{FEATURE_WORDS.search(line).group()}" belongs in its plugin'


def check_listed(path, root, lists):
    """Every source is named in the CMakeLists.txt of its folder or of one above it, or with its
    whole path in a file of cmake/."""
    if not path.endswith(('.cpp', '.c')):
        return
    if any(path in text for listing, text in lists.items() if listing.startswith('cmake/')):
        return
    folder = os.path.dirname(path)
    while True:
        listing = (folder + '/' if folder else '') + 'CMakeLists.txt'
        name = path[len(folder) + 1:] if folder else path
        if listing in lists:
            text = lists[listing]
            if re.search(r'(^|[\s("/])' + re.escape(name) + r'($|[\s)"])', text, re.MULTILINE):
                return
        if not folder:
            break
        folder = os.path.dirname(folder)
    yield 1, 'no CMakeLists.txt names this source'


def check_types(texts):
    """Two types of one name in one binary: the linker takes one of them for both, and says nothing.
    A test is one program with core and host; so are a plugin and its tests with the SDK."""
    groups = {}
    for path, text in texts.items():
        if path.endswith(CPP):
            part = path.split('/')[0]
            folder = os.path.dirname(path)
            group = 'host' if part in ('core', 'host', 'sdk') else folder
            groups.setdefault(group, []).extend(
                (name, path, line) for line, name in cpp_scan.types(text))
    for group, entries in groups.items():
        first = {}
        if group != 'host' and not group.startswith('plugins/'):
            first = {name: path for name, path, _ in groups.get('host', [])}
        # Programs of one file each, like examples and benchmarks, never meet.
        alone = group.split('/')[0] in ('bench', 'examples', 'sdk') or group in (
            'tests/fuzz', 'tests/host/plugins/broken')
        for name, path, line in entries:
            other = first.get(name)
            if other is not None and other != path:
                yield path, line, f'{name} is another type in {other}, and they meet in a program'
            elif not alone:
                first.setdefault(name, path)


def check_format(root, paths):
    """The first place of each source that clang-format would change."""
    def some(part):
        run = subprocess.run(['clang-format', '--dry-run', '--Werror', *part], cwd=root,
                             capture_output=True, text=True, check=False)
        if run.returncode and 'error:' not in run.stderr:
            raise RuntimeError(f'clang-format failed: {run.stderr}')
        return dict(reversed(re.findall(r'^(\S+?):(\d+):\d+: error:', run.stderr, re.MULTILINE)))

    parts = [paths[i:i + 20] for i in range(0, len(paths), 20)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for first in pool.map(some, parts):
            for path, line in first.items():
                yield path, int(line), 'not formatted; run ./dev format'


def check_tree(root, with_format=True):
    """All breaches below root as (path, line, text), in order of path."""
    paths = list(files(root))
    texts, breaches = {}, []
    for path in paths:
        if is_code(path) or path.startswith(FEATURE_FREE):
            try:
                with open(os.path.join(root, path), encoding='utf-8') as file:
                    texts[path] = file.read()
            except UnicodeDecodeError:
                if is_code(path):
                    breaches.append((path, 1, 'not UTF-8'))
    lists = {p: t for p, t in texts.items() if p.endswith(('CMakeLists.txt', '.cmake'))}
    for path, text in texts.items():
        found = list(check_words(path, text))
        if is_code(path):
            found += [*check_size(path, text), *check_header(path, text),
                      *check_includes(path, text), *check_listed(path, root, lists)]
        breaches += [(path, line, what) for line, what in found]
    breaches += check_types(texts)
    if with_format:
        breaches += check_format(root, [p for p in paths if p.endswith(CPP)])
    return sorted(breaches)


def main(arguments):
    with_format = '--no-format' not in arguments
    roots = [a for a in arguments if not a.startswith('--')]
    if len(roots) != 1:
        sys.exit(__doc__)
    breaches = check_tree(roots[0], with_format)
    for path, line, what in breaches:
        print(f'{path}:{line}: {what}')
    print(f'tidy: {len(breaches)} breach(es)')
    return 1 if breaches else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
