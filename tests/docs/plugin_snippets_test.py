#!/usr/bin/env python3
"""The C++ on the pages about plugins compiles, and its hooks have the signatures that the SDK asks.

usage: plugin_snippets_test.py DOCS_FOLDER INCLUDE_FOLDER

A block of a page is a class, the members of one, or a unit test. All of them become one source
file, each block in a namespace of its own. What a block uses and does not show is in NEEDED.
"""

import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```cpp\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CONTEXT = 'const sluice::Context& context_;'
#                     before the class                                  members
NEEDED = {
    'check-controller.md': (
        'bool knows_parameters_of(std::string_view);\nint cost_of(const sluice::Workload&);',
        CONTEXT + ' std::map<sluice::CheckAttempt, int> asked_;'),
    'configuration.md': ('', 'std::string url_; std::int64_t retries_; void timer(std::uint64_t, '
                             'std::int64_t);'),
    'controller.md': ('std::int64_t spent_by(const std::string&);', CONTEXT),
    'job-mapping.md': ('bool opted_in(const sluice::Job&);', ''),
    'pod-gate.md': ('bool first_set_runs(const sluice::Job&);', ''),
    'post-admit.md': ('', 'std::set<std::string> running_;'),
    'queue-watch.md': ('', 'std::vector<bool> strict_;'),
    'schema.md': ('constexpr std::string_view kContribution = "[]";', ''),
    'services.md': ('sluice::Again connection_changed(const std::string&);',
                    'std::vector<std::string> watched_kinds() const;' + CONTEXT),
    'timers.md': ('void look_again();\nconstexpr std::int64_t kMinute = 60\'000\'000\'000;',
                  CONTEXT),
}


def wrapped(page, number, code):
    """The block as declarations of a namespace."""
    before, members = NEEDED.get(page, ('', ''))
    code = re.sub(r'^\s*…\n', '', code, flags=re.MULTILINE)
    if 'SLUICE_TEST_MAIN' in code:
        code = re.sub(r'^(#include.*|SLUICE_TEST_MAIN.*)\n', '', code, flags=re.MULTILINE)
        body = code
    else:
        named = re.search(r'^class (\w+) {', code) or re.search(r'^explicit (\w+)\(', code,
                                                                re.MULTILINE)
        name = named.group(1) if named else 'Snippet'
        if code.startswith('class '):
            code = code.rstrip().removesuffix('};') + f' private:\n  {members}\n}};\n'
        else:
            code = f'class {name} {{\n public:\n{code}\n{members}\n}};\n'
        body = f'{code}static_assert(sluice::detail::check_signatures<{name}>());\n'
    place = re.sub(r'\W', '_', page)
    return f'namespace {place}_{number} {{\n{before}\n#line 1 "{page}, block {number}"\n{body}}}\n'


def main(docs, include):
    parts, pages = [], 0
    for page in sorted(os.listdir(docs)):
        with open(os.path.join(docs, page), encoding='utf-8') as file:
            blocks = BLOCK.findall(file.read())
        parts += [wrapped(page, number, code) for number, code in enumerate(blocks, 1)]
        pages += bool(blocks)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'snippets.cpp')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#include <map>\n#include <set>\n#include <sluice/testing.hpp>\n' +
                       '\n'.join(parts))
        done = subprocess.run(['c++', '-std=c++20', '-fsyntax-only', '-Wall', '-Wextra', '-Werror',
                               '-Wno-unused-private-field', '-Wno-unknown-warning-option',
                               '-I', include, path], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    print(done.stdout, f'{len(parts)} blocks on {pages} pages')
    return 1 if done.returncode or pages < 10 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2]))
