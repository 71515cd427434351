"""What can be changed in a source: one operator, constant, branch or call at a time.

Found in the syntax tree that libclang makes of it. Left alone are what has to be known when it is
compiled (constexpr, case labels, arguments of templates), what stands in a macro (SLUICE_CHECK),
and calls that only save memory or time, check, or log.

Texts are bytes read as latin-1, because the places in them that clang names are counted in bytes.
"""
import re
import sys

from switches import Mutation, without_comments

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, whatever python3 this is
from clang.cindex import CursorKind, Index, TypeKind  # noqa: E402

OPPOSITES = (("<", "<="), (">", ">="), ("==", "!="), ("&&", "||"), ("+", "-"), ("+=", "-="))
SWAPS = {a: b for pair in OPPOSITES for a, b in (pair, pair[::-1])}
LEFT_ALONE = {"reserve", "shrink_to_fit", "clear_unused", "log", "verify"}
SKIPPED = {CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL, CursorKind.TYPE_ALIAS_DECL,
           CursorKind.TYPEDEF_DECL}
DECLARED = {CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.PARM_DECL,
            CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
            CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE}
BODIES = {CursorKind.COMPOUND_STMT, CursorKind.IF_STMT, CursorKind.FOR_STMT,
          CursorKind.CXX_FOR_RANGE_STMT, CursorKind.WHILE_STMT, CursorKind.CASE_STMT,
          CursorKind.DEFAULT_STMT}
INTEGER = re.compile(r"(0[xX][\da-fA-F']+|\d[\d']*)([uUlLzZ]*)")
CONSTEXPR = re.compile(r"\b(constexpr|consteval|constinit)\b")
MACRO = re.compile(r"[A-Z][A-Z\d_]+\(")  # of all that is in it, clang says that it stands there
NAMED = re.compile(r"k[A-Z]\w*")
INTEGERS = {TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.UCHAR,
            TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG}


def mutations_of(path, text, arguments):
    """All of this source, in order. `arguments`: what clang is given for it besides its path."""
    unit = Index.create(excludeDecls=True).parse(  # without those of the precompiled header
        path, arguments, unsaved_files=[(path, text.encode("latin-1"))])
    wrong = [each for each in unit.diagnostics if each.severity >= each.Error]
    if wrong:
        sys.exit(f"{path}: {wrong[0]}")
    return Finder(path, text).all_of(unit)


