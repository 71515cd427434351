#!/usr/bin/env python3
"""Shows that snippets.py runs what is marked, and notices what does not work."""

import os
import tempfile
import unittest

import snippets

PAGE = '''# Title
```sh
exit 1    # not marked, not run
```
```c file=code/a.c
int a;
```
```sh run
test "$(cat code/a.c)" = "int a;"
test -x build/release/tool
cd code
```
```sh run
test -f a.c
```
'''


class Pages(unittest.TestCase):
    def wrong_with(self, page):
        with tempfile.TemporaryDirectory() as folder:
            build = os.path.join(folder, 'out')
            source = os.path.join(folder, 'src')
            os.mkdir(build)
            os.mkdir(source)
            with open(os.path.join(build, 'tool'), 'w', encoding='utf-8') as file:
                os.fchmod(file.fileno(), 0o755)
            with open(os.path.join(source, 'README.md'), 'w', encoding='utf-8') as file:
                file.write(page)
            return snippets.run_page(source, build, 'README.md')

    def test_blocks_run_in_order_in_one_shell(self):
        self.assertIsNone(self.wrong_with(PAGE))

    def test_a_failing_command_is_noticed(self):
        self.assertIn('status 3', self.wrong_with(PAGE + '```sh run\n(exit 3)\n```\n'))

    def test_a_page_without_blocks_is_noticed(self):
        self.assertIn('no block', self.wrong_with('# Title\n```sh\ntrue\n```\n'))

    def test_what_is_shown_was_printed(self):
        page = PAGE + '```sh run\necho "why  it waits"\n```\n```text shown\n{}\n```\n'
        self.assertIsNone(self.wrong_with(page.format('why  it waits')))
        self.assertIn('no command prints\nwhy it waits',
                      self.wrong_with(page.format('why it waits')))

    def test_a_dead_link_is_noticed(self):
        self.assertIsNone(self.wrong_with(PAGE + '[itself](README.md#title)\n'))
        self.assertIn('docs/away.md', self.wrong_with(PAGE + '[away](docs/away.md)\n'))


if __name__ == '__main__':
    unittest.main()
