#!/usr/bin/env python3
"""What mutations.py finds in a source."""
import unittest

from mutations import code_of, mutated, mutations_of

SOURCE = """\
// a < b is a comment
#include "x.hpp"
int f(int a, int b) {
  SLUICE_CHECK(a < b, "a is",
               a + 1);
  const char* text = "a < b";
  if (a < b) return 7;
  list.push_back(a);
  list.reserve(3);
  return a && b;
}
"""


def afters(text):
    return [each.after.strip() for each in mutations_of(text)]


class Mutations(unittest.TestCase):
    def test_each_operator_constant_branch_and_call(self):
        self.assertEqual(afters(SOURCE), [
            "if (a <= b) return 7;",
            "if (a < b) return 8;",
            "if (!(a < b)) return 7;",
            ";",
            "return a || b;",
        ])

    def test_comments_texts_and_checks_stay(self):
        code = code_of(SOURCE)
        self.assertEqual(len(code), len(SOURCE))
        self.assertNotIn("comment", code)
        self.assertEqual({each.line for each in mutations_of(SOURCE)}, {7, 8, 10})

    def test_what_only_checks_or_saves_memory_stays(self):
        for line in ("relations.verify();", "list.reserve(3);"):
            self.assertEqual(afters("  " + line), [], line)

    def test_one_line_changes(self):
        first = next(iter(mutations_of(SOURCE)))
        now = mutated(SOURCE, first).split("\n")
        self.assertEqual([i for i, (a, b) in enumerate(zip(now, SOURCE.split("\n"))) if a != b],
                         [first.line - 1])

    def test_an_operator_and_its_opposite_are_one_each(self):
        self.assertEqual(afters("  x = a <= b;"), ["x = a < b;"])
        self.assertEqual(afters("  x += 1;"), ["x -= 1;", "x += 2;"])
        self.assertEqual(afters("  return true;"), ["return false;"])


if __name__ == "__main__":
    unittest.main()
