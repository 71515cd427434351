"""What can be changed in a source: one operator, constant, branch or call at a time.

Pure: text in, mutations out. Comments, texts in quotes, preprocessor lines and checks of invariants
(SLUICE_CHECK, static_assert, verify()) are left alone, and so is what only saves memory or time.
"""
import collections
import re

Mutation = collections.namedtuple("Mutation", "line before after")  # line: from 1

SWAPS = ((" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" && ", " || "), (" + ", " - "),
         (" += ", " -= "), ("std::min(", "std::max("), ("true", "false"), ("++", "--"))
LEFT_ALONE = re.compile(r"\b(reserve|shrink_to_fit|clear_unused|log|intern|verify)\(|"
                        r"^\s*(#|template|using|namespace|case\b.*:$)|\boperator\b|\bdefault\b")
CHECKS = re.compile(r"\b(SLUICE_CHECK|static_assert)\(")
NUMBER = re.compile(r"(?<![\w.'\"])(\d+)(?![\w.'\"])")
BRANCH = re.compile(r"\bif \((?!auto|const )([^;{}]*)\) (?=return|continue|break)")
CALL = re.compile(r"^(\s+)[a-z_][\w.]*(->[\w.]+)*\([^{}]*\);$")


def code_of(text):
    """The text with comments and quotes blanked out, of the same length and lines."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|'
                         r"'(?:\\.|[^'\\\n])'", re.S)
    blank = re.compile(r"[^\n]")
    return pattern.sub(lambda found: blank.sub("_", found.group()), text)


def without_checks(code):
    """The code with all calls of checks blanked out, however many lines they take."""
    out = list(code)
    for found in CHECKS.finditer(code):
        depth, at = 1, found.end()
        while depth and at < len(code):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        for i in range(found.start(), at):
            if out[i] != "\n":
                out[i] = "_"
    return "".join(out)


def swaps_in(line):
    """Each (begin, end, text instead) of an operator or a word."""
    for pair in SWAPS:
        for this, other in (pair, pair[::-1]):
            pattern = re.escape(this)
            if this.isalpha():
                pattern = rf"\b{pattern}\b"
            for found in re.finditer(pattern, line):
                yield found.start(), found.end(), other


def mutations_of(text):
    """All that can be changed in this source."""
    lines = text.split("\n")
    for number, code in enumerate(without_checks(code_of(text)).split("\n")):
        if LEFT_ALONE.search(code):
            continue
        line = lines[number]

        def made(begin, end, instead, line=line, number=number):
            return Mutation(number + 1, line, line[:begin] + instead + line[end:])

        for begin, end, instead in swaps_in(code):
            yield made(begin, end, instead)
        for found in NUMBER.finditer(code):
            yield made(*found.span(), str(int(found.group()) + 1))
        for found in BRANCH.finditer(code):
            yield made(*found.span(1), f"!({line[slice(*found.span(1))]})")
        if CALL.match(code):
            yield made(len(line) - len(line.lstrip()), len(line), ";")


def mutated(text, mutation):
    lines = text.split("\n")
    assert lines[mutation.line - 1] == mutation.before
    lines[mutation.line - 1] = mutation.after
    return "\n".join(lines)
