#!/usr/bin/env python3
"""What is found in a source, and how that is put in."""
import unittest

from switches import HEADER, Mutation, Switched

try:
    from mutations import mutations_of
except ImportError:
    mutations_of = None  # ./dev mutate installs libclang

SOURCE = """\
#define SLUICE_CHECK(...) static_cast<void>(0)
constexpr int kMost = 64;
template <int N> int times(int x) { return N * x; }
struct List { void push_back(int); void reserve(int); bool empty() const; int last() const; };
// a < b is a comment
int f(int a, int b, List& list) {
  SLUICE_CHECK(a < b, "a is",
               a + 1);
  const char* text = "a < b";
  if (a < b) return 0x10U;
  list.push_back(a);
  list.reserve(3);
  switch (a) { case 5: ++a; }
  static constexpr int kNumbers[3] = {1, 2, 3};
  if constexpr (sizeof(a) == 4) return times<2>(a + b);
  a = kMost;
  return list.empty() && b ? list.last() + a : 010;
}
"""


@unittest.skipIf(mutations_of is None, "no libclang: ./dev mutate installs it")
class Found(unittest.TestCase):
    def found_in(self, source):
        return [(source[each.begin:each.end], each.instead)
                for each in mutations_of("source.cpp", source, ["-std=c++20", "-xc++"])]

    def found(self, code, arguments="int a, int b, bool yes, List& list"):
        before = f"{SOURCE}void g({arguments}) {{ "
        return [each for each in self.found_in(before + code + " }")
                if each not in self.found_in(SOURCE)]

    def test_each_operator_constant_branch_and_call_of_what_runs(self):
        self.assertEqual(self.found_in(SOURCE), [
            ("a < b", "!(a < b)"),
            ("a < b", "a <= b"),
            ("0x10U", "17U"),
            ("list.push_back(a)", ""),
            ("++a", "--a"),
            ("kMost", "kMost + 1"),
            ("list.empty() && b", "!(list.empty() && b)"),
            ("list.empty() && b", "list.empty() || b"),
            ("list.last() + a", "list.last() - a"),
            ("010", "9"),
        ])

    def test_an_operator_and_its_opposite_are_one_each(self):
        self.assertEqual(self.found("yes = a <= b;"), [("a <= b", "a < b")])
        self.assertEqual(self.found("a += b;"), [("a += b", "a -= b")])
        self.assertEqual(self.found("yes = true;"), [("true", "false")])
        self.assertEqual(self.found("b--;"), [("b--", "b++")])

    def test_what_is_known_to_differ_has_no_equal_case(self):
        self.assertEqual(self.found("yes = a != b ? a < b : yes;"),
                         [("a != b", "a == b")])

    def test_a_branch_that_turns_as_its_operator_does_is_one(self):
        self.assertEqual(self.found("if (a == b) {}"), [("a == b", "a != b")])
        self.assertEqual(self.found("if (!yes) {}"), [("!yes", "yes")])

    def test_a_declaration_in_a_condition_stays(self):
        self.assertEqual(self.found("if (int c = list.last()) {}"), [])
        self.assertEqual(self.found("if (int c = list.last(); c != b) {}"), [("c != b", "c == b")])

    def test_a_call_whose_answer_is_used_stays(self):
        self.assertEqual(self.found("a = list.last();"), [])
        self.assertEqual(self.found("for (list.push_back(a);;) list.push_back(b);"),
                         [("list.push_back(b)", "")])


def switched(source, *mutations):
    return Switched(source, dict(enumerate(mutations, 1)))


class Put(unittest.TestCase):
    def test_what_is_not_changed_is_as_it_was_on_lines_of_its_own(self):
        self.assertEqual(switched("int a;\n").text, HEADER + "int a;\n")

    def test_an_expression_is_chosen_when_the_program_runs(self):
        self.assertEqual(
            switched("x = a < b;", Mutation("swap", 4, 9, "a <= b")).text,
            HEADER + "x = (sluice::mutant::on(1) ? (a <= b) : (a < b));")

    def test_what_is_in_it_is_changed_in_the_original_only(self):
        self.assertEqual(
            switched("x = a + 1;", Mutation("swap", 4, 9, "a - 1"),
                     Mutation("constant", 8, 9, "2")).text,
            HEADER + "x = (sluice::mutant::on(1) ? (a - 1) : "
            "(a + (sluice::mutant::on(2) ? (2) : (1))));")

    def test_a_branch_and_a_call_are_of_one_type_on_both_sides(self):
        self.assertEqual(switched("if (p) f();", Mutation("branch", 4, 5, "!(p)"),
                                  Mutation("call", 7, 10, "")).text,
                         HEADER + "if ((sluice::mutant::on(1) ? bool(!(p)) : bool(p))) "
                         "(sluice::mutant::on(2) ? void() : void(f()));")

    def test_lines_stay_and_comments_do_not_hide_what_follows(self):
        put = switched("f(a,  // first\n  b);\ng();", Mutation("call", 0, 18, ""),
                       Mutation("call", 20, 23, "")).text
        self.assertEqual(put.count("\n"), 1 + 2)
        more = switched("f(a <  // first\n  b);", Mutation("swap", 2, 19, "a <=  // first\n  b"))
        self.assertIn("? (a <=     b) :", more.text)

    def test_a_message_is_about_the_alternative_that_it_stands_in(self):
        put = switched("x = a + 1;\ny = 2;", Mutation("swap", 4, 9, "a - 1"),
                       Mutation("constant", 8, 9, "2"), Mutation("constant", 15, 16, "3"))
        line = put.text.split("\n")[1]
        self.assertEqual(put.blamed(2, line.index("a - 1") + 1), [1])
        self.assertEqual(put.blamed(2, line.index("(2) :") + 2), [2])
        self.assertEqual(put.blamed(2, line.index("a + ") + 1), [1])  # the expression as it was

    def test_a_message_beside_all_of_them_is_about_those_of_its_line(self):
        put = switched("x = a + 1;\ny = 2;", Mutation("swap", 4, 9, "a - 1"),
                       Mutation("constant", 15, 16, "3"))
        self.assertEqual(put.blamed(3, 1), [2])


if __name__ == "__main__":
    unittest.main()
