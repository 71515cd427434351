#!/usr/bin/env python3
"""Shows that each rule of tidy.py can fail, and that clean text passes."""

import os
import tempfile
import unittest

import cpp_scan
import tidy

HEADER = '// What it is.\n// Any thread.\n#pragma once\n\n'


class Tree(unittest.TestCase):
    def breaches(self, contents, with_format=False):
        """The breaches of a tree that is made of {path: text}, as 'path:line: text'."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in contents.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, 'w', encoding='utf-8') as file:
                    file.write(text)
            return [f'{p}:{n}: {w}' for p, n, w in tidy.check_tree(root, with_format)]

    def assert_clean(self, contents):
        self.assertEqual([], self.breaches(contents))

    def assert_breach(self, contents, place, words):
        found = self.breaches(contents)
        self.assertEqual(1, len(found), found)
        self.assertTrue(found[0].startswith(place + ': '), found[0])
        self.assertIn(words, found[0])


class Sizes(Tree):
    def test_a_file_of_800_lines_is_the_longest(self):
        self.assert_clean({'core/a.hpp': HEADER + '\n' * 796})
        self.assert_breach({'core/a.hpp': HEADER + '\n' * 797}, 'core/a.hpp:801', '801 lines')

    def test_a_line_of_100_columns_is_the_longest(self):
        self.assert_clean({'core/a.hpp': HEADER + '// ' + 'ü' * 97 + '\n'})
        self.assert_breach({'core/a.hpp': HEADER + '// ' + 'ü' * 98 + '\n'}, 'core/a.hpp:5', '101')

    def test_a_function_of_70_lines_is_the_longest(self):
        body = 'inline int f() {\n' + '  g();\n' * 68 + '}\n'
        self.assert_clean({'core/a.hpp': HEADER + body})
        longer = body.replace('{\n', '{\n  g();\n', 1)
        self.assert_breach({'core/a.hpp': HEADER + longer}, 'core/a.hpp:5', 'f has 71 lines')

    def test_a_class_of_40_public_functions_is_the_widest(self):
        def a_class(count):
            return (HEADER + 'namespace sluice {\nclass C {\n  void own(int);\n\n public:\n'
                    '  C(const C&) = delete;\n  using F = void(int);\n'
                    '  std::function<int(int)> f;\n'
                    + ''.join(f'  std::vector<int> f{i}(std::function<void()> f = {{}}) const;\n'
                              for i in range(count)) + ' private:\n  int g();\n};\n}\n')
        self.assert_clean({'core/a.hpp': a_class(40)})
        self.assert_breach({'core/a.hpp': a_class(41)}, 'core/a.hpp:6', 'C has 41 public functions')

    def test_a_table_may_be_longer_than_a_function(self):
        table = 'constexpr int kTable[] = {\n' + '    1,\n' * 200 + '};\n'
        self.assert_clean({'core/a.hpp': HEADER + table})


class Types(Tree):
    A = HEADER + 'namespace sluice {\nstruct One {\n  int x;\n};\n}\n'

    def cpp(self, path, text):
        return {path: text, 'CMakeLists.txt': path}

    def test_one_name_is_one_type_in_a_program(self):
        other = 'namespace sluice {\n\nclass One final : public B<int> {\n};\n}\n'
        for path in ('host/b.cpp', 'tests/core/b_test.cpp'):
            self.assert_breach({'core/a.hpp': self.A} | self.cpp(path, other), f'{path}:3',
                               'sluice::One is another type in core/a.hpp')
        self.assert_breach({'core/a.hpp': self.A, 'core/b.hpp': self.A}, 'core/b.hpp:6', 'One')

    def test_what_never_meets_may_have_one_name(self):
        one = 'namespace {} {{\n{} One {{\n}};\n}}\n'
        for text in (one.format('', 'struct'), one.format('other', 'struct'),
                     one.format('sluice', 'struct Two : public').replace('public One', 'One'),
                     'namespace sluice {\nclass One;\nvoid f() {\n  struct One {};\n}\n}\n',
                     'namespace sluice {\nnamespace {\nenum class One { kA };\n}\n}\n',
                     'namespace sluice {\nstruct Two {\n  struct One {};\n};\n}\n',
                     'namespace sluice {\ntemplate <>\nstruct One<int> {};\n}\n'):
            self.assert_clean({'core/a.hpp': self.A} | self.cpp('host/b.cpp', text))
        self.assert_clean({'plugins/x/a.hpp': self.A, 'plugins/y/a.hpp': self.A,
                           'core/a.hpp': self.A})


class Scanner(unittest.TestCase):
    def lengths(self, text):
        return [(name, length) for _, length, name in cpp_scan.functions(text)]

    def test_finds_members_lambdas_and_constructors(self):
        text = '''namespace a {
template <typename T>
class C : public B<T> {
 public:
  explicit C(int n = {}) : a_{n}, b_(n) {
    f([] {
      g("}}}"); // }
    });
  }
  int x = 1'000;
  char brace = '{';
};
enum class E { kA, kB };
int h(int x) { return x; }
}
'''
        self.assertEqual([1, 5, 1], [n for _, n in self.lengths(text)])
        self.assertEqual('h', self.lengths(text)[2][0])

    def test_skips_raw_strings_and_macros(self):
        text = '#define M(x) \\\n  if (x) {\nconst char* t = R"(\n} } }\n)";\nvoid f() {\n}\n'
        self.assertEqual([('f', 2)], self.lengths(text))


class Headers(Tree):
    def test_opens_with_a_paragraph(self):
        self.assert_breach({'core/a.hpp': '#pragma once\n'}, 'core/a.hpp:1', 'opens with a comment')

    def test_is_guarded(self):
        self.assert_breach({'core/a.hpp': '// What.\n// Who.\n'}, 'core/a.hpp:1', '#pragma once')
        self.assert_breach({'sdk/include/sluice/a.h': '/* What.\n * Who. */\n'},
                           'sdk/include/sluice/a.h:1', 'include guard')
        guard = '#ifndef SLUICE_A_H\n#define SLUICE_A_H\n#endif\n'
        self.assert_clean({'sdk/include/sluice/a.h': '/* What.\n * Who. */\n' + guard})


class Dependencies(Tree):
    def include(self, path, line):
        return {path: HEADER + line + '\n'}

    def test_core_knows_itself_the_standard_and_tbb(self):
        for line in ('#include <vector>', '#include "core/base/b.hpp"', '#include <tbb/task.h>'):
            self.assert_clean(self.include('core/quota/a.hpp', line))
        for line in ('#include "host/b.hpp"', '#include "sluice/plugin.h"', '#include <fmt/core.h>',
                     '#include <boost/json.hpp>', '#include "api/json/json.hpp"'):
            self.assert_breach(self.include('core/quota/a.hpp', line), 'core/quota/a.hpp:5',
                               'may not include')

    def test_no_include_runs_up(self):
        for path, target in (('core/quota/a.hpp', 'core/engine/b.hpp'),
                             ('api/json/a.hpp', 'api/codec/b.hpp'),
                             ('host/rest/patch/a.hpp', 'host/writes/b.hpp')):
            self.assert_clean(self.include(target, f'#include "{path}"'))
            self.assert_clean(self.include(path, f'#include "{path[:-5]}2.hpp"'))
            self.assert_breach(self.include(path, f'#include "{target}"'), path + ':5',
                               'no include runs up')
        self.assert_breach(self.include('host/attic/a.hpp', '#include "core/base/b.hpp"'),
                           'host/attic/a.hpp:5', 'has no place in RANKS')

    def test_the_sdk_knows_nothing_of_ours(self):
        self.assert_clean(self.include('sdk/include/sluice/a.hpp', '#include "sluice/b.h"'))
        for line in ('#include "core/b.hpp"', '#include <boost/json.hpp>'):
            self.assert_breach(self.include('sdk/include/sluice/a.hpp', line),
                               'sdk/include/sluice/a.hpp:5', 'may not include')

    def test_a_plugin_knows_the_sdk_and_itself(self):
        path = 'plugins/x/a.hpp'
        for line in ('#include <sluice/plugin.hpp>', '#include "plugins/x/b.hpp"'):
            self.assert_clean(self.include(path, line))
        for line in ('#include "core/b.hpp"', '#include "plugins/y/b.hpp"',
                     '#include "../y/b.hpp"'):
            self.assert_breach(self.include(path, line), path + ':5', 'may not include')

    def test_the_host_knows_no_plugin(self):
        self.assert_clean(self.include('host/base/a.hpp', '#include "core/base/b.hpp"'))
        self.assert_breach(self.include('host/base/a.hpp', '#include "plugins/x/b.hpp"'),
                           'host/base/a.hpp:5', 'may not include')


class Words(Tree):
    def test_features_stay_in_their_plugins(self):
        for word in ('ElasticJob', 'workload_slice', 'workload slicing', 'AdmissionOption',
                     'ProvisioningRequest', 'flavorFungibility', 'whenCanBorrow',
                     'when_can_preempt', 'concurrentAdmission', 'allowedResourceFlavors',
                     'MayStopSearch', 'TryNextFlavor', 'PreemptionOverBorrowing'):
            for part in ('core', 'host', 'sdk'):
                self.assert_breach({f'{part}/a.hpp': HEADER + f'// {word}\n'},
                                   f'{part}/a.hpp:5', 'belongs in its plugin')
            self.assert_clean({'plugins/x/a.hpp': HEADER + f'// {word}\n'})
        self.assert_clean({'core/a.hpp': HEADER + '// awsElasticBlockStore\n'})

    def test_nothing_is_left_unfinished(self):
        for word in ('TODO', 'FIXME', 'XXX'):
            self.assert_breach({'tests/a.hpp': HEADER + f'// {word}: later\n'},
                               'tests/a.hpp:5', word)


class Lists(Tree):
    def test_every_source_is_built(self):
        self.assert_breach({'core/x/a.cpp': '', 'core/x/CMakeLists.txt': 'target_sources(b.cpp)'},
                           'core/x/a.cpp:1', 'no CMakeLists.txt')
        self.assert_clean({'core/x/a.cpp': '', 'core/x/CMakeLists.txt': 'target_sources(a.cpp)'})
        self.assert_clean({'core/x/a.cpp': '', 'core/CMakeLists.txt': 'sources(\n  x/a.cpp)'})
        self.assert_clean({'tests/h.cpp': '', 'cmake/T.cmake': 'add_library(${R}/tests/h.cpp)'})
        self.assert_breach({'core/a.cpp': '', 'core/CMakeLists.txt': 'target_sources(aa.cpp)'},
                           'core/a.cpp:1', 'no CMakeLists.txt')


class Format(Tree):
    def test_follows_clang_format(self):
        path = 'core/a.hpp'
        self.assertEqual([], self.breaches({path: HEADER + 'int f();\n'}, with_format=True))
        self.assertEqual([path + ':5: not formatted; run ./dev format'],
                         self.breaches({path: HEADER + 'int  f( );\n'}, with_format=True))


if __name__ == '__main__':
    unittest.main()