class Finder:
    """Walks over the syntax tree of one source."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.found = {}  # keys are mutations: a tree may show one expression twice

    def all_of(self, unit):
        for each in unit.cursor.get_children():
            if each.location.file is not None and each.location.file.name == self.path:
                self.visit(each, None)
        return sorted(self.found, key=lambda each: (each.begin, -each.end, each.instead))

    def visit(self, cursor, parent):
        if self.is_left_alone(cursor):
            return
        if cursor.kind.is_expression():
            self.look_at(cursor, parent)
        if cursor.kind in (CursorKind.IF_STMT, CursorKind.CONDITIONAL_OPERATOR):
            self.look_at_branch(cursor)
        for each in self.children(cursor):
            self.visit(each, cursor)

    @staticmethod
    def range(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def is_left_alone(self, cursor):
        begin, end = self.range(cursor)
        if cursor.kind in SKIPPED or MACRO.match(self.text, begin):
            return True
        if cursor.kind in DECLARED:
            return bool(CONSTEXPR.search(self.text, begin, cursor.location.offset))
        if cursor.kind == CursorKind.IF_STMT:
            return bool(re.match(r"if\s+constexpr", self.text[begin:end]))
        return cursor.kind == CursorKind.CALL_EXPR and cursor.spelling in LEFT_ALONE

    def children(self, cursor):
        """Without those that belong to a type, to the arguments of a template or to a label."""
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.DECL_REF_EXPR:
            return []
        if cursor.kind == CursorKind.CASE_STMT:
            return children[1:]
        if cursor.kind in DECLARED:
            name = cursor.location.offset
            return [each for each in children
                    if each.extent.start.offset >= name and self.before(each) != "["]
        if cursor.kind == CursorKind.MEMBER_REF_EXPR:
            return children[:1]
        return children

    def before(self, cursor):
        return self.text[:cursor.extent.start.offset].rstrip()[-1:]

    def after(self, cursor):
        return self.text[cursor.extent.end.offset:].lstrip()[:1]

    def add(self, kind, cursor, instead):
        here = cursor.extent.start.file
        begin, end = self.range(cursor)
        if here is not None and here.name == self.path and 'R"' not in self.text[begin:end]:
            self.found[Mutation(kind, begin, end, instead)] = None

    def look_at(self, cursor, parent):
        begin, end = self.range(cursor)
        text = self.text[begin:end]
        if cursor.kind == CursorKind.CXX_BOOL_LITERAL_EXPR and text in ("true", "false"):
            self.add("constant", cursor, "false" if text == "true" else "true")
        elif cursor.kind == CursorKind.INTEGER_LITERAL and INTEGER.fullmatch(text):
            self.add("constant", cursor, one_more(text))
        elif cursor.kind == CursorKind.FLOATING_LITERAL and re.fullmatch(r"[\d.]+", text):
            self.add("constant", cursor, f"{text} + 1")
        elif cursor.kind == CursorKind.DECL_REF_EXPR:
            self.look_at_name(cursor, text)
        elif cursor.kind == CursorKind.UNARY_OPERATOR or cursor.spelling in ("operator++",
                                                                            "operator--"):
            self.look_at_step(cursor, text)
        else:
            self.look_at_operator(cursor, text)
        if cursor.kind == CursorKind.CALL_EXPR and text.startswith(("std::min", "std::max")):
            self.add("swap", cursor, ("std::max" if text[6] == "i" else "std::min") + text[8:])
        if parent is not None and parent.kind in BODIES and self.after(cursor) == ";":
            self.look_at_statement(cursor, parent)

    def look_at_name(self, cursor, text):
        """A constant of this file is one more where it is used."""
        meant = cursor.referenced
        if (NAMED.fullmatch(text) and meant is not None and meant.kind == CursorKind.VAR_DECL
                and meant.location.file.name == self.path
                and cursor.type.get_canonical().kind in INTEGERS):
            self.add("constant", cursor, f"{text} + 1")

    def look_at_step(self, cursor, text):
        for this, other in (("++", "--"), ("--", "++")):
            if text.startswith(this):
                self.add("swap", cursor, other + text[2:])
            elif text.endswith(this):
                self.add("swap", cursor, text[:-2] + other)

    def look_at_operator(self, cursor, text):
        """Two operands with an operator between them, built in or not."""
        children = [each for each in cursor.get_children() if each.kind.is_expression()]
        if len(children) < 2:
            return
        (begin, left), (right, end) = self.range(children[0]), self.range(children[-1])
        if (begin, end) != self.range(cursor) or left > right:
            return
        operator = without_comments(self.text[left:right]).strip()
        if operator[0:1] == "+" and "basic_string" in cursor.type.get_canonical().spelling:
            return  # texts have no difference
        if operator in SWAPS and not (operator[0] in "<>" and self.differ(
                begin, self.text[begin:left].strip(), self.text[right:end])):
            between = self.text[left:right].replace(operator, SWAPS[operator], 1)
            self.add("swap", cursor, self.text[begin:left] + between + self.text[right:end])

    def differ(self, at, left, right):
        """Whether it was just asked that these two are not equal: `a != b ? a < b : …`."""
        return f"{left} != {right}" in self.text[max(0, at - 100 - len(left + right)):at]

    def look_at_branch(self, cursor):
        """The condition of an `if` or of a `?:` is the other way round."""
        begin = cursor.extent.start.offset
        for each in cursor.get_children():
            closed = self.before(each) in ("(", ";") and self.after(each) == ")"
            asked = each.extent.start.offset == begin
            if not each.kind.is_expression() or not (closed or asked):
                continue
            condition = self.text[slice(*self.range(each))]
            if each.kind == CursorKind.UNARY_OPERATOR and condition.startswith("!"):
                self.add("branch", each, condition[1:])
            elif "&&" in condition or "||" in condition or not re.search("[=!]=", condition):
                self.add("branch", each, f"!({condition})")
            return

    def look_at_statement(self, cursor, parent):
        """A call whose answer nobody wants is left out."""
        children = list(parent.get_children())
        loops = (CursorKind.FOR_STMT, CursorKind.CXX_FOR_RANGE_STMT)
        if parent.kind in loops and cursor != children[-1]:
            return
        inner = cursor
        while inner.kind == CursorKind.UNEXPOSED_EXPR:
            inside = list(inner.get_children())
            if len(inside) != 1 or self.range(inside[0]) != self.range(cursor):
                return
            inner = inside[0]
        if (inner.kind == CursorKind.CALL_EXPR and inner.spelling not in LEFT_ALONE
                and not inner.spelling.startswith("operator")):
            self.add("call", cursor, "")


def one_more(text):
    """The text of a number that is one greater."""
    digits, suffix = INTEGER.fullmatch(text).groups()
    digits = digits.replace("'", "")
    base = 16 if digits[:2] in ("0x", "0X") else 8 if re.fullmatch("0[0-7]+", digits) else 10
    return str(int(digits, base) + 1) + suffix
